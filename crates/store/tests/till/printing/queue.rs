//! What is printed, and as what.

use serde_json::json;
use tillkeep_storage::entity::register;
use uuid::Uuid;

use super::{Printing, again, ask, has, jobs, reprints, sell, selling_with, set, state, until, until_so};
use crate::kit::printer::{Mood, Printer};
use crate::kit::{Shop, rows};

const PULSE: [u8; 5] = [0x1B, b'p', 0, 25, 250];
const CUT: [u8; 4] = [0x1D, b'V', b'A', 0];

#[tokio::test]
async fn a_sale_is_printed_once_and_the_answer_says_that_it_waits() {
    let shop = Shop::open().await;
    let printer = Printer::plugged_in(Mood::default()).await;
    let person = selling_with(&shop, printer.address).await;
    let sale = sell(&person, "CARD").await;
    assert_eq!(sale["print"]["state"], "waiting");
    assert_eq!(sale["print"]["printer"]["state"], "unknown", "it was not asked yet");
    assert_eq!(state(&person).await["state"], "unknown");
    let _printing = Printing::begin(&shop);
    until(&shop, &["printed"]).await;
    let papers = printer.papers();
    assert_eq!(papers.len(), 1);
    for text in ["First Street", sale["receiptNumber"].as_str().expect("a number")] {
        assert!(has(&papers[0], text), "{text}");
    }
    assert!(papers[0].starts_with(b"\x1b@\x1bt\x13") && papers[0].ends_with(&CUT), "{}", papers[0].escape_ascii());
    let listed = person.get("/pos/prints").await.ok(200);
    assert_eq!(listed[0]["id"], sale["print"]["id"]);
    assert_eq!((&listed[0]["state"], &listed[0]["copy"]), (&json!("printed"), &json!(0)));
    assert_eq!(listed[0]["receiptNumber"], sale["receiptNumber"]);
    assert_eq!(state(&person).await["state"], "ready");
    assert_eq!(reprints(&shop, &sale).await, 0);
}

#[tokio::test]
async fn a_sale_that_is_sent_again_prints_nothing_more_and_says_how_far_its_paper_is() {
    let shop = Shop::open().await;
    let printer = Printer::plugged_in(Mood::default()).await;
    let person = selling_with(&shop, printer.address).await;
    let body = crate::kit::cart(json!([crate::kit::line("TEA", 1)]), json!([{"tenderId": crate::kit::id("CARD")}]));
    let first = person.post("/pos/sales", body.clone()).await.ok(201);
    let _printing = Printing::begin(&shop);
    until(&shop, &["printed"]).await;
    let second = person.post("/pos/sales", body).await.ok(200);
    assert_eq!(second["print"]["id"], first["print"]["id"]);
    assert_eq!(second["print"]["state"], "printed");
    assert_eq!(printer.papers().len(), 1);
}

#[tokio::test]
async fn the_drawer_opens_before_anything_is_printed_and_for_cash_alone() {
    let shop = Shop::open().await;
    let printer = Printer::plugged_in(Mood::default()).await;
    let person = selling_with(&shop, printer.address).await;
    let _printing = Printing::begin(&shop);
    let cash = sell(&person, "CASH").await;
    until(&shop, &["printed"]).await;
    sell(&person, "CARD").await;
    until(&shop, &["printed", "printed"]).await;
    again(&person, &cash["print"]).await;
    until_so(&shop, |jobs| jobs.iter().all(|job| job.state == "printed") && jobs.iter().any(|job| job.copy > 0)).await;
    let papers = printer.papers();
    let opens = papers.iter().map(|paper| paper.windows(5).any(|part| part == PULSE)).collect::<Vec<_>>();
    assert_eq!(opens, [true, false, false], "a copy opens no drawer");
    assert_eq!(papers[0][5..10], PULSE, "after the printer is set up, and before the first letter");
}

#[tokio::test]
async fn every_paper_but_the_first_is_a_copy_and_counted_here_alone() {
    let shop = Shop::open().await;
    let printer = Printer::plugged_in(Mood::default()).await;
    let person = shop.selling().await;
    set(&person, "01", printer.address, false).await;
    let _printing = Printing::begin(&shop);
    let sale = sell(&person, "CARD").await;
    assert_eq!(sale["print"], json!(null), "this register prints what is asked for");
    let waiting = shop.outbox().await.len();
    let path = format!("/pos/sales/{}/prints", sale["id"].as_str().expect("an id"));
    let first = json!({"id": Uuid::now_v7(), "to": "printer"});
    assert_eq!(person.post(&path, first.clone()).await.ok(201)["copy"], 0);
    assert_eq!(person.post(&path, first.clone()).await.ok(200)["copy"], 0, "the same request");
    let mut other = first;
    other["kind"] = json!("gift");
    person.post(&path, other).await.refused_at(409, "id_reused", "id");
    until(&shop, &["printed"]).await;
    assert_eq!(ask(&person, &sale, "browser").await["copy"], 1);
    assert_eq!(ask(&person, &sale, "printer").await["copy"], 2);
    until(&shop, &["printed", "printed", "printed"]).await;
    let gift = json!({"id": Uuid::now_v7(), "to": "browser", "kind": "gift"});
    assert_eq!(person.post(&path, gift).await.ok(201)["copy"], 0, "the first gift receipt is another paper");
    let copy = json!({"id": Uuid::now_v7(), "to": "browser", "kind": "copy"});
    assert_eq!(person.post(&path, copy).await.ok(201)["copy"], 3);
    assert_eq!(reprints(&shop, &sale).await, 3);
    let papers = printer.papers();
    assert_eq!([has(&papers[0], "COPY"), has(&papers[1], "COPY 2")], [false, true]);
    assert_eq!(shop.outbox().await.len(), waiting, "headquarters hears nothing of it");
}

#[tokio::test]
async fn what_a_browser_prints_is_marked_as_its_job_says() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let (sale, other) = (sell(&person, "CARD").await, sell(&person, "CARD").await);
    let paths = [&sale, &other].map(|of| format!("/pos/sales/{}", of["id"].as_str().expect("an id")));
    for (kind, copy) in [("gift", json!(null)), ("gift", json!(1)), ("sale", json!(null)), ("sale", json!(2))] {
        let asked = json!({"id": Uuid::now_v7(), "to": "browser", "kind": kind});
        let job = person.post(&format!("{}/prints", paths[0]), asked).await.ok(201);
        let query = format!("receipt?print={}", job["id"].as_str().expect("an id"));
        let paper = person.get(&format!("{}/{query}", paths[0])).await.ok(200);
        assert_eq!((&paper["copy"], paper["totals"].is_null()), (&copy, kind == "gift"), "{kind}");
        person.get(&format!("{}/{query}&kind=sale", paths[0])).await.refused_at(422, "validation", "kind");
        person.get(&format!("{}/{query}", paths[1])).await.refused(404, "not_found");
    }
}

#[tokio::test]
async fn a_void_and_a_refund_have_papers_of_their_own() {
    let shop = Shop::open().await;
    let printer = Printer::plugged_in(Mood::default()).await;
    let person = selling_with(&shop, printer.address).await;
    let _printing = Printing::begin(&shop);
    let sale = sell(&person, "CASH").await;
    until(&shop, &["printed"]).await;
    let path = |act: &str| format!("/pos/sales/{}/{act}", sale["id"].as_str().expect("an id"));
    let voided = person.post(&path("void"), json!({"terminalId": "T1", "reason": "a mistake"})).await.ok(200);
    assert_eq!(voided["print"]["state"], "waiting");
    assert_ne!(voided["print"]["id"], sale["print"]["id"]);
    until(&shop, &["printed", "printed"]).await;
    let other = sell(&person, "CASH").await;
    let items = json!([{"saleItemId": other["saleItems"][0]["id"], "quantity": 1, "reason": "broken"}]);
    let refunds = format!("/pos/sales/{}/refunds", other["id"].as_str().expect("an id"));
    let refund = json!({"id": Uuid::now_v7(), "terminalId": "T1", "items": items});
    let refund = person.post(&refunds, refund).await.ok(201);
    until(&shop, &["printed"; 4]).await;
    let papers = printer.papers();
    let numbers = [&sale, &sale, &other, &refund].map(|of| of["receiptNumber"].as_str().expect("a number").to_owned());
    for (paper, number) in papers.iter().zip(&numbers) {
        assert!(has(paper, number), "{number}");
        assert!(paper.windows(5).any(|part| part == PULSE), "cash goes in or out: {number}");
    }
}

#[tokio::test]
async fn a_sale_that_is_voided_before_its_paper_is_out_has_the_one_that_says_so() {
    let shop = Shop::open().await;
    let printer = Printer::plugged_in(Mood::default()).await;
    let person = selling_with(&shop, printer.address).await;
    let sale = sell(&person, "CASH").await;
    let path = format!("/pos/sales/{}/void", sale["id"].as_str().expect("an id"));
    person.post(&path, json!({"terminalId": "T1", "reason": "a mistake"})).await.ok(200);
    let _printing = Printing::begin(&shop);
    until_so(&shop, |jobs| jobs.iter().all(|job| job.state != "waiting" && job.state != "printing")).await;
    let papers = printer.papers();
    assert_eq!((papers.len(), has(&papers[0], "VOIDED")), (1, true));
    let first = jobs(&shop).await.into_iter().find(|job| json!(job.id) == sale["print"]["id"]).expect("its paper");
    assert_eq!(first.error.as_deref(), Some("the sale was voided before it was printed"));
}

#[tokio::test]
async fn an_exchange_prints_both_halves_and_opens_the_drawer_for_its_difference_alone() {
    let shop = Shop::open().await;
    let printer = Printer::plugged_in(Mood::default()).await;
    let person = selling_with(&shop, printer.address).await;
    let sold = sell(&person, "CARD").await;
    let item = json!({"saleItemId": sold["saleItems"][0]["id"], "quantity": 1, "reason": "too small"});
    let exchange = json!({
        "terminalId": "T1",
        "refund": {"id": Uuid::now_v7(), "saleId": sold["id"], "items": [item]},
        "sale": {"id": Uuid::now_v7(), "lines": [crate::kit::line("TEA", 2)]},
        "payments": [{"tenderId": crate::kit::id("CASH")}],
    });
    let done = person.post("/pos/exchanges", exchange.clone()).await.ok(201);
    assert_eq!(done["prints"].as_array().map(Vec::len), Some(2), "{done}");
    let _printing = Printing::begin(&shop);
    until(&shop, &["printed"; 3]).await;
    let papers = printer.papers();
    let opening: Vec<_> = papers.iter().filter(|paper| paper.windows(5).any(|part| part == PULSE)).collect();
    assert_eq!((papers.len(), opening.len()), (3, 1));
    assert!(has(opening[0], "cash") && !has(opening[0], "REFUND"));
    let same = person.post("/pos/exchanges", exchange).await.ok(200);
    assert_eq!((&same["prints"][0]["id"], &same["prints"][1]["state"]), (&done["prints"][0]["id"], &json!("printed")));
    assert_eq!(jobs(&shop).await.len(), 3);
}

#[tokio::test]
async fn a_slow_printer_delays_no_other_register() {
    let shop = Shop::open().await;
    shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let (slow, quick) = (Printer::plugged_in(Mood::default()).await, Printer::plugged_in(Mood::default()).await);
    slow.moves(false);
    let person = selling_with(&shop, slow.address).await;
    let beside = shop.sign_in_at("administrator", "T2").await;
    beside.post(&format!("/registers/{}/open", crate::kit::id("register 02")), json!({})).await.ok(201);
    set(&beside, "02", quick.address, true).await;
    let _printing = Printing::begin(&shop);
    sell(&person, "CARD").await;
    until(&shop, &["printing"]).await;
    sell(&person, "CARD").await;
    for _ in 0..3 {
        let mut cart =
            crate::kit::cart(json!([crate::kit::line("TEA", 1)]), json!([{"tenderId": crate::kit::id("CARD")}]));
        cart["terminalId"] = json!("T2");
        beside.post("/pos/sales", cart).await.ok(201);
    }
    until(&shop, &["printing", "waiting", "printed", "printed", "printed"]).await;
    assert_eq!(quick.papers().len(), 3);
    slow.moves(true);
    until(&shop, &["printed"; 5]).await;
    assert_eq!((slow.papers().len(), jobs(&shop).await.len()), (2, 5));
}
