//! Sessions: listed, ended one by one, stolen, refreshed, forgotten.

use std::time::Duration;

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::auth::{Revocation, housekeeping};
use tillkeep_http::tokens::keys::{self, Ring};
use tillkeep_model::ids;
use tillkeep_storage::entity::{audit_log, session, user_store_role};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use uuid::Uuid;

use super::kit::{Got, Kit, Person, id_of};

const PIN: &str = "739154";

/// The tokens of a new sign-in by name.
async fn sign_in(kit: &Kit, name: &str, pin: &str) -> (Person, String) {
    let data = kit.login(name, pin).await.data();
    let text = |key: &str| data[key].as_str().expect("a token").to_owned();
    (Person { id: id_of(&data["user"]), token: text("accessToken") }, text("refreshToken"))
}

async fn refresh(kit: &Kit, token: &str) -> Got {
    kit.stranger("/auth/refresh", json!({"refreshToken": token}), "192.0.2.1", None).await
}

fn token(got: Got, key: &str) -> String {
    got.data()[key].as_str().expect("a token").to_owned()
}

#[tokio::test]
async fn one_sees_ones_sessions_and_ends_one_of_them() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let (here, _) = sign_in(&kit, "ann", PIN).await;
    let (lost, refresh_token) = sign_in(&kit, "ann", PIN).await;
    let listed = kit.get(&here, "/auth/sessions").await.data();
    assert_eq!(listed.as_array().map(Vec::len), Some(2));
    let keys: Vec<&String> = listed[0].as_object().expect("object").keys().collect();
    assert_eq!(keys, ["current", "expiresAt", "id", "issuedAt", "storeId", "terminalId"]);
    let other: &Json = listed.as_array().into_iter().flatten().find(|row| row["current"] == false).expect("another");
    kit.delete(&here, &format!("/auth/sessions/{}", id_of(other))).await.is(204);
    kit.get(&lost, "/auth/me").await.is(401);
    refresh(&kit, &refresh_token).await.refused(401, "invalid_token");
    kit.get(&here, "/auth/me").await.is(200);
    kit.delete(&here, &format!("/auth/sessions/{}", id_of(other))).await.is(404);
    let own = kit.get(&admin, "/auth/sessions").await.data();
    kit.delete(&here, &format!("/auth/sessions/{}", id_of(&own[0]))).await.is(404);
    let log = audit_log::Entity::find().filter(audit_log::Column::Action.eq("session.end"));
    assert_eq!(log.count(kit.hq.db().reader()).await.expect("log"), 1);
}

#[tokio::test]
async fn sessions_of_others_are_ended_by_who_holds_as_much_where_they_work() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (here, there) = (kit.store("S01").await, kit.store("S02").await);
    kit.role(&admin, "lead", &["users.view", "users.edit", "pos.sell"]).await;
    kit.role(&admin, "till", &["pos.sell"]).await;
    let lead = kit.person("lea", &[("lead", Some(here))]).await;
    let till = kit.person("tim", &[("till", Some(here))]).await;
    let far = kit.person("fay", &[("till", Some(there))]).await;
    let boss = kit.person("bo", &[("administrator", Some(here))]).await;
    let path = |person: &Person| format!("/users/{}/sessions", person.id);
    let of = async |person: &Person| id_of(&kit.get(&admin, &path(person)).await.data()[0]);
    assert_eq!(kit.get(&lead, &path(&till)).await.data()[0]["current"], false);
    kit.get(&lead, &path(&far)).await.is(404);
    kit.delete(&lead, &format!("{}/{}", path(&far), of(&far).await)).await.is(404);
    kit.delete(&lead, &format!("{}/{}", path(&boss), of(&boss).await)).await.refused(403, "escalation");
    kit.delete(&lead, &format!("{}/{}", path(&till), of(&boss).await)).await.is(404);
    kit.get(&till, "/auth/sessions").await.is(200);
    kit.delete(&lead, &format!("{}/{}", path(&till), of(&till).await)).await.is(204);
    kit.get(&till, "/auth/sessions").await.is(401);
    assert_eq!(kit.get(&lead, &path(&till)).await.data(), json!([]));
    kit.get(&till, &path(&lead)).await.is(401);
    kit.get(&boss, "/auth/sessions").await.is(200);
}

#[tokio::test]
async fn both_branches_of_a_stolen_refresh_token_die() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let (ann, stolen) = sign_in(&kit, "ann", PIN).await;
    let thief = refresh(&kit, &stolen).await.data();
    let theirs = |key: &str| thief[key].as_str().expect("a token").to_owned();
    kit.clock.advance(31_000);
    refresh(&kit, &stolen).await.refused(401, "token_reused");
    refresh(&kit, &theirs("refreshToken")).await.refused(401, "invalid_token");
    kit.get(&ann, "/auth/me").await.is(401);
    kit.get(&Person { id: ann.id, token: theirs("accessToken") }, "/auth/me").await.is(401);
}

#[tokio::test]
async fn a_lost_answer_is_given_again_for_half_a_minute_also_after_a_new_key() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let (_, first) = sign_in(&kit, "ann", PIN).await;
    let second = token(refresh(&kit, &first).await, "refreshToken");
    assert_eq!(token(refresh(&kit, &first).await, "refreshToken"), second);
    let file = kit.settings.data_dir.join("token.key");
    keys::rotate(&file, Ring::People, kit.clock.now()).expect("rotated");
    housekeeping::reload_keys(&kit.hq.auth, false).await;
    // Servers that may have others beside them agree on the key first.
    tillkeep_hq::sync::servers::follow(&kit.hq).await;
    let again = token(refresh(&kit, &first).await, "refreshToken");
    assert_ne!(again, second, "another key has signed it");
    // The same token all the same: using either is using the one that follows.
    let third = token(refresh(&kit, &second).await, "refreshToken");
    assert_eq!(token(refresh(&kit, &again).await, "refreshToken"), third);
    refresh(&kit, &third).await.is(200);
}

#[tokio::test]
async fn a_changed_role_a_new_pin_and_a_deactivation_are_in_force_on_the_next_request() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = kit.with_pin(&admin, "ann", PIN, json!({"assignments": [{"roleId": ids::role("cashier")}]})).await;
    let (ann, first) = sign_in(&kit, "ann", PIN).await;
    kit.get(&ann, "/departments").await.is(200);
    let given = user_store_role::Entity::find().filter(user_store_role::Column::UserId.eq(id));
    let given = given.one(kit.hq.db().reader()).await.expect("a read").expect("an assignment").id;
    kit.delete(&admin, &format!("/users/{id}/roles/{given}")).await.is(204);
    kit.get(&ann, "/departments").await.refused(403, "forbidden");
    kit.get(&ann, "/auth/me").await.is(200);
    let made = kit.post(&admin, &format!("/users/{id}/pin"), json!({})).await.data();
    kit.get(&ann, "/auth/me").await.is(401);
    refresh(&kit, &first).await.refused(401, "invalid_token");
    let (ann, second) = sign_in(&kit, "ann", made["generatedPin"].as_str().expect("a PIN")).await;
    kit.post(&admin, &format!("/users/{id}/deactivate"), json!({})).await.is(200);
    kit.get(&ann, "/auth/me").await.is(401);
    refresh(&kit, &second).await.refused(401, "invalid_token");
}

#[tokio::test]
async fn a_session_that_was_read_before_it_ended_is_not_remembered_as_good() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let rows = session::Entity::find().filter(session::Column::UserId.eq(admin.id));
    let row = rows.one(kit.hq.db().reader()).await.expect("a read").expect("a session");
    let sessions = &kit.hq.auth.sessions;
    for which in [Revocation::One(row.id), Revocation::AllOf(admin.id)] {
        let turn = sessions.turn();
        let tx = kit.hq.db().begin().await.expect("begin");
        tillkeep_http::auth::Sessions::revoke(&tx, which, "a test", kit.clock.now()).await.expect("revoked");
        tx.commit().await.expect("commit");
        kit.hq.auth.ended(which);
        sessions.remember(&row, turn);
        kit.get(&admin, "/auth/me").await.is(401);
    }
}

#[tokio::test]
async fn expired_sessions_are_removed_as_a_set_and_living_ones_stay() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for number in 0..50 {
        kit.sign_in(admin.id, &number.to_string(), None).await;
    }
    kit.clock.advance(7 * 3600 * 1000);
    let later = Person { id: admin.id, token: kit.sign_in(admin.id, "admin", None).await };
    kit.clock.advance(3600 * 1000 + 1000);
    housekeeping::forget(&kit.hq.auth).await.expect("forgotten");
    let left = session::Entity::find().all(kit.hq.db().reader()).await.expect("the sessions");
    assert_eq!(left.len(), 1);
    kit.get(&later, "/auth/me").await.is(200);
    assert_eq!(kit.get(&later, "/auth/sessions").await.data()[0]["current"], true);
    assert_ne!(left[0].id, Uuid::nil());
}

#[tokio::test]
async fn who_is_signed_in_for_a_store_is_out_when_it_is_taken_out_of_use() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (here, there) = (kit.store("S01").await, kit.store("S02").await);
    let ann = kit.person("ann", &[("cashier", None)]).await;
    let at = async |store_id| Person { id: ann.id, token: kit.sign_in(ann.id, "ann", store_id).await };
    let (here_one, here_two, there_one) = (at(Some(here)).await, at(Some(here)).await, at(Some(there)).await);
    // Of one of them the server remembers that it is good.
    for person in [&here_one, &there_one, &ann] {
        kit.get(person, "/auth/me").await.is(200);
    }
    kit.post(&admin, &format!("/stores/{here}/deactivate"), json!({"force": true})).await.is(200);
    for person in [&here_one, &here_two] {
        kit.get(person, "/auth/me").await.is(401);
    }
    for person in [&there_one, &ann, &admin] {
        kit.get(person, "/auth/me").await.is(200);
    }
    // Nor do they come back with it.
    kit.post(&admin, &format!("/stores/{here}/activate"), json!({})).await.is(200);
    kit.get(&here_one, "/auth/me").await.is(401);
    let ended = session::Entity::find().filter(session::Column::StoreId.eq(here));
    let ended = ended.filter(session::Column::RevokedAt.is_not_null());
    assert_eq!(ended.count(kit.hq.db().reader()).await.expect("sessions"), 2);
}

#[tokio::test]
async fn no_user_signs_in_for_a_store_while_it_is_taken_out_of_use() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let mut pins = Vec::new();
    for (name, pin) in [("ann", "739154"), ("bob", "605182"), ("cid", "481907")] {
        kit.with_pin(&admin, name, pin, json!({"assignments": [{"roleId": ids::role("cashier")}]})).await;
        pins.push(pin);
    }
    for round in 0..3 {
        let store = kit.store(&format!("S{round:02}")).await;
        let enter = async |(place, pin): (usize, &&str)| {
            let body = json!({"pin": pin, "storeId": store, "terminalId": format!("T{place}")});
            kit.stranger("/auth/pin-login", body, &format!("192.0.2.{}", 10 + place), None).await
        };
        let entering = futures_util::future::join_all(pins.iter().enumerate().map(enter));
        let path = format!("/stores/{store}/deactivate");
        let leave = async {
            // Each time at another moment of their way in.
            tokio::time::sleep(std::time::Duration::from_millis(40 * round)).await;
            kit.post(&admin, &path, json!({"force": true})).await.is(200);
        };
        let (entered, ()) = tokio::join!(entering, leave);
        for got in entered {
            if got.status == 200 {
                let token = got.data()["accessToken"].as_str().expect("a token").to_owned();
                kit.get(&Person { id: Uuid::nil(), token }, "/auth/me").await.is(401);
            } else {
                got.refused(404, "store_not_found");
            }
        }
    }
}

/// Seconds that an access or a refresh token says it lives.
fn life(kit: &Kit, token: &str) -> i64 {
    let (tokens, now) = (&kit.hq.auth.tokens, kit.clock.now());
    let access = tokens.access(token, now).map(|claims| claims.exp - claims.iat);
    let refresh = || tokens.refresh(token, now).map(|presented| presented.claims.exp - presented.claims.iat);
    access.or_else(refresh).expect("claims")
}

#[tokio::test]
async fn an_access_token_lives_eight_hours_and_a_refresh_token_seven_days() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({"assignments": [{"roleId": ids::role("cashier")}]})).await;
    let store = kit.store("S01").await;
    let text = |data: &Json, key: &str| data[key].as_str().expect("a token").to_owned();
    let first = kit.login("ann", PIN).await.data();
    let second = refresh(&kit, &text(&first, "refreshToken")).await.data();
    for data in [&first, &second] {
        assert_eq!((&data["expiresIn"], &data["refreshExpiresIn"]), (&json!(28_800), &json!(604_800)));
        assert_eq!(life(&kit, &text(data, "accessToken")), 28_800);
        assert_eq!(life(&kit, &text(data, "refreshToken")), 604_800);
    }
    let body = json!({"pin": PIN, "storeId": store, "terminalId": "T1"});
    let till = kit.stranger("/auth/pin-login", body, "192.0.2.1", None).await.data();
    assert_eq!((&till["expiresIn"], life(&kit, &text(&till, "accessToken"))), (&json!(28_800), 28_800));
    // And they are refused from then on.
    let (ann, ann_at_till) = [text(&second, "accessToken"), text(&till, "accessToken")]
        .map(|token| Person { id: Uuid::nil(), token })
        .into();
    // The clock of these tests goes on by itself, too.
    kit.clock.advance(28_700_000);
    kit.get(&ann, "/auth/me").await.is(200);
    kit.get(&ann_at_till, "/auth/me").await.is(200);
    kit.clock.advance(101_000);
    kit.get(&ann, "/auth/me").await.is(401);
    kit.get(&ann_at_till, "/auth/me").await.is(401);
    kit.clock.advance((604_800 - 28_801 - 100) * 1000);
    refresh(&kit, &text(&second, "refreshToken")).await.is(200);
    let third = kit.login("ann", PIN).await.data();
    kit.clock.advance(604_801_000);
    refresh(&kit, &text(&third, "refreshToken")).await.refused(401, "invalid_token");
}

#[tokio::test]
async fn a_session_ends_thirty_days_after_its_sign_in_however_often_it_is_refreshed() {
    const DAY: i64 = 24 * 3600 * 1000;
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let (_, mut current) = sign_in(&kit, "ann", PIN).await;
    for _ in 0..5 {
        kit.clock.advance(6 * DAY - 1000);
        let next = refresh(&kit, &current).await;
        next.is(200);
        current = token(next, "refreshToken");
    }
    kit.clock.advance(5000);
    refresh(&kit, &current).await.refused(401, "invalid_token");
    kit.login("ann", PIN).await.is(200);
}

#[tokio::test]
async fn whoever_looks_for_more_than_they_have_is_in_the_audit_log_once() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (here, there) = (kit.store("S01").await, kit.store("S02").await);
    kit.role(&admin, "lead", &["users.view", "users.edit", "stores.view"]).await;
    let lead = kit.person("lea", &[("lead", Some(here))]).await;
    for _ in 0..3 {
        kit.get(&lead, &format!("/stores/{there}")).await.refused(403, "scope");
    }
    let clerk = kit.person("cleo", &[("lead", None)]).await;
    kit.post(&clerk, &format!("/users/{}/pin", admin.id), json!({})).await.refused(403, "escalation");
    // The answer does not wait for it.
    let refused = async || kit.get(&admin, "/audit-log?action=refused").await.body["data"].clone();
    let both = async {
        while refused().await.as_array().map(Vec::len) != Some(2) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), both).await.expect("both are noted");
    let noted = refused().await;
    let of = |who: &Person| {
        let row = noted.as_array().expect("a list").iter().find(|row| row["userId"] == json!(who.id)).expect("a row");
        row["details"]["code"].clone()
    };
    assert_eq!((of(&lead), of(&clerk)), (json!("scope"), json!("escalation")));
}

#[tokio::test]
async fn the_newest_sign_in_is_good_though_a_clock_was_ahead_when_the_others_began() {
    const DAY: i64 = 24 * 3600 * 1000;
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    kit.clock.advance(DAY);
    for _ in 0..50 {
        sign_in(&kit, "ann", PIN).await;
    }
    kit.clock.advance(-DAY);
    let (ann, _) = sign_in(&kit, "ann", PIN).await;
    let listed = kit.get(&ann, "/auth/sessions").await;
    listed.is(200);
    assert_eq!(listed.body["pagination"]["total"], 50, "one of the others went");
}

#[tokio::test]
async fn a_block_that_a_clock_wrote_that_was_ahead_does_not_last_until_its_day_comes() {
    const YEAR: i64 = 365 * 24 * 3600 * 1000;
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    kit.clock.advance(YEAR);
    while kit.login("ann", "604817").await.status == 401 {}
    kit.login("ann", PIN).await.refused(429, "too_many_attempts");
    kit.clock.advance(-YEAR);
    kit.login("ann", PIN).await.is(200);
}

/// A sign-in with ann's PIN alone at a terminal.
async fn at_till(kit: &Kit, store: Uuid, terminal: &str) -> Person {
    let body = json!({"pin": PIN, "storeId": store, "terminalId": terminal});
    let data = kit.stranger("/auth/pin-login", body, "192.0.2.1", None).await.data();
    Person { id: id_of(&data["user"]), token: data["accessToken"].as_str().expect("a token").to_owned() }
}

/// What the audit log says of sessions that others replaced.
async fn replaced(kit: &Kit, admin: &Person) -> Vec<Json> {
    let log = kit.get(admin, "/audit-log?action=session.end&pageSize=200").await.data();
    let of = |row: &Json| {
        assert_eq!(row["details"]["reason"], "session_replaced", "{row}");
        row["details"]["sessions"].as_array().cloned().expect("the sessions")
    };
    log.as_array().expect("a list").iter().flat_map(of).collect()
}

#[tokio::test]
async fn one_pin_at_twenty_one_tills_leaves_all_signed_in_and_again_at_one_of_them_ends_the_one_before() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({"assignments": [{"roleId": ids::role("cashier")}]})).await;
    let (here, there) = (kit.store("S01").await, kit.store("S02").await);
    let mut tills = Vec::new();
    for number in 0..21 {
        tills.push(at_till(&kit, here, &format!("T{number}")).await);
    }
    // Another store has a till of this name as well, and in a browser there is none.
    let elsewhere = at_till(&kit, there, "T0").await;
    let (browser, _) = sign_in(&kit, "ann", PIN).await;
    for person in tills.iter().chain([&elsewhere, &browser]) {
        kit.get(person, "/auth/me").await.is(200);
    }
    assert_eq!(replaced(&kit, &admin).await, Vec::<Json>::new());
    let again = at_till(&kit, here, "T0").await;
    kit.get(&tills[0], "/auth/me").await.is(401);
    for person in tills[1..].iter().chain([&again, &elsewhere, &browser]) {
        kit.get(person, "/auth/me").await.is(200);
    }
    let replaced = replaced(&kit, &admin).await;
    assert_eq!((replaced.len(), &replaced[0]["sessionTerminalId"]), (1, &json!("T0")));
}

#[tokio::test]
async fn a_nightly_job_that_signs_in_every_minute_ends_no_session_in_use() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let (idle, _) = sign_in(&kit, "ann", PIN).await;
    let (works, _) = sign_in(&kit, "ann", PIN).await;
    kit.get(&idle, "/auth/me").await.is(200);
    let mut job = Vec::new();
    for minute in 0..60 {
        let (mine, refresh_token) = sign_in(&kit, "ann", PIN).await;
        // Some of its runs ask for something, and never come back.
        if minute % 2 == 0 {
            kit.get(&mine, "/auth/me").await.is(200);
        }
        kit.clock.advance(60_000);
        kit.get(&works, "/auth/me").await.is(200);
        job.push((mine, refresh_token));
    }
    kit.get(&works, "/auth/me").await.is(200);
    // Used once in the evening, which is more than never.
    kit.get(&idle, "/auth/me").await.is(200);
    let listed = kit.get(&works, "/auth/sessions").await;
    assert_eq!(listed.body["pagination"]["total"], 50);
    // The second run is the first one that was not used.
    kit.get(&job[1].0, "/auth/me").await.is(401);
    refresh(&kit, &job[1].1).await.refused(401, "session_replaced");
    refresh(&kit, &job[0].1).await.is(200);
    assert_eq!(replaced(&kit, &admin).await.len(), 12);
    // What a user ended is not what another one replaced.
    kit.post(&works, "/auth/logout", json!({})).await.is(204);
    let (last, token) = job.pop().expect("a run");
    kit.post(&last, "/auth/logout", json!({})).await.is(204);
    refresh(&kit, &token).await.refused(401, "invalid_token");
}

#[tokio::test]
async fn which_session_was_used_least_recently_is_known_after_a_restart() {
    let mut kit = Kit::new().await;
    let admin = kit.admin().await;
    let ann = kit.with_pin(&admin, "ann", PIN, json!({})).await;
    let mut sessions = Vec::new();
    for _ in 0..50 {
        sessions.push(Person { id: ann, token: kit.sign_in(ann, "ann", None).await });
    }
    let note = async |kit: &Kit| {
        kit.hq.auth.sessions.note_uses(kit.hq.db(), kit.clock.now()).await.expect("noted");
    };
    for session in &sessions {
        kit.get(session, "/auth/me").await.is(200);
    }
    note(&kit).await;
    let rows = async |kit: &Kit| {
        let rows = session::Entity::find().filter(session::Column::UserId.eq(ann));
        rows.all(kit.hq.db().reader()).await.expect("the sessions")
    };
    let noted = rows(&kit).await;
    assert!(noted.iter().all(|row| row.last_used_at.is_some()), "{noted:?}");
    // What is used on and on costs no write with each request.
    kit.get(&sessions[1], "/auth/me").await.is(200);
    note(&kit).await;
    assert_eq!(rows(&kit).await, noted);
    kit.clock.advance(301_000);
    kit.get(&sessions[0], "/auth/me").await.is(200);
    note(&kit).await;
    kit.restart().await;
    sign_in(&kit, "ann", PIN).await;
    kit.get(&sessions[1], "/auth/me").await.is(401);
    for session in sessions[2..].iter().chain([&sessions[0]]) {
        kit.get(session, "/auth/me").await.is(200);
    }
}
