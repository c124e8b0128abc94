//! What is shown of a store, read set-wise: as many queries for a thousand stores as for one.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use serde::Serialize;
use tillkeep_model::Instant;
use tillkeep_model::wire::Ended;
use tillkeep_storage::entity::{store, store_node, sync_status};
use tillkeep_storage::nodes::Line;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use tillkeep_storage::sync_log::warnings::{self, Warned};
use tillkeep_storage::{Db, DbErr, registry, sync_log};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Hq;
use crate::sync::ending::ended_because;
use crate::sync::waiting::is_stuck;

/// A clock that is further off is flagged. `docs/sync.md`, rule U8.
const CLOCK_MAY_BE_OFF_MS: u64 = 120_000;
/// How long a warning counts among those of its store.
const WARNINGS_OF_MS: i64 = 7 * 24 * 3600 * 1000;

#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DashboardStore)]
#[expect(clippy::struct_excessive_bools, reason = "each is an alarm of its own on the wire")]
pub(super) struct StoreState {
    pub store_id: Uuid,
    pub store_code: String,
    pub store_name: String,
    pub active: bool,
    pub connection: ConnectionInfo,
    /// When it was first heard of; null for a store that never started.
    pub first_heard_at: Option<Instant>,
    /// When it last gave any sign, kept over restarts.
    pub last_heard_at: Option<Instant>,
    /// Why it is not connected, kept over restarts; null while it is, and when it never was there.
    pub ended_because: Option<Ended>,
    /// The headquarters server that holds its socket.
    pub node: Option<String>,
    pub last_success_at: Option<Instant>,
    pub last_error_at: Option<Instant>,
    pub last_error: Option<String>,
    pub error_count: i64,
    /// So many entries failed, or such large ones, that further ones are kept without what was sent.
    pub failures_full: bool,
    /// Entries of the last seven days that were taken and that somebody should look at.
    pub warnings: i64,
    pub last_warning_at: Option<Instant>,
    pub last_warning: Option<String>,
    pub outbox_pending: i64,
    pub dead_lettered: i64,
    /// Since when the oldest entry of its outbox waits, by its own clock.
    pub oldest_pending_at: Option<Instant>,
    /// It is connected, and its oldest entry has waited for more than five minutes.
    pub outbox_stuck: bool,
    /// Since when two copies of it run at once; null while there is one.
    pub runs_twice_since: Option<Instant>,
    /// Types that it was handed and could not store.
    pub unstored: Vec<String>,
    pub clock_offset_ms: Option<i64>,
    /// Its clock is more than two minutes off.
    pub clock_warning: bool,
    pub data_age_seconds: Option<i64>,
    pub sync: Vec<TypeState>,
}

/// Specification, section 2.8.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StoreConnection)]
pub(super) struct ConnectionInfo {
    pub store_id: Uuid,
    pub connected: bool,
    pub store_code: String,
    /// Seconds since the store server started.
    pub uptime: f64,
    pub last_heartbeat_at: Option<Instant>,
    pub connected_at: Option<Instant>,
    pub seconds_since_heartbeat: Option<i64>,
}

#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DashboardType)]
pub(super) struct TypeState {
    pub entity_type: String,
    pub direction: String,
    pub last_success_at: Option<Instant>,
    pub last_error_at: Option<Instant>,
    pub last_error: Option<String>,
    pub pending_count: i32,
    pub total_pushed: i64,
    pub total_pulled: i64,
    /// What the store has.
    pub version: i64,
    pub head_version: i64,
    /// A load from nothing that is under way; null when there is none, while the store is not connected or cannot store the type,
    /// and when this server started after the load began.
    pub loading: Option<Loading>,
}

/// How far a load is.
#[derive(Clone, Copy, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DashboardLoading)]
pub(super) struct Loading {
    /// Rows that the store has.
    pub rows: i64,
    /// Rows that headquarters has, where they were counted.
    pub total: Option<i64>,
}

impl TypeState {
    fn is_of(&self, other: &Self) -> bool {
        self.entity_type == other.entity_type && self.direction == other.direction
    }
}

impl StoreState {
    /// When something last came of it, or failed.
    pub fn newest(&self) -> Option<Instant> {
        let moments = [self.last_success_at, self.last_error_at, self.last_warning_at, self.connection.connected_at];
        moments.into_iter().flatten().max()
    }

    /// What of this is new to somebody who was shown `older`, if anything is: all of the store but the types that stand
    /// as they stood. That time goes by is no news, nor is a heartbeat or a cycle that says what the last one said.
    pub fn news(&self, older: &Self) -> Option<Self> {
        let mut as_then = self.clone();
        as_then.data_age_seconds = older.data_age_seconds;
        as_then.last_heard_at = older.last_heard_at;
        as_then.last_success_at = older.last_success_at.or(self.last_success_at);
        for state in &mut as_then.sync {
            if let Some(older) = older.sync.iter().find(|older| state.is_of(older)) {
                state.last_success_at = older.last_success_at.or(state.last_success_at);
            }
        }
        as_then.connection.seconds_since_heartbeat = older.connection.seconds_since_heartbeat;
        as_then.connection.last_heartbeat_at = older.connection.last_heartbeat_at;
        as_then.connection.uptime = older.connection.uptime;
        if as_then == *older {
            return None;
        }
        let mut news = self.clone();
        // With the success of each quiet cycle every type of every store would be told, again and again.
        let stands: Vec<bool> = as_then.sync.iter().map(|state| older.sync.contains(state)).collect();
        let mut stands = stands.into_iter();
        news.sync.retain(|_| !stands.next().unwrap_or_default());
        Some(news)
    }
}

/// Which stores.
#[derive(Clone, Copy)]
pub(super) enum Which<'a> {
    All,
    These(&'a BTreeSet<Uuid>),
}

/// The states of stores that are not deleted, by code.
pub(super) async fn load(hq: &Hq, db: &Db, which: Which<'_>) -> Result<Vec<StoreState>, DbErr> {
    let now = hq.clock.now();
    let mut stores = store::Entity::find().filter(store::Column::DeletedAt.is_null()).order_by_asc(store::Column::Code);
    let order = (sync_status::Column::Direction, sync_status::Column::EntityType);
    let mut statuses = sync_status::Entity::find().order_by_asc(order.0).order_by_asc(order.1);
    let mut nodes = store_node::Entity::find();
    let mut only = None;
    if let Which::These(ids) = which {
        let ids = || ids.iter().copied();
        stores = stores.filter(store::Column::Id.is_in(ids()));
        statuses = statuses.filter(sync_status::Column::StoreId.is_in(ids()));
        nodes = nodes.filter(store_node::Column::StoreId.is_in(ids()));
        only = Some(ids().collect::<Vec<_>>());
    }
    let conn = db.snapshot().await?;
    let stores = stores.all(&conn).await?;
    let mut status: HashMap<Uuid, Vec<sync_status::Model>> = HashMap::new();
    for row in statuses.all(&conn).await? {
        status.entry(row.store_id).or_default().push(row);
    }
    let mut nodes: HashMap<Uuid, store_node::Model> =
        nodes.all(&conn).await?.into_iter().map(|row| (row.store_id, row)).collect();
    let mut warned = warnings::warned(&conn, now.plus_millis(-WARNINGS_OF_MS), only.as_deref()).await?;
    drop(conn);
    let state = |store: store::Model| {
        let status = status.remove(&store.id).unwrap_or_default();
        let node = nodes.remove(&store.id).unwrap_or_default();
        let warned = warned.remove(&store.id).unwrap_or_default();
        state_of(hq, store, status, &node, warned, now)
    };
    Ok(stores.into_iter().map(state).collect())
}

fn state_of(
    hq: &Hq,
    store: store::Model,
    status: Vec<sync_status::Model>,
    node: &store_node::Model,
    warned: Warned,
    now: Instant,
) -> StoreState {
    let connection = hq.hub.of(store.id);
    let heard = hq.tracker.heard(store.id, node, hq.nodes.id);
    let line = heard.connection.map(|(_, line)| line);
    let ended = line.and_then(Line::ended);
    // Here, or at another server that runs.
    let elsewhere = line.and_then(Line::node).filter(|_| connection.is_none()).and_then(|node| hq.nodes.name_of(node));
    let connected = connection.is_some() || elsewhere.is_some();
    let beat = match &connection {
        Some(connection) => connection.heartbeat().map(|(at, beat)| (at, beat.uptime)),
        None => heard.heartbeat.filter(|_| connected).map(|(at, uptime_ms)| (at, seconds(uptime_ms))),
    };
    let (last_heartbeat_at, uptime) = beat.unzip();
    let connected_at = match &connection {
        Some(connection) => Some(connection.connected_at),
        None => heard.connection.filter(|_| connected).map(|(at, _)| at),
    };
    let told = heard.outbox.map(|(_, outbox)| outbox).unwrap_or_default();
    let (sent, fetched): (Vec<_>, Vec<_>) = status.iter().partition(|row| row.direction == sync_log::PUSH);
    let newest = |field: fn(&sync_status::Model) -> Option<Instant>| status.iter().filter_map(field).max();
    let last_error = status.iter().filter(|row| row.last_error_at.is_some()).max_by_key(|row| row.last_error_at);
    // Of a store that is switched off nothing loads.
    let loading = |row: &sync_status::Model| {
        let entity = registry::find(&row.entity_type).filter(|_| connected && row.direction == sync_log::PULL)?;
        let rows = hq.tracker.loaded(store.id, entity.name)?;
        Some(Loading { rows, total: hq.totals.known(entity.name) })
    };
    StoreState {
        connection: ConnectionInfo {
            store_id: store.id,
            connected,
            store_code: store.code.clone(),
            uptime: uptime.unwrap_or_default(),
            last_heartbeat_at,
            connected_at,
            seconds_since_heartbeat: last_heartbeat_at.map(|at| now.millis_since(at) / 1000),
        },
        first_heard_at: store.first_seen_at,
        last_heard_at: heard.at,
        ended_because: ended_because(connected, ended, heard.at, now),
        node: elsewhere.or_else(|| connected.then(|| hq.nodes.name.clone())),
        store_id: store.id,
        store_code: store.code,
        store_name: store.name,
        active: store.is_active,
        last_success_at: newest(|row| row.last_success_at),
        last_error_at: newest(|row| row.last_error_at),
        last_error: last_error.and_then(|row| row.last_error.clone()),
        error_count: sent.iter().map(|row| i64::from(row.pending_count)).sum(),
        failures_full: sync_log::is_full(&sent),
        warnings: warned.count,
        last_warning_at: warned.last_at,
        last_warning: warned.last,
        outbox_pending: told.pending,
        dead_lettered: told.dead_lettered,
        oldest_pending_at: told.oldest,
        outbox_stuck: is_stuck(connected, told.oldest, node.clock_offset_ms, now),
        runs_twice_since: hq.copies.running_twice(store.id, now),
        unstored: fetched.iter().filter(|row| row.pending_count > 0).map(|row| row.entity_type.clone()).collect(),
        clock_offset_ms: node.clock_offset_ms,
        clock_warning: node.clock_offset_ms.is_some_and(|offset| offset.unsigned_abs() > CLOCK_MAY_BE_OFF_MS),
        data_age_seconds: heard.at.map(|at| now.millis_since(at) / 1000),
        sync: status
            .into_iter()
            .map(|row| TypeState {
                head_version: registry::find(&row.entity_type)
                    .map_or(0, |entity| hq.heads.of(entity, store.id).version),
                loading: loading(&row),
                version: row.last_since_version,
                entity_type: row.entity_type,
                direction: row.direction,
                last_success_at: row.last_success_at,
                last_error_at: row.last_error_at,
                last_error: row.last_error,
                pending_count: row.pending_count,
                total_pushed: row.total_pushed,
                total_pulled: row.total_pulled,
            })
            .collect(),
    }
}

fn seconds(millis: i64) -> f64 {
    Duration::from_millis(u64::try_from(millis).unwrap_or_default()).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Instant {
        Instant::default().plus_millis(seconds * 1000)
    }

    fn pulled(entity_type: &str, seconds: i64) -> TypeState {
        TypeState {
            entity_type: entity_type.to_owned(),
            direction: sync_log::PULL.to_owned(),
            last_success_at: Some(at(seconds)),
            last_error_at: None,
            last_error: None,
            pending_count: 0,
            total_pushed: 0,
            total_pulled: 3,
            version: 7,
            head_version: 7,
            loading: None,
        }
    }

    /// A store that was quiet so many seconds ago.
    fn store(seconds: i64) -> StoreState {
        StoreState {
            store_id: Uuid::nil(),
            store_code: "S01".to_owned(),
            store_name: "Harbor Street".to_owned(),
            active: true,
            connection: ConnectionInfo {
                store_id: Uuid::nil(),
                connected: true,
                store_code: "S01".to_owned(),
                uptime: 1.0,
                last_heartbeat_at: Some(at(seconds)),
                connected_at: Some(at(0)),
                seconds_since_heartbeat: Some(seconds),
            },
            first_heard_at: Some(at(0)),
            last_heard_at: Some(at(seconds)),
            ended_because: None,
            node: None,
            last_success_at: Some(at(seconds)),
            last_error_at: None,
            last_error: None,
            error_count: 0,
            failures_full: false,
            warnings: 0,
            last_warning_at: None,
            last_warning: None,
            outbox_pending: 0,
            dead_lettered: 0,
            oldest_pending_at: None,
            outbox_stuck: false,
            runs_twice_since: None,
            unstored: Vec::new(),
            clock_offset_ms: None,
            clock_warning: false,
            data_age_seconds: Some(seconds),
            sync: vec![pulled("products", seconds), pulled("tenders", seconds)],
        }
    }

    #[test]
    fn that_a_store_is_as_well_as_before_is_no_news() {
        assert!(store(30).news(&store(0)).is_none());
        let first = StoreState { last_success_at: None, ..store(0) };
        assert!(store(30).news(&first).is_some(), "its first success is");
    }

    #[test]
    fn of_a_store_those_types_are_told_that_stand_otherwise_with_their_newest_success() {
        let mut now = store(30);
        now.sync[1].total_pulled += 1;
        let news = now.news(&store(0)).expect("news");
        assert_eq!(news.sync.iter().map(|state| state.entity_type.as_str()).collect::<Vec<_>>(), ["tenders"]);
        assert_eq!((news.last_success_at, news.sync[0].last_success_at), (Some(at(30)), Some(at(30))));
        let alarm = StoreState { outbox_stuck: true, ..store(30) };
        assert_eq!(alarm.news(&store(0)).expect("news").sync.len(), 0);
        let gone = StoreState { ended_because: Some(Ended::Stopped), ..store(30) };
        assert_eq!(gone.news(&store(0)).expect("news").last_heard_at, Some(at(30)));
    }
}
