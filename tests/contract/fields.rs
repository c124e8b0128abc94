//! The boundary values of every field of the rule book, sent to whoever may write it: headquarters, a store, and a push.
//! All of them give the same answer, and it is the book's.

use serde_json::{Value as Json, json};
use tillkeep_model::fields::{self, Book, By, Field, Rule, Side};
use tillkeep_model::ids;
use tillkeep_model::pricing::SpecialType;
use tillkeep_model::words::Word;
use tillkeep_storage::entity::product;
use tillkeep_storage::registry;
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use crate::kit::{Got, Server, World, is_tried, until};

/// A value, and whether the book takes it.
type Candidate = (Json, bool);

/// Good and bad texts of a field that keeps a form.
fn of_shape(field: &Field) -> (&'static [&'static str], &'static [&'static str]) {
    match field.name {
        "email" => (&["ann@example.com", "ä@b", ""], &["ann", "a@b@c", "a b@c"]),
        "countryCode" => (&["US", "DE"], &["ZZ", "us", "USA", ""]),
        "currencyCode" => (&["EUR", "USD"], &["ZZZ", "eur", ""]),
        "locale" => (&["de", "zh-Hant-TW"], &["!!", "en_US", ""]),
        "timezone" => (&["UTC", "Europe/Berlin"], &["New York", ""]),
        "birthDate" => (&["1990-01-31", "1900-02-28"], &["2099-01-01", "1990-02-30", "31.01.1990", ""]),
        "startDate" | "endDate" => (&["2026-11-20", "2028-02-29"], &["2026-02-30", "20.11.2026", ""]),
        "startTime" | "endTime" | "businessDayStart" => (&["00:00", "23:59"], &["24:00", "4:00", ""]),
        "barcode" => (&["4006381333931", "a"], &["a b", ""]),
        "plu" => (&["0401", "04011"], &["040", "040111", "abcd"]),
        "displayName" => {
            (&["Zoë O'Neil", "علی\u{200c}رضا"], &["Ann\u{202e}", "A\u{200d}nn", "A\u{feff}nn", "A\tb", " ", ""])
        }
        "code" => (&["12", "ab", "AB"], &["a-b", "", "ä1"]),
        name => panic!("say in {} what {name} may be and what not", file!()),
    }
}

fn candidates(field: &Field) -> Vec<Candidate> {
    let texts = |texts: &[&str], good: bool| texts.iter().map(|text| (json!(text), good)).collect::<Vec<_>>();
    match field.rule {
        Rule::Text { max, shape: Some(shape), .. } => {
            let (good, bad) = of_shape(field);
            // One name has another form in each book: `code`.
            let fits = |text: &&str| (shape.is)(text, tillkeep_http::Clock::default().now()) || text.is_empty();
            let good: Vec<_> = good.iter().copied().filter(fits).collect();
            let mut all = texts(&good, true);
            all.extend(texts(bad, false));
            all.extend([(json!("x".repeat(max + 1)), false), (json!(1), false)]);
            all
        }
        Rule::Text { min, max, shape: None } => vec![
            (json!(""), min == 0),
            (json!("x"), true),
            (json!("ü".repeat(max)), true),
            (json!("ü".repeat(max + 1)), false),
            (json!("a\0"), false),
            (json!(1), false),
        ],
        Rule::Word(words) => {
            let mut all = texts(words, true);
            all.extend([(json!("no such word"), false), (json!(1), false)]);
            all
        }
        Rule::Flag => vec![(json!(true), true), (json!(false), true), (json!("yes"), false), (json!(1), false)],
        Rule::Whole { min, max } => vec![
            (json!(min - 1), false),
            (json!(min), true),
            (json!(max), true),
            (json!(max + 1), false),
            (json!("x"), false),
            (json!(1.5), false),
        ],
        // Zero is no change of a stock, and what every stock is in the end is not sent.
        Rule::Quantity { min, max } if max < i64::MAX => vec![
            (number(min, 1), false),
            (number(max, 0), true),
            (number(max, 1), false),
            (json!(0.0001), false),
            (json!("x"), false),
        ],
        Rule::Id => vec![(json!(Uuid::nil()), false), (json!("x"), false), (json!(1), false)],
        Rule::Texts { most, each } => {
            let long = each.max_chars().expect("a list of texts") + 1;
            vec![
                (json!([]), true),
                (json!((0..most).map(|number| format!("t{number}")).collect::<Vec<_>>()), true),
                (json!((0..=most).map(|number| format!("t{number}")).collect::<Vec<_>>()), false),
                (json!(["x".repeat(long)]), false),
                (json!([1]), false),
                (json!("x"), false),
            ]
        }
        Rule::Objects { .. } => vec![(json!([]), true), (json!([{}]), false), (json!([1]), false), (json!({}), false)],
        Rule::Object { .. } => vec![(json!([]), false), (json!({}), false), (json!("x"), false), (json!(1), false)],
        Rule::Quantity { .. } | Rule::Instant | Rule::Json { .. } => Vec::new(),
    }
}

/// A quantity of so many thousandths, moved away from zero by `more`.
fn number(thousandths: i64, more: i64) -> Json {
    let moved = if thousandths > 0 { thousandths + more } else { thousandths - more };
    serde_json::from_str(&tillkeep_model::Qty(moved).to_string()).expect("a number")
}

/// Where rows of a book are written, and what a new one must have besides the field that is tried.
struct BookRoute {
    book: &'static Book,
    path: String,
    base: fn(usize) -> Json,
}

impl BookRoute {
    fn new(book: &'static Book, path: &str, base: fn(usize) -> Json) -> Self {
        Self { book, path: path.to_owned(), base }
    }
}

fn at_headquarters() -> Vec<BookRoute> {
    let coded = |number: usize| json!({"code": format!("B{number}"), "name": "Base"});
    vec![
        BookRoute::new(&fields::customer::BOOK, "/customers", customer),
        BookRoute::new(&fields::store::BOOK, "/stores", coded),
        BookRoute::new(&fields::department::BOOK, "/departments", coded),
        BookRoute::new(
            &fields::tax::RATE,
            "/tax-rates",
            |number| json!({"code": format!("B{number}"), "name": "Base", "ratePpm": 1}),
        ),
        BookRoute::new(&fields::tax::GROUP, "/tax-groups", coded),
        BookRoute::new(&fields::tender::BOOK, "/tenders", |number| {
            // There is one cash tender, and the values of some kinds are not kept.
            json!({"code": format!("B{number}"), "name": "Base", "kind": "card", "isActive": false})
        }),
        BookRoute::new(&fields::product::BOOK, "/products", |number| {
            json!({
                "sku": format!("B{number}"), "name": "Base", "price": fields::LARGEST, "quantityDecimals": 3,
                "isOpenPrice": true,
                "departmentId": ids::named("department:GENERAL"), "taxGroupId": ids::named("tax_group:NONE"),
            })
        }),
        BookRoute::new(
            &fields::user::BOOK,
            "/users",
            |number| json!({"username": format!("b{number}"), "displayName": "B"}),
        ),
        BookRoute::new(&fields::sales_rep::BOOK, "/sales-reps", coded),
        BookRoute::new(
            &fields::reason::BOOK,
            "/reasons",
            |number| json!({"code": format!("B{number}"), "name": "Base", "kind": "void"}),
        ),
        BookRoute::new(&fields::special::BOOK, "/specials", |number| {
            json!({
                "code": format!("B{number}"), "name": "Base", "departmentId": ids::named("department:GENERAL"),
                "type": "percent_off", "percentBps": 1000, "force": true,
            })
        }),
        BookRoute::new(&fields::user::ROLE, "/roles", |number| json!({"code": format!("b{number}"), "name": "Base"})),
    ]
}

fn customer(_: usize) -> Json {
    // Two names, so that each of them may be empty.
    json!({"companyName": "Base", "lastName": "Base", "allowDuplicate": true})
}

/// What was said to a value: nothing, or what is wrong with the field.
fn verdict(got: &Got, field: &str) -> Option<String> {
    if got.status != 422 {
        // A value that another row has is none that the field cannot have.
        assert!([200, 201, 409].contains(&got.status), "{field}: {} {}", got.status, got.text);
        return None;
    }
    let details = got.body["details"].as_array().into_iter().flatten();
    let named =
        |name: &str| name.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']));
    let mut of_field = details.filter(|detail| named(detail["field"].as_str().unwrap_or_default()));
    let said = of_field.next().unwrap_or_else(|| panic!("{field} is not named: {}", got.text));
    Some(said["message"].as_str().expect("a message").to_owned())
}

/// What a special needs beside `field`: the other figures of a type that has it, no figure that it has not, and the other end of a
/// window.
fn beside(body: &mut Json, field: &str) {
    // Products of the sweep have lowest prices of all kinds.
    body["force"] = json!(true);
    if matches!(field, "productId" | "departmentId") {
        return;
    }
    if let Some(other) = [("startTime", "endTime"), ("endTime", "startTime")].iter().find(|(one, _)| *one == field) {
        body[other.1] = json!("12:00");
    }
    for date in ["startDate", "endDate"].iter().filter(|date| **date != field && field.ends_with("Date")) {
        body[*date] = Json::Null;
    }
    let kind = match (field, body["type"].as_str()) {
        ("type", Some(sent)) => sent.to_owned(),
        ("amount", _) => "amount_off".to_owned(),
        ("fixedPrice", _) => "fixed_price".to_owned(),
        ("bundleQuantity" | "bundlePrice" | "mixGroup", _) => "multi_buy".to_owned(),
        ("buyQuantity" | "getQuantity" | "getDiscountBps", _) => "buy_x_get_y".to_owned(),
        _ => "percent_off".to_owned(),
    };
    let known = |word: &&SpecialType| word.word() == kind;
    let figures = SpecialType::ALL.iter().find(known).map_or(&[] as &[&str], |kind| fields::special::figures(*kind));
    if field != "type" {
        body["type"] = json!(kind);
    }
    for figure in fields::special::BOOK.fields.iter().map(|field| field.name).filter(|name| FIGURES.contains(name)) {
        if figure != field {
            body[figure] = if figures.contains(&figure) { json!(2) } else { Json::Null };
        }
    }
    if field != "mixGroup" {
        body["mixGroup"] = Json::Null;
    }
}

const FIGURES: [&str; 8] = [
    "percentBps",
    "amount",
    "fixedPrice",
    "buyQuantity",
    "getQuantity",
    "getDiscountBps",
    "bundleQuantity",
    "bundlePrice",
];

/// Sends every candidate of a field as part of a new row and, where it is not fixed, as a change of one that is there.
async fn sweep(server: &Server, token: &str, route: &BookRoute, side: Side) -> Vec<(String, Option<String>)> {
    let mut said = Vec::new();
    let mut rows = 0..;
    let mut new = || (route.base)(rows.next().expect("a number"));
    let bearer = format!("Bearer {token}");
    let made = server.post(token, &route.path, new()).await.data();
    let one = format!("{}/{}", route.path, made["id"].as_str().expect("an id"));
    for field in route.book.writable(side) {
        for (number, (value, good)) in candidates(field).into_iter().enumerate() {
            let what = format!("{} {} = {value}", route.path, field.name);
            let mut body = new();
            body[field.name] = value.clone();
            if field.name == "currencyExponent" {
                body["currencyCode"] = json!(if value == 4 { "CLF" } else { "JPY" });
            }
            if route.book.table == fields::special::BOOK.table {
                beside(&mut body, field.name);
            }
            let answer = verdict(&server.post(token, &route.path, body).await, field.name);
            assert_eq!(answer.is_none(), good, "{what} at {}: {answer:?}", server.name);
            // A change has rules of its own for the kind of a tender and the decimals of a currency; and the least amount of
            // a tender, which was changed before, bounds its most.
            // What is named at the till has no price of its own, which was changed before too.
            let apart = ["kind", "currencyExponent", "maxAmount", "namedAtTill"];
            if is_tried(number, 2) && !field.fixed && !apart.contains(&field.name) && side == Side::Hq {
                let mut edit = json!({field.name: value});
                if route.book.table == fields::special::BOOK.table {
                    beside(&mut edit, field.name);
                }
                let edited = server.call("PATCH", &one, Some(&bearer), Some(edit)).await;
                assert_eq!(verdict(&edited, field.name), answer, "{what}: a change, and a new row");
            }
            said.push((what, answer));
        }
    }
    for field in route.book.fields.iter().filter(|field| !field.is_writable(side)) {
        let mut body = new();
        body[field.name] = json!(null);
        let answer = verdict(&server.post(token, &route.path, body).await, field.name);
        assert!(answer.is_some_and(|text| text.contains("cannot be written")), "{} at {}", field.name, server.name);
    }
    said
}

#[tokio::test]
async fn headquarters_and_a_store_say_the_same_to_each_boundary_value_of_a_customer() {
    let world = World::new().await;
    let [hq, store] = &world.servers;
    let route = BookRoute::new(&fields::customer::BOOK, "/customers", customer);
    let at_hq = sweep(hq, &hq.sign_in(world.admin).await, &route, Side::Hq).await;
    let at_store = sweep(store, &store.sign_in(world.admin).await, &route, Side::Store).await;
    assert!(at_store.len() > 50, "{}", at_store.len());
    for (what, answer) in &at_store {
        let other = at_hq.iter().find(|(other, _)| other == what).expect("headquarters writes all that stores write");
        assert_eq!(other.1, *answer, "{what}");
    }
}

#[tokio::test]
async fn headquarters_takes_of_a_pushed_customer_what_it_takes_of_people() {
    let world = World::new().await;
    let bearer = format!("Bearer {}", world.sync_token);
    for field in fields::customer::BOOK.fields.iter().filter(|field| field.is_pushed(true)) {
        for (value, good) in candidates(field) {
            let (id, at) = (Uuid::now_v7(), "2026-11-20T12:00:00.000Z");
            let mut data = json!({"id": id, "companyName": "Base", "lastName": "Base", "createdAt": at});
            data[field.name] = value.clone();
            let envelope = json!({
                "store_id": world.s01, "entity_type": "customers", "entity_id": id, "action": "create", "data": data,
                "timestamp": at,
            });
            let request = json!({"envelopes": [envelope]});
            let got = world.servers[0].call("POST", "/sync/push", Some(&bearer), Some(request)).await;
            let result = &got.body["results"][0];
            assert_eq!(result["status"] == "ok", good, "{} = {value}: {}", field.name, got.text);
            let error = result["error"].as_str().unwrap_or_default();
            assert!(good || error.contains(field.name), "{} = {value}: {error}", field.name);
        }
    }
}

#[tokio::test]
async fn headquarters_takes_the_boundary_values_of_the_book_and_refuses_what_is_beyond() {
    let world = World::new().await;
    let hq = &world.servers[0];
    let token = hq.sign_in(world.admin).await;
    let mut tried = 0;
    for route in at_headquarters() {
        tried += sweep(hq, &token, &route, Side::Hq).await.len();
    }
    assert!(tried > 400, "{tried}");
}

#[tokio::test]
async fn a_store_takes_the_boundary_values_of_its_registers_and_adjustments() {
    let world = World::new().await;
    let [hq, store] = &world.servers;
    let token = store.sign_in(world.admin).await;
    let registers = BookRoute::new(
        &fields::register::BOOK,
        "/registers",
        |number| json!({"code": format!("{number:02}"), "name": "Till", "terminalId": format!("T{number}")}),
    );
    sweep(store, &token, &registers, Side::Store).await;
    let at_hq = hq.sign_in(world.admin).await;
    let made = hq.post(&at_hq, "/products", (at_headquarters()[6].base)(0)).await.data();
    let id: Uuid = made["id"].as_str().expect("an id").parse().expect("a UUID");
    let known =
        async || product::Entity::find_by_id(id).one(world.store.test_db().reader()).await.expect("a read").is_some();
    until("the store has the product", known).await;
    for field in
        fields::adjustment::BOOK.writable(Side::Store).filter(|field| !["productId", "reason"].contains(&field.name))
    {
        for (value, good) in candidates(field) {
            let mut body = json!({"id": Uuid::now_v7(), "productId": id, "quantityChange": 1, "reason": "correction"});
            body[field.name] = value.clone();
            let answer = verdict(&store.post(&token, "/inventory/adjustments", body).await, field.name);
            assert_eq!(answer.is_none(), good, "{} = {value}: {answer:?}", field.name);
        }
    }
}

#[test]
fn every_book_is_swept() {
    // Prices of a store and rates of a group are written otherwise: `crates/hq/tests/backoffice/{prices,taxes}.rs`.
    let elsewhere = [fields::store_price::BOOK.table, fields::tax::GROUP_RATE.table];
    let at_stores = [fields::register::BOOK.table, fields::adjustment::BOOK.table];
    for book in registry::books() {
        let swept = at_headquarters().iter().any(|route| route.book.table == book.table);
        let written = book.fields.iter().any(|field| matches!(field.by, By::Anyone | By::Hq));
        assert!(
            swept || elsewhere.contains(&book.table) || at_stores.contains(&book.table),
            "{} is in no test here",
            book.table
        );
        assert_eq!(swept || elsewhere.contains(&book.table), written, "{}", book.table);
    }
}
