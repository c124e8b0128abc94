//! A drawer whose figures do not add up is closed, and says so.

use serde_json::json;

use super::{close, drawer, open, row, x, z};
use crate::kit::{Shop, line};

const ALARM: &str = "drawer_does_not_add_up";

#[tokio::test]
async fn figures_that_were_changed_in_the_database_close_with_a_flag_and_an_alarm() {
    for damage in [
        "UPDATE sale_payments SET amount = amount + 1",
        "UPDATE sales SET net_amount = net_amount + 1",
        "UPDATE sale_items SET net_amount = net_amount + 1",
        "UPDATE sales SET tax_lines = '{}'",
        "UPDATE sales SET receipt_number = 'S01-01-000009' WHERE receipt_number = 'S01-01-000002'",
    ] {
        let shop = Shop::open().await;
        let person = shop.selling().await;
        let session = drawer(&person).await;
        person.sell(json!([line("TEA", 1)])).await.ok(201);
        person.sell(json!([line("BREAD", 1)])).await.ok(201);
        assert_eq!(x(&person, &session).await["flags"], json!([]), "{damage}");
        shop.run(damage).await;
        let closed = close(&person, &session, 20_000).await;
        assert_eq!(closed["status"], "closed", "{damage}");
        assert_eq!(z(&person, &session).await["flags"], json!(["does_not_add_up"]), "{damage}");
        assert!(shop.alarms().contains(&ALARM), "{damage}");
        assert!(row(&shop, &session).await.totals.is_some(), "{damage}");

        let next = open(&person, "01").await;
        person.sell(json!([line("BREAD", 1)])).await.ok(201);
        assert!(shop.alarms().contains(&ALARM), "{damage}: until a drawer of it adds up");
        close(&person, &next, 20_250).await;
        assert!(!shop.alarms().contains(&ALARM), "{damage}");
        assert_eq!(z(&person, &next).await["flags"], json!([]), "{damage}");
    }
}

#[tokio::test]
async fn what_tills_say_was_removed_keeps_no_drawer_open_however_much_it_is() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let session = drawer(&person).await;
    for _ in 0..2 {
        person.sell(json!([line("BREAD", 1)])).await.ok(201);
    }
    shop.run(r#"UPDATE sales SET removed = '{"count": 1, "amount": 9223372036854775807}'"#).await;
    assert_eq!(close(&person, &session, 20_500).await["status"], "closed");
    let removed = z(&person, &session).await["controls"]["removed"].clone();
    assert_eq!((&removed["count"], &removed["amount"]), (&json!(2), &json!(i64::MAX)));
}

#[tokio::test]
async fn a_drawer_that_an_earlier_release_closed_is_read_as_it_was() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let session = drawer(&person).await;
    person.sell(json!([line("BREAD", 2)])).await.ok(201);
    close(&person, &session, 20_500).await;
    // As 0.2 stored it: thirteen fields and no version.
    let totals = json!({
        "saleCount": 1, "refundCount": 0, "voidCount": 0, "settlements": {"count": 0, "amount": 0}, "netAmount": 500,
        "taxAmount": 0, "totalAmount": 500, "cashRounding": 0, "openingFloat": 20_000, "expectedCash": 20_500,
        "tenders": [{"tenderId": null, "tenderCode": "CASH", "tenderKind": "cash", "count": 1, "amount": 500}],
        "taxes": [], "firstReceiptNumber": "S01-01-000001", "lastReceiptNumber": "S01-01-000001",
    });
    shop.run(&format!("UPDATE register_sessions SET totals = '{totals}'")).await;
    let report = z(&person, &session).await;
    assert_eq!((&report["version"], &report["totalAmount"]), (&json!(1), &json!(500)));
    assert_eq!(report["cash"]["counted"], json!(20_500));
    assert_eq!(report["header"]["sessionNumber"], json!(1));
    assert_eq!(report["header"]["openedByName"], "A administrator");
    assert_eq!(report["runningTotal"], json!({"before": 0, "after": 500}));
    let listed = person.get("/reports/z").await.ok(200);
    assert_eq!(listed[0]["header"], report["header"]);
    let paper = person.text(&format!("/reports/z/{session}?format=text")).await;
    assert!(paper.contains("5.00") && paper.contains("S01-01-000001"), "{paper}");

    let second = open(&person, "01").await;
    person.sell(json!([line("BREAD", 1)])).await.ok(201);
    close(&person, &second, 20_250).await;
    let made = super::zz(&person, super::of_register("01")).await.ok(201);
    assert_eq!((&made["totals"]["sums"]["totalAmount"], &made["totals"]["gaps"]), (&json!(750), &json!([])));
    assert_eq!(made["totals"]["runningTotal"], json!({"before": 0, "after": 750}));
}
