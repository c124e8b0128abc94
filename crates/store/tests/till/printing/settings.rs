//! The printer of a register, as it is set.

use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::{ask, jobs, sell, set, state};
use crate::kit::printer::Printer;
use crate::kit::{Shop, id};

fn register() -> String {
    format!("/registers/{}", id("register 01"))
}

fn printer(key: &str, value: Json) -> Json {
    let mut printer = json!({"address": "192.168.1.50:9100", "width": 42, "codePage": "PC858"});
    printer[key] = value;
    json!({"printer": printer})
}

#[tokio::test]
async fn a_printer_is_set_shown_and_taken_away_by_a_manager() {
    let shop = Shop::open().await;
    let manager = shop.sign_in("store_manager").await;
    let sent = printer("automatic", json!(true));
    let row = manager.patch(&register(), sent.clone()).await.ok(200);
    assert_eq!(row["printer"], sent["printer"]);
    let shown = manager.get("/registers?code=01").await.ok(200);
    assert_eq!(shown[0]["printer"], sent["printer"]);
    assert_eq!(shown[0]["printerState"], json!({"state": "unknown", "since": null}));
    let cashier = shop.sign_in("cashier").await;
    cashier.patch(&register(), sent).await.refused(403, "forbidden");
    manager.patch(&register(), json!({"printer": null})).await.ok(200);
    let shown = manager.get("/registers?code=01").await.ok(200);
    assert_eq!((&shown[0]["printer"], &shown[0]["printerState"]), (&json!(null), &json!(null)));
    let new = json!({"id": Uuid::now_v7(), "code": "05", "name": "Door", "terminalId": "T5"});
    let mut with_printer = new.clone();
    with_printer["printer"] = printer("width", json!(32))["printer"].clone();
    let made = manager.post("/registers", with_printer.clone()).await.ok(201);
    assert_eq!(made["printer"]["width"], 32);
    manager.post("/registers", with_printer).await.ok(200);
    manager.post("/registers", new).await.ok(200);
}

#[tokio::test]
async fn what_no_printer_can_be_is_refused_by_name() {
    let shop = Shop::open().await;
    let manager = shop.sign_in("store_manager").await;
    for (key, value) in [
        ("address", json!("http://192.168.1.50:9100")),
        ("address", json!("192.168.1.50")),
        ("address", json!("printer:0")),
        ("width", json!(40)),
        ("width", json!(80)),
        ("codePage", json!("UTF-8")),
        ("automatic", json!("yes")),
        ("paper", json!("80mm")),
    ] {
        let answer = manager.patch(&register(), printer(key, value.clone())).await;
        answer.refused_at(422, "validation", &format!("printer.{key}"));
        let mut new = json!({"code": "05", "name": "Door", "terminalId": "T5"});
        new["printer"] = printer(key, value)["printer"].clone();
        manager.post("/registers", new).await.refused_at(422, "validation", &format!("printer.{key}"));
    }
    manager.patch(&register(), json!({"printer": "192.168.1.50:9100"})).await.refused_at(422, "validation", "printer");
}

#[tokio::test]
async fn a_paper_without_a_printer_is_for_the_browser() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let sale = sell(&person, "CARD").await;
    assert_eq!(sale["print"], json!(null));
    let path = format!("/pos/sales/{}/prints", sale["id"].as_str().expect("an id"));
    let asked = json!({"id": Uuid::now_v7(), "to": "printer"});
    person.post(&path, asked.clone()).await.refused_at(409, "printer_unknown", "to");
    let shown = ask(&person, &sale, "browser").await;
    assert_eq!((&shown["state"], &shown["copy"]), (&json!("printed"), &json!(0)));
    person.post(&path, json!({"to": "browser"})).await.refused_at(422, "validation", "id");
    person.post(&path, json!({"id": Uuid::now_v7(), "to": "fax"})).await.refused_at(422, "validation", "to");
    person.post(&path, json!({"id": Uuid::now_v7(), "to": "browser", "kind": "bill"})).await.refused_at(
        422,
        "validation",
        "kind",
    );
    let unknown = format!("/pos/sales/{}/prints", Uuid::now_v7());
    person.post(&unknown, asked).await.refused(404, "sale_not_found");
    assert_eq!(jobs(&shop).await.len(), 1);
}

#[tokio::test]
async fn another_printer_is_asked_anew() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    set(&person, "01", Printer::unplugged().await, false).await;
    let sale = sell(&person, "CARD").await;
    ask(&person, &sale, "printer").await;
    let _printing = super::Printing::with(&shop, super::impatient());
    super::until_so(&shop, |jobs| jobs[0].attempts > 0).await;
    assert_eq!(state(&person).await["state"], "away");
    person.patch(&register(), json!({"name": "Front"})).await.ok(200);
    assert_eq!(state(&person).await["state"], "away", "its name says nothing of its printer");
    let printer = Printer::plugged_in(crate::kit::printer::Mood::default()).await;
    set(&person, "01", printer.address, false).await;
    super::until(&shop, &["printed"]).await;
}
