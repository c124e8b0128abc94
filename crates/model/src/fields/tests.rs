use proptest::prelude::*;
use sea_orm::Value as Stored;
use serde_json::{Map, json};

use super::*;
use crate::Instant;

static EACH: Rule = Rule::Text { min: 1, max: 3, shape: None };
static RULES: [Field; 2] = [word("value", &["weight", "price"]).required(), whole("digits", 1, 6)];

fn now() -> Instant {
    Instant::parse("2026-11-20T12:00:00Z").expect("an instant")
}

fn says(field: &Field, value: Value) -> Option<String> {
    let mut problems = field.problems(value, now());
    assert!(problems.len() < 2, "{problems:?}");
    problems.pop().map(|problem| problem.message)
}

#[test]
fn a_text_is_counted_in_characters_and_refused_by_the_first_that_is_too_many() {
    let phone = customer::BOOK.field("phone").expect("a field");
    assert_eq!(phone.rule.max_chars(), Some(50));
    assert_eq!(says(phone, Value::Text(&"ü".repeat(50))), None);
    assert_eq!(says(phone, Value::Text(&"ü".repeat(51))).expect("refused"), "must have at most 50 characters");
    assert_eq!(says(phone, Value::Text("")), None);
    assert_eq!(says(phone, Value::Null), None);
    assert_eq!(says(phone, Value::Text("a\0")).expect("refused"), "must not contain the NUL character");
    assert_eq!(says(phone, Value::Number(1)).expect("refused"), "must be a text");
    let name = label("name", 3);
    for bad in ["", "  ", "abcd"] {
        assert_eq!(says(&name, Value::Text(bad)).expect(bad), "must have 1 to 3 characters");
    }
}

#[test]
fn numbers_and_quantities_are_refused_in_the_unit_they_are_sent_in() {
    assert_eq!(says(&share("maxDiscountBps"), Value::Number(10_001)).expect("refused"), "must be between 0 and 10000");
    assert_eq!(says(&share("maxDiscountBps"), Value::Number(10_000)), None);
    let level = says(&quantity("reorderPoint"), Value::Number(-1)).expect("refused");
    assert_eq!(level, "must be between 0 and 1000000000");
    assert_eq!(says(&id("departmentId"), Value::Id(uuid::Uuid::nil())).expect("refused"), "must not be the nil UUID");
    let words = word("taxRounding", &["line", "invoice"]);
    assert_eq!(says(&words, Value::Text("none")).expect("refused"), "must be one of line, invoice");
}

#[test]
fn a_name_that_is_shown_has_nothing_invisible_and_nothing_that_turns_its_direction() {
    let name = user::BOOK.field("displayName").expect("a field");
    for good in ["Ann", "Émile Z.", "李小龍", "Анна-Мария", "علی\u{200c}رضا", "ක්\u{200d}රිස්ටි", "أحمد", "🛒 Front"]
    {
        assert_eq!(says(name, Value::Text(good)), None, "{good}");
    }
    let unseen =
        ["\u{200b}", "\u{202e}", "\u{2066}", "\u{ad}", "\u{feff}", "\u{200f}", "\u{61c}", "\u{e0041}", "\u{3164}"];
    // Nor does a joiner between letters that it joins in no way.
    for letter in unseen.into_iter().chain(["\t", "\n", "\u{2028}", "\u{9c}", "\u{200c}", "\u{200d}"]) {
        for bad in [format!("An{letter}n"), format!("Ann{letter}"), format!("{letter}Ann")] {
            assert!(says(name, Value::Text(&bad)).is_some_and(|text| text.contains("invisible")), "{bad:?}");
        }
    }
    for bad in ["", "  ", &"x".repeat(101)] {
        assert!(says(name, Value::Text(bad)).is_some(), "{bad:?}");
    }
}

#[test]
fn codes_of_the_world_are_those_of_its_lists() {
    let is = |shape: &Shape, text: &str| (shape.is)(text, now());
    for good in ["US", "DE", "SS", "AX"] {
        assert!(is(&shape::COUNTRY, good), "{good}");
    }
    for bad in ["ZZ", "us", "", "USA", "EU"] {
        assert!(!is(&shape::COUNTRY, bad), "{bad}");
    }
    for (currency, decimals) in [("USD", Some(2)), ("JPY", Some(0)), ("KWD", Some(3)), ("ZZZ", None), ("XXX", None)] {
        assert_eq!(shape::exponent(currency), decimals, "{currency}");
        assert_eq!(is(&shape::CURRENCY, currency), decimals.is_some(), "{currency}");
    }
    assert!(!is(&shape::CURRENCY, "usd"));
    for good in ["en-US", "de", "zh-Hant-TW", "sr-Latn-RS", "de-CH-1996"] {
        assert!(is(&shape::LOCALE, good), "{good}");
    }
    for bad in ["!!", "", "en_US", "e", "english language", "en-"] {
        assert!(!is(&shape::LOCALE, bad), "{bad}");
    }
    assert!(is(&shape::TIME_ZONE, "America/New_York") && !is(&shape::TIME_ZONE, "New York"));
    for good in ["ann@example.com", "ä@b"] {
        assert!(is(&shape::EMAIL, good), "{good}");
    }
    for bad in ["ann", "@b", "a@", "a@b@c", "a b@c", "Ann <ann@example.com>"] {
        assert!(!is(&shape::EMAIL, bad), "{bad}");
    }
}

#[test]
fn a_time_of_day_has_two_digits_each() {
    for good in ["00:00", "04:00", "23:59"] {
        assert!((shape::TIME_OF_DAY.is)(good, now()), "{good}");
    }
    for bad in ["", "4:00", "24:00", "12:60", "12:5", "12:00:00", "+1:00", "ab:cd"] {
        assert!(!(shape::TIME_OF_DAY.is)(bad, now()), "{bad}");
    }
}

#[test]
fn no_person_is_born_after_today_wherever_today_is() {
    let is = |text: &str, hour: u8| {
        let now = Instant::parse(&format!("2026-11-20T{hour:02}:00:00Z")).expect("an instant");
        (shape::BIRTH_DATE.is)(text, now)
    };
    assert!(is("2026-11-20", 0) && is("1926-02-28", 0));
    assert!(!is("2026-11-21", 9) && is("2026-11-21", 10), "it is the 21st on Kiritimati");
    assert!(!is("2099-01-01", 12) && !is("1990-02-30", 12) && !is("1990-1-1", 12));
}

#[test]
fn a_book_says_all_that_is_wrong_with_a_row() {
    let row = |field: &Field| match field.name {
        "email" => Some("no address".into()),
        "countryCode" => Some("ZZ".into()),
        "creditLimit" => Some((-1_i64).into()),
        "city" => Some(Stored::String(None)),
        _ => None,
    };
    let problems = customer::BOOK.problems(row, now());
    let fields: Vec<_> = problems.iter().map(|problem| problem.field.as_str()).collect();
    assert_eq!(fields, ["email", "countryCode", "creditLimit"]);
}

#[test]
fn a_store_writes_no_credit_and_the_number_of_a_customer_once() {
    let book = &customer::BOOK;
    let names = |side| book.writable(side).map(|field| field.name).collect::<Vec<_>>();
    assert!(names(Side::Hq).contains(&"creditLimit") && !names(Side::Store).contains(&"creditLimit"));
    assert!(!names(Side::Hq).contains(&"customerNumber") && names(Side::Store).contains(&"phone"));
    let number = book.field("customer_number").expect("a field");
    assert!(number.is_pushed(true) && !number.is_pushed(false));
    assert_eq!(book.field("address_line1").expect("a field").name, "addressLine1");
    assert_eq!(json!(book.initial(&Map::new())), json!({"isActive": true}));
}

#[test]
fn a_list_is_checked_entry_by_entry() {
    let tags = Field::new("tags", Rule::Texts { most: 2, each: &EACH });
    let found = |text: &str| {
        tags.problems(Value::Text(text), now()).into_iter().map(|problem| problem.field).collect::<Vec<_>>()
    };
    assert_eq!(found(r#"["a", "abc"]"#), Vec::<String>::new());
    assert_eq!(found(r#"["abcd", 1]"#), ["tags[0]", "tags[1]"]);
    assert_eq!(found(r#"["a", "b", "c"]"#), ["tags"]);
    assert_eq!(found(r#"{"a": 1}"#), ["tags"]);
    let rules = Field::new("rules", Rule::Objects { least: 0, most: 2, fields: &RULES });
    let found = rules.problems(Value::Text(r#"[{"value": "weight", "digits": 7}, {"digit": 1}, 1]"#), now());
    assert_eq!(found.len(), 1, "three are too many: {found:?}");
    let found = rules.problems(Value::Text(r#"[{"value": "weight", "digits": 7}, {"digit": 1}]"#), now());
    let fields: Vec<_> = found.iter().map(|problem| problem.field.as_str()).collect();
    assert_eq!(fields, ["rules[0].digits", "rules[1].digit", "rules[1].value"]);
}

#[test]
fn a_printer_has_a_host_a_port_and_a_table_of_letters_and_no_scheme() {
    let printer = register::BOOK.field("printer").expect("a field");
    let found = |text: &str| {
        let problems = printer.problems(Value::Text(text), now());
        problems.into_iter().map(|problem| problem.field).collect::<Vec<_>>()
    };
    let at = |address: &str| format!(r#"{{"address": "{address}", "width": 42, "codePage": "PC858"}}"#);
    for good in ["192.168.1.50:9100", "printer.shop.lan:9100", "till-1:9100", "[fe80::1]:9100", "[::1]:1"] {
        assert_eq!(found(&at(good)), Vec::<String>::new(), "{good}");
    }
    for bad in [
        "",
        "9100",
        ":9100",
        "host",
        "host:",
        "host:0",
        "host:70000",
        "host:+91",
        "host:09100",
        "http://host:80",
        "a b:1",
        "::1:9100",
    ] {
        assert_eq!(found(&at(bad)), ["printer.address"], "{bad}");
    }
    assert_eq!(found("[]"), ["printer"]);
    assert_eq!(found("{}"), ["printer.address", "printer.width", "printer.codePage"]);
    let much = r#"{"address": "a:1", "width": 10, "codePage": "UTF8", "automatic": 1, "paper": 2}"#;
    assert_eq!(found(much), ["printer.paper", "printer.width", "printer.codePage", "printer.automatic"]);
    assert_eq!(printer.problems(Value::Null, now()), vec![], "null is no printer");
}

proptest! {
    #[test]
    fn what_a_pattern_says_of_a_mail_address_or_a_time_is_what_is_checked(
        email in proptest::string::string_regex(shape::EMAIL.pattern.trim_matches(['^', '$'])).expect("a pattern"),
        time in proptest::string::string_regex(shape::TIME_OF_DAY.pattern.trim_matches(['^', '$'])).expect("a pattern"),
    ) {
        prop_assume!(!email.contains('\0') && email.chars().count() <= 200);
        prop_assert_eq!(super::email("email").problems(Value::Text(&email), now()), vec![]);
        prop_assert!((shape::TIME_OF_DAY.is)(&time, now()), "{}", time);
    }
}

#[test]
fn what_nothing_obeys_yet_is_said_not_to_be_in_use() {
    let marked = |book: &Book| -> Vec<&str> {
        book.fields.iter().filter(|field| field.not_in_use).map(|field| field.name).collect()
    };
    assert!(marked(&tender::BOOK).is_empty());
    assert_eq!(marked(&product::BOOK), ["reorderQuantity"]);
    assert_eq!(marked(&store::BOOK), ["fourEyesDocuments"]);
    assert_eq!(marked(&sales_rep::BOOK), ["commissionBps", "commissionBasis"]);
}
