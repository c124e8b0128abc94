//! Second factors: set-up, signing in with one, and nothing that works twice.

use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::auth::{SecondFactor, SignInSettings};
use tillkeep_model::ids;
use tillkeep_storage::entity::{audit_log, factor_challenge, recovery_code, second_factor};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use totp_rs::{Builder, Secret, Totp};
use uuid::Uuid;

use super::kit::{Got, Kit, Person, id_of};

pub const PIN: &str = "739154";
const WRONG: &str = "482915";
const STEP_MS: i64 = 30_000;

/// The app of a user.
pub struct App(Totp);

impl App {
    pub fn new(secret: &str) -> Self {
        let secret = Secret::try_from_base32(secret).expect("base32");
        Self(Builder::new().with_secret(secret).with_account_name("somebody").build().expect("an app"))
    }

    /// The code of this moment, so many steps later.
    pub fn code(&self, kit: &Kit, later: i64) -> String {
        let seconds = kit.clock.now().millis() / 1000 + later * 30;
        self.0.generate(u64::try_from(seconds).expect("a time")).to_string()
    }
}

/// An administrator who signs in with a PIN.
pub async fn chief(kit: &Kit) -> (Person, Uuid) {
    let admin = kit.admin().await;
    let everything = json!({"assignments": [{"roleId": ids::role("administrator")}]});
    let id = kit.with_pin(&admin, "chief", PIN, everything).await;
    (admin, id)
}

/// Whoever this sign-in is of.
pub fn signed_in(id: Uuid, got: Got) -> Person {
    Person { id, token: got.data()["accessToken"].as_str().expect("a token").to_owned() }
}

/// Sets an app up in a fresh session; with the recovery codes of the first factor.
pub async fn set_up(kit: &Kit, who: &Person) -> (App, Vec<String>) {
    let begun = kit.post(who, "/auth/factors/totp", json!({"name": "phone"})).await.data();
    let app = App::new(begun["secret"].as_str().expect("a secret"));
    let path = format!("/auth/factors/totp/{}", begun["id"].as_str().expect("an id"));
    let done = kit.post(who, &path, json!({"code": app.code(kit, 0)})).await.data();
    let codes =
        done["recoveryCodes"].as_array().into_iter().flatten().map(|code| code.as_str().expect("a code").to_owned());
    // Its code was used up.
    kit.clock.advance(STEP_MS);
    (app, codes.collect())
}

pub async fn login(kit: &Kit, body: Json, from: &str) -> Got {
    let mut all = json!({"username": "chief", "pin": PIN});
    for (key, value) in body.as_object().into_iter().flatten() {
        all[key] = value.clone();
    }
    kit.stranger("/auth/login", all, from, None).await
}

const HERE: &str = "192.0.2.1";

pub async fn with(second_factor: SecondFactor) -> Kit {
    Kit::with(SignInSettings { second_factor, ..SignInSettings::default() }).await
}

/// Lines of the audit log with this action.
pub async fn noted(kit: &Kit, action: &str) -> Vec<audit_log::Model> {
    let found = audit_log::Entity::find().filter(audit_log::Column::Action.eq(action));
    found.all(kit.hq.db().reader()).await.expect("entries")
}

#[tokio::test]
async fn whoever_has_a_second_factor_is_asked_for_it_and_signs_in_with_a_code() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let first = login(&kit, json!({}), HERE).await.data();
    assert_eq!(first["user"]["secondFactor"], json!({"has": false, "required": false, "missing": false}));
    let chief = Person { id, token: first["accessToken"].as_str().expect("a token").to_owned() };
    let (app, codes) = set_up(&kit, &chief).await;
    assert_eq!(codes.len(), 10);

    let asked = login(&kit, json!({}), HERE).await;
    asked.refused(401, "second_factor_required");
    let challenge = &asked.body["challenge"];
    assert_eq!(challenge["methods"], json!(["totp", "recovery"]));
    assert!(challenge["passkey"].is_null());
    login(&kit, json!({"code": "000000", "challenge": challenge["id"]}), HERE)
        .await
        .refused(401, "invalid_credentials");
    kit.clock.advance(1000);
    let again = login(&kit, json!({"code": app.code(&kit, 0), "challenge": challenge["id"]}), HERE).await.data();
    assert_eq!(again["user"]["secondFactor"]["has"], json!(true));
    // Without a challenge, in the first request.
    kit.clock.advance(STEP_MS);
    login(&kit, json!({"code": app.code(&kit, 0)}), HERE).await.is(200);
    // The clock of a phone may be off by one step.
    kit.clock.advance(2 * STEP_MS);
    login(&kit, json!({"code": app.code(&kit, -1)}), HERE).await.is(200);
    login(&kit, json!({"code": app.code(&kit, 2)}), HERE).await.refused(401, "invalid_credentials");
    login(&kit, json!({"code": app.code(&kit, 1)}), HERE).await.is(200);

    let listed =
        kit.get(&signed_in(id, login(&kit, json!({"code": codes[0]}), HERE).await), "/auth/factors").await.data();
    assert_eq!((&listed["setting"], &listed["required"]), (&json!("optional"), &json!(false)));
    assert_eq!((&listed["factors"][0]["kind"], &listed["factors"][0]["name"]), (&json!("totp"), &json!("phone")));
    assert_eq!(listed["recoveryCodesLeft"], json!(9));
    assert_eq!(noted(&kit, "factor.add").await.len(), 1);
    assert_eq!(noted(&kit, "factor.used").await.len(), 5);
}

#[tokio::test]
async fn nothing_that_was_used_works_again() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let (app, codes) = set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
    let code = app.code(&kit, 0);
    login(&kit, json!({"code": code}), HERE).await.is(200);
    login(&kit, json!({"code": code}), HERE).await.refused(401, "invalid_credentials");
    // Nor one from before it.
    login(&kit, json!({"code": app.code(&kit, -1)}), HERE).await.refused(401, "invalid_credentials");
    kit.clock.advance(5_000);
    let typed = codes[3].to_uppercase().replace('-', " ");
    login(&kit, json!({"code": typed}), HERE).await.is(200);
    login(&kit, json!({"code": codes[3]}), HERE).await.refused(401, "invalid_credentials");
    kit.clock.advance(60_000);
    let chief = signed_in(id, login(&kit, json!({"code": codes[4]}), HERE).await);
    let new = kit.post(&chief, "/auth/factors/recovery-codes", json!({})).await.data();
    login(&kit, json!({"code": codes[5]}), HERE).await.refused(401, "invalid_credentials");
    login(&kit, json!({"code": new["recoveryCodes"][0]}), HERE).await.is(200);
}

#[tokio::test]
async fn of_two_who_show_one_code_at_one_moment_one_signs_in() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let (app, codes) = set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
    for code in [app.code(&kit, 0), codes[0].clone()] {
        let (one, two) =
            tokio::join!(login(&kit, json!({"code": code}), HERE), login(&kit, json!({"code": code}), "192.0.2.2"));
        let statuses = [one.status, two.status];
        assert!(statuses == [200, 401] || statuses == [401, 200], "{} {}", one.text, two.text);
        kit.clock.advance(60_000);
    }
}

#[tokio::test]
async fn a_stranger_without_the_pin_does_not_learn_whether_there_is_a_second_factor() {
    let kit = Kit::new().await;
    let (admin, id) = chief(&kit).await;
    set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
    kit.with_pin(&admin, "plain", "605182", json!({})).await;
    let mut said = Vec::new();
    for name in ["chief", "plain", "nobody"] {
        for more in [json!({}), json!({"code": "123456"}), json!({"challenge": Uuid::now_v7(), "passkey": {}})] {
            let mut body = json!({"username": name, "pin": WRONG});
            for (key, value) in more.as_object().into_iter().flatten() {
                body[key] = value.clone();
            }
            let before = kit.hq.auth.pins.computed();
            said.push((kit.stranger("/auth/login", body, HERE, None).await, kit.hq.auth.pins.computed() - before));
            kit.clock.advance(20_000);
        }
    }
    let first = (said[0].0.status, said[0].0.text.clone(), said[0].1);
    assert_eq!(first.0, 401);
    for (got, hashes) in said {
        assert_eq!((got.status, got.text, hashes), first);
    }
}

#[tokio::test]
async fn a_right_pin_without_the_factor_counts_until_the_second_step_comes_in_time() {
    let kit = Kit::new().await;
    let (admin, id) = chief(&kit).await;
    let (app, _) = set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
    let counted = async || {
        let rows = tillkeep_storage::entity::pin_attempt::Entity::find().all(kit.hq.db().reader()).await.expect("rows");
        rows.iter().filter(|row| row.kind == "account").map(|row| row.wrong_today).sum::<i32>()
    };
    let asked = login(&kit, json!({}), HERE).await;
    assert_eq!(counted().await, 1);
    let challenge = asked.body["challenge"]["id"].clone();
    login(&kit, json!({"code": app.code(&kit, 0), "challenge": challenge}), HERE).await.is(200);
    assert_eq!(counted().await, 0);
    let asked = login(&kit, json!({}), HERE).await;
    kit.clock.advance(121_000);
    let challenge = asked.body["challenge"]["id"].clone();
    login(&kit, json!({"code": app.code(&kit, 0), "challenge": challenge}), HERE).await.is(200);
    assert_eq!(counted().await, 1, "it came too late");
    // Who knows the PIN alone is stopped like whoever guesses it.
    let mut looked_at = 0;
    while looked_at < 30 {
        let got = login(&kit, json!({}), "192.0.2.77").await;
        if got.status == 429 {
            break;
        }
        got.refused(401, "second_factor_required");
        looked_at += 1;
    }
    assert!(looked_at <= 3, "{looked_at} at once");
    let open = factor_challenge::Entity::find().filter(factor_challenge::Column::UserId.eq(id));
    assert!(open.count(kit.hq.db().reader()).await.expect("a count") <= 10);
    drop(admin);
}

#[tokio::test]
async fn a_guesser_with_the_right_pin_gets_no_more_codes_than_pins_however_many_addresses() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
    let begin = kit.clock.now();
    let (mut judged, mut tries) = (0, 0_u32);
    while kit.clock.now().millis_since(begin) < 24 * 3_600_000 {
        let from = format!("203.0.{}.{}", 113 + tries / 250 % 2, tries % 250);
        let got = login(&kit, json!({"code": "000001"}), &from).await;
        tries += 1;
        match got.status {
            401 => judged += 1,
            _ => kit.clock.advance(got.retry_after() * 1000),
        }
    }
    assert!((80..=110).contains(&judged), "{judged} codes in a day");
}

#[tokio::test]
async fn nine_wrong_pins_before_a_right_one_do_not_make_the_second_step_wait() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let (app, _) = set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
    for _ in 0..9 {
        login(&kit, json!({"pin": WRONG}), HERE).await.refused(401, "invalid_credentials");
        kit.clock.advance(11_000);
    }
    let asked = login(&kit, json!({}), HERE).await;
    asked.refused(401, "second_factor_required");
    login(&kit, json!({}), HERE).await.refused(429, "too_many_attempts");
    kit.clock.advance(5_000);
    let step = json!({"code": app.code(&kit, 0), "challenge": asked.body["challenge"]["id"]});
    // No PIN is guessed beside it.
    let mut guess = step.clone();
    guess["pin"] = json!(WRONG);
    login(&kit, guess, HERE).await.refused(429, "too_many_attempts");
    login(&kit, step, HERE).await.is(200);
    login(&kit, json!({}), HERE).await.refused(401, "second_factor_required");
}

#[tokio::test]
async fn a_good_challenge_is_no_way_to_try_codes_or_pins_without_an_end() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
    for tried in [json!({"code": "000001"}), json!({"passkey": {}}), json!({"passkey": {}, "pin": WRONG})] {
        // Nothing of the case before counts here any more.
        kit.clock.advance(24 * 3_600_000);
        let (mut body, mut looked_at) = (tried.clone(), 0);
        body["challenge"] = login(&kit, json!({}), HERE).await.body["challenge"]["id"].clone();
        assert!(body["challenge"].is_string(), "{tried}");
        while login(&kit, body.clone(), "192.0.2.80").await.status == 401 {
            looked_at += 1;
            assert!(looked_at <= 6, "{tried}");
        }
        assert!(looked_at >= 1, "{tried}");
    }
}

#[tokio::test]
async fn whoever_knows_the_pin_stops_no_codes_in_a_browser_of_its_owner() {
    let kit = Kit::new().await;
    let store = kit.store("S01").await;
    let (_, id) = chief(&kit).await;
    let (app, codes) = set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
    let with_code = |code: &str| json!({"username": "chief", "pin": PIN, "code": code});
    let got = kit.browser("/auth/login", with_code(&app.code(&kit, 0)), HERE, HERE, "new").await.data();
    let key = got["deviceKey"].as_str().expect("a key").to_owned();
    for host in 100..107 {
        login(&kit, json!({"code": "000000"}), &format!("192.0.2.{host}")).await.refused(401, "invalid_credentials");
        kit.clock.advance(11_000);
    }
    login(&kit, json!({"code": codes[0]}), "192.0.2.107").await.refused(429, "too_many_attempts");
    let elsewhere = "192.0.2.108";
    kit.browser("/auth/login", with_code(&codes[0]), elsewhere, elsewhere, &key).await.is(200);
    // The PIN alone makes no browser known.
    let body = json!({"pin": PIN, "storeId": store, "terminalId": "T1"});
    let alone = kit.browser("/auth/pin-login", body, elsewhere, elsewhere, "new").await.data();
    assert!(alone.get("deviceKey").is_none(), "{alone}");
}

#[tokio::test]
async fn where_it_is_off_no_factor_is_asked_for_and_the_answers_are_those_of_the_specification() {
    let kit = with(SecondFactor::Off).await;
    let (_, id) = chief(&kit).await;
    let before = login(&kit, json!({}), HERE).await.data();
    set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
    let after = login(&kit, json!({}), HERE).await.data();
    let keys = |answer: &Json| answer.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    assert_eq!(keys(&after), keys(&before));
    assert_eq!(keys(&after["user"]), keys(&before["user"]));
    assert!(after["user"]["secondFactor"].is_null());
    let notices = kit.get(&signed_in(id, login(&kit, json!({}), HERE).await), "/security/notices").await.data();
    assert_eq!(notices, json!([]));
}

#[tokio::test]
async fn what_a_pin_opened_while_no_factor_was_asked_for_ends_where_one_is() {
    let mut kit = with(SecondFactor::Off).await;
    let (admin, id) = chief(&kit).await;
    let bob = kit.with_pin(&admin, "bob", "605182", json!({})).await;
    let owner = signed_in(id, login(&kit, json!({}), HERE).await);
    let (app, _) = set_up(&kit, &owner).await;
    let finder = signed_in(id, login(&kit, json!({}), HERE).await);
    let bob = signed_in(bob, kit.login("bob", "605182").await);
    kit.get(&finder, "/users").await.is(200);
    kit.settings.sign_in.second_factor = SecondFactor::Optional;
    kit.restart().await;
    kit.get(&finder, "/auth/me").await.is(401);
    // Who showed theirs, and who has none, go on.
    for person in [&owner, &bob] {
        kit.get(person, "/auth/me").await.is(200);
    }
    let chief = signed_in(id, login(&kit, json!({"code": app.code(&kit, 0)}), HERE).await);
    kit.restart().await;
    kit.get(&chief, "/users").await.is(200);
}

#[tokio::test]
async fn where_it_is_required_whoever_reaches_beyond_a_store_can_only_set_one_up() {
    let kit = with(SecondFactor::Required).await;
    let store = kit.store("S01").await;
    let admin = kit.admin().await;
    kit.get(&admin, "/stores").await.refused(403, "second_factor_missing");
    let made = kit.get(&admin, "/auth/me").await.data();
    assert_eq!(made["secondFactor"], json!({"has": false, "required": true, "missing": true}));
    let (app, _) = set_up(&kit, &admin).await;
    kit.get(&admin, "/stores").await.is(200);
    let codes = kit.get(&admin, "/auth/factors").await.data();
    kit.delete(&admin, &format!("/auth/factors/{}", codes["factors"][0]["id"].as_str().expect("an id"))).await.is(204);
    kit.get(&admin, "/stores").await.refused(403, "second_factor_missing");
    // A manager of one store needs none.
    let manager = kit.person("mia", &[("store_manager", Some(store))]).await;
    kit.get(&manager, "/inventory").await.is(200);
    drop(app);
}

#[tokio::test]
async fn where_it_is_required_no_user_who_must_have_one_sets_it_up_with_a_pin_alone() {
    let kit = with(SecondFactor::Required).await;
    let (admin, store) = (kit.admin().await, kit.store("S01").await);
    set_up(&kit, &admin).await;
    let works =
        |role: &str, store: Option<Uuid>| json!({"assignments": [{"roleId": ids::role(role), "storeId": store}]});
    let chief = kit.with_pin(&admin, "chief", PIN, works("administrator", None)).await;
    let mia = kit.with_pin(&admin, "mia", "605182", works("store_manager", Some(store))).await;
    let alone = async |id: Uuid, pin: &str| {
        let body = json!({"pin": pin, "storeId": store, "terminalId": "T1"});
        signed_in(id, kit.stranger("/auth/pin-login", body, HERE, None).await)
    };
    let finder = alone(chief, PIN).await;
    kit.post(&finder, "/auth/factors/totp", json!({})).await.refused(403, "second_factor_stale");
    kit.post(&finder, "/auth/confirm", json!({"pin": PIN})).await.refused(403, "second_factor_missing");
    kit.post(&finder, "/auth/factors/totp", json!({})).await.refused(403, "second_factor_stale");
    set_up(&kit, &signed_in(chief, login(&kit, json!({}), HERE).await)).await;
    // Whoever need not have one shows the PIN.
    let manager = alone(mia, "605182").await;
    kit.post(&manager, "/auth/factors/totp", json!({})).await.is(200);
}

#[tokio::test]
async fn a_pin_alone_opens_no_more_than_a_store_for_whoever_has_a_second_factor() {
    let kit = Kit::new().await;
    let store = kit.store("S01").await;
    let (_, id) = chief(&kit).await;
    let at = async |kit: &Kit| {
        let body = json!({"pin": PIN, "storeId": store, "terminalId": "T1"});
        kit.stranger("/auth/pin-login", body, HERE, None).await.data()
    };
    let before = at(&kit).await;
    assert!(before["user"]["permissions"].as_array().expect("codes").contains(&json!("users.edit")));
    let (app, _) = set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
    // What was opened before by the PIN alone is over.
    let old = Person { id, token: before["accessToken"].as_str().expect("a token").to_owned() };
    kit.get(&old, "/auth/me").await.is(401);
    let after = at(&kit).await;
    let codes: Vec<&str> =
        after["user"]["permissions"].as_array().expect("codes").iter().filter_map(Json::as_str).collect();
    assert!(
        codes.contains(&"pos.sell") && !codes.iter().any(|code| tillkeep_model::permission::is_beyond_a_store(code))
    );
    let pin = Person { id, token: after["accessToken"].as_str().expect("a token").to_owned() };
    kit.get(&pin, "/users").await.refused(403, "forbidden");
    kit.get(&pin, "/sync/dashboard/stream").await.refused(403, "forbidden");
    let mine = kit.get(&pin, "/auth/me").await.data();
    assert_eq!(mine["permissions"], after["user"]["permissions"]);
    // Nor can it give itself another factor, or take the one away.
    kit.post(&pin, "/auth/factors/totp", json!({})).await.refused(403, "second_factor_stale");
    kit.post(&pin, "/auth/confirm", json!({"pin": PIN})).await.refused(401, "second_factor_required");
    kit.post(&pin, "/auth/confirm", json!({"code": app.code(&kit, 0)})).await.is(200);
    kit.get(&pin, "/users").await.refused(403, "forbidden");
}

#[tokio::test]
async fn an_administrator_resets_the_factors_of_others_and_the_machine_those_of_the_last_one() {
    let kit = Kit::new().await;
    let (admin, id) = chief(&kit).await;
    let chief = signed_in(id, login(&kit, json!({}), HERE).await);
    set_up(&kit, &chief).await;
    let listed = async || {
        let all = kit.get(&admin, "/users").await.data();
        let of = |row: &Json| {
            (row["username"].as_str().unwrap_or_default().to_owned(), row["hasSecondFactor"] == json!(true))
        };
        all.as_array().into_iter().flatten().map(of).collect::<Vec<_>>()
    };
    assert!(listed().await.contains(&("chief".to_owned(), true)));
    kit.delete(&chief, &format!("/users/{id}/factors")).await.refused(409, "self");
    kit.delete(&admin, &format!("/users/{id}/factors")).await.is(204);
    assert!(listed().await.contains(&("chief".to_owned(), false)));
    kit.get(&chief, "/auth/me").await.is(401);
    let chief = signed_in(id, login(&kit, json!({}), HERE).await);
    set_up(&kit, &chief).await;
    let reset = tillkeep_hq::backoffice::users::rescue::reset_factor(&kit.hq, "chief").await.expect("a reset");
    assert_eq!((reset.factors, reset.pin), (1, false));
    login(&kit, json!({}), HERE).await.is(200);
    let left = second_factor::Entity::find().count(kit.hq.db().reader()).await.expect("a count")
        + recovery_code::Entity::find().count(kit.hq.db().reader()).await.expect("a count");
    assert_eq!((left, noted(&kit, "factor.reset").await.len()), (0, 2));
    // Who holds less resets nothing.
    let store = kit.store("S01").await;
    let role = kit.role(&admin, "people", &["users.view", "users.edit"]).await;
    let lesser = kit.person("lesser", &[("people", None)]).await;
    kit.delete(&lesser, &format!("/users/{id}/factors")).await.refused(403, "escalation");
    let _ = (store, role);
}

#[tokio::test]
async fn the_dashboard_names_who_reaches_beyond_a_store_without_a_second_factor() {
    let kit = Kit::new().await;
    let (admin, id) = chief(&kit).await;
    let store = kit.store("S01").await;
    kit.person("mia", &[("store_manager", Some(store))]).await;
    kit.person("cass", &[("cashier", None)]).await;
    let named = async |kit: &Kit| {
        let notices = kit.get(&admin, "/security/notices").await.data();
        let notice =
            notices.as_array().into_iter().flatten().find(|notice| notice["kind"] == "no_second_factor").cloned();
        let users = notice.into_iter().flat_map(|notice| notice["users"].as_array().cloned().unwrap_or_default());
        users.filter_map(|user| user["username"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(named(&kit).await, ["admin", "cass", "chief"]);
    set_up(&kit, &signed_in(id, login(&kit, json!({}), HERE).await)).await;
    assert_eq!(named(&kit).await, ["admin", "cass"]);
}

#[tokio::test]
async fn what_is_wrong_with_a_set_up_is_said_at_its_field() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.post(&admin, "/auth/factors/totp", json!({"name": " "})).await.names("name");
    kit.post(&admin, "/auth/factors/totp", json!({"name": "x".repeat(61)})).await.names("name");
    let begun = kit.post(&admin, "/auth/factors/totp", json!({})).await.data();
    let path = format!("/auth/factors/totp/{}", begun["id"].as_str().expect("an id"));
    kit.post(&admin, &path, json!({"code": "12345"})).await.names("code");
    kit.post(&admin, &path, json!({"code": "000000"})).await.names("code");
    // Of another person, and of another kind.
    let other = kit.person("other", &[("administrator", None)]).await;
    kit.post(&other, &path, json!({"code": "000000"})).await.refused(404, "not_found");
    let passkey = path.replace("totp", "passkeys");
    kit.post(&admin, &passkey, json!({"credential": {}})).await.refused(404, "not_found");
    kit.clock.advance(11 * 60_000);
    let app = App::new(begun["secret"].as_str().expect("a secret"));
    kit.post(&admin, &path, json!({"code": app.code(&kit, 0)})).await.refused(404, "not_found");
    assert!(begun["uri"].as_str().expect("a text").starts_with("otpauth://totp/Tillkeep:admin?secret="));
    assert_eq!(id_of(&kit.get(&admin, "/auth/me").await.data()), admin.id);
}
