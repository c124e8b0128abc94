//! Who counts a drawer does not know what should be in it.

use serde_json::{Value as Json, json};
use tillkeep_model::ids;
use tillkeep_storage::entity::{approval, audit_log, role, role_permission};
use tillkeep_storage::registry::COST_KEYS;
use tillkeep_storage::sea_orm::EntityTrait;

use crate::kit::people;
use crate::kit::{Person, Reply, Shop, id, line};

/// Float 200.00, tea for 21.76 and bread for 2.50 in cash.
const EXPECTED: i64 = 20_000 + 2176 + 250;
/// What no answer to a cashier may have as a number: the cash that should be there, the sum of the day, what a count
/// of 100.00 lacks.
const FIGURES: [i64; 4] = [EXPECTED, 2176 + 250, 10_000 - EXPECTED, EXPECTED - 10_000];

/// A drawer that a cashier sold from, and a manager's PIN.
struct Scene {
    shop: Shop,
    cashier: Person,
    pin: String,
    path: String,
    session: Json,
}

impl Scene {
    async fn set(blind: bool) -> Self {
        let shop = Shop::open_with(|own| own.blind_close = blind).await;
        let cashier = shop.sign_in("cashier").await;
        let session = cashier.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201);
        cashier.sell(json!([line("TEA", 1)])).await.ok(201);
        cashier.sell(json!([line("BREAD", 1)])).await.ok(201);
        let (_, pin) = people::person(&shop, "store_manager").await;
        let path = format!("/register-sessions/{}/close", session["id"].as_str().expect("an id"));
        Self { shop, cashier, pin, path, session: session["id"].clone() }
    }

    async fn token(&self, context: Json) -> Json {
        let body =
            json!({"permission": "registers.close", "pin": self.pin, "reason": "end of day", "context": context});
        self.cashier.post("/pos/approvals", body).await.ok(201)["token"].clone()
    }

    async fn close(&self, counted: i64, token: &Json) -> Reply {
        let body = json!({"counts": [{"tenderId": id("CASH"), "amount": counted}], "approvals": [token]});
        self.cashier.post(&self.path, body).await
    }

    async fn refusals(&self) -> Vec<audit_log::Model> {
        self.shop.audited("session.close_refused").await
    }
}

/// Whether a figure is said anywhere, as a number or inside a text.
fn tells(body: &Json) -> Option<i64> {
    let text = body.to_string();
    let digits = |letter: char| !letter.is_ascii_digit();
    FIGURES.into_iter().find(|figure| text.split(digits).any(|word| word == figure.unsigned_abs().to_string()))
}

#[tokio::test]
async fn no_answer_to_a_cashier_has_what_should_be_in_the_drawer() {
    let scene = Scene::set(true).await;
    let (cashier, session) = (&scene.cashier, scene.session.as_str().expect("an id"));
    let mut answers = Vec::new();
    let reads = async |answers: &mut Vec<(String, Reply)>| {
        for path in [
            "/pos/bootstrap".to_owned(),
            "/registers".to_owned(),
            "/register-sessions".to_owned(),
            "/register-sessions/current".to_owned(),
            format!("/register-sessions/{session}"),
            "/sync/outbox".to_owned(),
            "/sync/status".to_owned(),
            "/audit-log".to_owned(),
            "/pos/sales".to_owned(),
            "/tenders".to_owned(),
        ] {
            answers.push((path.clone(), cashier.get(&path).await));
        }
    };
    reads(&mut answers).await;
    let any = scene.token(json!({"sessionId": session})).await;
    let other = scene.token(json!({"sessionId": id("another drawer")})).await;
    let wrong = scene.token(json!({"sessionId": session, "cashVariance": 1})).await;
    for (what, token) in [("none", Json::Null), ("another drawer's", other), ("any", any), ("a wrong one", wrong)] {
        let mut body = json!({"counts": [{"tenderId": id("CASH"), "amount": 10_000}]});
        if !token.is_null() {
            body["approvals"] = json!([token]);
        }
        for accept in [false, true] {
            body["acceptVariance"] = json!(accept);
            answers.push((format!("a close with {what}"), cashier.post(&scene.path, body.clone()).await));
        }
    }
    let token = scene.token(json!({"sessionId": session})).await;
    let closed = scene.close(EXPECTED - 1, &token).await;
    answers.push(("the close".to_owned(), closed.clone()));
    assert_eq!(closed.ok(200)["status"], "closed");
    answers.push(("a second close".to_owned(), scene.close(10_000, &token).await));
    reads(&mut answers).await;
    for (what, answer) in &answers {
        assert_eq!(tells(&answer.body), None, "{what}: {}", answer.body);
    }

    // Who may close one is shown all of it.
    let manager = scene.shop.sign_in("store_manager").await;
    let shown = scene.shop.sign_in("administrator").await.get(&format!("/register-sessions/{session}")).await.ok(200);
    assert_eq!((&shown["expectedCash"], &shown["cashVariance"]), (&json!(EXPECTED), &json!(-1)));
    assert_eq!(manager.get("/registers").await.status, 200);
}

#[tokio::test]
async fn what_waits_for_headquarters_has_costs_for_those_alone_who_may_see_them() {
    let shop = Shop::open().await;
    shop.selling().await.sell(json!([line("TEA", 1)])).await.ok(201);
    shop.insert::<role::Entity>([role::Model {
        id: ids::role("technician"),
        code: "technician".into(),
        name: "Technician".into(),
        ..role::Model::default()
    }])
    .await;
    let (role_id, permission_id) = (ids::role("technician"), ids::permission("stores.view"));
    shop.insert::<role_permission::Entity>([role_permission::Model { role_id, permission_id }]).await;
    for (who, may) in [("technician", false), ("administrator", true)] {
        let waits = shop.sign_in(who).await.get("/sync/outbox").await.ok(200).to_string();
        assert!(waits.contains("\"saleItems\""), "{waits}");
        let listed: Vec<&String> = COST_KEYS.iter().filter(|key| waits.contains(&format!("\"{key}\""))).collect();
        assert_eq!(!listed.is_empty(), may, "{who}: {listed:?}");
    }
}

#[tokio::test]
async fn an_approval_is_judged_before_the_count_and_used_up_by_a_close_that_is_refused() {
    let scene = Scene::set(true).await;
    let token = scene.token(json!({"sessionId": scene.session})).await;
    let refusal = scene.close(10_000, &token).await.refused(403, "approval_required");
    assert_eq!((&refusal["approvable"], &refusal["cashVariance"]), (&json!(true), &Json::Null));
    // Else the drawer could be counted again and again, until the limit lets it pass.
    scene.close(EXPECTED, &token).await.refused(403, "forbidden");
    let kept = approval::Entity::find().all(scene.shop.store.test_db().reader()).await.expect("the approvals");
    assert!(kept.iter().all(|row| row.used_at.is_some() && json!(row.used_by_id) == scene.session));

    let listed = scene.refusals().await;
    let codes: Vec<Json> = listed.iter().map(|row| row.details.0["refused"].clone()).collect();
    assert_eq!(codes, [json!("approval_required"), json!("forbidden")]);
    assert_eq!(listed[0].details.0["expectedCash"], EXPECTED);
    assert_eq!(listed[0].details.0["cashVariance"], 10_000 - EXPECTED);
    assert!(listed[0].approver_id.is_some() && listed[1].approver_id.is_none());
    assert!(listed.iter().all(|row| row.user_id == Some(scene.cashier.user_id)));

    // An approved difference is no secret any more.
    let context = json!({"sessionId": scene.session, "cashVariance": 10_000 - EXPECTED});
    let token = scene.token(context).await;
    let closed = scene.close(10_000, &token).await.ok(200);
    assert_eq!((&closed["status"], &closed["countedCash"]), (&json!("closed"), &json!(10_000)));
    assert_eq!((&closed["expectedCash"], &closed["totals"]), (&Json::Null, &Json::Null));
}

#[tokio::test]
async fn who_may_close_sees_the_difference_and_each_refusal_is_kept() {
    let scene = Scene::set(true).await;
    let manager = scene.shop.sign_in("store_manager").await;
    let mut body = json!({"counts": [{"tenderId": id("CASH"), "amount": 10_000}]});
    let refusal = manager.post(&scene.path, body.clone()).await.refused(409, "variance_not_accepted");
    assert_eq!((&refusal["expectedCash"], &refusal["cashVariance"]), (&json!(EXPECTED), &json!(10_000 - EXPECTED)));
    assert_eq!(scene.refusals().await.len(), 1);
    body["acceptVariance"] = json!(true);
    let closed = manager.post(&scene.path, body).await.ok(200);
    assert_eq!((&closed["expectedCash"], &closed["runningTotal"]), (&json!(EXPECTED), &json!(2176 + 250)));
}

#[tokio::test]
async fn a_store_that_does_not_close_blind_tells_its_cashiers() {
    let scene = Scene::set(false).await;
    let token = scene.token(json!({"sessionId": scene.session})).await;
    let refusal = scene.close(10_000, &token).await.refused(403, "approval_required");
    assert_eq!(refusal["cashVariance"], 10_000 - EXPECTED);
    let context = json!({"sessionId": scene.session, "cashVariance": refusal["cashVariance"]});
    let token = scene.token(context).await;
    let closed = scene.close(10_000, &token).await.ok(200);
    assert_eq!((&closed["expectedCash"], &closed["cashVariance"]), (&json!(EXPECTED), &json!(10_000 - EXPECTED)));
}
