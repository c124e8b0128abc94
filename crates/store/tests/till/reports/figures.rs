//! The figures of an X and of a Z are the same, and what they are of.

use serde_json::json;
use tillkeep_storage::entity::register;
use uuid::Uuid;

use super::{close, day, drawer, figures, flowers, moves, row, x, z};
use crate::kit::{Shop, cart, id, line, rows};

const HOUR: i64 = 3_600_000;

#[tokio::test]
async fn vector_z01_what_should_be_in_the_drawer_is_its_float_its_payments_and_its_movements() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let session = drawer(&person).await;
    person.sell(json!([flowers(2175)])).await.ok(201);
    let sold = person.sell(json!([flowers(3000), flowers(1850)])).await.ok(201);
    person.sell(json!([flowers(675)])).await.ok(201);
    let back = json!({
        "id": Uuid::now_v7(), "terminalId": "T1", "reason": "withered",
        "items": [{"saleItemId": sold["saleItems"][1]["id"], "quantity": 1}],
    });
    let path = format!("/pos/sales/{}/refunds", sold["id"].as_str().expect("an id"));
    person.post(&path, back).await.ok(201);
    for (kind, amount) in [("paid_in", 5000), ("paid_out", 1200), ("drop", 15_000)] {
        moves(&person, &session, kind, amount).await;
    }
    let shown = x(&person, &session).await;
    assert_eq!((&shown["expectedCash"], &shown["cash"]["expected"]), (&json!(14_650), &json!(14_650)));
    let closed = close(&person, &session, 14_650).await;
    assert_eq!((&closed["expectedCash"], &closed["cashVariance"]), (&json!(14_650), &json!(0)));
    let report = z(&person, &session).await;
    let cash = &report["cash"];
    for (key, amount) in [
        ("openingFloat", 20_000),
        ("payments", 2175 + 4850 + 675 - 1850),
        ("paidIn", 5000),
        ("floatAdd", 0),
        ("paidOut", 1200),
        ("drop", 15_000),
        ("counted", 14_650),
        ("variance", 0),
    ] {
        assert_eq!(cash[key], json!(amount), "{key} of {cash}");
    }
    assert_eq!((&report["saleCount"], &report["refundCount"]), (&json!(3), &json!(1)));
    assert_eq!(report["amounts"]["netRefunds"], json!(-1850));
    let tender = &report["tenders"][0];
    assert_eq!((&tender["salesAmount"], &tender["refundsAmount"]), (&json!(7700), &json!(-1850)));
    assert_eq!((&report["flags"], &report["version"]), (&json!([]), &json!(2)));
}

#[tokio::test]
async fn an_x_at_any_moment_has_the_figures_that_a_z_has_at_the_close() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let session = drawer(&person).await;
    let mut cheaper = line("TEA", 2);
    cheaper["unitPriceOverride"] = json!(1500);
    cheaper["overrideReason"] = json!("a scratched tin");
    let mut dented = line("TEA", 1);
    dented["lineDiscount"] = json!({"type": "percent", "bps": 1000, "reason": "a dent"});
    person.sell(json!([cheaper, dented])).await.ok(201);
    let card = json!([{"tenderId": id("CARD")}]);
    person.post("/pos/sales", cart(json!([line("BREAD", 3)]), card)).await.ok(201);
    let undone = person.sell(json!([line("BREAD", 1)])).await.ok(201);
    let path = format!("/pos/sales/{}/void", undone["id"].as_str().expect("an id"));
    person.post(&path, json!({"terminalId": "T1", "reason": "typed twice"})).await.ok(200);
    moves(&person, &session, "paid_in", 700).await;
    let shown = x(&person, &session).await;
    assert_eq!(shown, x(&person, &session).await, "it may be asked for again");
    let expected = shown["expectedCash"].as_i64().expect("an amount");
    close(&person, &session, expected).await;
    let report = z(&person, &session).await;
    assert_eq!(figures(&report), figures(&shown));

    let controls = &report["controls"];
    assert_eq!(controls["priceOverrides"], json!({"count": 1, "amount": 2 * (1999 - 1500)}));
    assert_eq!(controls["manualDiscounts"], json!({"count": 1, "amount": 200}));
    assert_eq!((&report["voidCount"], &report["voidAmount"]), (&json!(1), &json!(250)));
    assert_eq!(report["departments"].as_array().map(Vec::len), Some(1), "{report}");
    assert_eq!((&report["departments"][0]["name"], &report["itemCount"]), (&json!("Grocery"), &json!(6)));
    let receipts = json!([{"series": "01", "first": 1, "last": 3, "count": 3, "lost": []}]);
    assert_eq!(report["receipts"], receipts, "the voided one has its number");
    assert_eq!(report["chain"]["number"], json!(4), "three documents, one of them voided");
    assert_eq!(report["runningTotal"], json!({"before": 0, "after": report["totalAmount"]}));
    // What releases before this one read stands where it stood.
    let old = row(&shop, &session).await.totals.expect("totals").0;
    for key in [
        "saleCount",
        "refundCount",
        "voidCount",
        "settlements",
        "netAmount",
        "taxAmount",
        "totalAmount",
        "cashRounding",
        "openingFloat",
        "expectedCash",
        "tenders",
        "taxes",
        "firstReceiptNumber",
        "lastReceiptNumber",
    ] {
        assert!(!old[key].is_null(), "{key}");
    }
}

#[tokio::test]
async fn what_belongs_to_a_drawer_names_it_and_no_time_decides_that() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let session = drawer(&person).await;
    person.sell(json!([line("BREAD", 1)])).await.ok(201);
    // Beyond midnight, and beyond the hour at which a business day begins.
    shop.clock.advance(20 * HOUR);
    let person = shop.sign_in("administrator").await;
    let late = person.sell(json!([line("BREAD", 1)])).await.ok(201);
    assert_eq!(late["businessDate"], "2026-11-20", "that of the drawer");
    close(&person, &session, 20_500).await;
    let report = z(&person, &session).await;
    assert_eq!((&report["saleCount"], &report["flags"]), (&json!(2), &json!([])));
    assert_eq!(report["header"]["businessDate"], "2026-11-20");
    let listed = person.get("/reports/z?businessDateFrom=2026-11-20&businessDateTo=2026-11-20").await.ok(200);
    assert_eq!(listed[0]["sessionId"], json!(session));
    assert_eq!(person.get("/reports/z?businessDateFrom=2026-11-21").await.ok(200), json!([]));
}

#[tokio::test]
async fn receipts_are_told_by_series_and_numbers_that_were_lost_by_name() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let session = drawer(&person).await;
    for _ in 0..3 {
        person.sell(json!([line("BREAD", 1)])).await.ok(201);
    }
    shop.run("UPDATE sales SET receipt_number = 'S01-01-000005' WHERE receipt_number = 'S01-01-000003'").await;
    let with_a_hole = x(&person, &session).await;
    assert_eq!(with_a_hole["flags"], json!(["does_not_add_up"]), "3 and 4 are nowhere");
    let lost = shop.store.id;
    shop.insert::<tillkeep_storage::entity::lost_number::Entity>([tillkeep_storage::entity::lost_number::Model {
        store_id: lost,
        series: "receipt:01".into(),
        first: 2,
        last: 4,
        noticed_at: rows::made(),
    }])
    .await;
    let named = x(&person, &session).await;
    let range = json!([{"series": "01", "first": 1, "last": 5, "count": 3, "lost": [{"from": 3, "to": 4}]}]);
    assert_eq!((&named["receipts"], &named["flags"]), (&range, &json!([])), "2 came back");
    shop.run("UPDATE sales SET receipt_number = 'S01-01A-000001' WHERE receipt_number = 'S01-01-000005'").await;
    let lettered = x(&person, &session).await;
    let series = json!([
        {"series": "01", "first": 1, "last": 2, "count": 2, "lost": []},
        {"series": "01A", "first": 1, "last": 1, "count": 1, "lost": []},
    ]);
    assert_eq!((&lettered["receipts"], &lettered["flags"]), (&series, &json!([])));
}

#[tokio::test]
async fn the_total_of_a_register_goes_on_from_one_close_to_the_next() {
    let shop = Shop::open().await;
    shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let person = shop.sign_in("administrator").await;
    let mut before = 0;
    for amount in [700, 1100, 1300] {
        let session = day(&person, "01", "T1", amount).await;
        let report = z(&person, &session).await;
        assert_eq!(report["runningTotal"], json!({"before": before, "after": before + amount}));
        before += amount;
        assert_eq!(row(&shop, &session).await.running_total.map(|total| total.0), Some(before));
    }
    let there = shop.sign_in_at("administrator", "T2").await;
    let session = day(&there, "02", "T2", 500).await;
    assert_eq!(z(&there, &session).await["runningTotal"], json!({"before": 0, "after": 500}), "each has its own");
}

#[tokio::test]
async fn the_total_of_a_register_is_whole_after_drawers_came_back_late() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    for amount in [700, 1100, 1300] {
        day(&person, "01", "T1", amount).await;
    }
    // As if the third one was closed by a database that was put back, before the second one came from headquarters.
    shop.run("UPDATE register_sessions SET running_total = 2000 WHERE session_number = 3").await;
    let report = z(&person, &day(&person, "01", "T1", 500).await).await;
    assert_eq!(report["runningTotal"], json!({"before": 3100, "after": 3600}));
    let report = z(&person, &day(&person, "01", "T1", 100).await).await;
    assert_eq!(report["runningTotal"], json!({"before": 3600, "after": 3700}), "they are counted once");
}

#[tokio::test]
async fn a_cashier_of_a_blind_store_gets_an_x_without_amounts_and_of_others_drawers_none() {
    let shop = Shop::open_with(|own| own.blind_close = true).await;
    shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let cashier = shop.sign_in("cashier").await;
    cashier.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    cashier.sell(json!([flowers(71_993)])).await.ok(201);
    let session = drawer(&cashier).await;
    moves(&cashier, &session, "paid_in", 3331).await;
    let blind = x(&cashier, &session).await;
    assert_eq!((&blind["blind"], &blind["saleCount"]), (&json!(true), &json!(1)));
    assert_eq!(blind["movements"][0]["amount"], json!(3331), "what one has put in oneself is known");
    let text = blind.to_string();
    for figure in [71_993, 20_000 + 71_993, 20_000 + 71_993 + 3331, 71_993 + 3331] {
        // With what stands before it: ids have digits too.
        assert!(!text.contains(&format!(":{figure}")), "{figure} in {text}");
    }
    let paper = cashier.text("/reports/x?terminalId=T1&format=text").await;
    assert!(!paper.contains("719.93") && !paper.contains("953.24"), "{paper}");
    cashier.get(&format!("/reports/z/{session}")).await.refused(403, "forbidden");
    cashier.get("/reports/z").await.refused(403, "forbidden");

    let manager = shop.sign_in("store_manager").await;
    assert_eq!(x(&manager, &session).await["expectedCash"], json!(20_000 + 71_993 + 3331));
    let another = shop.sign_in_at("cashier", "T2").await;
    another.get(&format!("/reports/x?sessionId={session}")).await.refused(403, "scope");
    another.get("/reports/x").await.refused(404, "no_open_session");
    manager.get(&format!("/reports/z/{session}")).await.refused(409, "session_open");
    close(&manager, &session, 0).await;
    manager.get(&format!("/reports/x?sessionId={session}")).await.refused(404, "no_open_session");
    assert_eq!(z(&manager, &session).await["cash"]["variance"], json!(-(20_000 + 71_993 + 3331)));
}
