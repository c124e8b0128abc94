//! Registers and their sessions.

use serde_json::{Value as Json, json};
use tillkeep_model::Money;
use tillkeep_storage::entity::register;
use uuid::Uuid;

use crate::kit::{Person, Shop, cart, id, line, nothing_counted, rows};

const HOUR: i64 = 3_600_000;

fn open_path(code: &str) -> String {
    format!("/registers/{}/open", id(&format!("register {code}")))
}

async fn close(person: &Person, session: &Json, body: Json) -> crate::kit::Reply {
    person.post(&format!("/register-sessions/{}/close", session["id"].as_str().expect("an id")), body).await
}

#[tokio::test]
async fn a_register_is_one_code_and_one_terminal() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    let register = json!({"id": Uuid::now_v7(), "code": "07", "name": "Side door", "terminalId": "T7"});
    let made = person.post("/registers", register.clone()).await.ok(201);
    assert_eq!((&made["isActive"], &made["defaultFloat"]), (&json!(true), &Json::Null));
    assert_eq!(person.post("/registers", register.clone()).await.ok(200), made, "the same again");
    let with = |key: &str, value: Json| {
        let mut other = json!({"code": "08", "name": "Other", "terminalId": "T8"});
        other[key] = value;
        other
    };
    person.post("/registers", with("code", json!("07"))).await.refused_at(409, "duplicate_code", "code");
    person.post("/registers", with("terminalId", json!("T7"))).await.refused_at(409, "duplicate", "terminalId");
    person.post("/registers", with("id", made["id"].clone())).await.refused_at(409, "id_reused", "id");
    for (key, value) in [
        ("code", json!("7")),
        ("code", json!("A1")),
        ("code", json!("123")),
        ("name", json!(" ")),
        ("terminalId", json!("a\0")),
        ("defaultFloat", json!(-1)),
        ("defaultFloat", json!(1_000_000_000_001_i64)),
        ("colour", json!("red")),
    ] {
        person.post("/registers", with(key, value)).await.refused_at(422, "validation", key);
    }
    let path = format!("/registers/{}", made["id"].as_str().expect("an id"));
    let changed = person.patch(&path, json!({"name": "Front door", "defaultFloat": 5000})).await.ok(200);
    assert_eq!((&changed["name"], &changed["defaultFloat"]), (&json!("Front door"), &json!(5000)));
    person.patch(&path, json!({"code": "09"})).await.refused_at(422, "validation", "code");
    person.patch(&path, json!({"terminalId": "T1"})).await.refused_at(409, "duplicate", "terminalId");

    person.post(&format!("{path}/open"), json!({})).await.ok(201);
    person.patch(&path, json!({"terminalId": "T9"})).await.refused(409, "session_open");
    person.patch(&path, json!({"isActive": false})).await.refused(409, "session_open");
    person.patch(&path, json!({"name": "Door"})).await.ok(200);
    let listed = person.get("/registers").await.ok(200);
    assert_eq!(listed[0]["openSession"], Json::Null);
    assert_eq!(listed[1]["openSession"]["registerCode"], "07");
}

#[tokio::test]
async fn a_drawer_opens_with_the_float_of_its_register_else_of_the_store() {
    let shop = Shop::open().await;
    let register = register::Model { default_float: Some(Money(7000)), ..rows::register("02", "T2") };
    shop.insert::<register::Entity>([register, rows::register("03", "T3")]).await;
    let cashier = shop.sign_in("cashier").await;
    let session = cashier.post(&open_path("01"), json!({})).await.ok(201);
    assert_eq!((&session["openingFloat"], &session["sessionNumber"]), (&json!(20_000), &json!(1)));
    assert_eq!((&session["status"], &session["businessDate"]), (&json!("open"), &json!("2026-11-20")));
    let beside = shop.sign_in_at("cashier", "T2").await;
    let refused = beside.post(&open_path("02"), json!({"openingFloat": 6999})).await;
    refused.refused_at(403, "float_not_default", "openingFloat");
    beside.post(&open_path("02"), json!({"openingFloat": 7000})).await.ok(201);
    let other = json!({"openedForUserId": shop.sign_in("cashier").await.user_id});
    cashier.post(&open_path("03"), other.clone()).await.refused(403, "forbidden");
    let administrator = shop.sign_in("administrator").await;
    let mut with_float = other.clone();
    with_float["openingFloat"] = json!(1);
    with_float["denominations"] = json!([{"value": 1, "count": 1}]);
    let session = administrator.post(&open_path("03"), with_float).await.ok(201);
    assert_eq!((&session["openingFloat"], &session["openedBy"]), (&json!(1), &other["openedForUserId"]));
    administrator.post(&open_path("03"), json!({})).await.refused(409, "session_already_open");
    administrator.post(&open_path("99"), json!({})).await.refused(404, "not_found");
    for body in [json!({"openingFloat": -1}), json!({"denominations": 5}), json!({"float": 5}), json!({"note": "\0"})] {
        assert_eq!(administrator.post(&open_path("02"), body).await.status, 422);
    }
}

#[tokio::test]
async fn the_business_date_is_fixed_when_the_drawer_opens() {
    let shop = Shop::open().await;
    // Three in the night of the 21st in New York still belongs to the 20th.
    shop.clock.advance(18 * HOUR);
    let person = shop.selling().await;
    let session = person.get("/register-sessions/current?terminalId=T1").await.ok(200);
    assert_eq!(session["businessDate"], "2026-11-20");
    shop.clock.advance(3 * HOUR);
    assert_eq!(person.sell(json!([line("BREAD", 1)])).await.ok(201)["businessDate"], "2026-11-20");
}

#[tokio::test]
async fn nothing_is_sold_without_an_open_drawer() {
    let shop = Shop::open_with(|own| own.max_session_hours = 4).await;
    let person = shop.sign_in("administrator").await;
    let bread = || json!([line("BREAD", 1)]);
    person.sell(bread()).await.refused_at(409, "session_closed", "terminalId");
    let mut elsewhere = cart(bread(), json!([{"tenderId": id("CASH")}]));
    elsewhere["terminalId"] = json!("T9");
    let nowhere = shop.sign_in_at("administrator", "T9").await;
    nowhere.post("/pos/sales", elsewhere).await.refused_at(409, "session_closed", "terminalId");

    person.get("/register-sessions/current?terminalId=T1").await.refused(404, "no_open_session");
    let session = person.post(&open_path("01"), json!({})).await.ok(201);
    assert_eq!(person.get("/register-sessions/current").await.ok(200), session, "of the terminal signed in at");
    person.sell(bread()).await.ok(201);
    // The till need not say where it is: it signed in there.
    let mut unnamed = cart(bread(), json!([{"tenderId": id("CASH")}]));
    unnamed.as_object_mut().expect("an object").remove("terminalId");
    person.post("/pos/sales", unnamed).await.ok(201);

    shop.clock.advance(4 * HOUR);
    person.sell(bread()).await.refused_at(409, "session_too_old", "terminalId");
    close(&person, &session, nothing_counted()).await.ok(200);
    person.sell(bread()).await.refused_at(409, "session_closed", "terminalId");
    person.post(&open_path("01"), json!({})).await.ok(201);
    person.sell(bread()).await.ok(201);
}

#[tokio::test]
async fn a_close_adds_up_what_the_drawer_sold() {
    let shop = Shop::open_with(|own| own.cash_rounding_increment = 5).await;
    let person = shop.selling().await;
    person.sell(json!([line("TEA", 1)])).await.ok(201);
    let paid =
        json!([{"tenderId": id("CARD"), "tenderedAmount": 1000}, {"tenderId": id("CASH"), "tenderedAmount": 9000}]);
    person.post("/pos/sales", cart(json!([line("TEA", 1), line("T06", 1)]), paid)).await.ok(201);
    let check = json!([{"tenderId": id("CHECK"), "tenderedAmount": 500}]);
    person.post("/pos/sales", cart(json!([line("BREAD", 1)]), check)).await.ok(201);
    // Cash: 2175, 6774 less 1000 rounded to 5775, and 250 of change.
    let expected = 20_000 + 2175 + 5775 - 250;
    let session = person.get("/register-sessions/current").await.ok(200);
    let counts = json!([{"tenderId": id("CASH"), "amount": expected - 100}, {"tenderId": id("CARD"), "amount": 1000}]);
    let closed = close(&person, &session, json!({"counts": counts, "note": "a coin fell down"})).await.ok(200);
    assert_eq!(closed["status"], "closed");
    for (key, value) in [
        ("expectedCash", json!(expected)),
        ("countedCash", json!(expected - 100)),
        ("cashVariance", json!(-100)),
        ("saleCount", json!(3)),
        ("firstReceiptNumber", json!("S01-01-000001")),
        ("lastReceiptNumber", json!("S01-01-000003")),
        ("runningTotal", json!(2176 + 6774 + 250)),
        ("closeNote", json!("a coin fell down")),
    ] {
        assert_eq!(closed[key], value, "{key}");
    }
    assert_eq!(closed["counts"][1]["variance"], 0);
    let totals = &closed["totals"];
    assert_eq!(
        [&totals["netAmount"], &totals["taxAmount"], &totals["totalAmount"], &totals["cashRounding"]],
        [&json!(1999 + 1999 + 3999 + 250), &json!(177 + 177 + 599), &json!(9200), &json!(0)]
    );
    let sum = |code: &str| {
        let tenders = totals["tenders"].as_array().expect("tenders");
        tenders.iter().find(|tender| tender["tenderCode"] == code).map(|tender| tender["amount"].clone())
    };
    assert_eq!((sum("CASH"), sum("CARD"), sum("CHECK")), (Some(json!(7700)), Some(json!(1000)), Some(json!(500))));
    let taxes: Vec<(&Json, &Json)> =
        totals["taxes"].as_array().expect("taxes").iter().map(|tax| (&tax["code"], &tax["taxAmount"])).collect();
    assert_eq!(taxes, [(&json!("GST"), &json!(200)), (&json!("NY"), &json!(354)), (&json!("QSTC"), &json!(399))]);
    close(&person, &session, json!({})).await.refused(409, "session_closed");
}

#[tokio::test]
async fn sessions_are_counted_for_ever_and_so_is_what_they_sold() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    for number in 1..=3_i64 {
        let session = person.post(&open_path("01"), json!({})).await.ok(201);
        assert_eq!(session["sessionNumber"], number);
        person.sell(json!([line("BREAD", 1)])).await.ok(201);
        let closed = close(&person, &session, nothing_counted()).await.ok(200);
        assert_eq!(closed["runningTotal"], 250 * number);
        assert_eq!((&closed["countedCash"], &closed["cashVariance"]), (&json!(0), &json!(-20_250)));
        assert_eq!(closed["lastReceiptNumber"], format!("S01-01-{number:06}"));
        shop.clock.advance(1000);
    }
    let listed = person.get("/register-sessions?status=closed&pageSize=2").await;
    assert_eq!(listed.body["pagination"]["total"], 3);
    let listed = listed.ok(200);
    assert_eq!(listed[0]["sessionNumber"], 3, "the last one first");
    let one = format!("/register-sessions/{}", listed[0]["id"].as_str().expect("an id"));
    assert_eq!(person.get(&one).await.ok(200), listed[0]);
    person.get(&format!("/register-sessions/{}", Uuid::nil())).await.refused(404, "not_found");
}

#[tokio::test]
async fn a_difference_above_the_limit_must_be_accepted() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let session = person.get("/register-sessions/current").await.ok(200);
    let counted = |amount: i64| json!({"counts": [{"tenderId": id("CASH"), "amount": amount}]});
    let refusal = close(&person, &session, counted(19_499)).await.refused(409, "variance_not_accepted");
    assert_eq!((&refusal["expectedCash"], &refusal["cashVariance"]), (&json!(20_000), &json!(-501)));
    for (body, field) in [
        (json!({"counts": [{"tenderId": id("nothing"), "amount": 1}]}), "counts[0].tenderId"),
        (json!({"counts": [{"tenderId": id("CASH"), "amount": -1}]}), "counts[0].amount"),
        (json!({"counts": vec![json!({"tenderId": id("CASH"), "amount": 1}); 2]}), "counts[1].tenderId"),
        (json!({"note": "x".repeat(2001)}), "note"),
        (json!({"force": true}), "force"),
    ] {
        close(&person, &session, body).await.refused_at(422, "validation", field);
    }
    let mut accepted = counted(19_499);
    accepted["acceptVariance"] = json!(true);
    assert_eq!(close(&person, &session, accepted).await.ok(200)["cashVariance"], -501);

    let session = person.post(&open_path("01"), json!({})).await.ok(201);
    assert_eq!(close(&person, &session, counted(20_500)).await.ok(200)["cashVariance"], 500, "within the limit");
}

#[tokio::test]
async fn a_drawer_takes_as_much_as_headquarters_keeps_of_it() {
    let shop = Shop::open().await;
    let person = shop.sign_in("administrator").await;
    // A list in JSON of so many bytes.
    let list = |bytes: usize| json!(["x".repeat(bytes - 4)]);
    let coins = (1..=60).rev().map(|value| json!({"value": value, "count": 0})).collect::<Json>();
    for (body, field) in [
        (json!({"note": "ü".repeat(2001)}), "note"),
        (json!({"denominations": list((8 << 10) + 1)}), "denominations"),
        (json!({"approvals": vec!["apr_x"; 11]}), "approvals"),
        (json!({"approvals": ["x".repeat(101)]}), "approvals[0]"),
    ] {
        person.post(&open_path("01"), body).await.refused_at(422, "validation", field);
    }
    let body = json!({"note": "ü".repeat(2000), "openingFloat": 0, "denominations": coins});
    let session = person.post(&open_path("01"), body).await.ok(201);
    assert_eq!(session["openingDenominations"], coins);
    let note = "ü".repeat(2000);
    let mut counted = nothing_counted();
    counted["note"] = json!(note);
    let closed = close(&person, &session, counted).await.ok(200);
    assert_eq!(closed["closeNote"], json!(note));
}

#[tokio::test]
async fn opening_and_closing_tell_headquarters() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let open = person.get("/register-sessions/current").await.ok(200);
    let closed = close(&person, &open, nothing_counted()).await.ok(200);
    let entries = shop.outbox().await;
    let queued: Vec<(&str, &str, Json)> = entries
        .iter()
        .map(|entry| {
            (entry.entity_type.as_str(), entry.action.as_str(), serde_json::from_str(&entry.payload).expect("JSON"))
        })
        .collect();
    assert_eq!(queued, [("register_sessions", "create", open), ("register_sessions", "update", closed)]);
}
