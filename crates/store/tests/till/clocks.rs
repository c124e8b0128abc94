//! Receipts are in the order of their times, however the clock of a store is set. `docs/sync.md`, rule U8.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use tillkeep_model::Instant;
use tillkeep_storage::entity::sale;
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::Cycle;

use crate::kit::{Person, Shop, cart, id, line, nothing_counted};

const DAY_MS: i64 = 24 * 3600 * 1000;
const MINUTE_MS: i64 = 60_000;

/// A headquarters that shows its clock and has nothing.
struct Shows(&'static str);

#[async_trait::async_trait]
impl Transport for Shows {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let body = match request.path.split('?').next().unwrap_or_default() {
            "/handshake" => json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {}, "clock": self.0,
            }),
            "/versions" => json!({"epoch": "e", "versions": {}}),
            _ => return Err("the line breaks".to_owned()),
        };
        Ok(Reply { from_hq: true, status: 200, retry_after: None, body: body.to_string().into() })
    }
}

async fn sell(person: &Person) -> Json {
    person.sell(json!([line("TEA", 1)])).await.ok(201)
}

fn instant(row: &Json, key: &str) -> Instant {
    row[key].as_str().and_then(Instant::parse).expect("an instant")
}

fn completed(sale: &Json) -> Instant {
    instant(sale, "completedAt")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_sales_at_once_at_one_till_the_later_number_has_the_later_time() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..120 {
        let person = person.clone();
        let mut request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
        request["startedAt"] = json!("2026-11-20T09:00:00Z");
        sent.spawn(async move { person.post("/pos/sales", request).await.ok(201) });
    }
    drop(sent.join_all().await);
    let mut sales = sale::Entity::find().all(shop.store.test_db().reader()).await.expect("the sales");
    sales.sort_by(|one, other| one.receipt_number.cmp(&other.receipt_number));
    assert_eq!(sales.len(), 120);
    for pair in sales.windows(2) {
        let [one, next] = pair else { unreachable!("two of them") };
        assert!(one.completed_at <= next.completed_at, "{} is later than {}", one.receipt_number, next.receipt_number);
        assert_eq!((next.created_at, next.updated_at), (next.completed_at, next.completed_at));
    }
}

#[tokio::test]
async fn a_clock_that_is_set_back_three_minutes_takes_no_receipt_before_the_last_one() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let first = sell(&person).await;
    shop.clock.advance(-3 * MINUTE_MS);
    let second = sell(&person).await;
    let third = sell(&person).await;
    assert!(completed(&first) < completed(&second) && completed(&second) < completed(&third), "{second} {third}");
    assert!(completed(&third).millis_since(completed(&first)) < 1000, "{third}");
    assert!(instant(&third, "startedAt") <= completed(&third));
    assert_eq!((&second["flags"], shop.alarms()), (&json!([]), vec![]));
    // What else is booked is in that order too.
    let session = person.get("/register-sessions/current").await.ok(200);
    let adjusted = json!({"id": uuid::Uuid::now_v7(), "productId": id("TEA"), "quantityChange": 1, "reason": "found"});
    let adjusted = person.post("/inventory/adjustments", adjusted).await.ok(201);
    assert!(instant(&adjusted, "occurredAt") > completed(&third), "{adjusted}");
    let path = format!("/register-sessions/{}/close", session["id"].as_str().expect("an id"));
    let closed = person.post(&path, nothing_counted()).await.ok(200);
    assert!(instant(&closed, "closedAt") > completed(&third), "{closed}");
    let opened = person.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    assert!(instant(&opened, "openedAt") > instant(&closed, "closedAt"), "{opened}");
    let customer = person.post("/customers", json!({"lastName": "Ada"})).await.ok(201);
    assert!(instant(&customer, "createdAt") > instant(&opened, "openedAt"), "{customer}");
    // Nothing of it is forgotten with a restart.
    let shop = shop.again(None, |_| ()).await;
    let person = shop.person(&person);
    assert!(completed(&sell(&person).await) > instant(&customer, "createdAt"));
}

#[tokio::test]
async fn a_clock_that_is_set_back_a_day_sells_with_the_time_that_headquarters_confirms_flagged_and_with_an_alarm() {
    let shop = Shop::with_line(Arc::new(Shows("2026-11-20T14:00:00.000Z"))).await;
    let mut cycle = Cycle::default();
    cycle.step(&shop.store).await;
    let person = shop.selling().await;
    let first = sell(&person).await;
    shop.clock.advance(-DAY_MS);
    // A sign-in of a time to come is none: whoever sells signs in again.
    let person = shop.sign_in("administrator").await;
    let second = sell(&person).await;
    assert!(completed(&second) > completed(&first), "{second}");
    assert!(completed(&second).millis_since(completed(&first)) < MINUTE_MS, "{second}");
    assert_eq!((&second["flags"], &second["businessDate"]), (&json!(["clock_behind_register"]), &json!("2026-11-20")));
    assert_eq!(shop.alarms(), ["clock_behind_register"]);
    let sent = shop.outbox().await.pop().expect("the sale");
    assert!(sent.payload.contains(r#""flags":["clock_behind_register"]"#), "headquarters knows: {}", sent.payload);
    // A drawer that is opened then has the day that it is.
    let session = person.get("/register-sessions/current").await.ok(200);
    let path = format!("/register-sessions/{}/close", session["id"].as_str().expect("an id"));
    person.post(&path, nothing_counted()).await.ok(200);
    let opened = person.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
    assert_eq!(opened["businessDate"], "2026-11-20");
    // Once it is right again nothing is said of it any more.
    shop.clock.advance(DAY_MS);
    let person = shop.sign_in("administrator").await;
    let third = sell(&person).await;
    assert!(completed(&third) >= completed(&second), "{third}");
    assert_eq!((&third["flags"], shop.alarms()), (&json!([]), vec![]));
}

#[tokio::test]
async fn a_clock_that_starts_a_day_back_without_a_line_sells_right_after_what_was_sold_last_flagged() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let first = sell(&person).await;
    shop.clock.advance(-DAY_MS);
    let shop = shop.again(None, |_| ()).await;
    let person = shop.sign_in("administrator").await;
    let second = sell(&person).await;
    assert_eq!(completed(&second).millis_since(completed(&first)), 1, "{second}");
    assert_eq!((&second["flags"], &second["businessDate"]), (&json!(["clock_behind_register"]), &json!("2026-11-20")));
    assert_eq!(shop.alarms(), ["clock_behind_register"]);
    // Headquarters says what time it is.
    let shop = shop.again(Some(Arc::new(Shows("2026-11-20T15:30:00.000Z"))), |_| ()).await;
    Cycle::default().step(&shop.store).await;
    let third = sell(&shop.person(&person)).await;
    let noon = Instant::parse("2026-11-20T15:30:00Z").expect("an instant");
    assert!((0..MINUTE_MS).contains(&completed(&third).millis_since(noon)), "{third}");
    assert_eq!(third["flags"], json!(["clock_behind_register"]));
}

#[tokio::test]
async fn a_clock_that_is_more_than_two_minutes_off_that_of_headquarters_is_an_alarm_until_it_is_set() {
    let shop = Shop::with_line(Arc::new(Shows("2026-11-20T14:00:00.000Z"))).await;
    let handshake = async || {
        Cycle::default().step(&shop.store).await;
        shop.alarms()
    };
    assert_eq!(handshake().await, [""; 0]);
    for off in [3 * MINUTE_MS, -6 * MINUTE_MS] {
        shop.clock.advance(off);
        assert_eq!(handshake().await, ["clock_off"], "{off}");
    }
    shop.clock.advance(3 * MINUTE_MS);
    assert_eq!(handshake().await, [""; 0]);
}
