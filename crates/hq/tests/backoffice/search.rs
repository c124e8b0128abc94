//! One search over everything that the caller may see.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::Money;
use tillkeep_storage::entity::sale::{self, from_its_end};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, IntoActiveModel};
use uuid::Uuid;

use super::kit::{Kit, Person, column};

const KINDS: [(&str, &str); 5] = [
    ("receipts", "receiptNumber"),
    ("products", "sku"),
    ("customers", "customerNumber"),
    ("stores", "code"),
    ("people", "username"),
];

async fn sold(kit: &Kit, store_id: Uuid, receipt: &str) {
    kit.clock.advance(1000);
    let row = sale::Model {
        id: Uuid::now_v7(),
        store_id,
        receipt_number: receipt.to_owned(),
        receipt_end: Some(from_its_end(receipt)),
        sale_type: "sale".into(),
        status: "completed".into(),
        business_date: "2026-11-20".into(),
        completed_at: kit.clock.now(),
        currency_code: "USD".into(),
        total_amount: Money(1999),
        ..sale::Model::default()
    };
    let tx = kit.hq.db().begin().await.expect("begin");
    row.into_active_model().insert(&tx).await.expect("sale");
    tx.commit().await.expect("commit");
}

/// What is found of each kind: `receipts S01-01-000123, stores S01`.
async fn found(kit: &Kit, who: &Person, text: &str) -> String {
    let shown = kit.get(who, &format!("/search?q={text}")).await.data();
    assert_eq!(shown["incomplete"], json!([]));
    let of = |(kind, key): (&str, &str)| {
        let rows = column(&shown[kind], key);
        (!rows.is_empty()).then(|| format!("{kind} {}", rows.join(" ")))
    };
    KINDS.into_iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

async fn scene() -> (Kit, Person, [Uuid; 2]) {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let stores = [kit.store("S01").await, kit.store("S02").await];
    kit.product(&admin, "TEA-01", json!({"name": "Green tea"})).await;
    kit.product(&admin, "MUG", json!({"name": "Mug for tea"})).await;
    kit.post(&admin, "/customers", json!({"lastName": "Teague"})).await.is(201);
    kit.person("teo", &[("cashier", Some(stores[0]))]).await;
    kit.person("teamlead", &[("cashier", Some(stores[1]))]).await;
    sold(&kit, stores[0], "S01-01-000123").await;
    sold(&kit, stores[1], "S02-01-000123").await;
    (kit, admin, stores)
}

#[tokio::test]
async fn one_search_finds_every_kind_by_a_few_letters_in_any_case() {
    let (kit, admin, stores) = scene().await;
    assert_eq!(
        found(&kit, &admin, "TEA").await,
        "products TEA-01 MUG, customers HQ-000001, people teamlead",
        "by name"
    );
    assert_eq!(found(&kit, &admin, "mug").await, "products MUG");
    assert_eq!(found(&kit, &admin, "000123").await, "receipts S02-01-000123 S01-01-000123", "the newest first");
    assert_eq!(found(&kit, &admin, "s01-01-000123").await, "receipts S01-01-000123");
    assert_eq!(found(&kit, &admin, "s02").await, "stores S02");
    for nothing in ["t", "%20t%20", "nothing-such"] {
        assert_eq!(found(&kit, &admin, nothing).await, "", "{nothing}");
    }
    let receipt = kit.get(&admin, "/search?q=S01-01-000123").await.data()["receipts"][0].clone();
    let says = ["storeId", "storeCode", "businessDate", "totalAmount", "currencyCode", "currencyExponent", "status"];
    assert_eq!(
        json!(says.map(|key| receipt[key].clone())),
        json!([stores[0], "S01", "2026-11-20", 1999, "USD", 2, "completed"])
    );
    kit.get(&admin, "/search").await.names("q");
    kit.get(&admin, "/search?q=%20").await.names("q");
    kit.get(&admin, &format!("/search?q={}", "x".repeat(101))).await.names("q");
    kit.get(&admin, "/search?q=tea&kind=products").await.refused(422, "unknown_parameter");
}

#[tokio::test]
async fn at_most_five_of_a_kind_are_found() {
    let (kit, admin, _) = scene().await;
    for number in 0..9 {
        kit.product(&admin, &format!("BOX-{number}"), json!({})).await;
    }
    let shown: Json = kit.get(&admin, "/search?q=box").await.data();
    assert_eq!(column(&shown["products"], "sku"), ["BOX-0", "BOX-1", "BOX-2", "BOX-3", "BOX-4"]);
}

#[tokio::test]
async fn a_search_finds_of_each_kind_what_the_caller_may_see_and_where() {
    let (kit, admin, stores) = scene().await;
    for (role, code) in [
        ("auditor", "reports.view_global"),
        ("looker", "products.view"),
        ("host", "customers.view"),
        ("guide", "stores.view"),
        ("boss", "users.view"),
    ] {
        kit.role(&admin, role, &[code]).await;
    }
    for (role, text, there) in [
        ("auditor", "123", "receipts S01-01-000123"),
        ("looker", "tea", "products TEA-01 MUG"),
        ("host", "tea", "customers HQ-000001"),
        ("guide", "s0", "stores S01"),
        ("boss", "te", "people teo"),
    ] {
        let who = kit.person(&format!("one-{role}"), &[(role, Some(stores[0]))]).await;
        for other in ["123", "tea", "s0", "te"] {
            let got = found(&kit, &who, other).await;
            if other == text {
                assert_eq!(got, there, "{role} looks for {other}");
            } else {
                let kind = there.split(' ').next().expect("a kind");
                assert!(got.is_empty() || got.starts_with(kind) && !got.contains(','), "{role} of {other}: {got}");
                assert!(!got.contains("S02") && !got.contains("teamlead"), "{role} of {other}: {got}");
            }
        }
    }
    let nobody = kit.person("nobody", &[]).await;
    assert_eq!(found(&kit, &nobody, "tea").await, "");
}
