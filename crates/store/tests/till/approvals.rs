//! A second person approves: for one action, once, here and now.

use serde_json::{Value as Json, json};
use tillkeep_http::auth::housekeeping;
use tillkeep_model::{Cost, Money, ids};
use tillkeep_storage::entity::{approval, audit_log, product, register, session, user, user_store_role};
use tillkeep_storage::raw::sea_orm::{ActiveModelTrait, ActiveValue::Set, EntityTrait};
use uuid::Uuid;

use crate::kit::people;
use crate::kit::{Person, Reply, Shop, cart, document, id, line, public, rows};

const OVERRIDE: &str = "pos.price.override";

/// A cashier behind an open drawer, and the PIN of a manager who stands beside.
struct Scene {
    shop: Shop,
    cashier: Person,
    manager: (Uuid, String),
}

impl Scene {
    async fn set() -> Self {
        let shop = Shop::open().await;
        shop.selling().await;
        let cashier = shop.sign_in("cashier").await;
        let manager = people::person(&shop, "store_manager").await;
        Self { shop, cashier, manager }
    }

    async fn ask(&self, permission: &str, context: Json) -> Reply {
        ask(&self.cashier, &self.manager.1, permission, context).await
    }

    /// The token of an approval of `cart` as it is quoted to the cashier.
    async fn token(&self, cart: &Json) -> String {
        let hash = hash_of(&self.cashier, cart).await;
        let given = self.ask(OVERRIDE, json!({"cartHash": hash})).await.ok(201);
        given["token"].as_str().expect("a token").to_owned()
    }
}

async fn ask(person: &Person, pin: &str, permission: &str, context: Json) -> Reply {
    let body = json!({"permission": permission, "pin": pin, "reason": "a scratched tin", "context": context});
    person.post("/pos/approvals", body).await
}

async fn hash_of(person: &Person, cart: &Json) -> Json {
    let mut asked = cart.clone();
    asked.as_object_mut().expect("an object").remove("payments");
    person.post("/pos/quote", asked).await.ok(200)["cartHash"].clone()
}

/// `quantity` of TEA for 15.00 instead of 19.99.
fn cheaper(quantity: i64) -> Json {
    let mut line = line("TEA", quantity);
    line["unitPriceOverride"] = json!(1500);
    line["overrideReason"] = json!("a scratched tin");
    cart(json!([line]), json!([{"tenderId": id("CASH")}]))
}

fn with(mut cart: Json, token: &str) -> Json {
    cart["approvals"] = json!([token]);
    cart
}

/// The same cart for another sale.
fn again(cart: &Json) -> Json {
    let mut cart = cart.clone();
    cart["id"] = json!(Uuid::now_v7());
    cart
}

#[track_caller]
fn needs(reply: Reply, permission: &str) {
    let refusal = reply.refused(403, "approval_required");
    assert_eq!((&refusal["approvable"], &refusal["required"]), (&json!(true), &json!([permission])), "{refusal}");
}

#[tokio::test]
async fn a_price_changed_with_an_approval_is_a_sale_that_says_who_approved_it() {
    let scene = Scene::set().await;
    let (shop, cashier) = (&scene.shop, &scene.cashier);
    let request = cheaper(2);
    needs(cashier.post("/pos/sales", request.clone()).await, OVERRIDE);

    let mut asked = request.clone();
    asked.as_object_mut().expect("an object").remove("payments");
    let quote = cashier.post("/pos/quote", asked).await.ok(200);
    assert_eq!(quote["requiredPermissions"], json!([OVERRIDE]));
    assert_eq!((&quote["lines"][0]["unitPrice"], &quote["lines"][0]["regularPrice"]), (&json!(1500), &json!(1999)));
    let given = scene.ask(OVERRIDE, json!({"cartHash": quote["cartHash"]})).await.ok(201);
    assert_eq!(given["approver"], json!({"id": scene.manager.0, "name": "A store_manager"}));
    let token = given["token"].as_str().expect("a token");
    assert!(token.starts_with("apr_") && token.len() > 40, "{token}");

    let request = with(request, token);
    let sold = cashier.post("/pos/sales", request.clone()).await.ok(201);
    let item = &sold["saleItems"][0];
    assert_eq!(
        (&item["priceSource"], &item["unitPrice"], &item["regularPrice"]),
        (&json!("override"), &json!(1500), &json!(1999))
    );
    assert_eq!(
        (&item["overrideReason"], &item["overrideApprovedBy"]),
        (&json!("a scratched tin"), &json!(scene.manager.0))
    );
    assert_eq!(sold["listAmount"], 3000);
    let noted = &sold["approvals"];
    assert_eq!(noted.as_array().map(Vec::len), Some(1), "{noted}");
    for (key, value) in [
        ("permission", json!(OVERRIDE)),
        ("approverId", json!(scene.manager.0)),
        ("approverName", json!("A store_manager")),
        ("reason", json!("a scratched tin")),
    ] {
        assert_eq!(noted[0][key], value, "{key}");
    }
    let entry = shop.outbox().await.pop().expect("an entry");
    let travels: Json = serde_json::from_str(&entry.payload).expect("JSON");
    assert_eq!(public(&travels), document(&sold), "it travels as it was answered, with its costs");
    assert_ne!(travels, public(&travels));

    let kept = approval::Entity::find().one(shop.store.test_db().reader()).await.expect("a read").expect("an approval");
    assert_eq!(json!(kept.used_by_id), sold["id"]);
    assert!(kept.used_at.is_some() && !kept.token_hash.contains(token), "the token itself is not kept");
    for (action, entity) in [("approval.granted", json!(kept.id)), ("sale.price_override", sold["id"].clone())] {
        let rows = scene.shop.audited(action).await;
        assert_eq!(rows.len(), 1, "{action}");
        assert_eq!((rows[0].user_id, rows[0].approver_id), (Some(cashier.user_id), Some(scene.manager.0)), "{action}");
        assert_eq!(json!(rows[0].entity_id), entity, "{action}");
    }

    // The till did not hear the answer: the same sale again is the sale that is there, though the approval is used up.
    assert_eq!(cashier.post("/pos/sales", request.clone()).await.ok(200), sold);
    needs(cashier.post("/pos/sales", again(&request)).await, OVERRIDE);
}

#[tokio::test]
async fn who_holds_the_permission_needs_no_approver() {
    let scene = Scene::set().await;
    let manager = scene.shop.sign_in_with(&scene.manager, "T1").await;
    let sold = manager.post("/pos/sales", cheaper(1)).await.ok(201);
    assert_eq!((&sold["approvals"], &sold["saleItems"][0]["overrideApprovedBy"]), (&json!([]), &Json::Null));
    assert_eq!(sold["saleItems"][0]["overrideReason"], "a scratched tin");
    let rows = scene.shop.audited("sale.price_override").await;
    assert_eq!((rows.len(), rows[0].user_id, rows[0].approver_id), (1, Some(manager.user_id), None));
}

#[tokio::test]
async fn one_approval_is_one_sale_however_many_are_sent_at_once() {
    let scene = Scene::set().await;
    let request = cheaper(1);
    let request = with(request.clone(), &scene.token(&request).await);
    let before = scene.shop.outbox().await.len();
    let sales = (0..20).map(|_| {
        let (cashier, request) = (scene.cashier.clone(), again(&request));
        tokio::spawn(async move { cashier.post("/pos/sales", request).await })
    });
    let mut sold = 0;
    for sale in sales.collect::<Vec<_>>() {
        let reply = sale.await.expect("an answer");
        if reply.status == 201 { sold += 1 } else { needs(reply, OVERRIDE) }
    }
    assert_eq!((sold, scene.shop.outbox().await.len() - before), (1, 1));
}

#[tokio::test]
async fn an_approval_is_good_for_two_minutes() {
    let scene = Scene::set().await;
    let request = cheaper(1);
    let token = scene.token(&request).await;
    scene.shop.clock.advance(119_000);
    let in_time = with(request.clone(), &token);
    let other = scene.token(&request).await;
    scene.cashier.post("/pos/sales", in_time).await.ok(201);
    scene.shop.clock.advance(120_000);
    needs(scene.cashier.post("/pos/sales", with(again(&request), &other)).await, OVERRIDE);
}

#[tokio::test]
async fn an_approval_is_for_this_cart_this_permission_this_person_and_this_terminal() {
    let scene = Scene::set().await;
    let shop = &scene.shop;
    let request = cheaper(1);
    let token = scene.token(&request).await;

    needs(scene.cashier.post("/pos/sales", with(cheaper(2), &token)).await, OVERRIDE);
    let mut cheaper_still = with(again(&request), &token);
    cheaper_still["lines"][0]["unitPriceOverride"] = json!(1499);
    needs(scene.cashier.post("/pos/sales", cheaper_still).await, OVERRIDE);

    let hash = hash_of(&scene.cashier, &request).await;
    let discount = scene.ask("pos.discount.override_max", json!({"cartHash": hash})).await.ok(201);
    let discount = discount["token"].as_str().expect("a token");
    needs(scene.cashier.post("/pos/sales", with(again(&request), discount)).await, OVERRIDE);

    let other = shop.sign_in("cashier").await;
    needs(other.post("/pos/sales", with(again(&request), &token)).await, OVERRIDE);

    // The same person at another till asks there; the token is no good at the first one, nor the other way round.
    shop.insert::<register::Entity>([rows::register("02", "T2")]).await;
    let known = people::person(shop, "cashier").await;
    let (here, there) = (shop.sign_in_with(&known, "T1").await, shop.sign_in_with(&known, "T2").await);
    let mut unnamed = request.clone();
    unnamed.as_object_mut().expect("an object").remove("terminalId");
    let given = ask(&there, &scene.manager.1, OVERRIDE, json!({"cartHash": hash_of(&there, &unnamed).await})).await;
    let token_there = given.ok(201)["token"].as_str().expect("a token").to_owned();
    needs(here.post("/pos/sales", with(again(&request), &token_there)).await, OVERRIDE);
    there.post("/pos/sales", with(again(&request), &token)).await.refused_at(403, "wrong_terminal", "terminalId");

    // After all of this the first one is still unused, and good.
    scene.cashier.post("/pos/sales", with(again(&request), &token)).await.ok(201);
}

#[tokio::test]
async fn who_may_not_approve_is_refused_and_the_refusal_is_kept() {
    let scene = Scene::set().await;
    let shop = &scene.shop;
    let context = json!({"cartHash": "a".repeat(64)});
    ask(&scene.cashier, "58203917", OVERRIDE, context.clone()).await.refused(401, "wrong_pin");
    let (_, cashiers_pin) = people::person(shop, "cashier").await;
    let refusal = ask(&scene.cashier, &cashiers_pin, OVERRIDE, context.clone()).await;
    assert_eq!(refusal.refused(403, "approver_lacks_permission")["required"], json!([OVERRIDE]));

    // A manager of another store; their PIN is known here because of a role without rights.
    let (elsewhere, pin) = people::person(shop, "cashier").await;
    shop.insert::<user_store_role::Entity>([user_store_role::Model {
        id: Uuid::now_v7(),
        user_id: elsewhere,
        role_id: ids::role("store_manager"),
        store_id: Some(id("another store")),
        ..user_store_role::Model::default()
    }])
    .await;
    shop.store.auth.invalidate();
    ask(&scene.cashier, &pin, OVERRIDE, context).await.refused(403, "approver_lacks_permission");

    let refused = scene.shop.audited("approval.refused").await;
    let who: Vec<_> = refused.iter().map(|row| (row.user_id, row.approver_id.is_some())).collect();
    let cashier = Some(scene.cashier.user_id);
    assert_eq!(who, [(cashier, false), (cashier, true), (cashier, true)]);
    assert_eq!(shop.count::<approval::Entity>().await, 0);
}

#[tokio::test]
async fn what_is_asked_wrongly_is_refused_by_its_field() {
    let scene = Scene::set().await;
    let hash = "a".repeat(64);
    for (permission, context, field) in [
        ("products.edit", json!({"cartHash": hash}), "permission"),
        (OVERRIDE, json!({}), "context.cartHash"),
        (OVERRIDE, json!({"cartHash": "short"}), "context.cartHash"),
        ("pos.void", json!({"cartHash": hash}), "context.saleId"),
        ("pos.refund", json!({"saleId": id("a sale")}), "context.refundHash"),
        ("pos.refund", json!({"refundHash": "short"}), "context.refundHash"),
        ("pos.discount.override_max", json!({"refundHash": "short"}), "context.refundHash"),
        ("registers.open", json!({"registerId": id("register 01")}), "context.openingFloat"),
        ("registers.close", json!({}), "context.sessionId"),
    ] {
        scene.ask(permission, context).await.refused_at(422, "validation", field);
    }
    for reason in [String::new(), " ".into(), "x".repeat(201)] {
        let body =
            json!({"permission": OVERRIDE, "pin": scene.manager.1, "reason": reason, "context": {"cartHash": hash}});
        scene.cashier.post("/pos/approvals", body).await.refused_at(422, "validation", "reason");
    }
    scene.ask("pos.void", json!({"saleId": Uuid::now_v7()})).await.ok(201);
    for permission in ["pos.refund", "pos.discount.override_max"] {
        scene.ask(permission, json!({"refundHash": hash})).await.ok(201);
    }
}

#[tokio::test]
async fn an_approver_who_is_sent_home_has_approved_nothing() {
    let scene = Scene::set().await;
    let request = cheaper(1);
    let request = with(request.clone(), &scene.token(&request).await);
    let tx = scene.shop.store.test_db().begin().await.expect("a transaction");
    let gone = user::ActiveModel { id: Set(scene.manager.0), is_active: Set(false), ..Default::default() };
    gone.update(&tx).await.expect("an update");
    tx.commit().await.expect("a commit");
    scene.shop.store.auth.invalidate();
    needs(scene.cashier.post("/pos/sales", request).await, OVERRIDE);
}

#[tokio::test]
async fn an_approval_begins_no_session() {
    let scene = Scene::set().await;
    let before = scene.shop.count::<session::Entity>().await;
    let request = cheaper(1);
    let hash = hash_of(&scene.cashier, &request).await;
    let given = scene.ask(OVERRIDE, json!({"cartHash": hash})).await.ok(201);
    let mut keys: Vec<_> = given.as_object().expect("an object").keys().cloned().collect();
    keys.sort();
    assert_eq!(keys, ["approvalId", "approver", "expiresAt", "token"]);
    assert_eq!(scene.shop.count::<session::Entity>().await, before);
    let me = scene.cashier.get("/auth/me").await.ok(200);
    assert_eq!(me["id"], json!(scene.cashier.user_id));
    scene.cashier.get("/register-sessions").await.refused(403, "forbidden");
}

#[tokio::test]
async fn a_price_below_the_floor_needs_both_permissions() {
    let scene = Scene::set().await;
    scene.shop.change_product("TEA", |row: &mut product::Model| row.min_price = Some(Cost(Money(1800)))).await;
    let request = cheaper(1);
    let token = scene.token(&request).await;
    needs(scene.cashier.post("/pos/sales", with(again(&request), &token)).await, "pos.discount.override_max");
    let hash = hash_of(&scene.cashier, &request).await;
    let second = scene.ask("pos.discount.override_max", json!({"cartHash": hash})).await.ok(201);
    let mut request = again(&request);
    request["approvals"] = json!([token, second["token"]]);
    let sold = scene.cashier.post("/pos/sales", request).await.ok(201);
    let noted: Vec<_> = sold["approvals"].as_array().expect("a list").iter().map(|row| &row["permission"]).collect();
    assert_eq!(noted, [OVERRIDE, "pos.discount.override_max"]);
}

#[tokio::test]
async fn a_changed_price_has_a_reason_and_a_reason_a_changed_price() {
    let scene = Scene::set().await;
    let mut request = cheaper(1);
    request["lines"][0]["overrideReason"] = json!(" ");
    scene.cashier.post("/pos/sales", request).await.refused_at(422, "validation", "lines[0].overrideReason");
    let mut request = cheaper(1);
    request["lines"][0]["unitPriceOverride"] = Json::Null;
    scene.cashier.post("/pos/sales", request).await.refused_at(422, "validation", "lines[0].overrideReason");
    let mut request = cheaper(1);
    request["lines"][0]["unitPriceOverride"] = json!(-1);
    scene.cashier.post("/pos/sales", request).await.refused_at(422, "validation", "lines[0].unitPriceOverride");
    let many: Vec<_> = (0..11).map(|number| format!("apr_{number}")).collect();
    let mut request = cheaper(1);
    request["approvals"] = json!(many);
    scene.cashier.post("/pos/sales", request).await.refused_at(422, "validation", "approvals");
}

#[tokio::test]
async fn another_float_is_approved_for_that_register_and_that_amount() {
    let shop = Shop::open().await;
    let (cashier, administrator) = (shop.sign_in("cashier").await, people::person(&shop, "administrator").await);
    let path = format!("/registers/{}/open", id("register 01"));
    let refusal = cashier.post(&path, json!({"openingFloat": 4321})).await.refused(403, "float_not_default");
    assert_eq!((&refusal["approvable"], &refusal["required"]), (&json!(true), &json!(["registers.open"])));
    let context = json!({"registerId": id("register 01"), "openingFloat": 4321});
    let given = ask(&cashier, &administrator.1, "registers.open", context).await.ok(201);
    let open =
        async |amount: i64| cashier.post(&path, json!({"openingFloat": amount, "approvals": [given["token"]]})).await;
    open(9999).await.refused(403, "float_not_default");
    assert_eq!(open(4321).await.ok(201)["openingFloat"], 4321);
    let rows = audit_log::Entity::find().all(shop.store.test_db().reader()).await.expect("the audit log");
    let opened = rows.iter().find(|row| row.action == "session.open").expect("audited");
    assert_eq!(opened.approver_id, Some(administrator.0));
}

#[tokio::test]
async fn a_cashier_closes_a_drawer_with_an_approval_of_the_difference_that_it_has() {
    let scene = Scene::set().await;
    let cashier = &scene.cashier;
    let session = cashier.get("/register-sessions/current").await.ok(200);
    let session_id = session["id"].clone();
    let path = format!("/register-sessions/{}/close", session_id.as_str().expect("an id"));
    let refusal = cashier.post(&path, json!({})).await.refused(403, "forbidden");
    assert_eq!(
        (&refusal["approvable"], &refusal["required"]),
        (&json!(true), &json!(["registers.close", "reports.z_report"]))
    );

    let counted = session["openingFloat"].as_i64().expect("an amount") + 100_000;
    let close = async |token: &Json, accept: bool| {
        let body = json!({
            "counts": [{"tenderId": id("CASH"), "amount": counted}],
            "acceptVariance": accept, "approvals": [token],
        });
        cashier.post(&path, body).await
    };
    let given = scene.ask("registers.close", json!({"sessionId": session_id})).await.ok(201);
    // What was not counted has no difference to approve.
    let uncounted = json!({"approvals": [given["token"]]});
    cashier.post(&path, uncounted).await.refused_at(409, "not_counted", "counts");
    // To close was approved, not to close with this; how much this is, the cashier does not see.
    needs(close(&given["token"], true).await, "registers.close");
    let context = json!({"sessionId": session_id, "cashVariance": 100_000});
    let given = scene.ask("registers.close", context).await.ok(201);
    let closed = close(&given["token"], false).await.ok(200);
    assert_eq!((&closed["status"], &closed["cashVariance"]), (&json!("closed"), &Json::Null));
    let rows = scene.shop.audited("session.close").await;
    assert_eq!((rows.len(), rows[0].approver_id), (1, Some(scene.manager.0)));
    let details = &rows[0].details.0;
    assert_eq!((&details["cashVariance"], &details["varianceAccepted"]), (&json!(100_000), &json!(true)));
}

#[tokio::test]
async fn guesses_at_an_approval_count_where_they_are_typed_as_guesses_at_a_sign_in_do() {
    let scene = Scene::set().await;
    let hash = hash_of(&scene.cashier, &cheaper(1)).await;
    let computed = scene.shop.store.auth.pins.computed();
    let mut locked = 0;
    for number in 0..10 {
        let reply = ask(&scene.cashier, &format!("70512983{number}"), OVERRIDE, json!({"cartHash": hash})).await;
        if reply.status == 401 {
            reply.refused(401, "wrong_pin");
        } else {
            reply.refused(429, "pin_locked");
            locked += 1;
        }
    }
    assert!(locked >= 7, "{locked} of 10 were refused unseen");
    assert!(scene.shop.store.auth.pins.computed() - computed <= 6, "at most three were looked at");
    // The right PIN waits as well, and then it is good.
    scene.ask(OVERRIDE, json!({"cartHash": hash})).await.refused(429, "pin_locked");
    scene.shop.clock.advance(5_000);
    scene.ask(OVERRIDE, json!({"cartHash": hash})).await.ok(201);
}

#[tokio::test]
async fn an_unused_approval_goes_after_its_two_minutes_and_stays_in_the_audit_log() {
    let scene = Scene::set().await;
    scene.token(&cheaper(1)).await;
    let used = cheaper(2);
    let token = scene.token(&used).await;
    scene.cashier.post("/pos/sales", with(used, &token)).await.ok(201);
    let auth = &scene.shop.store.auth;
    let kept = async || {
        housekeeping::forget_unused_approvals(auth).await.expect("forgotten");
        let rows = approval::Entity::find().all(scene.shop.store.test_db().reader()).await.expect("a read");
        rows.into_iter().map(|row| row.used_at.is_some()).collect::<Vec<_>>()
    };
    scene.shop.clock.advance(119_000);
    assert_eq!(kept().await, [false, true]);
    scene.shop.clock.advance(1_000);
    assert_eq!(kept().await, [true], "the one that was used says so for a day");
    assert_eq!(scene.shop.audited("approval.granted").await.len(), 2);
    scene.shop.clock.advance(23 * 3_600_000);
    housekeeping::forget(auth).await.expect("forgotten");
    assert_eq!(kept().await, [true]);
    scene.shop.clock.advance(2 * 3_600_000);
    housekeeping::forget(auth).await.expect("forgotten");
    assert_eq!(kept().await, Vec::<bool>::new());
}
