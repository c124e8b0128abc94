//! Printers that are away, out of paper or say nothing; lines that break in the middle; a server that ends there.

use std::time::Duration;

use serde_json::json;
use tillkeep_storage::entity::print_job;
use tillkeep_storage::{fault, print_jobs};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use uuid::Uuid;

use super::{Printing, again, ask, has, impatient, jobs, reprints, sell, selling_with, set, state, until, until_so};
use crate::kit::printer::{FINE, Mood, Printer};
use crate::kit::{Shop, id};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

#[tokio::test]
async fn a_printer_that_is_away_holds_up_no_sale_and_prints_it_when_it_is_back() {
    let shop = Shop::open().await;
    let person = selling_with(&shop, Printer::unplugged().await).await;
    let _printing = Printing::with(&shop, impatient());
    let sale = sell(&person, "CASH").await;
    until_so(&shop, |jobs| jobs[0].attempts > 0).await;
    let job = jobs(&shop).await.remove(0);
    assert_eq!(job.state, "waiting");
    assert!(job.error.expect("an error").starts_with("printer away"));
    let said = state(&person).await;
    assert_eq!(said["state"], "away");
    assert!(said["error"].as_str().expect("words").contains("switched on"), "{said}");
    let next = sell(&person, "CASH").await;
    assert_eq!(next["print"]["printer"]["state"], "away", "the cashier hears of it with the next sale");
    let printer = Printer::plugged_in(Mood::default()).await;
    set(&person, "01", printer.address, true).await;
    until(&shop, &["printed", "printed"]).await;
    assert_eq!(state(&person).await["state"], "ready");
    assert!(has(&printer.papers()[0], sale["receiptNumber"].as_str().expect("a number")), "in their order");
}

#[tokio::test]
async fn without_paper_or_with_an_open_cover_nothing_is_sent_and_the_register_says_why() {
    for (mood, word, says) in [
        (Mood::out_of_paper(), "out_of_paper", "out of paper"),
        (Mood::offline(0b0010_0000), "out_of_paper", "out of paper"),
        (Mood::offline(0b0000_0100), "cover_open", "cover open"),
        (Mood::offline(0b0100_0000), "busy", "it has a fault"),
        (Mood::offline(0), "busy", "something else"),
        (Mood::silent(), "unknown", "does not say how it is"),
        (Mood { itself: Some(0xFF), ..Mood::default() }, "unknown", "does not say how it is"),
    ] {
        let shop = Shop::open().await;
        let printer = Printer::plugged_in(mood).await;
        let person = selling_with(&shop, printer.address).await;
        let _printing = Printing::with(&shop, impatient());
        let sale = sell(&person, "CARD").await;
        until_so(&shop, |jobs| jobs[0].attempts > 0).await;
        assert_eq!(jobs(&shop).await[0].state, "waiting", "{word}");
        let said = state(&person).await;
        assert_eq!(said["state"], word, "{said}");
        assert!(said["error"].as_str().expect("words").contains(says), "{said}");
        assert_eq!(printer.papers(), Vec::<Vec<u8>>::new(), "{word}");
        printer.is(Mood::default());
        let tried = again(&person, &sale["print"]).await;
        assert_eq!((&tried["state"], &tried["copy"]), (&json!("waiting"), &json!(0)), "it is tried now, and no copy");
        until(&shop, &["printed"]).await;
        assert_eq!((printer.papers().len(), reprints(&shop, &sale).await), (1, 0), "{word}");
    }
}

#[tokio::test]
async fn a_paper_whose_end_nobody_saw_is_offered_again_as_a_copy_and_never_sent_again_by_itself() {
    for (mood, says) in [
        (Mood { closes_at: Some(60), ..Mood::default() }, "broke"),
        (Mood { end: None, ..Mood::default() }, "did not say that it came to the end"),
        (Mood { end: Some(0b0000_1100), ..Mood::default() }, "out of paper while it was printed"),
    ] {
        let shop = Shop::open().await;
        let printer = Printer::plugged_in(mood).await;
        let person = selling_with(&shop, printer.address).await;
        let _printing = Printing::with(&shop, impatient());
        let sale = sell(&person, "CASH").await;
        until(&shop, &["unknown"]).await;
        let error = jobs(&shop).await.remove(0).error.expect("an error");
        assert!(error.contains(says), "{error}");
        printer.is(Mood::default());
        sell(&person, "CARD").await;
        until(&shop, &["unknown", "printed"]).await;
        assert_eq!(printer.papers().len(), 2, "{says}: the second is that of the second sale");
        let offered = again(&person, &sale["print"]).await;
        assert_eq!((&offered["copy"], &offered["opensDrawer"]), (&json!(1), &json!(false)), "{says}");
        until(&shop, &["printed", "printed"]).await;
        let papers = printer.papers();
        assert_eq!((papers.len(), reprints(&shop, &sale).await), (3, 1), "{says}");
        assert!(has(&papers[2], "COPY 1") && !has(&papers[1], "COPY"), "{says}");
    }
}

#[tokio::test]
async fn what_was_being_printed_when_the_server_ended_is_known_for_that_and_what_waited_is_printed() {
    let shop = Shop::open().await;
    let printer = Printer::plugged_in(Mood::default()).await;
    printer.moves(false);
    let person = selling_with(&shop, printer.address).await;
    let printing = Printing::begin(&shop);
    let sale = sell(&person, "CASH").await;
    until(&shop, &["printing"]).await;
    sell(&person, "CARD").await;
    drop(printing);
    let shop = shop.again(None, |_| ()).await;
    let person = shop.person(&person);
    printer.moves(true);
    let _printing = Printing::begin(&shop);
    until(&shop, &["unknown", "printed"]).await;
    assert_eq!(printer.papers().len(), 2, "the first one is not sent again");
    let listed = person.get("/pos/prints?state=unknown").await.ok(200);
    assert_eq!((&listed[0]["id"], &listed[0]["saleId"]), (&sale["print"]["id"], &sale["id"]));
    assert_eq!(again(&person, &sale["print"]).await["copy"], 1);
    until(&shop, &["printed", "printed"]).await;
}

#[tokio::test]
async fn what_waits_for_more_than_a_day_is_given_up_and_can_be_printed_still() {
    let shop = Shop::open().await;
    let person = selling_with(&shop, Printer::unplugged().await).await;
    let _printing = Printing::with(&shop, impatient());
    let sale = sell(&person, "CARD").await;
    until_so(&shop, |jobs| jobs[0].attempts > 0).await;
    shop.clock.advance(DAY_MS + 60_000);
    until(&shop, &["failed"]).await;
    let person = shop.sign_in("administrator").await;
    let printer = Printer::plugged_in(Mood::default()).await;
    set(&person, "01", printer.address, true).await;
    assert_eq!(again(&person, &sale["print"]).await["copy"], 0, "nothing of it came out");
    until(&shop, &["printed"]).await;
    assert_eq!(reprints(&shop, &sale).await, 0);
}

#[tokio::test]
async fn a_drawer_is_not_opened_long_after_its_sale() {
    let shop = Shop::open().await;
    let person = selling_with(&shop, Printer::unplugged().await).await;
    let sale = sell(&person, "CASH").await;
    shop.clock.advance(61_000);
    let printer = Printer::plugged_in(Mood::default()).await;
    set(&person, "01", printer.address, true).await;
    let _printing = Printing::begin(&shop);
    until(&shop, &["printed"]).await;
    let papers = printer.papers();
    assert!(has(&papers[0], sale["receiptNumber"].as_str().expect("a number")));
    assert!(!papers[0].windows(2).any(|part| part == [0x1B, b'p']), "nobody stands there any more");
}

#[tokio::test]
async fn what_ended_long_ago_is_forgotten_and_the_next_paper_of_that_sale_is_a_copy() {
    let shop = Shop::open().await;
    let printer = Printer::plugged_in(Mood::default()).await;
    let person = selling_with(&shop, printer.address).await;
    let _printing = Printing::begin(&shop);
    let sale = sell(&person, "CARD").await;
    until(&shop, &["printed"]).await;
    shop.clock.advance(8 * DAY_MS);
    let person = shop.sign_in("administrator").await;
    let asked = ask(&person, &sale, "printer").await;
    assert_eq!(asked["copy"], 1);
    until(&shop, &["printed"]).await;
    assert_eq!(json!(jobs(&shop).await[0].id), asked["id"]);
}

#[tokio::test]
async fn a_register_that_lost_its_printer_fails_its_papers_with_words() {
    let shop = Shop::open().await;
    let person = selling_with(&shop, Printer::unplugged().await).await;
    let sale = sell(&person, "CARD").await;
    let path = format!("/registers/{}", id("register 01"));
    person.patch(&path, json!({"printer": null})).await.ok(200);
    let _printing = Printing::begin(&shop);
    until(&shop, &["failed"]).await;
    assert_eq!(jobs(&shop).await[0].error.as_deref(), Some("the register has no printer any more"));
    let job = sale["print"]["id"].as_str().expect("an id");
    person.post(&format!("/pos/prints/{job}/again"), json!({})).await.refused_at(409, "printer_unknown", "to");
}

#[tokio::test]
async fn a_printer_that_takes_longer_than_anybody_waits_is_left_and_asked_anew() {
    let shop = Shop::open().await;
    let printer = Printer::plugged_in(Mood::default()).await;
    printer.moves(false);
    let person = selling_with(&shop, printer.address).await;
    let patience = tillkeep_store::Patience { end: Duration::from_millis(50), ..impatient() };
    let _printing = Printing::with(&shop, patience);
    sell(&person, "CARD").await;
    until(&shop, &["unknown"]).await;
    // It goes on, and the next one finds it as it is.
    printer.moves(true);
    printer.is(Mood { paper: Some(FINE | 0b0110_0000), ..Mood::default() });
    sell(&person, "CARD").await;
    until_so(&shop, |jobs| jobs.len() == 2 && jobs[1].attempts > 0).await;
    assert_eq!(state(&person).await["state"], "out_of_paper");
}

#[tokio::test]
async fn what_never_stops_talking_is_left_alone_and_nothing_is_sent_to_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move { while stream.write_all(&[0xFF; 4096]).await.is_ok() {} });
        }
    });
    let shop = Shop::open().await;
    let person = selling_with(&shop, address).await;
    let _printing = Printing::with(&shop, impatient());
    sell(&person, "CARD").await;
    until_so(&shop, |jobs| jobs[0].attempts > 0).await;
    assert_eq!(jobs(&shop).await[0].state, "waiting");
    assert_eq!(state(&person).await["state"], "unknown");
    let printer = Printer::plugged_in(Mood::default()).await;
    set(&person, "01", printer.address, true).await;
    until(&shop, &["printed"]).await;
}

#[test]
fn a_printer_has_the_two_places_where_tests_make_it_fail() {
    for place in ["print.marked", "print.sent"] {
        assert!(fault::PLACES.iter().any(|(known, _)| *known == place), "{place}");
    }
}

#[tokio::test]
async fn of_what_waits_at_one_register_the_oldest_is_given_up_first() {
    let shop = Shop::open().await;
    let now = shop.clock.now();
    let job = |register: &str, minute: i64| print_job::Model {
        id: Uuid::now_v7(),
        created_at: now.plus_millis(minute * 60_000),
        register_id: id(register),
        kind: "sale".to_owned(),
        state: "waiting".to_owned(),
        ..print_job::Model::default()
    };
    shop.insert::<print_job::Entity>((0..5).map(|minute| job("register 01", minute))).await;
    shop.insert::<print_job::Entity>([job("register 02", 9)]).await;
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let given_up = print_jobs::give_up(&tx, now.plus_millis(-DAY_MS), 3, now).await.expect("a statement");
    tx.commit().await.expect("a commit");
    assert_eq!(given_up, 2);
    until(&shop, &["failed", "failed", "waiting", "waiting", "waiting", "waiting"]).await;
}
