//! The recording of this release, and the schemas of those before.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value as Json;
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::wire::{Heartbeat, StoreMessage};
use tillkeep_storage::migration::{self, STEPS, Schema};
use tillkeep_storage::raw::sea_orm::{DbBackend, Statement};
use tillkeep_storage::{Side, outbox, registry, upgrade};

use super::day::{CODE, Day, TERMINAL, USERNAME, product, store_id};
use super::kept::{self, About, Release, Said, rows_file, schema_file};
use super::servers::exchange;
use crate::kit::PIN;
use crate::rows;

/// Tables that the recorded day leaves empty on both sides: what needs a second person, a signing device or a repeated request, what
/// no release after 0.1.0 writes, a damaged row, goods that came at a cost, and a database that was restored.
const EMPTY: &[&str] = &[
    "approvals",
    "sync_marks",
    "idempotency_keys",
    "unreadable_rows",
    "node_places",
    "average_sources",
    "lost_numbers",
    "devices",
    "known_numbers",
    "hq_nodes",
    "leases",
    "sync_log_nodes",
    "sync_log_kept",
    "staged_rows",
    "staged_cursors",
    "kept_ids",
    "unapplied_documents",
    "pin_attempts_under_way",
    "idempotency_claims",
    "second_factors",
    "recovery_codes",
    "factor_challenges",
    "factor_uses",
    "kept_verifiers",
    "store_lookups",
    "known_places",
    "chain_signatures",
    "product_pictures",
    "alert_hooks",
    "alert_hook_stores",
    "sale_news",
    "alerts",
    "alert_deliveries",
];

/// Writes what is kept of this version when `RELEASE_RECORD` is set: `make release-record`.
#[tokio::test(flavor = "multi_thread")]
async fn a_day_of_this_release_can_be_recorded() {
    let day = Day::begin().await;
    day.morning().await;
    day.without_a_line().await;
    let schema = Schema::after(STEPS);
    let hq = rows::read(day.hq.db().reader(), &schema, Side::Hq).await;
    let store = rows::read(day.store.test_db().reader(), &schema, Side::Store).await;
    let began = day.clock.now();
    day.with_a_line_again().await;
    let mut said = day.tape.said();
    said.extend(on_the_socket(&day).await);

    let waiting = outbox::state(day.store.test_db().reader()).await.expect("the outbox");
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
    assert_eq!(empty.collect::<Vec<_>>(), EMPTY, "these were not written to in that day");

    if std::env::var_os("RELEASE_RECORD").is_none() {
        return;
    }
    let version = env!("CARGO_PKG_VERSION");
    let changelog = fs::read_to_string(kept::root().join("../../CHANGELOG.md")).expect("the changelog");
    assert!(
        !changelog.contains(&format!("## [{version}] - ")),
        "{version} is closed: what is kept of it does not change. Raise the version in Cargo.toml first"
    );
    let dir = kept::root().join(version);
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
    let statements = upgrade::script(steps, side, backend).expect("a script");
    // One with values fills rows, of which a new database has none, by what is known at that moment: its words alone are kept.
    let is_of_rows = |statement: &Statement| statement.values.as_ref().is_some_and(|values| !values.0.is_empty());
    let line = |statement: &Statement| {
        let before = if is_of_rows(statement) { "-- " } else { "" };
        format!("{before}{};\n", statement.sql)
    };
    statements.iter().map(line).collect::<Vec<_>>().concat()
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
                 one",
                release.name
            );
        }
    }
}

/// What the socket of a store and headquarters say; a change at headquarters is announced.
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
            alarms: String::new(),
        }),
    ];
    let messages: Vec<Json> = messages.iter().map(|message| serde_json::to_value(message).expect("JSON")).collect();
    let notify = exchange(&day.dir.path().join("hq"), None, &day.clock, &messages).await;
    let from_store = messages.into_iter().map(|message| Said::OnSocket { from: "store".to_owned(), message });
    from_store.chain([Said::OnSocket { from: "hq".to_owned(), message: notify }]).collect()
}
