//! Releases that are kept: this program records the day of a chain, and understands the days of those before. What is kept
//! lies in `tests/releases`; `docs/development.md` says how a release is closed.

mod day;
#[path = "../../releases/kept.rs"]
pub mod kept;
mod tape;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Map, Value as Json, json};
use tillkeep_http::{Clock, server};
use tillkeep_model::Instant;
use tillkeep_model::wire::{Heartbeat, HqMessage, StoreMessage};
use tillkeep_storage::migration::{self, STEPS, Schema};
use tillkeep_storage::sea_orm::DbBackend;
use tillkeep_storage::verify::{self, Options, Source};
use tillkeep_storage::{Db, Side, apply, outbox, registry};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

use self::day::{CODE, Day, TERMINAL, USERNAME, product, store_id};
use self::kept::{About, REMEDY, Release, Said, rows_file, schema_file};
use self::tape::Answers;
use crate::kit::PIN;
use crate::{private_postgres, rows};

/// Tables that the recorded day leaves empty on both sides: what needs a second person, credit, or a repeated request.
const EMPTY: &[&str] = &["approvals", "account_charges", "idempotency_keys"];

/// Writes what is kept of this version when `RELEASE_RECORD` is set: `make release-record`.
#[tokio::test(flavor = "multi_thread")]
async fn a_day_of_this_release_can_be_recorded() {
    let day = Day::begin().await;
    day.morning().await;
    day.without_a_line().await;
    let schema = Schema::after(STEPS);
    let hq = rows::read(day.hq.db().reader(), &schema, Side::Hq).await;
    let store = rows::read(day.store.db().reader(), &schema, Side::Store).await;
    let began = day.clock.now();
    day.with_a_line_again().await;
    let mut said = day.tape.said();
    said.extend(on_the_socket(&day).await);

    let waiting = outbox::state(day.store.db().reader()).await.expect("the outbox");
    assert_eq!((waiting.pending, waiting.dead_lettered), (0, 0), "everything was taken");
    let text = said.iter().map(|said| serde_json::to_string(said).expect("JSON") + "\n").collect::<String>();
    let pulled = |name: &str| text.contains(&format!("/pull?entity_type={name}&"));
    let pushed: BTreeSet<&str> = said.iter().flat_map(sent).collect();
    let missing = registry::ALL.iter().filter(|entity| {
        entity.is_pulled() && !pulled(entity.name) || entity.is_pushed() && !pushed.contains(entity.name)
    });
    assert_eq!(missing.map(|entity| entity.name).collect::<Vec<_>>(), Vec::<&str>::new(), "not pulled or not pushed");
    let rows_of = |table: &str| [&hq, &store].iter().any(|rows| rows.get(table).is_some_and(|rows| !rows.is_empty()));
    let empty = migration::tables().map(|table| table.name).filter(|table| !rows_of(table));
    assert_eq!(empty.collect::<Vec<_>>(), EMPTY, "nobody wrote to these in that day");

    if std::env::var_os("RELEASE_RECORD").is_none() {
        return;
    }
    let dir = kept::root().join(env!("CARGO_PKG_VERSION"));
    fs::create_dir_all(&dir).expect("a directory");
    let keep = |name: &str, text: String| fs::write(dir.join(name), text).expect("a file");
    for (side, rows) in [(Side::Hq, &hq), (Side::Store, &store)] {
        keep(rows_file(side), kept::to_lines(&schema, rows));
        for backend in [DbBackend::Sqlite, DbBackend::Postgres] {
            if side == Side::Hq || backend == DbBackend::Sqlite {
                keep(schema_file(side, backend), script(STEPS, side, backend));
            }
        }
    }
    keep("wire.jsonl", text);
    let keys = |part: &str| {
        ["token.key", "pin.key"]
            .iter()
            .map(|name| {
                let text = fs::read_to_string(day.dir.path().join(part).join(name)).expect("a key");
                ((*name).to_owned(), serde_json::from_str(&text).expect("JSON"))
            })
            .collect()
    };
    let about = About {
        steps: STEPS.iter().map(|step| step.name.to_owned()).collect(),
        store_id: store_id(),
        store_code: CODE.to_owned(),
        terminal: TERMINAL.to_owned(),
        sync_token: day.tape.token.clone(),
        admin: day.admin,
        username: USERNAME.to_owned(),
        pin: PIN.to_owned(),
        product: product(),
        at: began.to_string(),
        hq_keys: keys("hq"),
        store_keys: keys("store"),
    };
    keep("about.json", serde_json::to_string_pretty(&about).expect("JSON") + "\n");
}

/// The types of what a store sent.
fn sent(said: &Said) -> Vec<&str> {
    let Said::Asked { body: Some(body), .. } = said else { return Vec::new() };
    let envelopes = body["envelopes"].as_array().into_iter().flatten();
    envelopes.filter_map(|envelope| envelope["entity_type"].as_str()).collect()
}

fn script(steps: &[migration::Step], side: Side, backend: DbBackend) -> String {
    let statements = migration::script(steps, side, backend).expect("a script");
    statements.iter().map(|statement| statement.sql.clone() + ";\n").collect()
}

/// A released step is never edited: who has the release has made it as it was.
#[test]
fn the_steps_of_every_release_are_what_they_were() {
    for release in Release::all() {
        let count = release.about.steps.len();
        let names: Vec<&str> = STEPS.iter().take(count).map(|step| step.name).collect();
        assert_eq!(names, release.about.steps, "{}", release.name);
        for (side, backend) in
            [(Side::Hq, DbBackend::Sqlite), (Side::Hq, DbBackend::Postgres), (Side::Store, DbBackend::Sqlite)]
        {
            let (now, then) = (script(&STEPS[..count], side, backend), release.schema(side, backend));
            let differ = now.lines().zip(then.lines()).find(|(now, then)| now != then);
            assert!(
                now == then,
                "release {} has made another {side:?} on {backend:?}: {differ:?}. Leave its steps as they are and add \
                 one. (Before 0.1.0 is closed: {REMEDY})",
                release.name
            );
        }
    }
}

/// What the socket of a store and headquarters say; a change at headquarters is told.
async fn on_the_socket(day: &Day) -> Vec<Said> {
    let messages = [
        StoreMessage::Auth { sync_token: day.tape.token.clone() },
        StoreMessage::Heartbeat(Heartbeat {
            store_code: CODE.to_owned(),
            uptime: 12.5,
            timestamp: day.clock.now().to_string(),
            outbox_pending: Some(0),
            dead_lettered: Some(0),
            oldest_pending_at: None,
            clock: Some(day.clock.now()),
        }),
    ];
    let messages: Vec<Json> = messages.iter().map(|message| serde_json::to_value(message).expect("JSON")).collect();
    let notify = exchange(&day.dir.path().join("hq"), None, &day.clock, &messages).await;
    let from_store = messages.into_iter().map(|message| Said::OnSocket { from: "store".to_owned(), message });
    from_store.chain([Said::OnSocket { from: "hq".to_owned(), message: notify }]).collect()
}

/// Says `messages` on a socket to the headquarters in `dir`; what is told of a change of the tenders then.
async fn exchange(dir: &Path, url: Option<&str>, clock: &Clock, messages: &[Json]) -> Json {
    // One that is not stopped: it keeps sockets open.
    let stop = CancellationToken::new();
    let hq = day::open_hq(dir, url, clock, stop.clone()).await;
    let listener = server::bind("127.0.0.1:0", dir, None).await.expect("a port");
    let url = listener.url.replace("http://", "ws://") + "/api/v1/sync/ws";
    let router = tillkeep_hq::routes::router(hq.clone());
    tokio::spawn(server::serve(listener, router, server::Limits::default(), stop.clone()));
    let (mut socket, _) = connect_async(url).await.expect("a socket");
    for message in messages {
        socket.send(Message::text(message.to_string())).await.expect("a message");
    }
    crate::kit::until("the store is connected", async || hq.hub.len() == 1).await;
    let mut tx = hq.db().begin().await.expect("a transaction");
    day::touch(&mut tx, "tenders").await;
    hq.commit(tx).await.expect("a commit");
    let told = loop {
        if let Message::Text(text) = socket.next().await.expect("an open socket").expect("a message") {
            break serde_json::from_str(&text).expect("JSON");
        }
    };
    stop.cancel();
    told
}

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
    let database = private_postgres::Database::create();
    for release in Release::all() {
        for url in [None, Some(database.url.as_str())] {
            eprintln!("release {} on {}", release.name, url.unwrap_or("SQLite"));
            let dir = tempfile::tempdir().expect("a directory");
            release.install(Side::Hq, dir.path(), url).await;
            let clock = clock_of(&release);
            let hq = day::open_hq(dir.path(), url, &clock, day::stopped()).await;
            let router = tillkeep_hq::routes::router(hq.clone());
            let mut told = Vec::new();
            for said in release.said() {
                match said {
                    Said::Asked { path, body, status, answer } => {
                        let (now, text) = tape::ask(&router, &release.about.sync_token, &path, body.as_ref()).await;
                        assert_eq!(now, status, "{path}: {text}");
                        understood(&path, "", &answer, &text);
                    }
                    Said::OnSocket { from, message } if from == "store" => told.push(message),
                    Said::OnSocket { message, .. } => {
                        let now = exchange(dir.path(), url, &clock, &told).await;
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
const OF_THE_MOMENT: &[&str] = &["ticket", "clock", "mark", "serverVersion", "epoch"];
/// What may have grown since.
const AT_LEAST: &[&str] = &["latest_version", "latestVersion", "syncVersion"];

/// Whether who understands `then` understands `now`: every key is there with the same meaning. Others may have come.
fn understood(what: &str, key: &str, then: &Json, now: &Json) {
    let place = format!("{what} {key}");
    match (then, now) {
        (Json::Object(then), Json::Object(now)) => {
            for (name, value) in then {
                let grows = key == "versions" || AT_LEAST.contains(&name.as_str());
                let found = now.get(name).unwrap_or_else(|| panic!("{place}: no {name} any more"));
                if grows {
                    assert!(found.as_i64() >= value.as_i64(), "{place}.{name}: {value}, and now {found}");
                } else if OF_THE_MOMENT.contains(&name.as_str()) {
                    assert_eq!(kind(found), kind(value), "{place}.{name}");
                } else {
                    understood(what, name, value, found);
                }
            }
        }
        (Json::Array(then), Json::Array(now)) => {
            assert_eq!(then.len(), now.len(), "{place}: {then:?}, and now {now:?}");
            then.iter().zip(now).for_each(|(then, now)| understood(what, key, then, now));
        }
        _ => assert_eq!(then, now, "{place}"),
    }
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
async fn what_headquarters_of_each_release_answers_is_understood_by_a_store() {
    for release in Release::all() {
        let dir = tempfile::tempdir().expect("a directory");
        release.install(Side::Store, dir.path(), None).await;
        let (said, clock) = (release.said(), clock_of(&release));
        let answers = Arc::new(Answers::of(&said));
        let store = day::open_store(dir.path(), &release.about.sync_token, answers, &clock).await;
        let before = outbox::state(store.db().reader()).await.expect("the outbox");
        assert!(before.pending > 5, "what was sold without a line waits: {before:?}");
        day::talk(&store, &clock).await;

        let line = store.sync.line();
        assert_eq!(line.unstored, std::collections::BTreeMap::new());
        let after = outbox::state(store.db().reader()).await.expect("the outbox");
        assert_eq!((after.pending, after.dead_lettered), (0, 0), "every verdict is understood");
        let cursors = apply::cursors(store.db().reader()).await.expect("the cursors");
        for (name, head) in heads(&said) {
            let cursor = cursors.get(&name).map(|cursor| cursor.version);
            assert_eq!(cursor, head.as_i64(), "{name} was pulled to its head");
        }
        let rows = rows::read(store.db().reader(), &Schema::after(STEPS), Side::Store).await;
        let mut pulled = 0;
        for (entity, row) in rows_told(&said) {
            let Some(id) = row.get("id") else { continue };
            let kept = rows[&entity].iter().find(|kept| kept.get("id") == Some(id));
            let kept = kept.unwrap_or_else(|| panic!("{entity} {id} is not in the store"));
            for column in ["name", "code", "price", "display_name", "po_number", "transfer_number"] {
                let key = tillkeep_model::wire::camel(column);
                if let (Some(told), Some(kept)) = (row.get(&key), kept.get(column)) {
                    assert_eq!(told, kept, "{entity}.{column}");
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

/// The newest head of each type that was told.
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
fn rows_told(said: &[Said]) -> Vec<(String, Map<String, Json>)> {
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
