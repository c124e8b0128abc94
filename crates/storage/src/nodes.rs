//! What HQ knows of the installation behind a store: its database's identity, its ticket, its clock, its outbox.

use std::collections::{BTreeMap, HashSet};

use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, Iterable, QuerySelect, Value};
use tillkeep_model::wire::{Acknowledged, Ended, Number, OutboxState, Outcome, SentRange};
use tillkeep_model::{Alarm, Instant};
use uuid::Uuid;

use crate::Tx;
use crate::db::{execute, query};
use crate::entity::store_node::{ASKS_NEVER, Column, Entity, Model};
use crate::envelope::UNREAD;
use crate::many::{execute_rows, find_in};
use crate::sync_log::kept::{OF_DATABASE, highest};
use crate::sync_log::unapplied;

pub async fn find(conn: &impl ConnectionTrait, store: Uuid) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(store).one(conn).await
}

/// The tickets of handshakes that are good, the newest one last.
pub fn tickets(node: &Model) -> Vec<&str> {
    node.last_ticket.split(' ').chain([node.ticket.as_str()]).filter(|ticket| !ticket.is_empty()).collect()
}

/// Writes the row, but what [`hear`], [`note_processes`] and [`crate::pin_keys`] write: that only where there was no row.
pub async fn save(conn: &impl ConnectionTrait, row: Model) -> Result<(), DbErr> {
    // A handshake that read the row a moment ago must not undo what was heard since.
    let heard = |column: &Column| {
        use Column::{
            Alarms, ConnectedNode, ConnectionAt, DeadLettered, EndedBecause, HeartbeatAt, LastSeenAt, OldestPendingAt,
            OutboxAt, OutboxPending, PinKeyAskedAt, PinKeyClosed, PinKeyFor, ProcessHeardAt, Processes, UptimeMs,
        };
        matches!(
            column,
            LastSeenAt
                | OutboxPending
                | DeadLettered
                | OldestPendingAt
                | Alarms
                | OutboxAt
                | EndedBecause
                | ConnectionAt
                | Processes
                | ConnectedNode
                | HeartbeatAt
                | UptimeMs
                | PinKeyAskedAt
                | PinKeyClosed
                | PinKeyFor
                | ProcessHeardAt
        )
    };
    let update = Column::iter().filter(|column| !matches!(column, Column::StoreId) && !heard(column));
    Entity::insert(row.into_active_model())
        .on_conflict(OnConflict::column(Column::StoreId).update_columns(update).to_owned())
        .exec_without_returning(conn)
        .await?;
    Ok(())
}

/// Whether `store` knows that what it sent is to wait, and tries it again: release 0.1.0 and whoever speaks the specification alone
/// take that for a refusal.
pub async fn waits_when_told(conn: &impl ConnectionTrait, store: Uuid) -> Result<bool, DbErr> {
    let node = find(conn, store).await?;
    // Whoever asked once who signs in knows it, whatever release a later handshake names: whoever stole the token would name one.
    let knows = |node: Model| {
        let is_named = !node.store_version.is_empty() && !node.store_version.starts_with("0.1.");
        is_named || node.sign_in != ASKS_NEVER
    };
    Ok(node.is_some_and(knows))
}

/// The processes of each store, as text.
pub async fn processes(conn: &impl ConnectionTrait) -> Result<Vec<(Uuid, String)>, DbErr> {
    let sql = "SELECT store_id, processes FROM store_nodes WHERE processes <> ''";
    let rows = query(conn, sql, []).await?;
    rows.iter().map(|row| Ok((row.try_get("", "store_id")?, row.try_get("", "processes")?))).collect()
}

/// The same of stores that shook hands since then.
pub async fn processes_since(conn: &impl ConnectionTrait, since: Instant) -> Result<Vec<(Uuid, String)>, DbErr> {
    let sql = "SELECT store_id, processes FROM store_nodes WHERE processes <> '' AND handshake_at >= $1";
    let rows = query(conn, sql, [since.into()]).await?;
    rows.iter().map(|row| Ok((row.try_get("", "store_id")?, row.try_get("", "processes")?))).collect()
}

/// The same of one store, which nobody else notes meanwhile.
pub async fn locked_processes(tx: &Tx, store: Uuid) -> Result<String, DbErr> {
    let row = Entity::find_by_id(store).lock_exclusive().one(tx).await?;
    Ok(row.map(|row| row.processes).unwrap_or_default())
}

pub async fn note_processes(conn: &impl ConnectionTrait, store: Uuid, processes: &str) -> Result<(), DbErr> {
    execute(conn, "UPDATE store_nodes SET processes = $2 WHERE store_id = $1", [store.into(), processes.into()])
        .await?;
    Ok(())
}

/// What was heard of a store, each part with its moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The last sign of it.
    pub at: Option<Instant>,
    /// What it last said of itself, whichever way.
    pub said: Option<(Instant, Said)>,
    /// When its last connection began, or ended.
    pub connection: Option<(Instant, Line)>,
    /// How many milliseconds its process had run when it last said so.
    pub heartbeat: Option<(Instant, i64)>,
    /// When a process of it that says which one it is was last heard.
    pub process_at: Option<Instant>,
}

/// What a store says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub outbox: OutboxState,
    /// What is wrong with it.
    pub alarms: Vec<Alarm>,
}

impl From<OutboxState> for Said {
    fn from(outbox: OutboxState) -> Self {
        Self { outbox, alarms: Vec::new() }
    }
}

/// How the connection of a store stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// It has one, to this server of headquarters. Of a server of release 0.1.0 nothing is known.
    Open(Option<Uuid>),
    Ended(Ended),
}

impl Line {
    /// Why it has none.
    pub const fn ended(self) -> Option<Ended> {
        match self {
            Self::Open(_) => None,
            Self::Ended(because) => Some(because),
        }
    }

    /// The server of headquarters that holds it.
    pub const fn node(self) -> Option<Uuid> {
        match self {
            Self::Open(node) => node,
            Self::Ended(_) => None,
        }
    }
}

impl Heard {
    /// What the database has.
    pub fn new(row: &Model) -> Self {
        let outbox = OutboxState {
            pending: row.outbox_pending,
            dead_lettered: row.dead_lettered,
            oldest: row.oldest_pending_at,
        };
        Self {
            at: row.last_seen_at,
            said: row.outbox_at.map(|at| (at, Said { outbox, alarms: Alarm::read(&row.alarms, |_| ()) })),
            connection: row.connection_at.map(|at| {
                let ended = row.ended_because.as_deref().and_then(Ended::parse);
                (at, ended.map_or(Line::Open(row.connected_node), Line::Ended))
            }),
            heartbeat: row.heartbeat_at.map(|at| (at, row.uptime_ms)),
            process_at: row.process_heard_at,
        }
    }

    /// Of each part the newer one.
    #[must_use]
    pub fn newest(self, other: Self) -> Self {
        fn newer<T>(one: Option<(Instant, T)>, other: Option<(Instant, T)>) -> Option<(Instant, T)> {
            match (one, other) {
                (Some(one), Some(other)) => Some(if other.0 > one.0 { other } else { one }),
                (one, other) => one.or(other),
            }
        }
        Self {
            at: self.at.max(other.at),
            said: newer(self.said, other.said),
            connection: newer(self.connection, other.connection),
            heartbeat: newer(self.heartbeat, other.heartbeat),
            process_at: self.process_at.max(other.process_at),
        }
    }
}

/// Notes what the server `here` heard of stores, set-wise. A part of which nothing was heard stays as it is, and so does one of which
/// something newer is there: several servers write, in any order.
pub async fn hear(conn: &impl ConnectionTrait, here: Uuid, heard: &[(Uuid, Heard)]) -> Result<(), DbErr> {
    let rows = heard.iter().map(|(store, heard)| -> [Value; 13] {
        let (outbox_at, said) = heard.said.clone().unzip();
        let (connection_at, line) = heard.connection.unzip();
        let (heartbeat_at, uptime_ms) = heard.heartbeat.unzip();
        let ended = line.and_then(Line::ended);
        let Said { outbox, alarms } = said.unwrap_or_default();
        [
            (*store).into(),
            heard.at.into(),
            outbox.pending.into(),
            outbox.dead_lettered.into(),
            outbox.oldest.into(),
            Alarm::write(&alarms).into(),
            outbox_at.into(),
            ended.map(|ended| ended.as_str().to_owned()).into(),
            connection_at.into(),
            line.and_then(Line::node).into(),
            heartbeat_at.into(),
            uptime_ms.unwrap_or_default().into(),
            heard.process_at.into(),
        ]
    });
    let sql = format!(
        "INSERT INTO store_nodes (store_id, last_seen_at, outbox_pending, dead_lettered, oldest_pending_at, \
         alarms, outbox_at, ended_because, connection_at, connected_node, heartbeat_at, uptime_ms, process_heard_at, node_epoch, ticket, last_ticket, last_seq, store_version, \
         fingerprints, told_fingerprints) VALUES $rows ON CONFLICT (store_id) DO UPDATE SET {}",
        newer_parts("$1").join(", ")
    );
    let row = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', '', 0, '', '', '')";
    execute_rows(conn, &sql, &[here.into()], row, rows).await?;
    Ok(())
}

/// What an upsert of `store_nodes` sets, at the server `here`: each part that is newer than what is there.
fn newer_parts(here: &str) -> Vec<String> {
    let with = |moment: &str, column: &str| {
        format!(
            "{column} = CASE WHEN excluded.{moment} >= store_nodes.{moment} \
             OR (store_nodes.{moment} IS NULL AND excluded.{moment} IS NOT NULL) \
             THEN excluded.{column} ELSE store_nodes.{column} END"
        )
    };
    let said = ["outbox_pending", "dead_lettered", "oldest_pending_at", "alarms", "outbox_at"];
    let mut sets = said.map(|column| with("outbox_at", column)).to_vec();
    // That a socket ended at this server says nothing of the one that another server holds.
    let elsewhere = format!(
        "excluded.ended_because IS NOT NULL AND store_nodes.ended_because IS NULL \
         AND store_nodes.connected_node <> {here}"
    );
    let unless_elsewhere = |column: &str| {
        let kept = format!("CASE WHEN {elsewhere} THEN store_nodes.{column} WHEN");
        with("connection_at", column).replacen("CASE WHEN", &kept, 1)
    };
    sets.extend(["ended_because", "connected_node", "connection_at"].map(unless_elsewhere));
    sets.extend(["uptime_ms", "heartbeat_at"].map(|column| with("heartbeat_at", column)));
    sets.push(with("last_seen_at", "last_seen_at"));
    sets.push(with("process_heard_at", "process_heard_at"));
    sets
}

/// Databases of one store that are looked at: each time that it is restored or cloned there is one more.
const EPOCHS: usize = 100;

/// The newest of what a store says it has sent. Each range costs a query, and how many there are is the store's word.
fn newest(sent: &[SentRange]) -> Vec<&SentRange> {
    let mut ranges: Vec<&SentRange> = sent.iter().collect();
    ranges.sort_unstable_by_key(|range| std::cmp::Reverse(range.last));
    ranges.truncate(EPOCHS);
    ranges
}

/// What HQ lacks of what a store says it has sent: the lowest number of it. `None` when nothing is missing.
///
/// Entries that still wait in the store's outbox lie between those that were sent, and are found missing too: what comes
/// of this is sending more than needed, never less.
pub async fn lowest_missing(
    conn: &impl ConnectionTrait,
    store: Uuid,
    sent: &[SentRange],
) -> Result<Option<i64>, DbErr> {
    let mut missing: Option<i64> = None;
    for range in newest(sent) {
        let sql = format!(
            "SELECT MIN(seq) AS first, \
             MIN(CASE WHEN seq < $4 AND (next IS NULL OR next > seq + 1) THEN seq + 1 END) AS gap \
             FROM (SELECT seq, LEAD(seq) OVER (ORDER BY seq) AS next FROM {OF_DATABASE} \
             WHERE seq >= $3 AND seq <= $4) AS numbers"
        );
        let values = [store.into(), range.node_epoch.as_str().into(), range.first.into(), range.last.into()];
        for row in query(conn, &sql, values).await? {
            let (first, gap): (Option<i64>, Option<i64>) = (row.try_get("", "first")?, row.try_get("", "gap")?);
            let lowest = if first == Some(range.first) { gap } else { Some(range.first) };
            missing = [missing, lowest].into_iter().flatten().min();
        }
    }
    Ok(missing)
}

/// Numbers of one database of a store that one handshake lets it forget the content of.
const FORGOTTEN_AT_ONCE: i64 = 5000;

/// Up to which number of each of its databases HQ has had everything since before `before`, as far as the store still has it
/// whole.
pub async fn long_kept(
    conn: &impl ConnectionTrait,
    store: Uuid,
    sent: &[SentRange],
    before: Instant,
) -> Result<Vec<Number>, DbErr> {
    let mut out = Vec::new();
    for range in newest(sent) {
        let Some(first) = range.whole_from else { continue };
        let last = range.last.min(first.saturating_add(FORGOTTEN_AT_ONCE - 1));
        let sql = format!(
            "SELECT MIN(seq) AS young FROM {OF_DATABASE} WHERE seq >= $3 AND seq <= $4 AND first_seen_at >= $5"
        );
        let values = [store.into(), range.node_epoch.as_str().into(), first.into(), last.into(), before.into()];
        let rows = query(conn, &sql, values).await?;
        let young: Option<i64> = rows.first().map_or(Ok(None), |row| row.try_get("", "young"))?;
        let last = young.map_or(last, |young| young - 1);
        let old = [SentRange { first, last, ..range.clone() }];
        let missing = if last < first { Some(first) } else { lowest_missing(conn, store, &old).await? };
        let seq = missing.map_or(last, |missing| missing - 1);
        if seq >= first {
            out.push(Number { seq, node_epoch: range.node_epoch.clone() });
        }
    }
    Ok(out)
}

/// Whether HQ has less of the newest numbers than a store has sent: then HQ was restored.
pub async fn lacks_recent(conn: &impl ConnectionTrait, store: Uuid, sent: &[SentRange]) -> Result<bool, DbErr> {
    for range in newest(sent) {
        let sql = format!("SELECT COUNT(DISTINCT seq) AS n FROM {OF_DATABASE} WHERE seq > $3 AND seq <= $4");
        let from = range.last.saturating_sub(SentRange::RECENT);
        let values = [store.into(), range.node_epoch.as_str().into(), from.into(), range.last.into()];
        let have = query(conn, &sql, values).await?;
        let have: i64 = have.first().map_or(Ok(0), |row| row.try_get("", "n"))?;
        if have < range.recent {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Of these dead letters of a store, those that HQ neither refuses nor has settled just now: it lost its refusal, or something
/// in between was taken for it once.
pub async fn never_refused(conn: &impl ConnectionTrait, store: Uuid, dead: &[Number]) -> Result<Vec<i64>, DbErr> {
    let dead = &dead[..dead.len().min(Number::MOST)];
    let sql = "SELECT seq, node_epoch FROM sync_log WHERE store_id = $1 AND (status = $2 OR to_acknowledge) \
               AND node_epoch IS NOT NULL AND seq IN ($list)";
    let values = [store.into(), crate::sync_log::FAILED.into()];
    let rows = find_in(conn, sql, &values, dead.iter().map(|number| number.seq)).await?;
    let mut refused = HashSet::new();
    for row in rows {
        refused.insert(Number { seq: row.try_get("", "seq")?, node_epoch: row.try_get("", "node_epoch")? });
    }
    Ok(dead.iter().filter(|number| !refused.contains(number)).map(|number| number.seq).collect())
}

/// Whether a store has given one of the numbers `from..=to` to two entries: then it was restored to an older copy and went on
/// from there, as if what it had sent since had never been.
pub async fn numbers_twice(
    conn: &impl ConnectionTrait,
    store: Uuid,
    node_epoch: &str,
    from: i64,
    to: i64,
) -> Result<bool, DbErr> {
    // Told by what an entry is of and when it was made, which every release reads alike. What could not be read says nothing:
    // a newer release may read the same envelope. Nor does the content, which may be made again from the document. One that
    // was pruned is told from another one by its time alone, months before that of whatever comes now.
    let sql = format!(
        "SELECT seq FROM (SELECT seq, COALESCE(said_at, envelope_at) AS envelope_at, \
         entity_type || ' ' || entity_id || ' ' || action || ' ' || CAST(COALESCE(said_at, envelope_at) AS TEXT) AS entry FROM sync_log \
         WHERE store_id = $1 AND node_epoch = $2 AND seq >= $3 AND seq <= $4 \
         AND (code IS NULL OR code NOT IN ({UNREAD})) UNION ALL \
         SELECT k.seq, COALESCE(k.said_at, k.envelope_at), CAST(NULL AS TEXT) FROM sync_log_kept k WHERE k.seq >= $3 AND k.seq <= $4 \
         AND k.node = (SELECT n.id FROM sync_log_nodes n WHERE n.store_id = $1 AND n.node_epoch = $2)) AS entries \
         GROUP BY seq HAVING COUNT(DISTINCT entry) > 1 OR COUNT(DISTINCT envelope_at) > 1 LIMIT 1"
    );
    Ok(!query(conn, &sql, [store.into(), node_epoch.into(), from.into(), to.into()]).await?.is_empty())
}

/// The databases that `store` has had, with the highest number of each: one step through an index for each of them.
pub async fn epochs(conn: &impl ConnectionTrait, store: Uuid) -> Result<BTreeMap<String, i64>, DbErr> {
    let sql = "WITH RECURSIVE e(epoch) AS (\
               SELECT MIN(node_epoch) FROM sync_log WHERE store_id = $1 AND seq IS NOT NULL \
               UNION ALL SELECT (SELECT MIN(node_epoch) FROM sync_log WHERE store_id = $1 AND node_epoch > e.epoch \
               AND seq IS NOT NULL) FROM e WHERE e.epoch IS NOT NULL) \
               SELECT e.epoch AS epoch, (SELECT MAX(seq) FROM sync_log WHERE store_id = $1 AND node_epoch = e.epoch) \
               AS last FROM e WHERE e.epoch IS NOT NULL LIMIT 1000";
    // The log first: what is pruned meanwhile is found in both.
    let logged = query(conn, sql, [store.into()]).await?;
    let mut epochs = highest(conn, store).await?;
    for row in logged {
        let last: i64 = row.try_get("", "last")?;
        let highest = epochs.entry(row.try_get("", "epoch")?).or_default();
        *highest = last.max(*highest);
    }
    Ok(epochs)
}

/// Outbox entries that somebody settled at HQ and `store` does not know of yet. They are told with `ticket`, and count as
/// told when it comes back: [`acknowledged`].
pub async fn to_acknowledge(tx: &Tx, store: Uuid, ticket: &str) -> Result<Vec<Settled>, DbErr> {
    // Noted first: what somebody settles from here on was not told.
    let sql = "UPDATE sync_log SET told_in = $2 WHERE store_id = $1 AND to_acknowledge AND seq IS NOT NULL";
    if execute(tx, sql, [store.into(), ticket.into()]).await? == 0 {
        return Ok(Vec::new());
    }
    let sql = "SELECT seq, node_epoch, entity_type, entity_id, status, resolved_by FROM sync_log WHERE store_id = $1 \
               AND to_acknowledge AND seq IS NOT NULL AND told_in = $2 ORDER BY seq";
    let mut settled = Vec::new();
    for row in query(tx, sql, [store.into(), ticket.into()]).await? {
        let status: String = row.try_get("", "status")?;
        // What a later envelope closed was nobody's decision to leave it: HQ has the row.
        let by_hand = row.try_get::<Option<Uuid>>("", "resolved_by")?.is_some();
        let left = by_hand && status != crate::sync_log::RETRIED;
        let (entity_type, entity_id): (String, String) =
            (row.try_get("", "entity_type")?, row.try_get("", "entity_id")?);
        let told = if left { unapplied::told(tx, store, &entity_type, &entity_id).await? } else { None };
        let told = Acknowledged {
            seq: row.try_get("", "seq")?,
            outcome: if left { Outcome::Resolved } else { Outcome::Ok },
            node_epoch: row.try_get("", "node_epoch")?,
            entity_id,
            at_headquarters: told.map(|(here, _)| here),
            charged: told.is_some_and(|(_, charged)| charged),
        };
        settled.push(Settled { entity_type, told });
    }
    Ok(settled)
}

/// An entry that was settled, and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    pub entity_type: String,
    pub told: Acknowledged,
}

/// The store presented `ticket`: it has what was told with it.
pub async fn acknowledged(conn: &impl ConnectionTrait, store: Uuid, ticket: &str) -> Result<(), DbErr> {
    let sql = "UPDATE sync_log SET to_acknowledge = FALSE WHERE store_id = $1 AND to_acknowledge AND told_in = $2";
    execute(conn, sql, [store.into(), ticket.into()]).await?;
    Ok(())
}

/// Every store that is in use.
pub async fn stores(conn: &impl ConnectionTrait) -> Result<Vec<Uuid>, DbErr> {
    let sql = "SELECT id FROM stores WHERE deleted_at IS NULL";
    query(conn, sql, []).await?.iter().map(|row| row.try_get("", "id")).collect()
}
