//! A drawer that is open for long.

use serde_json::json;
use tillkeep_storage::entity::register_session;
use uuid::Uuid;

use super::{Drawer, FLOAT, HOUR, counted, movement, register};
use crate::kit::line;

#[tokio::test]
async fn a_drawer_over_midnight_keeps_its_business_date_in_all_that_is_done_with_it() {
    let drawer = Drawer::open().await;
    // Five in the morning of the 21st in New York: another business day.
    drawer.shop.clock.advance(20 * HOUR);
    let cashier = drawer.shop.sign_in("cashier").await;
    assert_eq!(cashier.sell(json!([line("BREAD", 1)])).await.ok(201)["businessDate"], "2026-11-20");
    let made = cashier.post(&drawer.act("cash-movements"), movement("paid_in", 50)).await.ok(201);
    assert_eq!(made["businessDate"], "2026-11-20");
    let closed = drawer.closed_with(FLOAT + 300).await;
    assert_eq!((&closed["businessDate"], &closed["cashVariance"]), (&json!("2026-11-20"), &json!(0)));
    let next = cashier.post(&register("open"), json!({})).await.ok(201);
    assert_eq!(next["businessDate"], "2026-11-21");
}

#[tokio::test]
async fn a_drawer_that_is_too_old_sells_nothing_and_ends_as_any_other() {
    let drawer = Drawer::open_with(|own| own.max_session_hours = 4).await;
    drawer.cashier.sell(json!([line("BREAD", 1)])).await.ok(201);
    drawer.shop.clock.advance(5 * HOUR);
    let manager = drawer.manager().await;
    manager.sell(json!([line("BREAD", 1)])).await.refused(409, "session_too_old");
    manager.post(&drawer.act("cash-movements"), movement("drop", 10_000)).await.ok(201);
    let no_sale = json!({"id": Uuid::now_v7(), "reason": "check"});
    assert_eq!(manager.post(&register("no-sale"), no_sale).await.status, 204);
    manager.post(&drawer.act("count"), json!({"counts": counted(FLOAT)})).await.ok(200);
    manager.post(&drawer.act("count"), json!({"reopen": true})).await.ok(200);
    manager.post(&drawer.act("count"), json!({"counts": counted(FLOAT - 9_750)})).await.ok(200);
    let closed = manager.post(&drawer.act("close"), json!({})).await.ok(200);
    assert_eq!(closed["cashVariance"], 0);
}

#[tokio::test]
async fn of_two_open_drawers_of_a_register_the_one_that_was_opened_last_sells() {
    let drawer = Drawer::open().await;
    // As after a restore: the drawer that came back was opened before the one that is open now.
    let back = drawer.row().await;
    let now = register_session::Model {
        id: Uuid::now_v7(),
        session_number: back.session_number + 1,
        opened_at: back.opened_at.plus_millis(HOUR),
        ..back
    };
    let id = now.id;
    drawer.shop.insert::<register_session::Entity>([now]).await;
    let sold = drawer.cashier.sell(json!([line("BREAD", 1)])).await.ok(201);
    assert_eq!(sold["registerSessionId"], json!(id));
    let manager = drawer.manager().await;
    assert_eq!(manager.get("/reports/x").await.ok(200)["header"]["sessionId"], json!(id));
    for path in [drawer.path.clone(), format!("/register-sessions/{id}")] {
        let expected = if path == drawer.path { FLOAT } else { FLOAT + 250 };
        let closed = manager.post(&format!("{path}/close"), json!({"counts": counted(expected)})).await.ok(200);
        assert_eq!(closed["cashVariance"], 0);
    }
}
