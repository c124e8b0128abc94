//! The journal of business days for bookkeepers: `GET /reports/journal`, and the accounts that it books on.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Instant, JsonText, Money};
use tillkeep_storage::entity::{audit_log, register_session, sale, sale_item, sale_payment, store};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, Set};
use uuid::Uuid;

use super::kit::{Kit, Person, column};

const DAY: &str = "2026-11-20";

/// A line: its net amount, and the rates on it.
type Item = (i64, Vec<(&'static str, i64)>);

/// A document whose head is what its lines come to.
struct Doc {
    store: Uuid,
    day: &'static str,
    currency: &'static str,
    sale_type: &'static str,
    status: &'static str,
    rounding: i64,
    is_exempt: bool,
    items: Vec<Item>,
    /// Code, kind and amount.
    payments: Vec<(&'static str, &'static str, i64)>,
}

impl Doc {
    fn of(store: Uuid, items: Vec<Item>, payments: Vec<(&'static str, &'static str, i64)>) -> Self {
        let (sale_type, status) = ("sale", "completed");
        Self { store, day: DAY, currency: "USD", sale_type, status, rounding: 0, is_exempt: false, items, payments }
    }

    fn net(&self) -> i64 {
        self.items.iter().map(|(net, _)| net).sum()
    }

    fn tax(&self) -> i64 {
        self.items.iter().flat_map(|(_, taxes)| taxes).map(|(_, tax)| tax).sum()
    }
}

async fn book(kit: &Kit, number: usize, doc: &Doc) {
    let id = Uuid::now_v7();
    let row = sale::Model {
        id,
        store_id: doc.store,
        receipt_number: format!("N-{number:03}"),
        business_date: doc.day.into(),
        completed_at: Instant::parse(&format!("{}T12:00:00Z", doc.day)).expect("an instant"),
        sale_type: doc.sale_type.into(),
        status: doc.status.into(),
        currency_code: doc.currency.into(),
        net_amount: Money(doc.net()),
        tax_amount: Money(doc.tax()),
        total_amount: Money(doc.net() + doc.tax()),
        cash_rounding: Money(doc.rounding),
        tax_exempt: doc.is_exempt,
        ..sale::Model::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("sale");
    for (line_no, (net, taxes)) in (1..).zip(&doc.items) {
        let rate = |(code, tax): &(&str, i64)| json!({"code": code, "baseAmount": net, "taxAmount": tax});
        let tax: i64 = taxes.iter().map(|(_, tax)| tax).sum();
        let item = sale_item::Model {
            id: Uuid::now_v7(),
            sale_id: id,
            line_no,
            net_amount: Money(*net),
            tax_amount: Money(tax),
            total_amount: Money(net + tax),
            tax_details: JsonText(taxes.iter().map(rate).collect()),
            ..sale_item::Model::default()
        };
        item.into_active_model().insert(&tx).await.expect("item");
    }
    for (line_no, (code, kind, amount)) in (1..).zip(&doc.payments) {
        let payment = sale_payment::Model {
            id: Uuid::now_v7(),
            sale_id: id,
            line_no,
            tender_code: (*code).to_owned(),
            tender_kind: (*kind).to_owned(),
            amount: Money(*amount),
            status: "captured".to_owned(),
            ..sale_payment::Model::default()
        };
        payment.into_active_model().insert(&tx).await.expect("payment");
    }
    tx.commit().await.expect("commit");
}

async fn drawer(kit: &Kit, session: register_session::Model) {
    let row = register_session::Model { id: Uuid::now_v7(), register_code: "01".into(), ..session };
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("drawer");
    tx.commit().await.expect("commit");
}

async fn in_yen(kit: &Kit, id: Uuid) {
    let mut row = kit.row::<store::Entity>(id).await.into_active_model();
    (row.currency_code, row.currency_exponent) = (Set("JPY".into()), Set(0));
    let tx = kit.hq.db().begin().await.expect("begin");
    row.update(&tx).await.expect("a store");
    tx.commit().await.expect("commit");
}

async fn entries(kit: &Kit, who: &Person, more: &str) -> Vec<Json> {
    let path = format!("/reports/journal?from={DAY}&to={DAY}{more}");
    kit.get(who, &path).await.data()["entries"].as_array().expect("a list").clone()
}

/// Account, kind, code and what is left on it: debits above zero, credits below.
fn lines(entry: &Json) -> Vec<Json> {
    let left = |line: &Json| line["debit"].as_i64().unwrap_or_default() - line["credit"].as_i64().unwrap_or_default();
    let line = |line: &Json| json!([line["account"], line["kind"], line["code"], left(line)]);
    entry["lines"].as_array().expect("a list").iter().map(line).collect()
}

/// Asserts that the debits of each entry are its credits; what is left by kind, of one currency.
fn by_kind(entries: &[Json], currency: &str) -> BTreeMap<String, i64> {
    let mut left = BTreeMap::new();
    for entry in entries {
        let side = |name: &str| -> i64 {
            let lines = entry["lines"].as_array().expect("a list").iter();
            lines.map(|line| line[name].as_i64().expect("an amount")).sum()
        };
        assert_eq!((json!(side("debit")), json!(side("credit"))), (entry["total"].clone(), entry["total"].clone()));
        for line in lines(entry).iter().filter(|_| entry["currencyCode"] == currency) {
            *left.entry(line[1].as_str().expect("a kind").to_owned()).or_default() += line[3].as_i64().expect("left");
        }
    }
    left
}

/// A store with a day that has some of everything.
async fn day_of(kit: &Kit, store: Uuid) {
    let vat = |net: i64| (net, vec![("VAT19", net * 19 / 100)]);
    let two = (1000, vec![("STATE", 40), ("CITY", 20)]);
    let docs = [
        Doc::of(store, vec![vat(1000), vat(1000), (500, vec![])], vec![("CASH", "cash", 3000), ("CASH", "cash", -120)]),
        Doc { rounding: -2, ..Doc::of(store, vec![two], vec![("CASH", "cash", 1058)]) },
        Doc::of(store, vec![(300, vec![("VAT7", 21)])], vec![("VISA", "card", 200), ("ACCOUNT", "on_account", 121)]),
        Doc { sale_type: "refund", ..Doc::of(store, vec![vat(-1000)], vec![("VISA", "card", -1190)]) },
        Doc { status: "voided", ..Doc::of(store, vec![vat(5000)], vec![("CASH", "cash", 5950)]) },
        // Who pays no tax: the lines have their rates, and nothing by them.
        Doc { is_exempt: true, ..Doc::of(store, vec![(400, vec![("VAT19", 0)])], vec![("CASH", "cash", 400)]) },
        Doc {
            is_exempt: true,
            sale_type: "refund",
            ..Doc::of(store, vec![(-100, vec![("VAT19", 0)])], vec![("CASH", "cash", -100)])
        },
        // A customer pays what is owed.
        Doc {
            sale_type: "settlement",
            ..Doc::of(store, vec![], vec![("CASH", "cash", 100), ("ACCOUNT", "on_account", -100)])
        },
        Doc { day: "2026-11-19", ..Doc::of(store, vec![vat(700)], vec![("CASH", "cash", 833)]) },
    ];
    for (number, doc) in docs.iter().enumerate() {
        book(kit, number, doc).await;
    }
    let closed = register_session::Model {
        store_id: store,
        session_number: 2,
        status: "closed".into(),
        business_date: DAY.into(),
        opening_float: Money(20_000),
        counted_cash: Some(Money(23_330)),
        cash_variance: Some(Money(-8)),
        cash_movements: JsonText(json!([
            {"type": "paid_in", "amount": 500, "reasonCode": "FOUND"},
            {"type": "paid_out", "amount": 1200, "reasonCode": "POSTAGE"},
            {"type": "drop", "amount": 1000},
            {"type": "float_add", "amount": 1000},
            {"type": "no_sale", "amount": 0},
            {"type": "paid_out", "amount": 77, "late": true},
        ])),
        safe_movements: JsonText(json!([{"type": "correction", "amount": -5, "businessDate": DAY}])),
        ..register_session::Model::default()
    };
    drawer(kit, closed).await;
    // Of an earlier day, with what was brought to the bank on this one.
    let before = register_session::Model {
        store_id: store,
        session_number: 1,
        status: "closed".into(),
        business_date: "2026-11-18".into(),
        opening_float: Money(20_000),
        forced: true,
        cash_movements: JsonText(json!([])),
        safe_movements: JsonText(json!([
            {"type": "deposit", "amount": 4000, "businessDate": DAY},
            {"type": "deposit", "amount": 9, "businessDate": "2026-11-18"},
        ])),
        ..register_session::Model::default()
    };
    drawer(kit, before).await;
}

#[tokio::test]
async fn a_day_is_booked_by_rate_tender_and_reason_and_its_debits_are_its_credits() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    day_of(&kit, store).await;
    let entries = entries(&kit, &admin, "").await;
    let wanted = [
        // Float, what was added and paid in; less what was paid out, dropped, missed and counted.
        json!(["1000", "cash", null, 20_000 + 1000 + 500 - 1200 - 1000 - 8 - 23_330]),
        json!(["1000", "cash", "CASH", 2880 + 1058 + 400 - 100 + 100]),
        json!(["1010", "safe", null, 1000 + 23_330 - 20_000 - 1000 - 5 - 4000]),
        json!(["1020", "deposit", null, 4000]),
        json!(["1100", "card", "VISA", 200 - 1190]),
        json!(["1200", "on_account", "ACCOUNT", 21]),
        json!(["2200", "tax", "CITY", -20]),
        json!(["2200", "tax", "STATE", -40]),
        json!(["2200", "tax", "VAT19", -190]),
        json!(["2200", "tax", "VAT7", -21]),
        json!(["4000", "revenue", null, -500 - 400]),
        json!(["4000", "revenue", "STATE+CITY", -1000]),
        json!(["4000", "revenue", "VAT19", -2000]),
        json!(["4000", "revenue", "VAT7", -300]),
        json!(["4100", "returns", null, 100]),
        json!(["4100", "returns", "VAT19", 1000]),
        json!(["4900", "paid_in", "FOUND", -500]),
        json!(["6900", "paid_out", "POSTAGE", 1200]),
        json!(["6910", "cash_rounding", null, 2]),
        json!(["6920", "cash_variance", null, 8]),
        json!(["6930", "safe_correction", null, 5]),
    ];
    assert_eq!(lines(&entries[0]), wanted);
    by_kind(&entries, "USD");
    assert_eq!(column(&json!(entries), "storeCode"), ["S01"]);
    assert_eq!((&entries[0]["openDrawers"], &entries[0]["currencyExponent"]), (&json!(0), &json!(2)));

    let file = kit.get(&admin, &format!("/reports/journal?from={DAY}&to={DAY}&format=csv")).await;
    assert_eq!(file.headers["content-disposition"], "attachment; filename=\"journal.csv\"");
    let rows: Vec<&str> = file.text.trim_start_matches('\u{feff}').lines().collect();
    assert_eq!(rows.len(), wanted.len() + 1);
    assert_eq!(rows[0], "businessDate,storeCode,account,kind,code,currencyCode,debit,credit,openDrawers");
    assert!(rows.contains(&"2026-11-20,S01,2200,tax,VAT19,USD,,1.90,0"), "{rows:?}");
    assert!(rows.contains(&"2026-11-20,S01,6920,cash_variance,,USD,0.08,,0"), "{rows:?}");
    let taken = audit_log::Entity::find().filter(audit_log::Column::Action.eq("journal.export"));
    assert_eq!(taken.all(kit.hq.db().reader()).await.expect("a log").len(), 1);
}

#[tokio::test]
async fn what_is_booked_is_what_the_day_report_says_in_each_currency() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let stores = [kit.store("S01").await, kit.store("S02").await];
    in_yen(&kit, stores[1]).await;
    for number in 0..60_usize {
        let amount = i64::try_from(number).expect("small") * 13 + 100;
        let is_refund = number % 7 == 3;
        let net = if is_refund { -amount } else { amount };
        let items = vec![
            (net, vec![("VAT19", net * 19 / 100)]),
            (net / 3, vec![("STATE", net / 60), ("CITY", net / 90)]),
            (net / 5, vec![]),
        ];
        let rounding = [0, 2, -1][number % 3];
        let mut doc = Doc::of(stores[number % 2], items, Vec::new());
        doc.day = ["2026-11-18", "2026-11-19", DAY][number / 20];
        doc.currency = ["USD", "JPY"][number % 2];
        doc.sale_type = if is_refund { "refund" } else { "sale" };
        doc.status = if number % 11 == 5 { "voided" } else { "completed" };
        doc.rounding = rounding;
        let paid = doc.net() + doc.tax() + rounding;
        doc.payments = vec![("CASH", "cash", paid / 2), ("VISA", "card", paid - paid / 2)];
        book(&kit, number, &doc).await;
    }
    let path = "/reports/journal?from=2026-11-18&to=2026-11-20";
    let entries = kit.get(&admin, path).await.data()["entries"].as_array().expect("a list").clone();
    assert_eq!(column(&json!(entries), "storeCode"), ["S01", "S02", "S01", "S02", "S01", "S02"]);
    let trend = kit.get(&admin, "/reports/trend?days=30").await.data();
    assert!(trend["dates"].as_array().expect("dates").contains(&json!(DAY)), "{trend}");
    for currency in trend["currencies"].as_array().expect("a list") {
        let code = currency["currencyCode"].as_str().expect("a code");
        let said = |key: &str| -> i64 {
            let days = currency["days"].as_array().expect("days").iter();
            days.map(|day| day[key].as_i64().expect("an amount")).sum()
        };
        let left = by_kind(&entries, code);
        let of = |kinds: &[&str]| -> i64 { kinds.iter().filter_map(|kind| left.get(*kind)).sum() };
        assert_ne!(said("net"), 0, "{code}");
        assert_eq!((-of(&["revenue", "returns"]), -of(&["tax"])), (said("net"), said("tax")), "{code}");
        assert!(of(&["returns"]) > 0, "{code}");
        assert_eq!(of(&["cash", "card"]) + of(&["cash_rounding"]), said("total"), "{code}");
        assert!(!left.contains_key("difference"), "{left:?}");
    }
}

#[tokio::test]
async fn what_does_not_add_up_is_booked_and_seen() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    book(&kit, 1, &Doc::of(store, vec![(1000, vec![])], vec![("SHELLS", "seashells", 900)])).await;
    let open = register_session::Model {
        store_id: store,
        session_number: 1,
        status: "open".into(),
        business_date: DAY.into(),
        cash_movements: JsonText(json!({"no": "list"})),
        ..register_session::Model::default()
    };
    drawer(&kit, open.clone()).await;
    // Where nothing was sold yet.
    drawer(&kit, register_session::Model { store_id: kit.store("S02").await, ..open }).await;
    let entries = entries(&kit, &admin, "").await;
    let wanted = [
        json!(["1190", "other", "SHELLS", 900]),
        json!(["4000", "revenue", null, -1000]),
        json!(["9999", "difference", null, 100]),
    ];
    assert_eq!(lines(&entries[0]), wanted);
    assert_eq!(entries[0]["openDrawers"], 1);
    assert_eq!((&entries[1]["storeCode"], &entries[1]["openDrawers"]), (&json!("S02"), &json!(1)));
    assert_eq!((&entries[1]["lines"], &entries[1]["total"]), (&json!([]), &json!(0)));
}

#[tokio::test]
async fn a_chain_says_its_accounts_and_each_fault_names_its_field() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    day_of(&kit, store).await;
    let path = "/accounting/accounts";
    let unsaid = kit.get(&admin, path).await.data();
    assert_eq!((&unsaid["version"], &unsaid["accounts"]), (&json!(0), &json!([])));
    let of_cash = json!({"kind": "cash", "account": "1000", "name": "Cash in drawers", "hasCodes": true});
    assert!(unsaid["usual"].as_array().expect("a list").contains(&of_cash), "{unsaid}");
    let accounts = json!([
        {"kind": "revenue", "account": "8000"},
        {"kind": "revenue", "code": "VAT19", "account": "8400"},
        {"kind": "card", "code": "VISA", "account": "1360"},
    ]);
    let said = kit.patch(&admin, path, json!({"accounts": accounts})).await.data();
    assert_eq!(said["version"], 1);
    assert_eq!(kit.patch(&admin, path, json!({"accounts": accounts})).await.data()["version"], 1, "the same again");
    let entry = entries(&kit, &admin, "").await.remove(0);
    let booked = lines(&entry);
    let account =
        |kind: &str, code: &Json| booked.iter().find(|line| line[1] == kind && line[2] == *code).map(|line| &line[0]);
    assert_eq!(account("revenue", &json!("VAT19")), Some(&json!("8400")));
    assert_eq!(account("revenue", &json!("VAT7")), Some(&json!("8000")));
    assert_eq!(account("card", &json!("VISA")), Some(&json!("1360")));
    assert_eq!(account("returns", &json!("VAT19")), Some(&json!("4100")));
    kit.patch(&admin, path, json!({"accounts": [{"kind": "revenue", "account": null}]})).await.is(200);

    for (one, field) in [
        (json!({"kind": "sales", "account": "1"}), "accounts[0].kind"),
        (json!({"kind": "safe", "code": "X", "account": "1"}), "accounts[0].code"),
        (json!({"kind": "tax", "account": "=1+1"}), "accounts[0].account"),
    ] {
        kit.patch(&admin, path, json!({"accounts": [one]})).await.names(field);
    }
    let outdated = json!({"accounts": [{"kind": "tax", "account": "1776"}], "expectedVersion": 1});
    kit.patch(&admin, path, outdated).await.refused(409, "version_conflict");
    let (one, other) = tokio::join!(
        kit.patch(&admin, path, json!({"accounts": [{"kind": "tax", "account": "1776"}]})),
        kit.patch(&admin, path, json!({"accounts": [{"kind": "safe", "account": "1600"}]})),
    );
    one.is(200);
    other.is(200);
    let said = kit.get(&admin, path).await.data();
    assert_eq!(
        (column(&said["accounts"], "account"), &said["version"]),
        (vec!["1360", "8400", "1600", "1776"], &json!(4))
    );
    kit.role(&admin, "keeper", &["reports.z_report", "stores.edit"]).await;
    let ada = kit.person("ada", &[("keeper", Some(store))]).await;
    kit.get(&ada, path).await.is(200);
    kit.patch(&ada, path, json!({"accounts": []})).await.refused(403, "scope");
}

#[tokio::test]
async fn a_journal_goes_as_far_as_the_right_to_see_reports_and_a_month_at_the_most() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    for (number, store) in [(1, one), (2, two)] {
        book(&kit, number, &Doc::of(store, vec![(500, vec![])], vec![("CASH", "cash", 500)])).await;
    }
    assert_eq!(column(&json!(entries(&kit, &admin, "").await), "storeCode"), ["S01", "S02"]);
    kit.role(&admin, "reporter", &["reports.z_report"]).await;
    kit.role(&admin, "local", &["reports.view_local"]).await;
    let ada = kit.person("ada", &[("reporter", None), ("local", Some(one))]).await;
    assert_eq!(column(&json!(entries(&kit, &ada, "").await), "storeCode"), ["S01"]);
    let there = format!("/reports/journal?from={DAY}&to={DAY}&storeId={two}");
    kit.get(&ada, &there).await.refused(403, "scope");
    let bob = kit.person("bob", &[("local", None)]).await;
    kit.get(&bob, &there).await.refused(403, "forbidden");
    for (query, field) in [
        ("from=2026-11-01", "to"),
        ("from=soon&to=2026-11-02", "from"),
        ("from=2026-11-02&to=2026-11-01", "to"),
        ("from=2026-10-01&to=2026-11-01", "to"),
        ("from=2026-11-01&to=2026-11-02&format=pdf", "format"),
    ] {
        kit.get(&admin, &format!("/reports/journal?{query}")).await.names(field);
    }
    kit.get(&admin, "/reports/journal?from=2026-10-01&to=2026-10-31").await.is(200);
}
