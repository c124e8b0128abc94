//! What HQ does with pushed envelopes: a verdict for each, exactly-once effects, nothing that blocks the rest.
//! Specification, sections 3 and 4.3; `docs/sync.md`, "Up: from stores to HQ".

mod ahead;
mod apply;
mod audited;
mod chained;
mod edit;
mod effects;
mod elsewhere;
mod facts;
pub(crate) mod flags;
mod foreign;
mod group;
mod judge;
pub(crate) mod left_out;
mod lines;
mod merge;
mod merged;
pub mod new_customers;
mod newcomers;
mod numbers;
mod overpaid;
mod pause;
mod refunded;
mod store;

use std::collections::{BTreeMap, HashMap, HashSet};

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Instant;
use tillkeep_model::wire::{PushResult, PushStatus};
use uuid::Uuid;

use crate::db::Turn;
use crate::envelope::{self, Incoming, Rejection, Sender, Verdict};
use crate::known_numbers::{self, AHEAD, NUMBER_AHEAD};
use crate::sync_log;
use crate::{Change, Db, accounts, audit, db, fault, nodes, registry, stock};
pub use ahead::at_once;
pub(crate) use flags::{is_ahead, is_back, missing};
use pause::Pause;

/// What tells this envelope from any other one; nothing when it cannot be read.
pub fn hash_of(envelope: &str, sender: &Sender) -> Option<String> {
    envelope::read(0, envelope, sender).ok().map(|incoming| incoming.hash)
}

/// Answers and consequences of one push.
pub struct Pushed {
    pub results: Vec<PushResult>,
    pub changes: Vec<Change>,
    pub refused: usize,
    /// Values that their sender does not own and keys that are not known, by type. Rule U11.
    pub ignored: BTreeMap<&'static str, u64>,
    /// The sender is to be asked for a handshake: older refusals were closed of which it learns there (rule U12), or it has
    /// given a number twice and was restored (rule D8).
    pub handshake: bool,
}

/// A push that the infrastructure broke off. What was committed before holds and is to be announced; nothing of the
/// failing part was applied, and the store will send it again.
#[derive(Debug)]
pub struct Interrupted {
    pub error: DbErr,
    pub changes: Vec<Change>,
    /// As in [`Pushed`].
    pub handshake: bool,
}

/// Applies `envelopes` in their order and answers each one.
pub async fn push(db: &Db, sender: &Sender, envelopes: &[&str], now: Instant) -> Result<Pushed, Interrupted> {
    prepare(db, sender, envelopes).await?.apply(db, sender, now).await
}

/// Envelopes that were read, the first of them into rows: as many as may be in memory.
pub struct Prepared<'a> {
    waves: Vec<Vec<Incoming<'a>>>,
    /// The database that they are from, with the numbers that it sends now.
    numbers: Option<(String, i64, i64)>,
    so_far: SoFar,
}

/// Reads `envelopes`, for [`Prepared::apply`]. It does not write: whoever does is not held up by it, nor holds it up.
pub async fn prepare<'a>(db: &Db, sender: &Sender, envelopes: &[&'a str]) -> Result<Prepared<'a>, Interrupted> {
    let mut so_far = SoFar { results: vec![None; envelopes.len()], ..SoFar::default() };
    let mut waves: Vec<Vec<Incoming<'a>>> = Vec::new();
    let mut seen: HashMap<(&'static str, Uuid), usize> = HashMap::new();
    let mut pause = Pause::default();
    for (index, raw) in envelopes.iter().enumerate() {
        pause.after(raw.len()).await;
        match envelope::read(index, raw, sender) {
            Ok(incoming) => {
                // An upsert cannot touch a row twice: the second envelope of an entity goes in a later wave.
                let wave = seen.entry((incoming.entity.name, incoming.id)).or_insert(0);
                if waves.len() == *wave {
                    waves.push(Vec::new());
                }
                waves[*wave].push(incoming);
                *wave += 1;
            }
            Err(rejection) => {
                so_far.results[index] = Some(rejection.result.clone());
                so_far.rejected.push(*rejection);
            }
        }
    }
    if let Err(error) = refuse_far(db, sender, &mut waves, &mut so_far).await {
        return Err(so_far.interrupted(error));
    }
    let numbers = numbers(&waves);
    for wave in &mut waves {
        wave.sort_by_key(|incoming| registry::position(incoming.entity.name));
    }
    ahead::read_waves(&waves, ahead::ROOM).await;
    if let Err(error) = fault::point("push.read") {
        return Err(so_far.interrupted(error));
    }
    Ok(Prepared { waves, numbers, so_far })
}

impl Prepared<'_> {
    /// Applies them in their order and answers each one.
    pub async fn apply(self, db: &Db, sender: &Sender, now: Instant) -> Result<Pushed, Interrupted> {
        let Self { waves, numbers, mut so_far } = self;
        for wave in waves {
            if let Err(error) = apply_in_parts(db, sender, wave, now, &mut so_far).await {
                return Err(so_far.interrupted(error));
            }
        }
        if let Err(error) = db::retry_serialization(|| log_refusals(db, sender, &so_far.rejected, now)).await {
            return Err(so_far.interrupted(error));
        }
        let SoFar { results, changes, ignored, mut handshake, failing, .. } = so_far;
        // They are shown at their store all the same.
        if let Err(error) = note_failing(db, sender, &failing, now).await {
            tracing::warn!(%error, store = sender.store_code, "that the database fails on entries could not be noted");
        }
        if let Some((node_epoch, from, to)) = numbers {
            // Nothing is lost by a question that cannot be asked now: each handshake asks it too.
            let twice = nodes::numbers_twice(db.reader(), sender.store_id, &node_epoch, from, to).await;
            handshake |= twice.unwrap_or(false);
        }
        let results: Vec<PushResult> = results.into_iter().flatten().collect();
        let refused = results.iter().filter(|result| result.status != PushStatus::Ok).count();
        Ok(Pushed { results, changes, refused, ignored, handshake })
    }
}

/// What a push has come to.
#[derive(Default)]
struct SoFar {
    results: Vec<Option<PushResult>>,
    rejected: Vec<Rejection>,
    changes: Vec<Change>,
    ignored: BTreeMap<&'static str, u64>,
    handshake: bool,
    /// The entities of what could not be stored now.
    put_off: HashSet<Uuid>,
    /// Their types, with the first reason of each.
    failing: BTreeMap<&'static str, &'static str>,
}

impl SoFar {
    fn interrupted(self, error: DbErr) -> Interrupted {
        Interrupted { error, changes: self.changes, handshake: self.handshake }
    }

    fn add(&mut self, judged: Judged, changes: Vec<Change>) {
        self.changes.extend(changes);
        self.handshake |= judged.healed;
        for (type_name, count) in judged.ignored {
            *self.ignored.entry(type_name).or_default() += count;
        }
        for (index, result) in judged.results {
            self.results[index] = Some(result);
        }
        self.rejected.extend(judged.rejected);
        self.put_off.extend(judged.later);
    }

    fn put_off(&mut self, incoming: &Incoming<'_>, why: &'static str) {
        self.put_off.insert(incoming.id);
        self.failing.entry(incoming.entity.name).or_insert(why);
        self.results[incoming.index] = Some(incoming.later(why));
    }
}

/// Applies a wave; a transaction takes no more of it than may be in memory as rows. What the database fails on, though it takes
/// other things, is halved down to the culprit, which is put off without a verdict. Each half has a transaction of its own, as an
/// error of the disk may have rolled back all of one.
async fn apply_in_parts(
    db: &Db,
    sender: &Sender,
    mut wave: Vec<Incoming<'_>>,
    now: Instant,
    so_far: &mut SoFar,
) -> Result<(), DbErr> {
    // What comes later of an entity does not overtake what could not be stored.
    for incoming in wave.extract_if(.., |incoming| so_far.put_off.contains(&incoming.id)).collect::<Vec<_>>() {
        so_far.put_off(&incoming, "an earlier envelope of this entity could not be stored");
    }
    let mut open: Vec<&[Incoming<'_>]> = Vec::new();
    open.extend((!wave.is_empty()).then_some(wave.as_slice()));
    while let Some(part) = open.pop() {
        let (read, _) = ahead::read(part, ahead::ROOM).await;
        let (part, rest) = part.split_at(read);
        open.extend((!rest.is_empty()).then_some(rest));
        match db::retry_serialization(|| apply_wave(db, sender, part, now)).await {
            Ok((judged, changes, done)) => {
                // What a user has settled was not looked at.
                part.iter().take(done).for_each(Incoming::forget);
                so_far.add(judged, changes);
                open.extend(part.get(done..).filter(|rest| !rest.is_empty()));
            }
            Err(error) if db::strikes_everything(&error) => return Err(error),
            Err(error) => {
                part.iter().for_each(Incoming::forget);
                if let [incoming] = part {
                    let (entity_type, entity_id) = (incoming.entity.name, incoming.id);
                    let store = &sender.store_code;
                    tracing::error!(%error, entity_type, %entity_id, store, "the database fails on an envelope: it is put off");
                    so_far.put_off(incoming, db::in_short(&error));
                } else {
                    let (first, second) = part.split_at(part.len() / 2);
                    open.extend([second, first]);
                }
            }
        }
    }
    Ok(())
}

/// Refuses entries with numbers too far ahead of those that headquarters has of the store, and forgets such numbers of
/// what was refused anyway: the log says how far a store is.
async fn refuse_far(
    db: &Db,
    sender: &Sender,
    waves: &mut [Vec<Incoming<'_>>],
    so_far: &mut SoFar,
) -> Result<(), DbErr> {
    let sent = waves.iter().flatten().map(|incoming| incoming.seq);
    let refused = so_far.rejected.iter().map(|rejection| rejection.seq);
    // How far the store is need not be known while its numbers are small.
    if sent.chain(refused).flatten().all(|seq| seq <= AHEAD) {
        return Ok(());
    }
    let highest = known_numbers::highest_seq(db.reader(), sender.store_id).await?;
    let is_far = |seq: Option<i64>| seq.is_some_and(|seq| seq > highest);
    for wave in waves {
        for mut incoming in wave.extract_if(.., |incoming| is_far(incoming.seq)).collect::<Vec<_>>() {
            let text = format!(
                "seq: must be at most {highest}, which is {AHEAD} more than headquarters knows of this store; \
                 `tillkeep hq set-series` sets that right"
            );
            let verdict = Verdict::refused(NUMBER_AHEAD, text);
            incoming.seq = None;
            so_far.results[incoming.index] = Some(incoming.result(&verdict));
            so_far.rejected.push(incoming.rejection(&verdict));
        }
    }
    for rejection in so_far.rejected.iter_mut().filter(|rejection| is_far(rejection.seq)) {
        rejection.seq = None;
    }
    Ok(())
}

/// The database that the newest envelope is from, and from which to which number it sends now.
fn numbers(waves: &[Vec<Incoming<'_>>]) -> Option<(String, i64, i64)> {
    let all = || waves.iter().flatten();
    let node_epoch = all().max_by_key(|incoming| incoming.index)?.node_epoch.clone()?;
    let of_it = || all().filter(|incoming| incoming.node_epoch.as_ref() == Some(&node_epoch));
    let seqs = || of_it().filter_map(|incoming| incoming.seq);
    let (from, to) = (seqs().min()?, seqs().max()?);
    Some((node_epoch, from, to))
}

#[derive(Default)]
struct Judged {
    results: Vec<(usize, PushResult)>,
    rejected: Vec<Rejection>,
    ignored: Vec<(&'static str, u64)>,
    healed: bool,
    /// The entities of what is to wait.
    later: Vec<Uuid>,
}

/// Applies envelopes of different entities in one transaction, and ends it sooner where somebody waits for it; how many of
/// them that were.
async fn apply_wave(
    db: &Db,
    sender: &Sender,
    wave: &[Incoming<'_>],
    now: Instant,
) -> Result<(Judged, Vec<Change>, usize), DbErr> {
    // Most pushes have nothing that the database refuses, and a savepoint costs each statement behind it something.
    for guarded in [Guarded::No, Guarded::Yes] {
        // What an attempt has used up is read again before the next one begins.
        ahead::read(wave, usize::MAX).await;
        if let Some(applied) = apply_parts(db, sender, wave, now, guarded).await? {
            return Ok(applied);
        }
    }
    Err(DbErr::Custom("a part behind a savepoint was given up".to_owned()))
}

/// Whether each part stands behind a savepoint.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guarded {
    /// What cannot be stored undoes all of it.
    No,
    /// What cannot be stored is halved down to the culprit. The halving costs no commits.
    Yes,
}

/// Does what [`apply_wave`] says; `None`, and nothing, when something of it cannot be stored and is not guarded.
async fn apply_parts(
    db: &Db,
    sender: &Sender,
    wave: &[Incoming<'_>],
    now: Instant,
    guarded: Guarded,
) -> Result<Option<(Judged, Vec<Change>, usize)>, DbErr> {
    let (mut judged, mut audits, mut products) = (Judged::default(), Vec::new(), apply::Products::new());
    let mut tx = db.begin().await?;
    // A store has one sender; its request may come twice at once. The second one is to see what became of the first in
    // the log as well, which is read before any row: and a row that is not there yet cannot be locked.
    db::take_turn_of(&tx, Turn::Push, sender.store_id).await?;
    let longest = match guarded {
        Guarded::Yes => GUARDED,
        // A file has one writer, for which others wait; on a server each statement is a way there and back.
        Guarded::No if db.is_embedded() => LONGEST,
        Guarded::No => usize::MAX,
    };
    let mut open: Vec<&[Incoming<'_>]> = wave.chunks(longest).rev().collect();
    let mut done = 0;
    while let Some(part) = open.pop() {
        if guarded == Guarded::Yes {
            tx.execute_unprepared("SAVEPOINT part").await?;
        }
        match apply::bulk(&mut tx, sender, part, &mut products, now).await {
            Ok(outcome) => {
                for (envelope, verdict) in part.iter().zip(outcome.verdicts) {
                    judged.results.push((envelope.index, envelope.result(&verdict)));
                    judged.later.extend(matches!(verdict, Verdict::Later(_)).then_some(envelope.id));
                }
                judged.ignored.extend(outcome.ignored);
                judged.healed |= outcome.healed;
                audits.extend(outcome.audits);
                done += part.len();
            }
            Err(error) if !is_of_an_entry(&error) => return Err(error),
            Err(_) if guarded == Guarded::No => {
                return Ok(None);
            }
            Err(error) => {
                tx.execute_unprepared("ROLLBACK TO SAVEPOINT part").await?;
                // That has let go of what was locked of them.
                products.clear();
                if let [incoming] = part {
                    tracing::warn!(
                        %error, entity_type = incoming.entity.name, store = sender.store_code,
                        "an envelope cannot be stored"
                    );
                    let verdict = Verdict::refused("not_storable", explain(&error));
                    judged.results.push((incoming.index, incoming.result(&verdict)));
                    judged.rejected.push(incoming.rejection(&verdict));
                    done += 1;
                } else {
                    let (first, second) = part.split_at(part.len() / 2);
                    open.extend([second, first]);
                }
            }
        }
        if guarded == Guarded::Yes {
            tx.execute_unprepared("RELEASE SAVEPOINT part").await?;
        }
        if done > 0 && db.is_waited_for() {
            break;
        }
    }
    audit::record_all(&tx, audits, now).await?;
    let changes = tx.commit().await?;
    fault::point("push.applied")?;
    Ok(Some((judged, changes, done)))
}

/// Whether the database does not take an entry, whatever else there is with it.
fn is_of_an_entry(error: &DbErr) -> bool {
    db::is_data_fault(error) || stock::is_out_of_bounds(error) || accounts::is_out_of_bounds(error)
}

/// Envelopes of a part where others wait for it: a person who changes something waits for no more.
const LONGEST: usize = 100;
/// Envelopes behind one savepoint: of a hundred with one that cannot be stored each would be applied three times until it is found.
const GUARDED: usize = 16;

/// What the database fails on is no verdict, and is shown as an error of its type.
async fn note_failing(
    db: &Db,
    sender: &Sender,
    failing: &BTreeMap<&'static str, &'static str>,
    now: Instant,
) -> Result<(), DbErr> {
    if failing.is_empty() {
        return Ok(());
    }
    let tx = db.begin().await?;
    db::take_turn_of(&tx, Turn::Push, sender.store_id).await?;
    sync_log::put_off(&tx, sender.store_id, failing, now).await?;
    tx.commit().await?;
    Ok(())
}

async fn log_refusals(db: &Db, sender: &Sender, refused: &[Rejection], now: Instant) -> Result<(), DbErr> {
    if refused.is_empty() {
        return Ok(());
    }
    let tx = db.begin().await?;
    db::take_turn_of(&tx, Turn::Push, sender.store_id).await?;
    sync_log::reject(&tx, sender, refused, now).await?;
    tx.commit().await?;
    Ok(())
}

/// What the database refused, for people and without its own words; a unique key is the usual reason.
fn explain(error: &DbErr) -> String {
    match db::unique_violation(error) {
        Some(fields) if fields.is_empty() => "another row has the same key".to_owned(),
        Some(fields) => format!("another row has the same key: {}", fields.join(", ")),
        None => {
            "the row cannot be stored: a value is out of bounds, missing, or names a row that does not exist".to_owned()
        }
    }
}
