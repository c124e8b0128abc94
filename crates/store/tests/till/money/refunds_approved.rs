//! Who may give what back, and what a second person's yes is good for: exactly the refund that was shown.

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::sale;
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use uuid::Uuid;

use super::path;
use super::refunds::{by, item, refund};
use crate::kit::{Person, Reply, Shop, cart, id, line, people};

const REFUND: &str = "pos.refund";
const BEYOND: &str = "pos.discount.override_max";

/// A cashier behind an open drawer, a manager who stands beside, and three tins of tea that were sold.
struct Scene {
    shop: Shop,
    cashier: Person,
    manager: (Uuid, String),
    sale: Json,
}

impl Scene {
    async fn set(tender: &str) -> Self {
        let shop = Shop::open().await;
        shop.selling().await;
        let cashier = shop.sign_in("cashier").await;
        let manager = people::person(&shop, "store_manager").await;
        let sold = cart(json!([line("TEA", 3)]), json!([{"tenderId": id(tender)}]));
        let sale = cashier.post("/pos/sales", sold).await.ok(201);
        Self { shop, cashier, manager, sale }
    }

    async fn ask(&self, refund: &Json) -> Reply {
        self.cashier.post(&path(&self.sale, "refunds"), refund.clone()).await
    }

    /// The token of a manager's yes to `permission` for the refund with this hash.
    async fn token(&self, permission: &str, refusal: &Json) -> Json {
        let context = json!({"refundHash": refusal["refundHash"]});
        let asked = json!({"permission": permission, "pin": self.manager.1, "reason": "a regular", "context": context});
        self.cashier.post("/pos/approvals", asked).await.ok(201)["token"].clone()
    }
}

/// What a refusal of `refund` asks for.
#[track_caller]
fn needs(reply: Reply, status: u16, code: &str, permissions: &[&str]) -> Json {
    let refusal = reply.refused(status, code);
    assert_eq!((&refusal["required"], &refusal["approvable"]), (&json!(permissions), &json!(true)), "{refusal}");
    assert_eq!(refusal["refundHash"].as_str().map(str::len), Some(64), "{refusal}");
    refusal
}

fn with(refund: &Json, tokens: &[&Json]) -> Json {
    let mut refund = refund.clone();
    refund["approvals"] = json!(tokens);
    refund
}

#[tokio::test]
async fn a_cashier_gives_back_what_a_manager_approved_and_nothing_else() {
    let scene = Scene::set("CASH").await;
    let asked = refund(json!([item(&scene.sale, 0, 1)]));
    let refusal = needs(scene.ask(&asked).await, 403, "approval_required", &[REFUND]);
    let token = scene.token(REFUND, &refusal).await;
    let changed = |change: &dyn Fn(&mut Json)| {
        let mut other = with(&asked, &[&token]);
        change(&mut other);
        other
    };
    for other in [
        changed(&|other| other["items"][0]["quantity"] = json!(2)),
        changed(&|other| other["items"][0]["restock"] = json!(false)),
        changed(&|other| other["payments"] = json!([{"tenderId": id("ACCOUNT")}])),
        changed(&|other| other["payments"] = json!([{"tenderId": id("CHECK")}])),
        changed(&|other| other["reason"] = json!("another one")),
        changed(&|other| other["note"] = json!("for a friend")),
    ] {
        let reply = scene.ask(&other).await;
        assert!(matches!(reply.status, 403 | 422), "{}", reply.body);
    }
    // Another sale of the same goods is another refund.
    let second = scene.cashier.sell(json!([line("TEA", 3)])).await.ok(201);
    let of_second = with(&refund(json!([item(&second, 0, 1)])), &[&token]);
    scene.cashier.post(&path(&second, "refunds"), of_second).await.refused(403, "approval_required");

    let back = scene.ask(&with(&asked, &[&token])).await.ok(201);
    let approval = &back["approvals"][0];
    assert_eq!((&approval["permission"], &approval["approverId"]), (&json!(REFUND), &json!(scene.manager.0)));
    let lines = scene.shop.audited("sale.refund").await;
    assert_eq!((lines[0].user_id, lines[0].approver_id), (Some(scene.cashier.user_id), Some(scene.manager.0)));
    // It is used up.
    let mut twin = with(&asked, &[&token]);
    twin["id"] = json!(Uuid::now_v7());
    needs(scene.ask(&twin).await, 403, "approval_required", &[REFUND]);
}

#[tokio::test]
async fn after_the_window_more_than_the_right_to_give_back_is_asked_for() {
    let scene = Scene::set("CASH").await;
    scene.shop.change_store(|own| own.refund_window_days = Some(14)).await;
    let sold_on = async |date: &str| {
        let tx = scene.shop.store.test_db().begin().await.expect("a transaction");
        let row = sale::Entity::find().one(&tx).await.expect("a read").expect("the sale");
        let row = sale::Model { business_date: date.to_owned(), ..row };
        row.into_active_model().reset_all().update(&tx).await.expect("an update");
        tx.commit().await.expect("a commit");
    };
    let asked = refund(json!([item(&scene.sale, 0, 1)]));
    sold_on("2026-11-06").await;
    needs(scene.ask(&asked).await, 403, "approval_required", &[REFUND]);
    sold_on("2026-11-05").await;
    let refusal = needs(scene.ask(&asked).await, 409, "refund_window_passed", &[BEYOND, REFUND]);
    assert!(refusal["error"].as_str().is_some_and(|text| text.contains("2026-11-19")), "{refusal}");
    let refund_only = scene.token(REFUND, &refusal).await;
    let refusal = needs(scene.ask(&with(&asked, &[&refund_only])).await, 409, "refund_window_passed", &[BEYOND]);
    let beyond = scene.token(BEYOND, &refusal).await;
    let back = scene.ask(&with(&asked, &[&refund_only, &beyond])).await.ok(201);
    assert_eq!(back["approvals"].as_array().map(Vec::len), Some(2));
    // A manager needs nobody.
    let manager = scene.shop.sign_in("store_manager").await;
    manager.post(&path(&scene.sale, "refunds"), refund(json!([item(&scene.sale, 0, 1)]))).await.ok(201);
}

#[tokio::test]
async fn what_does_not_come_back_comes_back_with_an_approval() {
    let scene = Scene::set("CASH").await;
    scene.shop.change_product("TEA", |product| product.is_returnable = false).await;
    let asked = refund(json!([item(&scene.sale, 0, 1)]));
    let refusal = needs(scene.ask(&asked).await, 409, "not_returnable", &[BEYOND, REFUND]);
    assert_eq!(refusal["details"][0]["field"], "items[0].saleItemId");
    let tokens = [scene.token(REFUND, &refusal).await, scene.token(BEYOND, &refusal).await];
    scene.ask(&with(&asked, &[&tokens[0], &tokens[1]])).await.ok(201);
}

#[tokio::test]
async fn in_a_store_that_gives_back_where_the_money_came_from_another_tender_is_approved() {
    let scene = Scene::set("CARD").await;
    let cash = by("CASH", json!([item(&scene.sale, 0, 1)]));
    // Where the store does not ask for that, the right to give back is enough.
    needs(scene.ask(&cash).await, 403, "approval_required", &[REFUND]);
    scene.shop.change_store(|own| own.refund_to_original_tender = true).await;
    let refusal = needs(scene.ask(&cash).await, 403, "approval_required", &[BEYOND, REFUND]);
    assert_eq!(refusal["details"][0]["field"], "payments[0].amount");
    let card = by("CARD", json!([item(&scene.sale, 0, 1)]));
    needs(scene.ask(&card).await, 403, "approval_required", &[REFUND]);
    let tokens = [scene.token(REFUND, &refusal).await, scene.token(BEYOND, &refusal).await];
    scene.ask(&with(&cash, &[&tokens[0], &tokens[1]])).await.ok(201);
    // What went to cash is not left to the card.
    let manager = scene.shop.sign_in("store_manager").await;
    let rest = by("CARD", json!([item(&scene.sale, 0, 2)]));
    manager.post(&path(&scene.sale, "refunds"), rest).await.ok(201);
}
