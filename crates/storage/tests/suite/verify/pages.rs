//! The checker reads in pages: what it finds does not depend on how many rows a page has, and what it holds does not grow with what
//! there is.

use serde_json::json;
use tillkeep_storage::entity::sale;
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::{Side, count};
use uuid::Uuid;

use super::scene::{Scene, after_by, open_drawer, scene, sell, send};
use crate::kit::chain::{Chain, id, sender};
use crate::kit::envelopes;
use crate::kit::{Hq, both};

/// Rows of a page: more than there are types, products and people, of which some are read at once.
const PAGE: usize = 40;
/// Sales of several pages, of rows and of documents.
const SALES: i64 = 110;

/// Damages that nothing but rows that are compared one by one shows, and those that are judged together.
const DAMAGES: &[(&[Side], &[&str])] = &[
    (&[], &[]),
    (&[Side::Hq], &["UPDATE sales SET note = 'changed'"]),
    (&[Side::Hq], &["DELETE FROM sale_payments"]),
    (&[Side::Hq], &["UPDATE sales SET receipt_number = 'S01-01-000001', flags = '[\"looked_at\", \"number_ahead\"]'"]),
    (&[Side::Hq], &["UPDATE register_sessions SET cash_movements = '[]', zz_number = 2"]),
    (&[Side::Hq], &["UPDATE sync_log SET status = 'retried', resolved_by = store_id"]),
    (&[Side::Hq], &["DELETE FROM sync_log", "DELETE FROM role_permissions"]),
    (
        &[Side::Store],
        &["DELETE FROM sync_outbox_sent WHERE seq = 2", "UPDATE sync_outbox_sent SET seq = 17 WHERE seq = 5"],
    ),
    (&[Side::Store], &["UPDATE register_sessions SET cash_movements = '[]', running_total = 1, store_zz_number = 3"]),
    (&[Side::Store], &["UPDATE register_sessions SET totals = REPLACE(totals, '1', '2'), session_number = 3"]),
    (&[Side::Store], &["UPDATE zz_reports SET register_code = NULL", "UPDATE products SET name = sku_folded"]),
    (&[Side::Store], &["UPDATE sale_items SET price_source = 'override', regular_price = 2000, line_discount = 1"]),
    (
        &[Side::Store],
        &["UPDATE inventory_adjustments SET average_cost_after = 480", "UPDATE users SET username_folded = 'eve'"],
    ),
    (&[Side::Store, Side::Hq], &["UPDATE chain_entries SET hash = 'another'", "UPDATE sale_chains SET number = 1"]),
];

#[tokio::test]
async fn what_is_found_does_not_depend_on_how_many_rows_a_page_has() {
    for hq in both().await {
        let scene = scene(hq).await;
        for (sides, damage) in DAMAGES {
            let said = async |rows| {
                let mut found: Vec<String> =
                    after_by(&scene, sides, damage, rows).await.iter().map(ToString::to_string).collect();
                found.sort_unstable();
                found
            };
            let whole = said(2000).await;
            assert_eq!(whole.is_empty(), damage.is_empty(), "{damage:?}");
            for rows in [1, 3] {
                assert_eq!(said(rows).await, whole, "{damage:?} by pages of {rows}");
            }
        }
    }
}

/// The scene with so many sales, all of which are sent.
async fn many_sales(hq: Hq) -> Scene {
    let scene = scene(hq).await;
    let (tea, rice) = (id("product:TEA"), id("product:RICE"));
    let chain = Chain { first: sender("S01"), second: sender("S02"), tea, rice };
    let drawer = open_drawer(&scene.shop, "another drawer", 2).await;
    for number in 3..=SALES {
        let sale = id(&format!("sale {number}"));
        let mut data = envelopes::sale(&chain.first, sale, &[(tea, 1)]);
        data["receiptNumber"] = format!("S01-01-{number:06}").into();
        data["registerCode"] = "01".into();
        data["registerSessionId"] = json!(drawer.id);
        data["taxLines"] = json!([]);
        sell(&scene.shop, sale, &data, tea, 1).await;
    }
    send(&scene.hq, &scene.shop, &chain).await;
    scene.shop.pull_everything(&scene.hq, 100).await;
    scene
}

/// Ids and receipt numbers of a sale of the first, of a middle and of the last page.
async fn of_three_pages(scene: &Scene) -> [(Uuid, String); 3] {
    let sales = sale::Entity::find().all(scene.shop.db.reader()).await.expect("the sales");
    let mut sales: Vec<(Uuid, String)> = sales.into_iter().map(|sale| (sale.id, sale.receipt_number)).collect();
    sales.sort_unstable();
    assert_eq!(i64::try_from(sales.len()).expect("few"), SALES);
    [0, sales.len() / 2, sales.len() - 1].map(|place| sales[place].clone())
}

/// What is done to one sale, and the invariant and the table under which it must be found; with the sale as its row.
const TO_A_SALE: &[(Side, &[&str], &str, &str, bool)] = &[
    (Side::Hq, &["UPDATE sales SET note = 'changed' WHERE id = $sale"], "I2", "sales", true),
    (Side::Hq, &["UPDATE sale_items SET sku = 'OTHER' WHERE sale_id = $sale"], "I2", "sale_items", false),
    (
        Side::Store,
        &[
            "DELETE FROM chain_entries WHERE sale_id = $sale",
            "DELETE FROM sale_payments WHERE sale_id = $sale",
            "DELETE FROM sale_items WHERE sale_id = $sale",
            "DELETE FROM sales WHERE id = $sale",
        ],
        "I3",
        "sales",
        true,
    ),
    (Side::Hq, &["UPDATE sales SET flags = '[\"looked_at\"]'"], "I5", "sales", true),
    (Side::Hq, &["UPDATE sales SET receipt_number = 'S01-01-000000' WHERE id = $sale"], "I2", "sales", true),
    (Side::Store, &["UPDATE sales SET receipt_number = $next WHERE id = $sale"], "I6", "sales", true),
    (Side::Store, &["UPDATE chain_entries SET hash = 'another' WHERE sale_id = $sale"], "I15", "chain_entries", false),
    (
        Side::Hq,
        &["DELETE FROM sync_log WHERE entity_type = 'sales' AND seq IN (SELECT number FROM (SELECT seq AS number, \
           ROW_NUMBER() OVER (ORDER BY entity_id) AS place FROM sync_log WHERE entity_type = 'sales') numbered \
           WHERE place = $place)"],
        "I9",
        "sync_outbox_sent",
        false,
    ),
];

#[tokio::test]
async fn the_checker_holds_no_more_than_a_page_and_finds_what_is_wrong_in_each() {
    let scene = many_sales(Hq::sqlite().await).await;
    count::most_rows();
    assert_eq!(after_by(&scene, &[], &[], PAGE).await, []);
    let most = count::most_rows();
    assert!(most <= PAGE, "a statement gave {most} rows");
    for (page, (sale, receipt)) in of_three_pages(&scene).await.into_iter().enumerate() {
        let number: i64 = receipt.rsplit('-').next().and_then(|number| number.parse().ok()).expect("a number");
        let place = [1, SALES / 2, SALES][page];
        let (row, next) = (format!("x'{}'", sale.simple()), format!("'S01-01-{:06}'", number % SALES + 1));
        for (side, damage, invariant, table, is_of_it) in TO_A_SALE {
            let damage: Vec<String> = damage
                .iter()
                .map(|sql| sql.replace("$sale", &row).replace("$next", &next).replace("$place", &place.to_string()))
                .collect();
            let damage: Vec<&str> = damage.iter().map(String::as_str).collect();
            let found = after_by(&scene, &[*side], &damage, PAGE).await;
            let is_found = found.iter().any(|finding| {
                let is_it = !is_of_it || finding.id == sale.to_string();
                finding.invariant == *invariant && finding.entity == *table && is_it
            });
            assert!(is_found, "{damage:?} is no finding of {invariant} in {table}: {found:#?}");
        }
    }
}
