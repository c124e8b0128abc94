//! What is done with one drawer at once is done one after the other.

use serde_json::{Value as Json, json};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::{Drawer, FLOAT, counted, movement, register};
use crate::kit::{Person, line, nothing_counted};

/// The sum of the movements in a drawer as it is answered.
fn moved(session: &Json) -> i64 {
    let movements = session["cashMovements"].as_array().expect("movements").iter();
    movements.map(|row| row["amount"].as_i64().expect("an amount")).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_sixteen_movements_on_a_closing_drawer_each_is_before_or_after_and_none_is_lost() {
    for _ in 0..4 {
        let drawer = Drawer::open().await;
        let administrator = drawer.shop.sign_in("administrator").await;
        let mut sent = JoinSet::new();
        for number in 0..16 {
            let (person, path) = (drawer.cashier.clone(), drawer.act("cash-movements"));
            let asked = movement("paid_in", 1 << number);
            sent.spawn(async move {
                let answer = person.post(&path, asked.clone()).await;
                (answer.status, answer.body["code"].clone(), asked["amount"].as_i64().expect("an amount"))
            });
        }
        let closed = administrator.post(&drawer.act("close"), nothing_counted()).await.ok(200);
        let mut done = 0;
        while let Some(answer) = sent.join_next().await {
            match answer.expect("an answer") {
                (201, _, amount) => done += amount,
                (status, code, _) => assert_eq!((status, code), (409, json!("session_closed"))),
            }
        }
        assert_eq!(moved(&closed), done, "what was answered is in the drawer");
        assert_eq!((closed["expectedCash"].as_i64(), moved(&closed)), (Some(FLOAT + done), done));
        assert_eq!(closed["totals"]["cash"]["paidIn"], done);
        let stored: i64 = drawer.movements().await.iter().map(|row| row.amount.0).sum();
        assert_eq!(stored, done);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_movement_ten_times_at_once_is_one() {
    let drawer = Drawer::open().await;
    let asked = movement("paid_in", 700);
    let mut sent = JoinSet::new();
    for _ in 0..10 {
        let (person, path, asked) = (drawer.cashier.clone(), drawer.act("cash-movements"), asked.clone());
        sent.spawn(async move { person.post(&path, asked).await.status });
    }
    let mut statuses = sent.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [[200; 9].as_slice(), &[201]].concat());
    assert_eq!(drawer.closed_with(FLOAT + 700).await["cashVariance"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_approval_pays_out_once_however_many_ask_at_once() {
    let drawer = Drawer::open().await;
    let asked = movement("paid_out", 700);
    let named = json!({"id": asked["id"], "kind": "paid_out", "amount": 700});
    let token = drawer.token(json!({"sessionId": drawer.id, "movement": named})).await;
    let mut sent = JoinSet::new();
    for number in 0..8 {
        let (person, path, mut asked) = (drawer.cashier.clone(), drawer.act("cash-movements"), asked.clone());
        asked["approvals"] = json!([token]);
        // Half of them are another movement.
        if number % 2 == 1 {
            asked["id"] = json!(Uuid::now_v7());
        }
        sent.spawn(async move { person.post(&path, asked).await.status });
    }
    let statuses = sent.join_all().await;
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 201, 403].contains(status)), "{statuses:?}");
    assert!(statuses.iter().filter(|status| **status == 403).count() >= 4, "{statuses:?}");
    assert_eq!(drawer.movements().await.len(), 1);
}

async fn sells(person: Person) -> (u16, Json) {
    let answer = person.sell(json!([line("BREAD", 1)])).await;
    (answer.status, answer.body["code"].clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_sale_beside_a_count_is_counted_or_refused() {
    let drawer = Drawer::open().await;
    let mut selling = JoinSet::new();
    for _ in 0..20 {
        selling.spawn(sells(drawer.cashier.clone()));
    }
    let counted = drawer.shop.sign_in("administrator").await;
    let session = counted.post(&drawer.act("count"), json!({"counts": super::counted(FLOAT)})).await.ok(200);
    let mut sold = 0;
    while let Some(answer) = selling.join_next().await {
        match answer.expect("an answer") {
            (201, _) => sold += 250,
            other => assert_eq!(other, (409, json!("session_closed"))),
        }
    }
    assert_eq!(
        session["counts"][0]["expected"],
        FLOAT + sold,
        "what was sold before the count is in it, and nothing after"
    );
    let closed = counted.post(&drawer.act("close"), json!({"acceptVariance": true})).await.ok(200);
    assert_eq!(closed["expectedCash"], FLOAT + sold);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_close_a_close_by_force_and_a_count_at_once_one_ends_the_drawer() {
    for _ in 0..4 {
        let drawer = Drawer::open().await;
        let administrator = drawer.shop.sign_in("administrator").await;
        let mut sent = JoinSet::new();
        let asked = [
            ("close", json!({"counts": counted(FLOAT)})),
            ("force-close", json!({"reason": "left"})),
            ("close", json!({"counts": counted(FLOAT)})),
            ("force-close", json!({"reason": "left"})),
        ];
        for (act, body) in asked {
            let (person, path) = (administrator.clone(), drawer.act(act));
            sent.spawn(async move { person.post(&path, body).await.status });
        }
        let statuses = sent.join_all().await;
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
        assert!(statuses.iter().all(|status| [200, 409].contains(status)), "{statuses:?}");
        let ends =
            drawer.shop.audited("session.close").await.len() + drawer.shop.audited("session.force_close").await.len();
        assert_eq!(ends, 1);
        administrator.post(&register("open"), json!({})).await.ok(201);
    }
}
