//! Every two writers that have to do with one table, at once: the end is that of one after the other. `docs/sync.md`, *Two
//! databases at HQ*.
//!
//! What a writer reads and writes is asked of the database, which has a lock for each table. `make pairs` tries all of them;
//! those that were wrong once are tried in every run.

mod fixture;
mod meeting;
mod writers;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tillkeep_hq::routes;
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::entity::audit_log;
use tillkeep_storage::sea_orm::{EntityTrait, PaginatorTrait};
use tillkeep_storage::{fault, raw};

use crate::backoffice::kit::{Got, Kit, Person};
use fixture::Fixture;
use meeting::Meeting;
use writers::{APART, ONCE_WRONG, WRITERS, Writer};

/// Tables that every writer has to do with, or that are about requests and not about the chain.
const OF_EACH: &[&str] = &[
    "audit_log",
    "sync_counters",
    "settings",
    "sessions",
    "idempotency_claims",
    "idempotency_keys",
    "sync_status",
    "pin_attempts",
    "pin_attempts_under_way",
    "store_nodes",
];

/// How a request was answered: the status, and the code or what became of the envelopes.
type Answer = (u16, String);
/// The tables that a writer reads or writes, and those that it writes.
type Tables = (BTreeSet<String>, BTreeSet<String>);
/// What two requests came to: their answers, and the rows in the end.
type Outcome = (Vec<Answer>, BTreeSet<String>);

struct Trial {
    kit: Kit,
    admin: Person,
    made: AtomicUsize,
}

impl Trial {
    async fn fixture(&self) -> Fixture {
        Fixture::make(&self.kit, &self.admin, self.made.fetch_add(1, Ordering::SeqCst)).await
    }

    async fn ask(&self, writer: &Writer, of: &Fixture) -> Answer {
        let ask = writer.asks(of);
        let who = if ask.pushed { &of.machine } else { &of.admin };
        answer(&self.kit.call(who, ask.method, &ask.path, ask.body).await)
    }

    /// These writers one after the other, on a chain of their own.
    async fn in_turn(&self, writers: &[&Writer]) -> Outcome {
        let of = self.fixture().await;
        let mut answers = Vec::new();
        for writer in writers {
            answers.push(self.ask(writer, &of).await);
        }
        (answers, of.state(&self.kit).await)
    }

    /// Two writers at once: both have read before one of them commits.
    async fn at_once(self: &Arc<Self>, pair: [&'static Writer; 2]) -> Outcome {
        let of = Arc::new(self.fixture().await);
        let meeting = Arc::new(Meeting::default());
        let place = meeting.clone();
        fault::call("tx.stamp", move || tokio::task::block_in_place(|| place.wait()));
        let tasks = pair.map(|writer| {
            let (trial, of) = (self.clone(), of.clone());
            tokio::spawn(async move { trial.ask(writer, &of).await })
        });
        let mut answers = Vec::new();
        for task in tasks {
            answers.push(task.await.expect("an answer"));
        }
        fault::set("tx.stamp", "off");
        (answers, of.state(&self.kit).await)
    }

    /// Whether one was sent away, or both, and nothing of it happened.
    async fn went_without(&self, end: &Outcome, pair: [&Writer; 2]) -> bool {
        let done: Vec<&Writer> =
            pair.into_iter().zip(&end.0).filter(|(_, got)| !may_come_again(got)).map(|(writer, _)| writer).collect();
        done.len() < pair.len() && self.in_turn(&done).await.1 == end.1
    }

    /// The tables that a writer reads or writes, and those that it writes.
    async fn tables(self: &Arc<Self>, writer: &'static Writer, alone: &mut Alone) -> Tables {
        let of = Arc::new(self.fixture().await);
        let lines_before = self.audited().await;
        let meeting = Arc::new(Meeting::new(2));
        let place = meeting.clone();
        fault::call("tx.stamp", move || tokio::task::block_in_place(|| place.wait()));
        let (trial, chain) = (self.clone(), of.clone());
        let task = tokio::spawn(async move { trial.ask(writer, &chain).await });
        // It is at the end of its transaction when it waits there.
        while meeting.waiting() == 0 && !task.is_finished() {
            tokio::task::yield_now().await;
        }
        let sql = "SELECT c.relname AS name, BOOL_OR(l.mode = 'RowExclusiveLock') AS writes FROM pg_locks l \
                   JOIN pg_class c ON c.oid = l.relation JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE n.nspname = 'public' AND c.relkind = 'r' AND l.pid <> pg_backend_pid() \
                   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) GROUP BY 1";
        let (mut all, mut written) = (BTreeSet::new(), BTreeSet::new());
        for row in raw::query(self.kit.hq.db().reader(), sql, []).await.expect("the locks") {
            let name: String = row.try_get("", "name").expect("a name");
            if OF_EACH.contains(&name.as_str()) {
                continue;
            }
            if row.try_get("", "writes").expect("a flag") {
                written.insert(name.clone());
            }
            all.insert(name);
        }
        meeting.end();
        let (status, said) = task.await.expect("an answer");
        fault::set("tx.stamp", "off");
        let does = (200..300).contains(&status) && !said.contains("error");
        let finds_nothing = NOTHING_ALONE.contains(&writer.what);
        if !does || (written.is_empty() && !finds_nothing) {
            alone.idle.push(format!("{}: {status} {said}", writer.name()));
        }
        let lines = self.audited().await - lines_before;
        // A file has one of its own, beside that of its row.
        let expected = if writer.route.1.ends_with("/import") { 2 } else { 1 };
        if lines != expected && !finds_nothing && !writer.asks(&of).pushed {
            alone.unaudited.push(format!("{}: {lines} lines", writer.name()));
        }
        (all, written)
    }

    /// The lines of the audit log.
    async fn audited(&self) -> u64 {
        audit_log::Entity::find().count(self.kit.hq.db().reader()).await.expect("a count")
    }
}

/// What is wrong with writers on a chain of their own.
#[derive(Default)]
struct Alone {
    /// They do nothing, or fail.
    idle: Vec<String>,
    /// What a person did has no line in the audit log, or too many.
    unaudited: Vec<String>,
}

/// What finds nothing to do on a new chain: it has to do with the tables of the other writers of its kind.
const NOTHING_ALONE: &[&str] = &["back", "is active"];

/// The tables of the writers of the same kind.
fn of_its_kind(writer: &Writer, tables: &[Tables]) -> Tables {
    let kind = |writer: &Writer| writer.route.1.split('/').nth(1).unwrap_or_default().to_owned();
    let others = WRITERS.iter().zip(tables).filter(|(other, _)| kind(other) == kind(writer));
    others.fold(Tables::default(), |(mut all, mut written), (_, (more, more_written))| {
        all.extend(more.iter().cloned());
        written.extend(more_written.iter().cloned());
        (all, written)
    })
}

fn answer(got: &Got) -> Answer {
    let results = got.body["results"].as_array();
    let words = match results {
        Some(results) => results
            .iter()
            .map(|result| ["status", "applied", "code"].map(|key| result[key].as_str().unwrap_or("-")).join(" "))
            .collect::<Vec<_>>()
            .join(", "),
        None => got.body["code"].as_str().unwrap_or_default().to_owned(),
    };
    (got.status, words)
}

/// Whether it was sent away and may come again, which is no verdict on what it asks for.
fn may_come_again(answer: &Answer) -> bool {
    answer.0 == 503 || answer.1 == "in_progress"
}

async fn trial() -> Arc<Trial> {
    let kit = Kit::new().await;
    // What works in the background would come by the meeting places too.
    kit.hq.stop.cancel();
    let admin = kit.admin().await;
    Arc::new(Trial { kit, admin, made: AtomicUsize::new(0) })
}

/// Tries each pair so often; what ended as neither order does.
async fn wrong(trial: &Arc<Trial>, pairs: &[[&'static Writer; 2]], rounds: usize) -> Vec<String> {
    let begun = Instant::now();
    let mut wrong = Vec::new();
    for [one, other] in pairs.iter().copied() {
        let serial = [trial.in_turn(&[one, other]).await, turned(trial.in_turn(&[other, one]).await)];
        for round in 0..rounds {
            let end = trial.at_once([one, other]).await;
            if !serial.contains(&end) && !trial.went_without(&end, [one, other]).await {
                let text =
                    format!("{} beside {}, round {round}:\n{}", one.name(), other.name(), differences(&serial, &end));
                println!("{text}");
                wrong.push(text);
                break;
            }
        }
    }
    println!("{} pairs of {} writers, {rounds} rounds each: {:.0?}", pairs.len(), WRITERS.len(), begun.elapsed());
    wrong
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pairs_of_writers_that_were_wrong_once_end_as_one_after_the_other() {
    let named =
        |name: &str| WRITERS.iter().find(|writer| writer.name() == name).unwrap_or_else(|| panic!("no writer {name}"));
    let pairs: Vec<[&Writer; 2]> = ONCE_WRONG.iter().map(|pair| pair.map(named)).collect();
    let wrong = wrong(&trial().await, &pairs, 1).await;
    assert!(
        wrong.is_empty(),
        "{} of {} pairs end as neither order does:\n{}",
        wrong.len(),
        pairs.len(),
        wrong.join("\n")
    );
}

/// Each pair that has to do with one table, as often as `make pairs` asks for it. Else each writer beside itself, once. Always
/// that each does what it says and has its line in the audit log, and that the pairs that were wrong once are among them.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_pairs_of_writers_of_one_table_end_as_one_after_the_other() {
    let rounds: Option<usize> =
        std::env::var("PAIRS_ROUNDS").ok().map(|text| text.parse().expect("a number of rounds"));
    let only = std::env::var("PAIRS_ONLY").unwrap_or_default();
    let trial = trial().await;
    let (mut tables, mut alone) = (Vec::new(), Alone::default());
    for writer in WRITERS {
        tables.push(trial.tables(writer, &mut alone).await);
    }
    for (index, writer) in WRITERS.iter().enumerate().filter(|(_, writer)| NOTHING_ALONE.contains(&writer.what)) {
        tables[index] = of_its_kind(writer, &tables);
    }
    assert!(alone.idle.is_empty(), "these do nothing on a new chain:\n{}", alone.idle.join("\n"));
    assert!(
        alone.unaudited.is_empty(),
        "not the lines in the audit log that they should have:\n{}",
        alone.unaudited.join("\n")
    );
    let mut pairs = Vec::new();
    for (index, one) in WRITERS.iter().enumerate() {
        for (other, (all, written)) in WRITERS.iter().zip(&tables).skip(index) {
            let meet = !written.is_disjoint(&tables[index].0) || !tables[index].1.is_disjoint(all);
            let wanted = one.name().contains(&only) || other.name().contains(&only);
            if meet && wanted {
                pairs.push([one, other]);
            }
        }
    }
    if only.is_empty() {
        let names: BTreeSet<[String; 2]> = pairs.iter().map(|pair| pair.map(Writer::name)).collect();
        let lost: Vec<_> = ONCE_WRONG.iter().filter(|pair| !names.contains(&pair.map(str::to_owned))).collect();
        assert!(lost.is_empty(), "these have to do with no table together: {lost:?}");
    }
    if rounds.is_none() {
        pairs.retain(|[one, other]| one.name() == other.name());
    }
    let wrong = wrong(&trial, &pairs, rounds.unwrap_or(1)).await;
    assert!(
        wrong.is_empty(),
        "{} of {} pairs end as neither order does:\n{}",
        wrong.len(),
        pairs.len(),
        wrong.join("\n")
    );
}

fn turned((mut answers, state): Outcome) -> Outcome {
    answers.reverse();
    (answers, state)
}

/// What differs.
fn differences(serial: &[Outcome; 2], end: &Outcome) -> String {
    let orders = serial.iter().zip(["in the first order", "in the second"]);
    let rows = orders.flat_map(|((_, state), order)| {
        let more = end.1.difference(state).map(move |row| format!("  not {order}: {row}"));
        more.chain(state.difference(&end.1).map(move |row| format!("  only {order}: {row}")))
    });
    let answers = format!("  answered {:?}, in turn {:?} or {:?}", end.0, serial[0].0, serial[1].0);
    std::iter::once(answers).chain(rows).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_route_that_writes_is_among_the_writers_or_apart_with_a_reason() {
    let known: BTreeSet<(&str, &str)> = WRITERS
        .iter()
        .map(|writer| writer.route)
        .chain(APART.iter().map(|(method, path, _)| (*method, *path)))
        .collect();
    let there: BTreeSet<(&str, &str)> = routes::table(&[])
        .1
        .iter()
        .filter(|route| !["GET", "HEAD"].contains(&route.method) && route.owner.is_none())
        .map(|route| (route.method, route.path))
        .collect();
    let missing: Vec<_> = there.difference(&known).collect();
    assert!(missing.is_empty(), "add these to WRITERS of tests/pairs/writers.rs: {missing:?}");
    let gone: Vec<_> = known.difference(&there).collect();
    assert!(gone.is_empty(), "there is no such route any more: {gone:?}");
    assert!(APART.iter().all(|(_, _, reason)| !reason.is_empty()));
    let pushed: BTreeSet<&str> =
        WRITERS.iter().filter(|writer| writer.route.1 == "/sync/push").map(|writer| writer.what).collect();
    for entity in tillkeep_storage::registry::ALL.iter().filter(|entity| entity.is_pushed()) {
        assert!(pushed.contains(entity.name), "add a push of {} to WRITERS", entity.name);
    }
}
