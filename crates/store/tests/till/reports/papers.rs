//! Reports on paper: what was asked for comes out once, and each further paper of a Z is a copy.

use serde_json::{Value as Json, json};
use tillkeep_model::Instant;
use tillkeep_storage::entity::print_job;
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use super::{close, drawer, flowers, of_register, zz};
use crate::kit::printer::{Mood, Printer};
use crate::kit::{Person, Shop, eventually, id};
use crate::printing::Printing;

/// A drawer at register 01 with a printer.
async fn selling(printer: &Printer, automatic: bool) -> (Shop, Person, Printing) {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let plugged = json!({
        "address": printer.address.to_string(), "width": 42, "codePage": "PC858", "opensDrawer": false,
        "automatic": automatic,
    });
    person.patch(&format!("/registers/{}", id("register 01")), json!({"printer": plugged})).await.ok(200);
    let printing = Printing::begin(&shop);
    (shop, person, printing)
}

async fn ask(person: &Person, report: &str, of: Json) -> Json {
    let mut body = of;
    body["id"] = json!(Uuid::now_v7());
    body["report"] = json!(report);
    person.post("/pos/prints", body).await.ok(201)
}

/// The papers that came out, once there are so many.
async fn papers(printer: &Printer, count: usize) -> Vec<String> {
    eventually(&format!("{count} papers"), async || printer.papers().len() == count).await;
    printer.papers().iter().map(|paper| String::from_utf8_lossy(paper).into_owned()).collect()
}

async fn printed(shop: &Shop, count: usize) {
    let is_so = async || {
        let jobs = print_job::Entity::find().all(shop.store.test_db().reader()).await.expect("the papers");
        jobs.iter().filter(|job| job.state == "printed").count() == count
    };
    eventually("printed papers", is_so).await;
}

#[tokio::test]
async fn a_close_prints_its_z_where_the_register_prints_by_itself_and_what_follows_are_copies() {
    let printer = Printer::plugged_in(Mood::default()).await;
    let (shop, person, _printing) = selling(&printer, true).await;
    let session = drawer(&person).await;
    close(&person, &session, 20_000).await;
    printed(&shop, 1).await;
    let first = papers(&printer, 1).await;
    assert!(first[0].contains("200.00") && !first[0].contains("COPY"), "{}", first[0]);

    let before = shop.outbox().await.len();
    let job = ask(&person, "z", json!({"sessionId": session})).await;
    let of_another = json!({"id": job["id"], "report": "z", "sessionId": Uuid::now_v7()});
    person.post("/pos/prints", of_another).await.refused_at(409, "id_reused", "id");
    assert_eq!((&job["kind"], &job["copy"]), (&json!("z"), &json!(1)));
    printed(&shop, 2).await;
    assert!(papers(&printer, 2).await[1].contains("COPY 1"), "{:?}", printer.papers());
    let again = person.post(&format!("/pos/prints/{}/again", job["id"].as_str().expect("an id")), json!({})).await;
    assert_eq!(again.ok(200)["copy"], json!(2));
    printed(&shop, 2).await;
    assert!(papers(&printer, 3).await[2].contains("COPY 2"));
    assert_eq!(shop.outbox().await.len(), before, "how often it was printed stays here");
    assert_eq!(person.get(&format!("/reports/z/{session}")).await.ok(200)["copies"], json!(2));
    assert_eq!(shop.audited("report.print").await.len(), 1);
}

#[tokio::test]
async fn the_paper_of_an_x_says_what_was_so_when_it_was_asked_for() {
    let address = Printer::plugged_in(Mood::out_of_paper()).await;
    let (shop, person, _printing) = selling(&address, false).await;
    let session = drawer(&person).await;
    person.sell(json!([flowers(1234)])).await.ok(201);
    let id = Uuid::now_v7();
    let asked = json!({"id": id, "report": "x"});
    let job = person.post("/pos/prints", asked.clone()).await.ok(201);
    person.sell(json!([flowers(5555)])).await.ok(201);
    assert_eq!(person.post("/pos/prints", asked).await.ok(200)["id"], job["id"], "the same paper");
    let other = json!({"id": id, "report": "zz", "zzId": Uuid::now_v7()});
    person.post("/pos/prints", other).await.refused_at(409, "id_reused", "id");
    address.is(Mood::default());
    person.post(&format!("/pos/prints/{id}/again"), json!({})).await.ok(200);
    printed(&shop, 1).await;
    let paper = &papers(&address, 1).await[0];
    assert!(paper.contains("12.34") && !paper.contains("67.89"), "{paper}");

    close(&person, &session, 20_000 + 1234 + 5555).await;
    let made = zz(&person, of_register("01")).await.ok(201);
    let asked = json!({"id": Uuid::now_v7(), "report": "zz", "zzId": made["id"]});
    let job = person.post("/pos/prints", asked.clone()).await.ok(201);
    let mut other = asked.clone();
    other["zzId"] = json!(Uuid::now_v7());
    person.post("/pos/prints", other).await.refused_at(409, "id_reused", "id");
    assert_eq!(person.post("/pos/prints", asked).await.ok(200)["id"], job["id"]);
    let asked = json!({"id": id, "report": "x", "sessionId": session});
    person.post("/pos/prints", asked).await.refused_at(409, "id_reused", "id");
    printed(&shop, 2).await;
    assert!(papers(&address, 2).await[1].contains("67.89"));
}

#[tokio::test]
async fn a_cashier_of_a_blind_store_prints_a_blind_x_and_no_paper_of_others() {
    let shop = Shop::open_with(|own| own.blind_close = true).await;
    let manager = shop.selling().await;
    let plugged = json!({"address": "127.0.0.1:9", "width": 42, "codePage": "PC858"});
    manager.patch(&format!("/registers/{}", id("register 01")), json!({"printer": plugged})).await.ok(200);
    manager.sell(json!([flowers(71_993)])).await.ok(201);
    let cashier = shop.sign_in("cashier").await;
    let full = ask(&manager, "x", json!({})).await;
    let blind = ask(&cashier, "x", json!({})).await;
    let content = async |job: &Json| {
        let id: Uuid = job["id"].as_str().expect("an id").parse().expect("a UUID");
        let row = print_job::Entity::find_by_id(id).one(shop.store.test_db().reader()).await.expect("a read");
        row.expect("a paper").content.expect("what it says").0.to_string()
    };
    assert!(content(&full).await.contains(":91993"));
    // With what stands before a figure: ids have digits too.
    let blind_one = content(&blind).await;
    assert!(![":71993", ":91993"].iter().any(|figure| blind_one.contains(figure)), "{blind_one}");
    let again = |job: &Json| format!("/pos/prints/{}/again", job["id"].as_str().expect("an id"));
    cashier.post(&again(&full), json!({})).await.refused(403, "forbidden");
    cashier.post(&again(&blind), json!({})).await.ok(200);
    let session = drawer(&manager).await;
    let z = json!({"id": Uuid::now_v7(), "report": "z", "sessionId": session});
    cashier.post("/pos/prints", z.clone()).await.refused(403, "forbidden");
    manager.post("/pos/prints", z).await.refused(409, "session_open");
}

#[tokio::test]
async fn a_report_is_answered_as_text_page_and_bytes_and_marked_as_a_copy() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    person.sell(json!([flowers(1234)])).await.ok(201);
    let session = drawer(&person).await;
    let text = person.text("/reports/x?terminalId=T1&format=text&width=32").await;
    assert!(text.contains("12.34") && text.lines().all(|line| line.chars().count() <= 32), "{text}");
    close(&person, &session, 21_234).await;
    let text = person.text(&format!("/reports/z/{session}?format=text")).await;
    assert!(text.contains("COPY"), "{text}");
    let (head, page) = person.fetch(&format!("/reports/z/{session}?format=html&width=58")).await;
    assert!(head["content-security-policy"].to_str().expect("a text").contains("script-src 'none'"));
    assert!(String::from_utf8(page).expect("a text").contains("12.34"));
    let (head, bytes) = person.fetch(&format!("/reports/z/{session}?format=escpos")).await;
    assert_eq!(head["content-type"], "application/octet-stream");
    assert!(bytes.starts_with(&[0x1B, b'@']), "a printer begins anew");
    person.get(&format!("/reports/z/{session}?format=text&width=58")).await.refused_at(422, "validation", "width");
    let made = zz(&person, of_register("01")).await.ok(201);
    let path = format!("/reports/zz/{}?format=text", made["id"].as_str().expect("an id"));
    assert!(person.text(&path).await.contains("12.34"));
    assert!(Instant::parse(made["createdAt"].as_str().expect("a moment")).is_some());
}
