//! What should be in the safe, what is taken to a bank, and when the day of a store is over.

use serde_json::{Value as Json, json};
use tillkeep_model::Money;
use tillkeep_storage::entity::{parked_cart, register_session, safe_movement};
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use crate::kit::{Person, Shop, id, line, people, rows};

/// What register 01 is opened with.
const FLOAT: i64 = 20_000;

async fn safe(person: &Person) -> Json {
    person.get("/safe").await.ok(200)
}

fn deposit(amount: i64) -> Json {
    json!({"id": Uuid::now_v7(), "type": "deposit", "amount": amount, "slipNumber": "B-17"})
}

fn correction(key: &str, value: impl Into<Json>) -> Json {
    let mut body = json!({"id": Uuid::now_v7(), "type": "correction", "reason": "counted in the evening"});
    body[key] = value.into();
    body
}

async fn open(person: &Person) -> Json {
    person.post(&format!("/registers/{}/open", id("register 01")), json!({})).await.ok(201)
}

fn path(session: &Json, what: &str) -> String {
    format!("/register-sessions/{}/{what}", session["id"].as_str().expect("an id"))
}

async fn close(person: &Person, session: &Json, counted: i64) -> Json {
    let body = json!({"counts": [{"tenderId": id("CASH"), "amount": counted}], "acceptVariance": true});
    person.post(&path(session, "close"), body).await.ok(200)
}

async fn force(person: &Person, session: &Json) {
    person.post(&path(session, "force-close"), json!({"reason": "the cashier went home"})).await.ok(200);
}

async fn moved(person: &Person, session: &Json, kind: &str, amount: i64) {
    let body = json!({"id": Uuid::now_v7(), "type": kind, "amount": amount, "reason": "as every day"});
    person.post(&path(session, "cash-movements"), body).await.ok(201);
}

async fn drawer(shop: &Shop, session: &Json) -> register_session::Model {
    let id: Uuid = session["id"].as_str().expect("an id").parse().expect("a UUID");
    let row = register_session::Entity::find_by_id(id).one(shop.store.test_db().reader()).await;
    row.expect("a read").expect("the drawer")
}

#[tokio::test]
async fn what_should_be_in_the_safe_follows_from_the_drawers_and_from_its_own_movements() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    let nothing = safe(&person).await;
    assert_eq!((&nothing["balance"], &nothing["since"], &nothing["movements"]), (&json!(0), &Json::Null, &json!([])));
    let session = open(&person).await;
    // Nobody has said yet what was in it before this store began to reckon.
    assert_eq!(safe(&person).await["balance"], -FLOAT);
    person.sell(json!([line("BREAD", 1)])).await.ok(201);
    moved(&person, &session, "drop", 5000).await;
    moved(&person, &session, "float_add", 1000).await;
    moved(&person, &session, "paid_out", 30).await;
    assert_eq!(safe(&person).await["balance"], 5000 - FLOAT - 1000);
    close(&person, &session, FLOAT + 250 - 5000 + 1000 - 30 - 7).await;
    // The sale, less what was paid out and what lacks.
    assert_eq!(safe(&person).await["balance"], 250 - 30 - 7);

    let counted = person.post("/safe/movements", correction("newBalance", 40_000)).await.ok(201);
    assert_eq!((&counted["amount"], &counted["newBalance"]), (&json!(40_000 - 213), &json!(40_000)));
    let taken = person.post("/safe/movements", deposit(15_000)).await.ok(201);
    assert_eq!((&taken["type"], &taken["slipNumber"]), (&json!("deposit"), &json!("B-17")));
    person.post("/safe/movements", correction("amount", -50)).await.ok(201);
    let now = safe(&person).await;
    let figures = ["balance", "drops", "counted", "corrections", "floats", "floatAdds", "deposits"];
    let figures: Vec<i64> = figures.iter().map(|key| now[*key].as_i64().expect("an amount")).collect();
    assert_eq!(figures, [24_950, 5000, FLOAT + 250 - 5037 + 1000, 40_000 - 213 - 50, FLOAT, 1000, 15_000]);
    assert_eq!((&now["since"], &now["movementCount"]), (&json!("2026-11-20"), &json!(3)));
    let kinds: Vec<&str> =
        now["movements"].as_array().expect("a list").iter().filter_map(|row| row["type"].as_str()).collect();
    assert_eq!(kinds, ["correction", "deposit", "correction"], "the newest first");
    let second = person.get("/safe?page=2&pageSize=2").await.ok(200);
    assert_eq!(second["movements"].as_array().expect("a list").len(), 1);
}

#[tokio::test]
async fn a_movement_of_the_safe_travels_in_the_open_drawer_else_in_the_last_one_whose_report_stays_as_it_was() {
    let shop = Shop::that_rests().await;
    let person = shop.sign_in("administrator").await;
    person.post("/safe/movements", deposit(100)).await.refused(404, "no_open_session");
    let first = open(&person).await;
    close(&person, &first, FLOAT).await;
    let closed = drawer(&shop, &first).await;
    let late = person.post("/safe/movements", deposit(100)).await.ok(201);
    let carried = drawer(&shop, &first).await;
    assert_eq!(carried.safe_movements.0, json!([late]));
    let without = register_session::Model {
        safe_movements: closed.safe_movements.clone(),
        updated_at: closed.updated_at,
        ..carried
    };
    assert_eq!(without, closed, "nothing else of a drawer that is closed has changed");
    let entry = shop.outbox().await.pop().expect("an entry");
    assert_eq!((entry.entity_type.as_str(), entry.action.as_str()), ("register_sessions", "update"));
    let sent: Json = serde_json::from_str(&entry.payload).expect("JSON");
    assert_eq!((&sent["safeMovements"], &sent["status"]), (&json!([late]), &json!("closed")));

    let second = open(&person).await;
    let early = person.post("/safe/movements", deposit(200)).await.ok(201);
    assert_eq!(drawer(&shop, &second).await.safe_movements.0, json!([early]));
    assert_eq!(drawer(&shop, &first).await.safe_movements.0, json!([late]));
    close(&person, &second, FLOAT).await;
    assert_eq!(drawer(&shop, &second).await.safe_movements.0, json!([early]), "its close loses none");
}

#[tokio::test]
async fn a_drawer_closed_without_a_count_is_listed_until_a_correction_names_it_or_the_safe_is_counted() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    let first = open(&person).await;
    person.sell(json!([line("BREAD", 1)])).await.ok(201);
    force(&person, &first).await;
    let now = safe(&person).await;
    assert_eq!(
        (&now["balance"], &now["counted"]),
        (&json!(-FLOAT), &json!(0)),
        "unknown is not zero, and not what should be"
    );
    assert_eq!(now["uncounted"][0]["sessionId"], first["id"]);
    assert_eq!(
        (&now["uncounted"][0]["expectedCash"], &now["uncounted"][0]["forced"]),
        (&json!(FLOAT + 250), &json!(true))
    );
    let mut named = correction("amount", FLOAT + 200);
    named["sessionId"] = first["id"].clone();
    let made = person.post("/safe/movements", named.clone()).await.ok(201);
    assert_eq!(made["sessionId"], first["id"]);
    assert_eq!((&safe(&person).await["balance"], &safe(&person).await["uncounted"]), (&json!(200), &json!([])));
    assert_eq!(person.post("/safe/movements", named.clone()).await.ok(200), made, "the same again");
    named["id"] = json!(Uuid::now_v7());
    person.post("/safe/movements", named.clone()).await.refused_at(409, "conflict", "sessionId");
    named["sessionId"] = json!(Uuid::now_v7());
    person.post("/safe/movements", named).await.refused_at(409, "conflict", "sessionId");

    // One that was empty.
    let second = open(&person).await;
    force(&person, &second).await;
    let mut empty = correction("amount", 0);
    empty["sessionId"] = second["id"].clone();
    person.post("/safe/movements", empty).await.ok(201);
    assert_eq!(safe(&person).await["uncounted"], json!([]));
    // Whoever counts the safe counts what came out of all of them.
    let third = open(&person).await;
    force(&person, &third).await;
    assert_eq!(safe(&person).await["uncounted"][0]["sessionId"], third["id"]);
    person.post("/safe/movements", correction("newBalance", 1000)).await.ok(201);
    let now = safe(&person).await;
    assert_eq!((&now["balance"], &now["uncounted"]), (&json!(1000), &json!([])));
}

#[tokio::test]
async fn a_movement_says_what_it_is_and_the_refusal_names_what_lacks() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let with = |mut body: Json, key: &str, value: Json| {
        body[key] = value;
        body
    };
    let cases = [
        ("slipNumber", with(deposit(1), "slipNumber", Json::Null)),
        ("slipNumber", with(deposit(1), "slipNumber", json!(" "))),
        ("slipNumber", with(deposit(1), "slipNumber", json!("1".repeat(61)))),
        ("amount", deposit(0)),
        ("amount", deposit(-1)),
        ("amount", deposit(1_000_000_000_001)),
        ("newBalance", with(deposit(1), "newBalance", json!(1))),
        ("sessionId", with(deposit(1), "sessionId", json!(Uuid::now_v7()))),
        ("type", with(deposit(1), "type", json!("drop"))),
        ("id", with(deposit(1), "id", Json::Null)),
        ("amount", correction("amount", 0)),
        ("amount", correction("amount", Json::Null)),
        ("amount", with(correction("amount", 1), "newBalance", json!(1))),
        ("reason", with(correction("amount", 1), "reason", json!(" "))),
        ("slipNumber", with(correction("amount", 1), "slipNumber", json!("B-17"))),
        ("newBalance", with(correction("newBalance", 1), "sessionId", json!(Uuid::now_v7()))),
    ];
    for (field, body) in cases {
        person.post("/safe/movements", body).await.refused_at(422, "validation", field);
    }
    assert_eq!(shop.count::<safe_movement::Entity>().await, 0);
    // A correction that is none of nothing, and one that confirms what should be there.
    let balance = safe(&person).await["balance"].clone();
    let confirmed = person.post("/safe/movements", correction("newBalance", balance)).await.ok(201);
    assert_eq!(confirmed["amount"], 0);
}

#[tokio::test]
async fn who_may_not_close_is_shown_nothing_and_who_reads_reports_needs_an_approval_to_correct() {
    let shop = Shop::open().await;
    let cashier = shop.sign_in("cashier").await;
    open(&cashier).await;
    cashier.get("/safe").await.refused(403, "forbidden");
    cashier.post("/safe/movements", deposit(100)).await.refused(403, "forbidden");
    // The default Store Manager reads reports, and does not hold registers.close.
    let manager = shop.sign_in("store_manager").await;
    assert_eq!(safe(&manager).await["balance"], -FLOAT);
    manager.post("/safe/movements", deposit(100)).await.ok(201);
    let mut body = correction("amount", 300);
    let refused = manager.post("/safe/movements", body.clone()).await.refused(403, "approval_required");
    assert_eq!((&refused["required"], &refused["approvable"]), (&json!(["registers.close"]), &json!(true)));
    let (approver, pin) = people::person(&shop, "administrator").await;
    let token = async |amount: i64| {
        let movement = json!({"id": body["id"], "kind": "correction", "amount": amount});
        let asked = json!({
            "permission": "registers.close", "pin": pin, "reason": "we counted it together", "context": {"movement": movement},
        });
        manager.post("/pos/approvals", asked).await.ok(201)["token"].clone()
    };
    let other = token(301).await;
    let fitting = token(300).await;
    body["approvals"] = json!([other]);
    manager.post("/safe/movements", body.clone()).await.refused(403, "approval_required");
    body["approvals"] = json!([fitting]);
    let made = manager.post("/safe/movements", body.clone()).await.ok(201);
    assert_eq!((&made["approverId"], &made["userId"]), (&json!(approver), &json!(manager.user_id)));
    assert_eq!(manager.post("/safe/movements", body).await.ok(200), made);
}

#[tokio::test]
async fn an_approval_of_what_a_correction_changes_is_none_of_what_was_counted_in_the_safe() {
    let shop = Shop::open().await;
    let manager = shop.sign_in("store_manager").await;
    open(&manager).await;
    let (_, pin) = people::person(&shop, "administrator").await;
    let mut body = correction("newBalance", 300);
    let ask = async |kind: &str| {
        let movement = json!({"id": body["id"], "kind": kind, "amount": 300});
        let asked = json!({
            "permission": "registers.close", "pin": pin, "reason": "we counted it together", "context": {"movement": movement},
        });
        manager.post("/pos/approvals", asked).await
    };
    let (change, counted) = (ask("correction").await.ok(201), ask("new_balance").await.ok(201));
    ask("drop").await.refused_at(422, "validation", "context.movement.kind");
    body["approvals"] = json!([change["token"]]);
    manager.post("/safe/movements", body.clone()).await.refused(403, "approval_required");
    body["approvals"] = json!([counted["token"]]);
    manager.post("/safe/movements", body).await.ok(201);
    assert_eq!(safe(&manager).await["balance"], 300);
}

#[tokio::test]
async fn an_approval_of_what_one_drawer_had_in_it_is_none_of_another_one() {
    let shop = Shop::open().await;
    let administrator = shop.sign_in("administrator").await;
    let mut drawers = Vec::new();
    for _ in 0..2 {
        let session = open(&administrator).await;
        force(&administrator, &session).await;
        drawers.push(session["id"].clone());
    }
    let manager = shop.sign_in("store_manager").await;
    let (_, pin) = people::person(&shop, "administrator").await;
    let mut body = correction("amount", 300);
    body["sessionId"] = drawers[0].clone();
    let token = async |drawer: Option<&Json>| {
        let movement = json!({"id": body["id"], "kind": "correction", "amount": 300});
        let mut context = json!({"movement": movement});
        if let Some(drawer) = drawer {
            context["sessionId"] = drawer.clone();
        }
        let asked = json!({
            "permission": "registers.close", "pin": pin, "reason": "we counted it together", "context": context,
        });
        manager.post("/pos/approvals", asked).await.ok(201)["token"].clone()
    };
    let (of_none, other) = (token(None).await, token(Some(&drawers[1])).await);
    let fitting = token(Some(&drawers[0])).await;
    for (wrong, of) in [(of_none, "of the safe alone"), (other, "of another drawer")] {
        body["approvals"] = json!([wrong]);
        let answer = manager.post("/safe/movements", body.clone()).await;
        assert_eq!((answer.status, &answer.body["code"]), (403, &json!("approval_required")), "{of}");
    }
    body["approvals"] = json!([fitting]);
    assert_eq!(manager.post("/safe/movements", body).await.ok(201)["sessionId"], drawers[0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_same_deposit_at_once_is_one_and_another_one_under_its_id_is_refused() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let body = deposit(100);
    let mut sent = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (person, body) = (person.clone(), body.clone());
        sent.spawn(async move { person.post("/safe/movements", body).await.status });
    }
    let mut statuses = sent.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [[200; 7].as_slice(), &[201]].concat());
    assert_eq!(safe(&person).await["deposits"], 100);
    let mut other = body;
    other["slipNumber"] = json!("B-18");
    person.post("/safe/movements", other).await.refused_at(409, "id_reused", "id");
}

#[tokio::test]
async fn a_drawer_carries_fifty_movements_and_no_more() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    for _ in 0..50 {
        person.post("/safe/movements", deposit(1)).await.ok(201);
    }
    person.post("/safe/movements", deposit(1)).await.refused(409, "too_many_movements");
    assert_eq!(safe(&person).await["deposits"], 50);
}

#[tokio::test]
async fn the_day_of_a_store_is_over_when_all_drawers_are_closed_and_no_cart_waits() {
    let shop = Shop::that_rests().await;
    shop.insert::<tillkeep_storage::entity::register::Entity>([rows::register("02", "T2")]).await;
    let person = shop.sign_in("administrator").await;
    assert_eq!(safe(&person).await["day"]["isClosed"], true);
    let session = open(&person).await;
    let day = safe(&person).await["day"].clone();
    assert_eq!((&day["isClosed"], &day["businessDate"]), (&json!(false), &json!("2026-11-20")));
    assert_eq!(
        (&day["openDrawers"][0]["sessionId"], &day["openDrawers"][0]["registerCode"]),
        (&session["id"], &json!("01"))
    );
    assert_eq!(day["unsent"]["pending"], 1);
    close(&person, &session, FLOAT).await;
    let waits = parked_cart::Model {
        id: Uuid::now_v7(),
        terminal_id: "T1".into(),
        state: "parked".into(),
        total_at_park: Money(250),
        ..parked_cart::Model::default()
    };
    let dropped = parked_cart::Model { id: Uuid::now_v7(), state: "abandoned".into(), ..waits.clone() };
    shop.insert::<parked_cart::Entity>([waits, dropped]).await;
    let day = safe(&person).await["day"].clone();
    assert_eq!((&day["isClosed"], &day["openDrawers"], &day["parked"]), (&json!(false), &json!([]), &json!(1)));
    // It says so, and stops nothing.
    person.post(&format!("/registers/{}/open", id("register 02")), json!({})).await.ok(201);
    assert_eq!(safe(&person).await["day"]["openDrawers"][0]["registerCode"], "02");
}
