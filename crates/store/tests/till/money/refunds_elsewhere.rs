//! Money back of what another store sold, and what headquarters says before any money comes back.

use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use tillkeep_model::Qty;
use tillkeep_storage::entity::sale;
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::Cycle;
use tokio::sync::Barrier;
use uuid::Uuid;

use super::refunds::{give_back, item, read, refund};
use super::{change_tender, close, path, queued, undo};
use crate::kit::{Person, Shop, cart, id, line};

/// A headquarters with what stores sold, and with claims.
#[derive(Default)]
struct Headquarters {
    /// The sales that it has, as they travel.
    sales: Mutex<Vec<Json>>,
    /// What was given back elsewhere.
    given_back: Mutex<Vec<Json>>,
    /// To which tenders.
    paid_back: Mutex<Vec<Json>>,
    /// It holds no such claim: with this body.
    refuses: Mutex<Option<Json>>,
    /// What was claimed and given up, oldest first.
    asked: Mutex<Vec<String>>,
    /// It is of a release that knows none of these questions.
    is_older: bool,
    /// Where claims wait twice for somebody: when they come, and before they are answered.
    waits: Option<Barrier>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().expect("not poisoned")
}

impl Headquarters {
    fn sale(&self, path: &str) -> (u16, Json) {
        let found = locked(&self.sales).iter().find(|sale| is_at(sale, path)).cloned();
        let Some(sale) = found else {
            let details = json!([{"field": "id", "message": "no sale"}]);
            return (404, json!({"success": false, "code": "not_found", "error": "no sale", "details": details}));
        };
        let given = locked(&self.given_back).clone();
        let paid = locked(&self.paid_back).clone();
        let of = sale["storeId"].clone();
        (200, json!({"sale": sale, "storeId": of, "storeCode": "S02", "givenBack": given, "paidBack": paid}))
    }

    fn claims(&self, path: &str, claim: Option<&Json>) -> (u16, Json) {
        let Some(claim) = claim else {
            let id = path.rsplit('/').next().unwrap_or_default();
            locked(&self.asked).push(format!("released {id}"));
            // Nothing is refused for what is given up.
            drop(locked(&self.refuses).take_if(|body| body.to_string().contains(id)));
            return (204, Json::Null);
        };
        locked(&self.asked).push(format!("claimed {}", claim["id"].as_str().unwrap_or_default()));
        if let Some(body) = locked(&self.refuses).clone() {
            return (409, body);
        }
        let (given, paid) = (locked(&self.given_back).clone(), locked(&self.paid_back).clone());
        (200, json!({"known": true, "givenBack": given, "paidBack": paid}))
    }
}

/// Whether `sale` is the one at this path, by its id or by its store and its receipt.
fn is_at(sale: &Json, path: &str) -> bool {
    let said = |key: &str| sale[key].as_str().expect(key).to_owned();
    let store = said("receiptNumber")[..3].to_owned();
    path == format!("/sales/{}", said("id"))
        || path == format!("/sales/{store}/{}", said("receiptNumber").replace('-', "%2D"))
}

#[async_trait::async_trait]
impl Transport for Headquarters {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let said: Option<Json> = request.json.as_ref().map(|json| serde_json::from_slice(json).expect("JSON"));
        let (status, body) = match request.path.split('?').next().unwrap_or_default() {
            "/handshake" => (
                200,
                json!({
                    "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                    "clock": "2026-11-20T14:00:00.000Z",
                }),
            ),
            "/versions" => (200, json!({"epoch": "e", "versions": {}})),
            _ if self.is_older => (404, json!({"success": false, "code": "not_found", "error": "no such route"})),
            path if path.contains("/claims") => {
                if let (Some(barrier), Some(_)) = (&self.waits, &said) {
                    barrier.wait().await;
                    barrier.wait().await;
                }
                self.claims(path, said.as_ref())
            }
            path if path.starts_with("/sales/") => self.sale(path),
            other => return Err(format!("no test asks for {other}")),
        };
        let body = if status == 204 { Vec::new() } else { body.to_string().into_bytes() };
        Ok(Reply { status, from_hq: true, retry_after: None, body: body.into() })
    }
}

/// A shop with a line to it, an open drawer, and somebody behind that.
async fn scene(hq: Headquarters) -> (Shop, Person, Arc<Headquarters>) {
    let hq = Arc::new(hq);
    let shop = Shop::with_line(hq.clone()).await;
    let person = shop.selling().await;
    Cycle::default().step(&shop.store).await;
    (shop, person, hq)
}

/// A sale of this store as headquarters would have it of another one.
fn of_another(sale: &Json) -> Json {
    let mut other = sale.clone();
    other.as_object_mut().expect("a sale").remove("warnings");
    (other["id"], other["storeId"]) = (json!(Uuid::now_v7()), json!(id("S02")));
    (other["receiptNumber"], other["registerId"]) = (json!("S02-01-000007"), json!(Uuid::now_v7()));
    for item in other["saleItems"].as_array_mut().expect("lines") {
        item["id"] = json!(Uuid::now_v7());
        item["saleId"] = json!(Uuid::nil());
    }
    other
}

fn given(item: &Json, refund: Uuid, quantity: i64, receipt: Option<&str>) -> Json {
    json!({
        "saleItemId": item["id"], "refundId": refund, "quantity": quantity, "receiptNumber": receipt, "storeCode": "S03",
    })
}

#[tokio::test]
async fn what_another_store_sold_is_found_by_its_receipt_and_comes_back_here() {
    let (shop, person, hq) = scene(Headquarters::default()).await;
    let own = person.sell(json!([line("TEA", 3)])).await.ok(201);
    let other = of_another(&own);
    locked(&hq.sales).push(other.clone());
    *locked(&hq.given_back) = vec![given(&other["saleItems"][0], id("elsewhere"), 1, Some("S03-01-000001"))];

    let found = person.get("/pos/sales/by-receipt/S02-01-000007").await.ok(200);
    assert_eq!((&found["id"], &found["refunds"][0]["storeCode"]), (&other["id"], &json!("S03")));
    let shown = person.get(&format!("{}?receiptNumber=S02-01-000007", path(&other, "refundable"))).await.ok(200);
    assert_eq!((&shown["checkedAtHq"], &shown["lines"][0]["refundableQuantity"]), (&json!(true), &json!(2)));

    let back = give_back(&person, &other, json!([item(&other, 0, 1)])).await.ok(201);
    assert_eq!(
        (&back["originalSaleId"], &back["originalReceiptNumber"], &back["checkedAtHq"], &back["storeId"]),
        (&other["id"], &json!("S02-01-000007"), &json!(true), &json!(id("S01")))
    );
    assert_eq!(back["saleItems"][0]["originalSaleItemId"], other["saleItems"][0]["id"]);
    assert_eq!(shop.level("TEA").await, Qty::pieces(8), "the goods are here now");
    assert_eq!(locked(&hq.asked).clone(), [format!("claimed {}", back["id"].as_str().expect("an id"))]);
    assert_eq!(queued(&shop, &other["id"]).await, Vec::<String>::new(), "its rows are another store's");
    // What came back here counts, also before headquarters has it.
    let refusal = give_back(&person, &other, json!([item(&other, 0, 2)])).await.refused(409, "over_refund");
    assert_eq!(refusal["refundableQuantity"], 1);
}

#[tokio::test]
async fn a_refund_under_the_id_of_its_sale_is_refused_by_that() {
    let (_shop, person, hq) = scene(Headquarters::default()).await;
    let other = of_another(&person.sell(json!([line("TEA", 1)])).await.ok(201));
    locked(&hq.sales).push(other.clone());
    let mut asked = refund(json!([item(&other, 0, 1)]));
    asked["id"] = other["id"].clone();
    person.post(&path(&other, "refunds"), asked).await.refused_at(409, "id_reused", "id");
    let sold: Uuid = other["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    let asked = for_another(&other, sold, Uuid::now_v7());
    person.post("/pos/exchanges", asked).await.refused_at(422, "validation", "refund.id");
    assert!(locked(&hq.asked).is_empty(), "nothing is claimed as if the sale was voided");
}

#[tokio::test]
async fn without_a_line_what_another_store_sold_does_not_come_back_and_own_sales_do() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let own = person.sell(json!([line("TEA", 1)])).await.ok(201);
    let other = of_another(&own);
    give_back(&person, &other, json!([item(&other, 0, 1)])).await.refused(503, "hq_unreachable");
    person.get(&path(&other, "refundable")).await.refused(503, "hq_unreachable");
    person.get("/pos/sales/by-receipt/S02-01-000007").await.refused(503, "hq_unreachable");
    assert_eq!(give_back(&person, &own, json!([item(&own, 0, 1)])).await.ok(201)["checkedAtHq"], false);
}

#[tokio::test]
async fn an_older_headquarters_holds_up_nobody() {
    let (_shop, person, _hq) = scene(Headquarters { is_older: true, ..Headquarters::default() }).await;
    let own = person.sell(json!([line("TEA", 1)])).await.ok(201);
    assert_eq!(person.get(&path(&own, "refundable")).await.ok(200)["checkedAtHq"], false);
    let other = of_another(&own);
    give_back(&person, &other, json!([item(&other, 0, 1)])).await.refused(503, "hq_unreachable");
    assert_eq!(give_back(&person, &own, json!([item(&own, 0, 1)])).await.ok(201)["checkedAtHq"], false);
}

#[tokio::test]
async fn what_came_back_in_another_store_is_left_out_here() {
    let (_shop, person, hq) = scene(Headquarters::default()).await;
    let own = person.sell(json!([line("TEA", 3)])).await.ok(201);
    let elsewhere = given(&own["saleItems"][0], id("elsewhere"), 1, Some("S03-01-000001"));
    *locked(&hq.given_back) = vec![elsewhere.clone()];
    let back = give_back(&person, &own, json!([item(&own, 0, 1)])).await.ok(201);
    assert_eq!(back["checkedAtHq"], true);
    let original = read(&person, &own).await;
    assert_eq!(
        (&original["saleItems"][0]["refundedQuantity"], &original["status"]),
        (&json!(2), &json!("partially_refunded"))
    );
    // Headquarters names the refund of this store as well: it counts once.
    let first: Uuid = back["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    *locked(&hq.given_back) = vec![elsewhere, given(&own["saleItems"][0], first, 1, Some("S01-01-000002"))];
    let shown = person.get(&path(&own, "refundable")).await.ok(200);
    assert_eq!(shown["lines"][0]["refundableQuantity"], 1);
    give_back(&person, &own, json!([item(&own, 0, 2)])).await.refused(409, "over_refund");
    give_back(&person, &own, json!([item(&own, 0, 1)])).await.ok(201);
    assert_eq!(read(&person, &own).await["status"], "refunded");
}

#[tokio::test]
async fn what_another_store_has_claimed_does_not_come_back_and_does_not_stay_with_the_sale() {
    let (_shop, person, hq) = scene(Headquarters::default()).await;
    let own = person.sell(json!([line("TEA", 3)])).await.ok(201);
    *locked(&hq.given_back) = vec![given(&own["saleItems"][0], id("elsewhere"), 1, None)];
    give_back(&person, &own, json!([item(&own, 0, 1)])).await.ok(201);
    let refusal = give_back(&person, &own, json!([item(&own, 0, 2)])).await.refused(409, "over_refund");
    assert_eq!(refusal["refundableQuantity"], 1);
    // It came to nothing.
    locked(&hq.given_back).clear();
    assert_eq!(read(&person, &own).await["saleItems"][0]["refundedQuantity"], 1);
    give_back(&person, &own, json!([item(&own, 0, 2)])).await.ok(201);
}

#[tokio::test]
async fn headquarters_says_no_and_the_till_names_the_line() {
    let (shop, person, hq) = scene(Headquarters::default()).await;
    let own = person.sell(json!([line("TEA", 2)])).await.ok(201);
    let given = given(&own["saleItems"][0], id("elsewhere"), 2, Some("S03-01-000001"));
    let body = json!({"success": false, "code": "over_refund", "error": "too much", "givenBack": [given]});
    *locked(&hq.refuses) = Some(body);
    let refusal = give_back(&person, &own, json!([item(&own, 0, 1)])).await.refused(409, "over_refund");
    assert_eq!((&refusal["lineNo"], &refusal["refundableQuantity"]), (&json!(1), &json!(0)));
    *locked(&hq.refuses) = Some(json!({"success": false, "code": "sale_voided", "error": "it was voided"}));
    give_back(&person, &own, json!([item(&own, 0, 1)])).await.refused(409, "sale_voided");
    assert_eq!((shop.level("TEA").await, queued(&shop, &own["id"]).await.len()), (Qty::pieces(8), 1));
    assert!(locked(&hq.asked).iter().all(|asked| asked.starts_with("claimed")), "what was not held is not given up");
}

#[tokio::test]
async fn a_claim_of_a_refund_that_comes_to_nothing_is_given_up() {
    let (shop, person, hq) = scene(Headquarters::default()).await;
    let own = person.sell(json!([line("TEA", 1)])).await.ok(201);
    let cashier = shop.sign_in("cashier").await;
    let asked = refund(json!([item(&own, 0, 1)]));
    let refused = asked["id"].as_str().expect("an id").to_owned();
    cashier.post(&path(&own, "refunds"), asked).await.refused(403, "approval_required");
    assert_eq!(locked(&hq.asked).clone(), [format!("claimed {refused}"), format!("released {refused}")]);
    // What is refused without headquarters asks it nothing.
    give_back(&person, &own, json!([item(&own, 0, 2)])).await.refused(409, "over_refund");
    assert_eq!(locked(&hq.asked).len(), 2);
    let back = give_back(&person, &own, json!([item(&own, 0, 1)])).await.ok(201);
    assert_eq!(locked(&hq.asked).last().cloned(), Some(format!("claimed {}", back["id"].as_str().expect("an id"))));
}

#[tokio::test]
async fn a_claim_without_an_answer_may_have_arrived_and_is_given_up_when_nothing_comes_of_it() {
    let (shop, person, hq) = scene(Headquarters::default()).await;
    let own = person.sell(json!([line("TEA", 1)])).await.ok(201);
    let other = of_another(&own);
    locked(&hq.sales).push(other.clone());
    *locked(&hq.refuses) = Some(json!({"success": false, "code": "internal", "error": "no word on the claim"}));
    let given_up = |asked: &Json| {
        let id = asked["id"].as_str().expect("an id");
        vec![format!("claimed {id}"), format!("released {id}")]
    };
    let asked = refund(json!([item(&own, 0, 1)]));
    let cashier = shop.sign_in("cashier").await;
    cashier.post(&path(&own, "refunds"), asked.clone()).await.refused(403, "approval_required");
    assert_eq!(std::mem::take(&mut *locked(&hq.asked)), given_up(&asked));
    let asked = refund(json!([item(&other, 0, 1)]));
    person.post(&path(&other, "refunds"), asked.clone()).await.refused(503, "hq_unreachable");
    assert_eq!(std::mem::take(&mut *locked(&hq.asked)), given_up(&asked));
    let back = give_back(&person, &own, json!([item(&own, 0, 1)])).await.ok(201);
    assert_eq!((&back["checkedAtHq"], locked(&hq.asked).len()), (&json!(false), 1));
}

#[tokio::test]
async fn what_a_lost_database_took_along_is_found_at_headquarters() {
    let (shop, person, hq) = scene(Headquarters::default()).await;
    let own = person.sell(json!([line("TEA", 1)])).await.ok(201);
    let mut lost = of_another(&own);
    (lost["receiptNumber"], lost["storeId"]) = (json!("S01-01-000900"), json!(shop.store.id));
    locked(&hq.sales).push(lost.clone());
    let found = person.get("/pos/sales/by-receipt/S01-01-000900").await.ok(200);
    assert_eq!(found["id"], lost["id"]);
    let back = give_back(&person, &lost, json!([item(&lost, 0, 1)])).await.ok(201);
    assert_eq!((&back["originalReceiptNumber"], &back["checkedAtHq"]), (&json!("S01-01-000900"), &json!(true)));
    person.get("/pos/sales/by-receipt/S01-01-000901").await.refused(404, "sale_not_found");
}

/// An exchange of one piece of tea for another one, under these ids.
fn for_another(sold: &Json, refund: Uuid, sale: Uuid) -> Json {
    let mut item = item(sold, 0, 1);
    item["reason"] = json!("too bitter");
    json!({
        "terminalId": "T1",
        "refund": {"id": refund, "saleId": sold["id"], "items": [item]},
        "sale": {"id": sale, "lines": [line("TEA", 1)]},
    })
}

fn in_pairs() -> Headquarters {
    Headquarters { waits: Some(Barrier::new(2)), ..Headquarters::default() }
}

#[tokio::test]
async fn a_sale_that_is_sent_while_it_is_exchanged_is_the_same_sale() {
    let (shop, person, hq) = scene(in_pairs()).await;
    let own = person.sell(json!([line("TEA", 1)])).await.ok(201);
    let asks = {
        let (person, asked) = (person.clone(), for_another(&own, Uuid::now_v7(), Uuid::now_v7()));
        tokio::spawn(async move { person.post("/pos/exchanges", asked).await })
    };
    let barrier = hq.waits.as_ref().expect("a barrier");
    barrier.wait().await;
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let sent: Uuid = own["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    let row = sale::Entity::find_by_id(sent).one(&tx).await.expect("a read").expect("the sale");
    let row = sale::Model { synced: true, reprint_count: 1, ..row };
    sale::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    tx.commit().await.expect("a commit");
    barrier.wait().await;
    asks.await.expect("an answer").ok(201);
    let row = sale::Entity::find_by_id(sent).one(shop.store.test_db().reader()).await.expect("a read");
    assert_eq!(row.map(|row| row.reprint_count), Some(1), "what was noted meanwhile stays");
}

#[tokio::test]
async fn the_claim_of_an_exchange_that_was_first_is_not_given_up_by_another_one_under_its_id() {
    let (_shop, person, hq) = scene(in_pairs()).await;
    let own = person.sell(json!([line("TEA", 2)])).await.ok(201);
    let refund = Uuid::now_v7();
    let ask = async || person.post("/pos/exchanges", for_another(&own, refund, Uuid::now_v7())).await.status;
    let (one, other) = tokio::join!(ask(), ask());
    assert_eq!((one.min(other), one.max(other)), (201, 409));
    assert_eq!(locked(&hq.asked).clone(), [format!("claimed {refund}"), format!("claimed {refund}")]);
}

#[tokio::test]
async fn the_claim_of_a_void_that_was_first_is_not_given_up_by_another_one_for_another_reason() {
    let (_shop, person, hq) = scene(in_pairs()).await;
    let own = person.sell(json!([line("TEA", 2)])).await.ok(201);
    let (one, other) = tokio::join!(undo(&person, &own, "the wrong item"), undo(&person, &own, "the wrong price"));
    let statuses = (one.status.min(other.status), one.status.max(other.status));
    assert_eq!(statuses, (200, 409));
    let claimed = format!("claimed {}", own["id"].as_str().expect("an id"));
    assert_eq!(locked(&hq.asked).clone(), [claimed.clone(), claimed]);
}

#[tokio::test]
async fn the_claim_of_a_void_that_comes_to_nothing_is_given_up() {
    let (shop, person, hq) = scene(in_pairs()).await;
    let own = person.sell(json!([line("TEA", 1)])).await.ok(201);
    let asks = {
        let (person, own) = (person.clone(), own.clone());
        tokio::spawn(async move { undo(&person, &own, "the wrong item").await })
    };
    let barrier = hq.waits.as_ref().expect("a barrier");
    barrier.wait().await;
    change_tender(&shop, "CASH", |tender| tender.is_voidable = false).await;
    barrier.wait().await;
    asks.await.expect("an answer").refused(409, "tender_not_voidable");
    let id = own["id"].as_str().expect("an id");
    assert_eq!(locked(&hq.asked).clone(), [format!("claimed {id}"), format!("released {id}")]);
}

#[tokio::test]
async fn of_a_sale_whose_drawer_is_closed_headquarters_is_asked_nothing() {
    let (_shop, person, hq) = scene(Headquarters::default()).await;
    let own = person.sell(json!([line("TEA", 1)])).await.ok(201);
    close(&person, 20_000 + own["totalAmount"].as_i64().expect("an amount")).await;
    undo(&person, &own, "the wrong item").await.refused(409, "session_closed");
    assert_eq!(locked(&hq.asked).clone(), Vec::<String>::new());
}

#[tokio::test]
async fn what_another_program_sold_comes_back_and_the_drawer_is_closed_after_it() {
    let (_shop, person, hq) = scene(Headquarters::default()).await;
    let mut other = of_another(&person.sell(json!([line("TEA", 1)])).await.ok(201));
    other["saleItems"][0]["taxDetails"] = json!([{"name": "VAT", "taxAmount": other["saleItems"][0]["taxAmount"]}]);
    other["taxLines"] = json!([{"name": 7}]);
    locked(&hq.sales).push(other.clone());
    let back = give_back(&person, &other, json!([item(&other, 0, 1)])).await.ok(201);
    assert_eq!(
        (&back["taxLines"], &back["taxAmount"]),
        (&json!([]), &json!(-other["taxAmount"].as_i64().expect("a tax")))
    );
    let drawer = close(&person, 20_000).await;
    assert_eq!(drawer["status"], "closed");
}

#[tokio::test]
async fn a_claim_of_this_store_that_nothing_came_of_holds_nothing_up() {
    let (_shop, person, hq) = scene(Headquarters::default()).await;
    let refuse = |given: Json| {
        let body = json!({"success": false, "code": "over_refund", "error": "too much", "givenBack": [given]});
        *locked(&hq.refuses) = Some(body);
        locked(&hq.asked).clear();
    };
    let claim = |sold: &Json, id: Uuid| {
        let mut claim = given(&sold["saleItems"][0], id, 2, None);
        claim["storeCode"] = json!("S01");
        claim
    };
    let uuid = |document: &Json| document["id"].as_str().and_then(|id| id.parse::<Uuid>().ok()).expect("an id");
    let own = person.sell(json!([line("TEA", 2)])).await.ok(201);
    // Of a refund, and of a void: it has the id of the sale.
    for lost in [id("lost"), uuid(&own)] {
        refuse(claim(&own, lost));
        let back = give_back(&person, &own, json!([item(&own, 0, 1)])).await.ok(201);
        let claimed = format!("claimed {}", back["id"].as_str().expect("an id"));
        assert_eq!(locked(&hq.asked).clone(), [claimed.clone(), format!("released {lost}"), claimed]);
    }
    let voided = person.sell(json!([line("TEA", 2)])).await.ok(201);
    refuse(claim(&voided, id("lost")));
    undo(&person, &voided, "the wrong item").await.ok(200);
    let claimed = format!("claimed {}", voided["id"].as_str().expect("an id"));
    assert_eq!(locked(&hq.asked).clone(), [claimed.clone(), format!("released {}", id("lost")), claimed]);

    // Nor is it shown as given back, here or of what another store sold.
    let sold = of_another(&own);
    for sale in [&person.sell(json!([line("TEA", 2)])).await.ok(201), &sold] {
        *locked(&hq.given_back) = vec![claim(sale, id("lost"))];
        locked(&hq.sales).push(sale.clone());
        let shown = person.get(&path(sale, "refundable")).await.ok(200);
        assert_eq!(shown["lines"][0]["refundableQuantity"], 2);
    }
    locked(&hq.given_back).clear();

    // What was given back under it only waits to be sent.
    let other = person.sell(json!([line("TEA", 2)])).await.ok(201);
    let back = give_back(&person, &other, json!([item(&other, 0, 1)])).await.ok(201);
    refuse(claim(&other, uuid(&back)));
    give_back(&person, &other, json!([item(&other, 0, 1)])).await.refused(409, "over_refund");
    assert_eq!(locked(&hq.asked).len(), 1, "it is not given up");
}

#[tokio::test]
async fn a_card_gets_back_what_it_paid_whichever_store_gives_it_back() {
    let (shop, person, hq) = scene(Headquarters::default()).await;
    // Two loaves at 2.50: one by card, one in cash.
    let payments =
        json!([{"tenderId": id("CARD"), "tenderedAmount": 250, "reference": "4711"}, {"tenderId": id("CASH")}]);
    let own = person.post("/pos/sales", cart(json!([line("BREAD", 2)]), payments)).await.ok(201);
    let first = id("elsewhere");
    locked(&hq.sales).push(own.clone());
    *locked(&hq.given_back) = vec![given(&own["saleItems"][0], first, 1, Some("S03-01-000001"))];
    *locked(&hq.paid_back) =
        vec![json!({"refundId": first, "tenderId": id("CARD"), "tenderCode": "CARD", "amount": 250})];
    let shown = person.get(&path(&own, "refundable")).await.ok(200);
    let left = |code: &str| {
        let mut tenders = shown["tenders"].as_array().expect("tenders").iter();
        tenders.find(|tender| tender["tenderCode"] == code).expect("the tender")["refundableAmount"].clone()
    };
    assert_eq!((left("CARD"), left("CASH")), (json!(0), json!(250)));
    let mut by_card = refund(json!([item(&own, 0, 1)]));
    by_card["payments"] = json!([{"tenderId": id("CARD"), "reference": "4711"}]);
    person.post(&path(&own, "refunds"), by_card).await.refused_at(422, "tender_rule", "payments[0]");
    let back = give_back(&person, &own, json!([item(&own, 0, 1)])).await.ok(201);
    assert_eq!(back["salePayments"][0]["tenderCode"], "CASH");
    // Headquarters has the refund of this store as well: it counts once.
    locked(&hq.paid_back)
        .push(json!({"refundId": back["id"], "tenderId": id("CASH"), "tenderCode": "CASH", "amount": 250}));
    let shown = person.get(&path(&own, "refundable")).await.ok(200);
    assert_eq!((&shown["tenders"][1]["refundedAmount"], shop.level("BREAD").await), (&json!(250), Qty::pieces(9)));
}
