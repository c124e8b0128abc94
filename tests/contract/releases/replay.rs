//! What the servers of earlier releases said, said to those of this one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::Clock;
use tillkeep_http::pins::Pins;
use tillkeep_model::wire::HqMessage;
use tillkeep_model::{Instant, ids};
use tillkeep_storage::migration::{STEPS, Schema};
use tillkeep_storage::staff::GlobalPeople;
use tillkeep_storage::verify::{self, Options, Source};
use tillkeep_storage::{Db, Side, apply, outbox};

use super::kept::{Release, Said};
use super::servers::{exchange, open_hq, open_store, stopped, talk};
use super::tape::{self, Answers};
use crate::kit::Server;
use crate::{private_postgres, rows};

fn clock_of(release: &Release) -> Clock {
    Clock::standing_at(Instant::parse(&release.about.at).expect("an instant"))
}

async fn holds(url: &str, side: Side) {
    let source = [Source::open(url, side).await.expect("the database")];
    let options = Options::default();
    let findings = match side {
        Side::Hq => verify::run(source.first(), &[], &options).await,
        Side::Store => verify::run(None, &source, &options).await,
    };
    assert_eq!(findings.expect("a verdict"), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_store_of_each_release_asks_is_answered_so_that_it_understands() {
    for release in Release::all() {
        let database = private_postgres::Database::create();
        for url in [None, Some(database.url.as_str())] {
            eprintln!("release {} on {}", release.name, url.unwrap_or("SQLite"));
            let dir = tempfile::tempdir().expect("a directory");
            release.install(Side::Hq, dir.path(), url).await;
            let clock = clock_of(&release);
            // What it did unless it was told otherwise.
            let people = if release.name.starts_with("0.1.") { GlobalPeople::All } else { GlobalPeople::default() };
            let hq = open_hq(dir.path(), url, people, &clock, stopped()).await;
            let router = tillkeep_hq::routes::router(hq.clone(), &tillkeep_store::routes::writes());
            let mut messages = Vec::new();
            for said in release.said() {
                match said {
                    Said::Asked { path, body, status, answer } => {
                        let (now, text) = tape::ask(&router, &release.about.sync_token, &path, body.as_ref()).await;
                        assert_eq!(now, status, "{path}: {text}");
                        understood(&path, "", &answer, &text);
                    }
                    Said::OnSocket { from, message } if from == "store" => messages.push(message),
                    Said::OnSocket { message, .. } => {
                        let now = exchange(dir.path(), url, &clock, &messages).await;
                        understood("the socket", "", &message, &now);
                    }
                }
            }
            let database = Db::url_of_file(&dir.path().join("tillkeep.db"));
            holds(url.unwrap_or(&database), Side::Hq).await;
        }
    }
}

/// What is of the moment: a reader needs that it is there, not which.
const OF_THE_MOMENT: &[&str] = &["ticket", "clock", "serverVersion", "epoch", "resync"];
/// The same of an answer itself: a row may have a column of such a name, which is to be what it was.
const OF_THE_MOMENT_OF_AN_ANSWER: &[&str] = &["nonce", "tag"];
/// What stores of every release do without.
const OPTIONAL: &[&str] = &["mark"];
/// What may have grown since.
const AT_LEAST: &[&str] = &["latest_version", "latestVersion", "syncVersion"];

/// Whether it is a row that every headquarters of a later release makes for itself when it starts.
fn is_made_at_a_start(row: &Json) -> bool {
    row["id"] == json!(ids::named("tender:EXCHANGE"))
}

/// Whether who understands `then` understands `now`: every key is there with the same meaning. Others may have come.
fn understood(what: &str, key: &str, then: &Json, now: &Json) {
    let place = format!("{what} {key}");
    match (then, now) {
        (Json::Object(then), Json::Object(now)) => {
            for (name, value) in then {
                let is_of_answer = key.is_empty() && OF_THE_MOMENT_OF_AN_ANSWER.contains(&name.as_str());
                let grows = key == "versions" || AT_LEAST.contains(&name.as_str());
                if OPTIONAL.contains(&name.as_str()) && !now.contains_key(name) {
                    continue;
                }
                let found = now.get(name).unwrap_or_else(|| panic!("{place}: no {name} any more"));
                if grows {
                    assert!(found.as_i64() >= value.as_i64(), "{place}.{name}: {value}, and now {found}");
                } else if is_of_answer || OF_THE_MOMENT.contains(&name.as_str()) {
                    assert_eq!(kind(found), kind(value), "{place}.{name}");
                } else {
                    understood(what, name, value, found);
                }
            }
        }
        (Json::Array(then), Json::Array(now)) => {
            let has_been = |row: &&Json| then.contains(row) || !is_made_at_a_start(row);
            let now: Vec<&Json> = now.iter().filter(has_been).collect();
            assert_eq!(then.len(), now.len(), "{place}: {then:?}, and now {now:?}");
            then.iter().zip(now).for_each(|(then, now)| understood(what, key, then, now));
        }
        _ => assert_eq!(then, now, "{place}"),
    }
}

#[test]
fn what_is_of_the_moment_of_an_answer_is_no_column_of_its_rows() {
    let said = |tag: &str, of_row: &str| json!({"tag": tag, "rows": [{"tag": of_row}]});
    understood("a pull", "", &said("a", "one"), &said("b", "one"));
    let other = std::panic::catch_unwind(|| understood("a pull", "", &said("a", "one"), &said("b", "two")));
    assert!(other.is_err(), "another column is understood as the same");
}

fn kind(value: &Json) -> u8 {
    match value {
        Json::Null => 0,
        Json::Bool(_) => 1,
        Json::Number(_) => 2,
        Json::String(_) => 3,
        Json::Array(_) => 4,
        Json::Object(_) => 5,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_of_release_0_1_0_goes_on_verifying_people_of_all_stores_with_an_alarm() {
    for release in Release::all().into_iter().filter(|release| release.name.starts_with("0.1.")) {
        let dir = tempfile::tempdir().expect("a directory");
        let (at_hq, at_store) = (dir.path().join("hq"), dir.path().join("store"));
        release.install(Side::Hq, &at_hq, None).await;
        release.install(Side::Store, &at_store, None).await;
        let hq = open_hq(&at_hq, None, GlobalPeople::default(), &clock_of(&release), stopped()).await;
        let router = tillkeep_hq::routes::router(hq.clone(), &tillkeep_store::routes::writes());
        let (about, token) = (&release.about, release.about.sync_token.as_str());
        for said in release.said() {
            if let Said::Asked { path, body, .. } = said
                && path == "/handshake"
            {
                assert_eq!(tape::ask(&router, token, &path, body.as_ref()).await.0, 200);
            }
        }
        let (_, page) = tape::ask(&router, token, "/pull?entity_type=users&since_version=0&limit=500", None).await;
        let row = page["rows"].as_array().into_iter().flatten().find(|row| row["id"] == json!(about.admin));
        let hash = row.and_then(|row| row["pinHash"].as_str()).expect("what verifies the PIN").to_owned();
        let pins = Pins::open(&at_store.join("pin.key"), 1).expect("the key that the store has");
        assert!(pins.verify(&about.pin, Some(hash)).await.expect("verified"));

        let (auth, db) = (hq.auth.clone(), hq.db().clone());
        let server = Server { name: "hq", router, routes: Vec::new(), auth, db, store_id: None };
        let seen = server.get(&server.sign_in(about.admin).await, "/sync/dashboard").await.data();
        let of_store = |state: &&Json| state["storeCode"] == json!(about.store_code);
        let state = seen["stores"].as_array().into_iter().flatten().find(of_store).expect("the store");
        let mut alarms = state["alarms"].as_array().into_iter().flatten();
        assert!(alarms.any(|alarm| alarm["code"] == "too_old"), "{state}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_headquarters_of_each_release_answers_is_understood_by_a_store() {
    for release in Release::all() {
        let dir = tempfile::tempdir().expect("a directory");
        release.install(Side::Store, dir.path(), None).await;
        let (said, clock) = (release.said(), clock_of(&release));
        let answers = Arc::new(Answers::new(&said));
        let store = open_store(dir.path(), &release.about.sync_token, answers, &clock).await;
        let before = outbox::state(store.test_db().reader()).await.expect("the outbox");
        assert!(before.pending > 5, "what was sold without a line waits: {before:?}");
        talk(&store, &clock).await;

        let line = store.sync.line();
        assert_eq!(line.unstored, BTreeMap::new());
        let after = outbox::state(store.test_db().reader()).await.expect("the outbox");
        assert_eq!((after.pending, after.dead_lettered), (0, 0), "every verdict is understood");
        let cursors = apply::cursors(store.test_db().reader()).await.expect("the cursors");
        for (name, head) in heads(&said) {
            let cursor = cursors.get(&name).map(|cursor| cursor.version);
            assert_eq!(cursor, head.as_i64(), "{name} was pulled to its head");
        }
        let rows = rows::read(store.test_db().reader(), &Schema::after(STEPS), Side::Store).await;
        let mut pulled = 0;
        for (entity, row) in rows_said(&said) {
            let Some(id) = row.get("id") else { continue };
            let kept = rows[&entity].iter().find(|kept| kept.get("id") == Some(id));
            let kept = kept.unwrap_or_else(|| panic!("{entity} {id} is not in the store"));
            for column in ["name", "code", "price", "display_name", "po_number", "transfer_number"] {
                let key = tillkeep_model::wire::camel(column);
                if let (Some(said), Some(kept)) = (row.get(&key), kept.get(column)) {
                    assert_eq!(said, kept, "{entity}.{column}");
                    pulled += 1;
                }
            }
        }
        assert!(pulled > 20, "{pulled}");
        for said in &said {
            if let Said::OnSocket { from, message } = said
                && from == "hq"
            {
                let read = serde_json::from_value(message.clone()).expect("a message");
                assert!(matches!(read, HqMessage::Notify { entity_type, .. } if entity_type == "tenders"));
            }
        }
        holds(&Db::url_of_file(&dir.path().join("tillkeep.db")), Side::Store).await;
    }
}

/// The newest head of each type that was said.
fn heads(said: &[Said]) -> Map<String, Json> {
    let mut heads = Map::new();
    for said in said {
        if let Said::Asked { path, answer, .. } = said
            && path.starts_with("/versions")
        {
            heads.extend(answer["versions"].as_object().expect("heads").clone());
        }
    }
    heads
}

/// The last word on each row of each type.
fn rows_said(said: &[Said]) -> Vec<(String, Map<String, Json>)> {
    let mut seen = BTreeSet::new();
    let mut rows = Vec::new();
    for said in said.iter().rev() {
        let Said::Asked { answer, .. } = said else { continue };
        let Some(entity) = answer["entity_type"].as_str() else { continue };
        for row in answer["rows"].as_array().into_iter().flatten().filter_map(Json::as_object) {
            if seen.insert(json!([entity, row.get("id")]).to_string()) {
                rows.push((entity.to_owned(), row.clone()));
            }
        }
    }
    rows
}
