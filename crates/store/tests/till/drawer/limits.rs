//! Who takes cash out of a drawer, and who opens it for no sale.

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::approval;
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use super::{Drawer, movement, register};

fn with(mut asked: Json, token: &Json) -> Json {
    asked["approvals"] = json!([token]);
    asked
}

fn context(drawer: &Drawer, asked: &Json, kind: &str, amount: i64) -> Json {
    json!({"sessionId": drawer.id, "movement": {"id": asked["id"], "kind": kind, "amount": amount}})
}

#[tokio::test]
async fn a_cashier_puts_cash_in_alone_and_takes_it_out_with_an_approval() {
    let drawer = Drawer::open().await;
    for kind in ["paid_in", "float_add"] {
        drawer.does("cash-movements", movement(kind, 100)).await.ok(201);
    }
    for kind in ["paid_out", "drop"] {
        let asked = movement(kind, 700);
        let refusal = drawer.does("cash-movements", asked.clone()).await.refused(403, "approval_required");
        assert_eq!((&refusal["required"], &refusal["approvable"]), (&json!(["registers.close"]), &json!(true)));
        let token = drawer.token(context(&drawer, &asked, kind, 700)).await;
        let made = drawer.does("cash-movements", with(asked.clone(), &token)).await.ok(201);
        assert_eq!(made["approverId"], json!(drawer.manager.0));
        assert_eq!(drawer.does("cash-movements", with(asked, &token)).await.ok(200), made, "the same again");
    }
    let audited = drawer.shop.audited("session.cash_movement").await;
    let approvers: Vec<Option<Uuid>> = audited.into_iter().map(|line| line.approver_id).collect();
    assert_eq!(approvers, [None, None, Some(drawer.manager.0), Some(drawer.manager.0)]);
    // A manager needs nobody.
    let manager = drawer.manager().await;
    manager.post(&drawer.act("cash-movements"), movement("drop", 1)).await.ok(201);
}

#[tokio::test]
async fn an_approval_is_for_one_movement_of_one_amount_and_one_kind_and_is_used_once() {
    let drawer = Drawer::open().await;
    let asked = movement("paid_out", 700);
    let token = drawer.token(context(&drawer, &asked, "paid_out", 700)).await;
    for (key, value) in [("amount", json!(701)), ("type", json!("drop")), ("id", json!(Uuid::now_v7()))] {
        let mut other = asked.clone();
        other[key] = value;
        drawer.does("cash-movements", with(other, &token)).await.refused(403, "approval_required");
    }
    let close = json!({"counts": super::counted(20_000), "approvals": [token]});
    drawer.does("close", close).await.refused(403, "approval_required");
    let token = drawer.token(context(&drawer, &asked, "paid_out", 700)).await;
    drawer.does("cash-movements", with(asked.clone(), &token)).await.ok(201);
    let kept = approval::Entity::find().all(drawer.shop.store.test_db().reader()).await.expect("the approvals");
    let used: Vec<bool> = kept.iter().map(|row| json!(row.used_by_id) == asked["id"]).collect();
    assert_eq!(used.iter().filter(|used| **used).count(), 1);
    let mut again = asked;
    again["id"] = json!(Uuid::now_v7());
    drawer.does("cash-movements", with(again, &token)).await.refused(403, "approval_required");
    assert_eq!(drawer.movements().await.len(), 1);
}

#[tokio::test]
async fn an_approval_of_a_movement_names_what_it_is_of() {
    let drawer = Drawer::open().await;
    let ask = async |context: Json| {
        let body = json!({
            "permission": "registers.close", "pin": drawer.manager.1, "reason": "seen by me", "context": context,
        });
        drawer.cashier.post("/pos/approvals", body).await
    };
    let asked = movement("drop", 1);
    ask(context(&drawer, &asked, "stolen", 1)).await.refused_at(422, "validation", "context.movement.kind");
    ask(json!({})).await.refused_at(422, "validation", "context.sessionId");
    ask(context(&drawer, &asked, "drop", 1)).await.ok(201);
}

#[tokio::test]
async fn a_drawer_is_opened_for_no_sale_by_who_gives_money_back_or_with_an_approval() {
    let drawer = Drawer::open().await;
    let asked = json!({"id": Uuid::now_v7(), "reason": "change"});
    let refusal = drawer.cashier.post(&register("no-sale"), asked.clone()).await.refused(403, "approval_required");
    assert_eq!(refusal["required"], json!(["registers.close"]));
    let token = drawer.token(context(&drawer, &asked, "no_sale", 0)).await;
    assert_eq!(drawer.cashier.post(&register("no-sale"), with(asked, &token)).await.status, 204);
    assert_eq!(drawer.movements().await[0].approver_id, Some(drawer.manager.0));
    let manager = drawer.manager().await;
    let alone = json!({"id": Uuid::now_v7(), "reason": "change"});
    assert_eq!(manager.post(&register("no-sale"), alone).await.status, 204);
    assert_eq!(drawer.row().await.no_sale_count, 2);
}
