//! A PIN that another one knows is worth nothing, and what people propose is bounded, through whatever accounts.

use serde_json::{Value as Json, json};
use tillkeep_hq::backoffice::users::rescue::{AdministratorsPin, make_admin, reset_factor};
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::auth::throttle::proposal_buckets;
use tillkeep_http::auth::{PinLogin, SecondFactor, SignInSettings};
use tillkeep_model::ids;
use tillkeep_storage::attempts;
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, QueryFilter};
use tillkeep_storage::user_pins::withheld;
use uuid::Uuid;

use super::factors::{set_up, with};
use super::kit::{Got, Kit, Person, id_of};

const ANNS: &str = "739154";
const BOBS: &str = "482915";
const DAY: i64 = 24 * 3_600_000;

fn works(store: Option<Uuid>) -> Json {
    json!({"assignments": [{"roleId": ids::role("cashier"), "storeId": store}]})
}

fn change(current: &str, new: &str) -> Json {
    json!({"currentPin": current, "newPin": new})
}

/// A user with this PIN, signed in.
async fn person_with_pin(kit: &Kit, admin: &Person, name: &str, pin: &str, store: Option<Uuid>) -> Person {
    let id = kit.with_pin(admin, name, pin, works(store)).await;
    Person { id, token: kit.sign_in(id, name, None).await }
}

async fn alone(kit: &Kit, store: Uuid, pin: &str) -> Got {
    // What was typed before makes no user wait here.
    kit.clock.advance(60_000);
    kit.stranger("/auth/pin-login", json!({"pin": pin, "storeId": store, "terminalId": "T1"}), "192.0.2.9", None).await
}

#[tokio::test]
async fn whoever_hits_upon_a_pin_ends_it_at_once_and_is_asked_to_choose_another_one() {
    let kit = Kit::new().await;
    let (admin, here) = (kit.admin().await, kit.store("S01").await);
    let ann = person_with_pin(&kit, &admin, "ann", ANNS, Some(here)).await;
    let bob = person_with_pin(&kit, &admin, "bob", BOBS, Some(here)).await;
    let weak = kit.post(&bob, "/auth/change-pin", change(BOBS, "123456")).await;
    kit.get(&ann, "/auth/me").await.is(200);
    let hit = kit.post(&bob, "/auth/change-pin", change(BOBS, ANNS)).await;
    hit.refused(422, "pin_not_allowed");
    assert_eq!(weak.body["error"], hit.body["error"]);
    assert!(hit.text.contains("choose another one"), "{}", hit.text);
    // It opens nothing, with a name or without, and changes nothing; its sessions are over.
    kit.get(&ann, "/auth/me").await.is(401);
    kit.login("ann", ANNS).await.refused(401, "invalid_credentials");
    alone(&kit, here, ANNS).await.refused(401, "invalid_credentials");
    let again = Person { token: kit.sign_in(ann.id, "ann", None).await, ..ann };
    kit.post(&again, "/auth/change-pin", change(ANNS, "316408")).await.refused(401, "invalid_credentials");
    let row = kit.row::<user::Entity>(ann.id).await;
    assert_eq!((row.pin_hash, row.pin_lookup, row.is_active), (None, None, true));
    // Both are known to whoever looks.
    let log = kit.get(&admin, "/audit-log?action=pin.taken").await.data();
    let (finder, owner) = (bob.id.to_string(), ann.id.to_string());
    assert_eq!((log[0]["userId"].as_str(), log[0]["entityId"].as_str()), (Some(&*finder), Some(&*owner)));
    assert_eq!((&log[0]["details"]["ended"], log.as_array().map(Vec::len)), (&json!("pin"), Some(1)));
    let notices = kit.get(&admin, "/security/notices").await.data();
    let notice =
        notices.as_array().into_iter().flatten().find(|notice| notice["kind"] == "pin_ended").expect("a notice");
    let names: Vec<&Json> = notice["users"].as_array().into_iter().flatten().map(|user| &user["username"]).collect();
    assert_eq!(names, ["bob", "ann"]);
    let path = format!("/users/{}", ann.id);
    assert_eq!(kit.get(&admin, &path).await.data()["hasPin"], false);
    // The finder's own is as it was, and the owner gets a first one.
    kit.get(&bob, "/auth/me").await.is(200);
    kit.login("bob", BOBS).await.is(200);
    let made = kit.post(&admin, &format!("{path}/pin"), json!({})).await.data();
    kit.login("ann", made["generatedPin"].as_str().expect("a PIN")).await.is(200);
    assert_eq!(kit.get(&admin, &path).await.data()["hasPin"], true);
}

#[tokio::test]
async fn equal_pins_are_let_be_where_no_person_can_be_taken_for_another() {
    let kit = Kit::new().await;
    let (admin, here, there) = (kit.admin().await, kit.store("S01").await, kit.store("S02").await);
    person_with_pin(&kit, &admin, "ann", ANNS, Some(here)).await;
    let cat = person_with_pin(&kit, &admin, "cat", BOBS, Some(there)).await;
    kit.post(&cat, "/auth/change-pin", change(BOBS, ANNS)).await.is(204);
    for (store, name) in [(here, "ann"), (there, "cat")] {
        assert_eq!(alone(&kit, store, ANNS).await.data()["user"]["username"], name);
    }
    // A user of all stores is one of each of them, and hits upon both.
    let eve = person_with_pin(&kit, &admin, "eve", "605182", None).await;
    kit.post(&eve, "/auth/change-pin", change("605182", ANNS)).await.refused(422, "pin_not_allowed");
    for name in ["ann", "cat"] {
        kit.login(name, ANNS).await.refused(401, "invalid_credentials");
    }
    let log = kit.get(&admin, "/audit-log?action=pin.taken").await.data();
    assert_eq!(log.as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn where_headquarters_looks_up_everybody_a_pin_is_one_persons_in_all_of_the_chain() {
    let kit = Kit::with(SignInSettings { pin_login_at_hq: PinLogin::All, ..SignInSettings::default() }).await;
    let (admin, here, there) = (kit.admin().await, kit.store("S01").await, kit.store("S02").await);
    person_with_pin(&kit, &admin, "ann", ANNS, Some(here)).await;
    let cat = person_with_pin(&kit, &admin, "cat", BOBS, Some(there)).await;
    kit.post(&cat, "/auth/change-pin", change(BOBS, ANNS)).await.refused(422, "pin_not_allowed");
    kit.login("ann", ANNS).await.refused(401, "invalid_credentials");
}

#[tokio::test]
async fn who_comes_where_another_person_has_the_same_pin_is_not_taken_for_them_and_neither_learns_it() {
    let kit = Kit::new().await;
    let (admin, here, there) = (kit.admin().await, kit.store("S01").await, kit.store("S02").await);
    // By a role, and by being let in again.
    for (number, by_role) in [(0, true), (1, false)] {
        let pin = ["739154", "316408"][number];
        let (one, other) = (format!("ann{number}"), format!("cat{number}"));
        let ann = person_with_pin(&kit, &admin, &one, pin, Some(here)).await;
        let cat = if by_role {
            person_with_pin(&kit, &admin, &other, pin, Some(there)).await
        } else {
            let cat = person_with_pin(&kit, &admin, &other, "605182", Some(here)).await;
            kit.post(&admin, &format!("/users/{}/deactivate", cat.id), json!({})).await.is(200);
            kit.chooses(cat.id, "918273").await;
            let tx = kit.hq.db().begin().await.expect("begin");
            let lookup = kit.row::<user::Entity>(ann.id).await.pin_lookup;
            set(&tx, cat.id, user::Column::PinLookup, lookup).await;
            tx.commit().await.expect("commit");
            cat
        };
        let session = Person { token: kit.sign_in(ann.id, &one, None).await, ..ann.clone() };
        if by_role {
            let grant = json!({"roleId": ids::role("cashier"), "storeId": here});
            kit.post(&admin, &format!("/users/{}/roles", cat.id), grant).await.is(201);
        } else {
            kit.post(&admin, &format!("/users/{}/activate", cat.id), json!({})).await.is(200);
        }
        for person in [&ann, &cat] {
            let row = kit.row::<user::Entity>(person.id).await;
            assert_eq!((row.pin_hash, row.pin_lookup), (None, None), "{number}");
        }
        kit.get(&session, "/auth/me").await.is(401);
        alone(&kit, here, pin).await.refused(401, "invalid_credentials");
    }
    let log = kit.get(&admin, "/audit-log?action=pin.shared").await.data();
    assert_eq!(log.as_array().map(Vec::len), Some(2));
    assert!(log[0]["entityId"].is_string() && log[0]["details"]["with"].is_string(), "{log}");
}

#[tokio::test]
async fn who_is_made_an_administrator_at_the_machine_with_the_pin_of_another_one_learns_that_it_ended() {
    let kit = Kit::new().await;
    let (admin, one, two) = (kit.admin().await, kit.store("S01").await, kit.store("S02").await);
    let ann = person_with_pin(&kit, &admin, "ann", ANNS, Some(one)).await;
    let bob = person_with_pin(&kit, &admin, "bob", ANNS, Some(two)).await;
    person_with_pin(&kit, &admin, "cora", BOBS, Some(two)).await;
    assert_eq!(make_admin(&kit.hq, "cora").await.expect("an administrator"), AdministratorsPin::AsItWas);
    assert_eq!(make_admin(&kit.hq, "ann").await.expect("an administrator"), AdministratorsPin::Missing);
    for person in [&ann, &bob] {
        kit.get(person, "/auth/me").await.is(401);
        assert_eq!(kit.row::<user::Entity>(person.id).await.pin_hash, None);
    }
    kit.login("cora", BOBS).await.is(200);
    let AdministratorsPin::Made(pin) = make_admin(&kit.hq, "dora").await.expect("an administrator") else {
        panic!("there was no such account")
    };
    kit.login("dora", &pin).await.is(200);
}

async fn set(tx: &tillkeep_storage::Tx, id: Uuid, column: user::Column, value: Option<String>) {
    use tillkeep_storage::sea_orm::EntityTrait;
    let set = user::Entity::update_many().col_expr(column, Expr::value(value));
    set.filter(user::Column::Id.eq(id)).exec(tx).await.expect("set");
}

#[tokio::test]
async fn a_pin_that_several_people_have_signs_in_none_of_them_without_a_name() {
    let kit = Kit::new().await;
    let (admin, here) = (kit.admin().await, kit.store("S01").await);
    let ann = person_with_pin(&kit, &admin, "ann", ANNS, Some(here)).await;
    let bob = person_with_pin(&kit, &admin, "bob", BOBS, Some(here)).await;
    // As a store may see it for a moment.
    let hashed = kit.hq.auth.pins.hash(ANNS).await.expect("a hash");
    let tx = kit.hq.db().begin().await.expect("begin");
    set(&tx, bob.id, user::Column::PinHash, Some(hashed.hash)).await;
    set(&tx, bob.id, user::Column::PinLookup, Some(hashed.lookup)).await;
    tx.commit().await.expect("commit");
    let before = kit.hq.auth.pins.computed();
    alone(&kit, here, ANNS).await.refused(401, "invalid_credentials");
    assert_eq!(kit.hq.auth.pins.computed() - before, 2, "the cost of any wrong one");
    kit.login("bob", ANNS).await.is(200);
    kit.login("ann", ANNS).await.is(200);
    assert_ne!(ann.id, bob.id);
}

#[tokio::test]
async fn a_pin_that_ended_for_use_alone_is_good_with_the_name_and_no_store_finds_it_again() {
    let kit = Kit::new().await;
    let (admin, here) = (kit.admin().await, kit.store("S01").await);
    let ann = person_with_pin(&kit, &admin, "ann", ANNS, Some(here)).await;
    let tx = kit.hq.db().begin().await.expect("begin");
    set(&tx, ann.id, user::Column::PinLookup, Some(withheld(ann.id))).await;
    tx.commit().await.expect("commit");
    alone(&kit, here, ANNS).await.refused(401, "invalid_credentials");
    kit.login("ann", ANNS).await.is(200);
    assert_eq!(kit.row::<user::Entity>(ann.id).await.pin_lookup, Some(withheld(ann.id)));
    // No store asks for more than the PIN.
    let pulled = kit.ask(&kit.sync_token(here), "/pull?entity_type=users&since_version=0").await;
    let row = pulled["rows"].as_array().into_iter().flatten().find(|row| row["username"] == "ann").expect("her row");
    assert_eq!((&row["pinHash"], &row["pinLookup"]), (&Json::Null, &Json::Null));
}

/// Another user hit upon the PIN of this person, who has a second factor.
async fn withhold(kit: &Kit, id: Uuid) {
    let tx = kit.hq.db().begin().await.expect("begin");
    set(&tx, id, user::Column::PinLookup, Some(withheld(id))).await;
    tx.commit().await.expect("commit");
}

#[tokio::test]
async fn a_pin_that_another_one_knows_ends_with_the_second_factor_that_kept_them_out() {
    let kit = Kit::new().await;
    let (admin, here) = (kit.admin().await, kit.store("S01").await);
    for (name, pin) in [("ann", ANNS), ("bob", BOBS)] {
        let owner = person_with_pin(&kit, &admin, name, pin, Some(here)).await;
        set_up(&kit, &owner).await;
        withhold(&kit, owner.id).await;
        if name == "ann" {
            kit.delete(&admin, &format!("/users/{}/factors", owner.id)).await.is(204);
        } else {
            assert!(reset_factor(&kit.hq, name).await.expect("a reset").pin);
        }
        kit.login(name, pin).await.refused(401, "invalid_credentials");
        let row = kit.row::<user::Entity>(owner.id).await;
        assert_eq!((row.pin_hash, row.pin_lookup), (None, None));
    }
    // Nor does its owner open the door.
    let eve = person_with_pin(&kit, &admin, "eve", "605182", Some(here)).await;
    set_up(&kit, &eve).await;
    withhold(&kit, eve.id).await;
    let factor = kit.get(&eve, "/auth/factors").await.data()["factors"][0]["id"].clone();
    let path = format!("/auth/factors/{}", factor.as_str().expect("an id"));
    kit.delete(&eve, &path).await.refused(409, "conflict");
    kit.post(&eve, "/auth/change-pin", change("605182", "316408")).await.is(204);
    let eve = Person { token: kit.sign_in(eve.id, "eve", None).await, ..eve };
    kit.delete(&eve, &path).await.is(204);
    kit.login("eve", "316408").await.is(200);
}

#[tokio::test]
async fn a_pin_that_another_one_knows_changes_nothing_by_way_of_a_store() {
    let kit = Kit::new().await;
    let (admin, here) = (kit.admin().await, kit.store("S01").await);
    let ann = person_with_pin(&kit, &admin, "ann", ANNS, Some(here)).await;
    set_up(&kit, &ann).await;
    let store = Person { id: Uuid::nil(), token: kit.sync_token(here) };
    let body = json!({"userId": ann.id, "currentPin": ANNS, "newPin": "316408"});
    withhold(&kit, ann.id).await;
    kit.post(&store, "/sync/change-pin", body).await.refused(401, "invalid_credentials");
    assert_eq!(kit.row::<user::Entity>(ann.id).await.pin_lookup, Some(withheld(ann.id)));
    kit.post(&ann, "/auth/change-pin", change(ANNS, "316408")).await.is(204);
}

#[tokio::test]
async fn where_factors_are_not_asked_for_a_hit_ends_the_pin_of_whoever_has_one() {
    let kit = with(SecondFactor::Off).await;
    let (admin, here) = (kit.admin().await, kit.store("S01").await);
    let ann = person_with_pin(&kit, &admin, "ann", ANNS, Some(here)).await;
    set_up(&kit, &ann).await;
    let bob = person_with_pin(&kit, &admin, "bob", BOBS, Some(here)).await;
    kit.login("ann", ANNS).await.is(200);
    kit.post(&bob, "/auth/change-pin", change(BOBS, ANNS)).await.refused(422, "pin_not_allowed");
    kit.login("ann", ANNS).await.refused(401, "invalid_credentials");
    let row = kit.row::<user::Entity>(ann.id).await;
    assert_eq!((row.pin_hash, row.pin_lookup), (None, None));
}

/// A user who makes accounts, with what a cashier holds.
async fn keeper(kit: &Kit, admin: &Person) -> Person {
    let codes = [
        "users.view",
        "users.create",
        "users.edit",
        "users.manage_roles",
        "pos.sell",
        "pos.discount",
        "reports.x_report",
        "inventory.view",
    ];
    kit.role(admin, "keeper", &codes).await;
    kit.person("kim", &[("keeper", None)]).await
}

/// Account `name`, made by `maker`, proposes `pin`.
async fn proposes(kit: &Kit, maker: &Person, name: &str, pin: &str) -> Got {
    let body = json!({"username": name, "displayName": name, "assignments": [{"roleId": ids::role("keeper")}]});
    let made = kit.post(maker, "/users", body).await.data();
    let first = made["generatedPin"].as_str().expect("a PIN");
    let account = Person { id: id_of(&made), token: kit.sign_in(id_of(&made), name, None).await };
    kit.post(&account, "/auth/change-pin", change(first, pin)).await
}

#[tokio::test]
async fn what_throw_away_accounts_propose_and_the_accounts_that_those_make_counts_for_one_person() {
    let kit = Kit::new().await;
    let (admin, here) = (kit.admin().await, kit.store("S01").await);
    let keeper = keeper(&kit, &admin).await;
    let old = kit.with_pin(&admin, "old", "518294", works(Some(here))).await;
    kit.clock.advance(2 * DAY);
    let admin = Person { token: kit.sign_in(admin.id, "admin", None).await, ..admin };
    let keeper = Person { token: kit.sign_in(keeper.id, "kim", None).await, ..keeper };
    let mut owners = Vec::new();
    for number in 0..12 {
        let pin = format!("7391{}", 50 + number);
        owners.push(kit.with_pin(&admin, &format!("owner{number}"), &pin, works(Some(here))).await);
    }
    let pin_of = |number: usize| format!("7391{}", 50 + number);
    let of_maker = Person { token: String::new(), id: Uuid::nil() };
    let mut maker = of_maker;
    for number in 0..10 {
        // The second half is made by the first account.
        let by = if number < 5 { &keeper } else { &maker };
        proposes(&kit, by, &format!("t{number}"), &pin_of(number)).await.refused(422, "pin_not_allowed");
        if number == 0 {
            let first = kit.get(&admin, "/users?search=t0").await.data();
            let id = id_of(&first[0]);
            kit.chooses(id, "604817").await;
            maker = Person { id, token: kit.sign_in(id, "t0", None).await };
        }
    }
    proposes(&kit, &keeper, "t10", &pin_of(10)).await.refused(429, "too_many_attempts");
    // Nor do they propose what no user has, nor does a user who got a new PIN from them.
    let path = format!("/users/{old}/pin");
    let first = kit.post(&keeper, &path, json!({})).await.data()["generatedPin"].as_str().expect("a PIN").to_owned();
    let reset = Person { id: old, token: kit.sign_in(old, "old", None).await };
    kit.post(&reset, "/auth/change-pin", change(&first, &pin_of(11))).await.refused(429, "too_many_attempts");
    for number in [10, 11] {
        assert!(kit.row::<user::Entity>(owners[number]).await.pin_hash.is_some(), "no look at {number}");
    }
    // Whoever may edit people lifts nothing of it.
    let locks = kit.get(&admin, "/auth/locks").await.data();
    let lock = locks.as_array().into_iter().flatten().find(|lock| lock["kind"] == "proposal_refused").expect("a lock");
    assert_eq!(lock["label"], "kim");
    let body = json!({"id": lock["id"]});
    for caller in [&keeper, &maker] {
        kit.post(caller, "/auth/unlock", body.clone()).await.refused(403, "scope");
    }
    kit.post(&admin, "/auth/unlock", body).await.is(204);
    kit.post(&reset, "/auth/change-pin", change(&first, "926350")).await.is(204);
}

/// Counts proposals for a user, as many as end in a lock.
async fn used_up(kit: &Kit, who: Uuid, times: usize) {
    let [_, refused, accepted] = proposal_buckets(who, who);
    let tx = kit.hq.db().begin().await.expect("begin");
    for _ in 0..times {
        let bucket = if times == 10 { &refused } else { &accepted };
        attempts::count(&tx, std::slice::from_ref(bucket), kit.clock.now()).await.expect("counted");
    }
    tx.commit().await.expect("commit");
}

#[tokio::test]
async fn a_hundred_new_pins_a_day_are_chosen_by_all_whom_one_person_made() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let keeper = keeper(&kit, &admin).await;
    used_up(&kit, keeper.id, 99).await;
    proposes(&kit, &keeper, "last", "739154").await.is(204);
    proposes(&kit, &keeper, "late", "482915").await.refused(429, "too_many_attempts");
    kit.clock.advance(DAY);
    let keeper = Person { token: kit.sign_in(keeper.id, "kim", None).await, ..keeper };
    proposes(&kit, &keeper, "next", "482915").await.is(204);
}

#[tokio::test]
async fn an_administrator_lifts_what_was_counted_of_others_and_not_through_an_account_of_their_own() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let other = kit.person("olga", &[("administrator", None)]).await;
    used_up(&kit, admin.id, 10).await;
    let body =
        json!({"username": "puppet", "displayName": "P", "assignments": [{"roleId": ids::role("administrator")}]});
    let puppet = id_of(&kit.post(&admin, "/users", body).await.data());
    kit.chooses(puppet, "739154").await;
    let puppet = Person { id: puppet, token: kit.sign_in(puppet, "puppet", None).await };
    let lock = json!({"id": kit.get(&other, "/auth/locks").await.data()[0]["id"]});
    for caller in [&admin, &puppet] {
        kit.post(caller, "/auth/unlock", lock.clone()).await.refused(409, "self");
    }
    kit.post(&other, "/auth/unlock", lock).await.is(204);
}

#[tokio::test]
async fn of_two_who_propose_one_pin_at_one_moment_one_gets_it_and_the_other_ends_it() {
    let kit = Kit::new().await;
    let (admin, here) = (kit.admin().await, kit.store("S01").await);
    let ann = person_with_pin(&kit, &admin, "ann", ANNS, Some(here)).await;
    let bob = person_with_pin(&kit, &admin, "bob", BOBS, Some(here)).await;
    let (one, other) = tokio::join!(
        kit.post(&ann, "/auth/change-pin", change(ANNS, "316408")),
        kit.post(&bob, "/auth/change-pin", change(BOBS, "316408"))
    );
    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 422], "{} {}", one.text, other.text);
    let first = if one.status == 204 { ann.id } else { bob.id };
    assert_eq!(kit.row::<user::Entity>(first).await.pin_hash, None);
    for name in ["ann", "bob"] {
        kit.login(name, "316408").await.refused(401, "invalid_credentials");
    }
}

#[tokio::test]
async fn no_user_is_signed_in_with_a_pin_that_is_hit_upon_at_the_same_moment() {
    let kit = Kit::new().await;
    let (admin, here) = (kit.admin().await, kit.store("S01").await);
    let bob = person_with_pin(&kit, &admin, "bob", BOBS, Some(here)).await;
    for round in 0..4 {
        let pin = ["739154", "605182", "481957", "926350"][round];
        let name = format!("ann{round}");
        person_with_pin(&kit, &admin, &name, pin, Some(here)).await;
        let (hit, signed_in) =
            tokio::join!(kit.post(&bob, "/auth/change-pin", change(BOBS, pin)), kit.login(&name, pin));
        hit.refused(422, "pin_not_allowed");
        if signed_in.status == 200 {
            // Just before: it is over all the same.
            let token = signed_in.data()["accessToken"].as_str().expect("a token").to_owned();
            kit.get(&Person { id: Uuid::nil(), token }, "/auth/me").await.is(401);
        } else {
            signed_in.refused(401, "invalid_credentials");
        }
    }
}
