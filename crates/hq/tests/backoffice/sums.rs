//! Sales of any period, store, register, cashier and tender with what all of them come to, and as a file.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::{Instant, Money};
use tillkeep_storage::entity::{register_session, sale, sale_payment, store, tender};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, IntoActiveModel, Set};
use uuid::Uuid;

use super::kit::{Kit, column};

/// A document as the test knows it.
#[derive(Clone, Debug)]
struct Doc {
    store: Uuid,
    register: &'static str,
    cashier: Uuid,
    day: &'static str,
    sale_type: &'static str,
    status: &'static str,
    currency: &'static str,
    net: i64,
    tax: i64,
    rounding: i64,
    tenders: Vec<&'static str>,
}

async fn book(kit: &Kit, number: usize, doc: &Doc) -> Uuid {
    let row = sale::Model {
        id: Uuid::now_v7(),
        store_id: doc.store,
        register_code: doc.register.into(),
        receipt_number: format!("N-{number:03}"),
        business_date: doc.day.into(),
        completed_at: Instant::parse(&format!("{}T12:00:00Z", doc.day)).expect("an instant"),
        cashier_user_id: doc.cashier,
        cashier_name: "=SUM(A1)".into(),
        sale_type: doc.sale_type.into(),
        status: doc.status.into(),
        currency_code: doc.currency.into(),
        net_amount: Money(doc.net),
        tax_amount: Money(doc.tax),
        total_amount: Money(doc.net + doc.tax),
        cash_rounding: Money(doc.rounding),
        ..sale::Model::default()
    };
    let id = row.id;
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("sale");
    for (line_no, code) in (1..).zip(&doc.tenders) {
        let payment = sale_payment::Model {
            id: Uuid::now_v7(),
            sale_id: id,
            line_no,
            tender_code: (*code).to_owned(),
            ..sale_payment::Model::default()
        };
        payment.into_active_model().insert(&tx).await.expect("payment");
    }
    tx.commit().await.expect("commit");
    id
}

async fn in_yen(kit: &Kit, id: Uuid) {
    let mut row = kit.row::<store::Entity>(id).await.into_active_model();
    (row.currency_code, row.currency_exponent) = (Set("JPY".into()), Set(0));
    row.timezone = Set("Asia/Tokyo".into());
    let tx = kit.hq.db().begin().await.expect("begin");
    row.update(&tx).await.expect("a store");
    tx.commit().await.expect("commit");
}

/// Which documents are meant.
type Is<'a> = Box<dyn Fn(&Doc) -> bool + 'a>;

/// What documents come to, in the words of the answer.
fn expected(docs: &[&Doc]) -> Vec<Json> {
    let mut by_currency: BTreeMap<&str, Vec<&Doc>> = BTreeMap::new();
    for doc in docs {
        by_currency.entry(doc.currency).or_default().push(doc);
    }
    let of = |(currency, docs): (&str, Vec<&Doc>)| {
        let living: Vec<&&Doc> = docs.iter().filter(|doc| doc.status != "voided").collect();
        let refunds: Vec<&&&Doc> = living.iter().filter(|doc| doc.sale_type == "refund").collect();
        json!({
            "currencyCode": currency,
            "currencyExponent": if currency == "JPY" { 0 } else { 2 },
            "count": living.len(),
            "refundCount": refunds.len(),
            "voidedCount": docs.len() - living.len(),
            "netAmount": living.iter().map(|doc| doc.net).sum::<i64>(),
            "taxAmount": living.iter().map(|doc| doc.tax).sum::<i64>(),
            "totalAmount": living.iter().map(|doc| doc.net + doc.tax).sum::<i64>(),
            "cashRounding": living.iter().map(|doc| doc.rounding).sum::<i64>(),
            "refundAmount": refunds.iter().map(|doc| doc.net + doc.tax).sum::<i64>(),
        })
    };
    by_currency.into_iter().map(of).collect()
}

struct Scene {
    kit: Kit,
    admin: super::kit::Person,
    stores: [Uuid; 2],
    cashiers: [Uuid; 2],
    docs: Vec<Doc>,
}

async fn scene() -> Scene {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let stores = [kit.store("S01").await, kit.store("S02").await];
    in_yen(&kit, stores[1]).await;
    let cashiers = [kit.person("mia", &[]).await.id, kit.person("tom", &[]).await.id];
    let mut docs = Vec::new();
    for number in 0..60_i64 {
        let place = usize::try_from(number).expect("a place");
        let is_refund = number % 7 == 3;
        let sign = if is_refund { -1 } else { 1 };
        docs.push(Doc {
            store: stores[place % 2],
            register: ["01", "02", "03"][place % 3],
            cashier: cashiers[usize::from(place % 5 == 0)],
            day: ["2026-11-18", "2026-11-19", "2026-11-20"][place / 20],
            sale_type: if is_refund { "refund" } else { "sale" },
            status: if number % 11 == 5 { "voided" } else { "completed" },
            currency: ["USD", "JPY"][place % 2],
            net: sign * (100 + 13 * number),
            tax: sign * (9 + number),
            rounding: number % 3 - 1,
            tenders: match number % 4 {
                0 => vec!["CASH"],
                1 => vec!["CARD"],
                2 => vec!["CARD", "CASH"],
                _ => vec!["CASH", "CASH"],
            },
        });
    }
    for (number, doc) in docs.iter().enumerate() {
        book(&kit, number, doc).await;
    }
    Scene { kit, admin, stores, cashiers, docs }
}

#[tokio::test]
async fn the_sums_are_of_all_that_is_listed_and_not_of_a_page() {
    let Scene { kit, admin, stores, cashiers, docs } = scene().await;
    let asked: Vec<(String, Is<'_>)> = vec![
        (String::new(), Box::new(|_| true)),
        (format!("storeId={}", stores[1]), Box::new(|doc| doc.store == stores[1])),
        ("registerCode=02".into(), Box::new(|doc| doc.register == "02")),
        (format!("cashierUserId={}", cashiers[1]), Box::new(|doc| doc.cashier == cashiers[1])),
        ("tenderCode=CARD".into(), Box::new(|doc| doc.tenders.contains(&"CARD"))),
        ("tenderCode=CHEQUE".into(), Box::new(|_| false)),
        ("status=voided".into(), Box::new(|doc| doc.status == "voided")),
        (
            format!("storeId={}&businessDateFrom=2026-11-19&businessDateTo=2026-11-19", stores[0]),
            Box::new(|doc| doc.store == stores[0] && doc.day == "2026-11-19"),
        ),
        (
            "businessDateTo=2026-11-19&tenderCode=CASH&registerCode=01&saleType=sale".into(),
            Box::new(|doc| {
                doc.day <= "2026-11-19"
                    && doc.tenders.contains(&"CASH")
                    && doc.register == "01"
                    && doc.sale_type == "sale"
            }),
        ),
    ];
    for (query, is) in asked {
        let meant: Vec<&Doc> = docs.iter().filter(|doc| is(doc)).collect();
        for page in ["pageSize=2", "pageSize=7&page=2&sort=totalAmount"] {
            let got = kit.get(&admin, format!("/sales?sums=true&{page}&{query}").trim_end_matches('&')).await;
            assert_eq!(got.body["pagination"]["total"], meant.len(), "{query}: {}", got.text);
            assert_eq!(got.body["sums"], json!(expected(&meant)), "{query} {page}");
        }
    }
    for query in ["", "?sums=false"] {
        let without = kit.get(&admin, &format!("/sales{query}")).await;
        assert_eq!((&without.body["sums"], without.body["data"].as_array().map(Vec::len)), (&json!([]), Some(50)));
    }
    kit.get(&admin, "/sales?sums=perhaps").await.names("sums");
    kit.get(&admin, &format!("/sales?tenderCode={}", "x".repeat(201))).await.names("tenderCode");
}

#[tokio::test]
async fn sums_are_cut_to_the_stores_of_whoever_asks() {
    let Scene { kit, admin, stores, docs, .. } = scene().await;
    kit.role(&admin, "auditor", &["reports.view_global"]).await;
    let auditor = kit.person("ada", &[("auditor", Some(stores[0]))]).await;
    let theirs: Vec<&Doc> = docs.iter().filter(|doc| doc.store == stores[0]).collect();
    assert_eq!(kit.get(&auditor, "/sales?pageSize=1&sums=true").await.body["sums"], json!(expected(&theirs)));
    let file = kit.get(&auditor, "/sales?format=csv").await;
    assert_eq!(file.text.lines().count(), 1 + theirs.len());
    kit.get(&auditor, &format!("/sales?format=csv&storeId={}", stores[1])).await.refused(403, "scope");
}

#[tokio::test]
async fn whoever_keeps_a_list_as_a_file_is_in_the_audit_log_with_what_was_asked() {
    let Scene { kit, admin, stores, .. } = scene().await;
    kit.get(&admin, "/sales?pageSize=1").await.is(200);
    kit.get(&admin, &format!("/sales?format=csv&storeId={}&businessDateFrom=2026-11-19", stores[0])).await.is(200);
    kit.get(&admin, "/register-sessions?format=csv").await.is(200);
    let of_store = json!({"storeId": stores[0], "businessDateFrom": "2026-11-19"});
    for (action, query) in [("sales.export", of_store), ("drawers.export", json!({}))] {
        let lines = kit.get(&admin, &format!("/audit-log?action={action}")).await.data();
        assert_eq!(lines.as_array().map(Vec::len), Some(1), "{lines}");
        assert_eq!((&lines[0]["userId"], &lines[0]["details"]["query"]), (&json!(admin.id), &query), "{lines}");
    }
}

#[tokio::test]
async fn amounts_whose_sum_no_number_holds_come_to_the_largest_one() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let doc = Doc {
        store,
        register: "01",
        cashier: admin.id,
        day: "2026-11-20",
        sale_type: "sale",
        status: "completed",
        currency: "USD",
        net: i64::MAX,
        tax: 0,
        rounding: 0,
        tenders: vec![],
    };
    for number in 0..2 {
        book(&kit, number, &doc).await;
    }
    assert_eq!(kit.get(&admin, "/sales?sums=true").await.body["sums"][0]["netAmount"], json!(i64::MAX));
}

#[tokio::test]
async fn a_file_has_all_that_is_listed_as_decimals_with_formulas_that_are_none() {
    let Scene { kit, admin, stores, docs, .. } = scene().await;
    let got = kit.get(&admin, &format!("/sales?format=csv&sort=receiptNumber&pageSize=2&storeId={}", stores[1])).await;
    got.is(200);
    assert_eq!(got.headers["content-type"], "text/csv; charset=utf-8; header=present");
    assert_eq!(got.headers["content-disposition"], "attachment; filename=\"sales.csv\"");
    let text = got.text.strip_prefix('\u{feff}').expect("a byte order mark");
    assert!(text.ends_with("\r\n"));
    let lines: Vec<Vec<&str>> = text.trim_end().split("\r\n").map(|line| line.split(',').collect()).collect();
    let cell = |line: usize, name: &str| {
        let place = lines[0].iter().position(|column| *column == name).unwrap_or_else(|| panic!("{name}"));
        lines[line][place]
    };
    let theirs: Vec<(usize, &Doc)> = docs.iter().enumerate().filter(|(_, doc)| doc.store == stores[1]).collect();
    assert_eq!(lines.len(), 1 + theirs.len());
    for (line, (number, doc)) in (1..).zip(theirs) {
        assert_eq!(cell(line, "receiptNumber"), format!("N-{number:03}"));
        assert_eq!(cell(line, "totalAmount"), (doc.net + doc.tax).to_string(), "yen have no decimals");
        assert_eq!(cell(line, "cashierName"), "\"'=SUM(A1)\"");
        assert_eq!((cell(line, "storeCode"), cell(line, "currencyCode")), ("S02", "JPY"));
        assert_eq!(cell(line, "completedAt"), format!("{}T12:00:00.000Z", doc.day));
        assert_eq!(cell(line, "localTime"), format!("{} 21:00:00", doc.day));
    }
    assert!(!text.contains("costAmount"));
    let dollars = kit.get(&admin, &format!("/sales?format=csv&sort=receiptNumber&storeId={}", stores[0])).await.text;
    // The first one: 1.00 and 0.09 of tax.
    assert!(dollars.lines().nth(1).is_some_and(|line| line.contains(",1.00,0.09,1.09,-0.01,")), "{dollars}");
    kit.get(&admin, "/sales?format=xml").await.names("format");
}

#[tokio::test]
async fn the_choices_of_a_list_come_by_the_names_that_headquarters_has() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    kit.role(&admin, "auditor", &["reports.view_global"]).await;
    let auditor = kit.person("ada", &[("auditor", Some(one))]).await;
    kit.person("mia", &[("cashier", Some(one))]).await;
    kit.person("tom", &[("cashier", Some(two))]).await;
    let tx = kit.hq.db().begin().await.expect("begin");
    for (store_id, code) in [(one, "01"), (one, "01"), (one, "02"), (two, "09")] {
        let drawer = register_session::Model {
            id: Uuid::now_v7(),
            store_id,
            register_code: code.into(),
            ..register_session::Model::default()
        };
        drawer.into_active_model().insert(&tx).await.expect("drawer");
    }
    tx.commit().await.expect("commit");
    let seen = kit.get(&auditor, "/sales/choices").await.data();
    assert_eq!(column(&seen["stores"], "code"), ["S01"]);
    assert_eq!(seen["registers"], json!(["01", "02"]));
    assert_eq!(column(&seen["cashiers"], "name"), ["ada", "admin", "mia"]);
    let all = kit.get(&admin, "/sales/choices").await.data();
    assert_eq!((column(&all["stores"], "code"), &all["registers"]), (vec!["S01", "S02"], &json!(["01", "02", "09"])));
    assert_eq!(column(&all["cashiers"], "name"), ["ada", "admin", "mia", "tom"]);
    let there = kit.get(&admin, &format!("/sales/choices?storeId={two}")).await.data();
    assert_eq!((&there["registers"], column(&there["cashiers"], "name")), (&json!(["09"]), vec!["admin", "tom"]));
    let codes = column(&all["tenders"], "code").join(" ");
    assert!(codes.contains("CASH"), "the seeded ones: {codes}");
    let cash = column(&all["tenders"], "code").iter().position(|code| *code == "CASH").expect("cash");
    let known: Vec<tender::Model> = {
        use tillkeep_storage::raw::sea_orm::EntityTrait;
        tender::Entity::find().all(kit.hq.db().reader()).await.expect("tenders")
    };
    let name = &known.iter().find(|tender| tender.code == "CASH").expect("cash").name;
    assert_eq!(all["tenders"][cash]["name"], json!(name));
    kit.get(&auditor, &format!("/sales/choices?storeId={two}")).await.refused(403, "scope");
}
