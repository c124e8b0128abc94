//! What is shown of a store, read set-wise: as many queries for a thousand stores as for one.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use tillkeep_model::alarm::is_clock_off;
use tillkeep_model::{Alarm, AlarmCode, Instant};
use tillkeep_storage::entity::{store, store_node, sync_status};
use tillkeep_storage::nodes::{self, Heard, Line, Said};
use tillkeep_storage::sea_orm::{
    ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use tillkeep_storage::staff::GlobalPeople;
use tillkeep_storage::sync_log::Standing;
use tillkeep_storage::sync_log::warnings::{self, Warned};
use tillkeep_storage::{Connection, DbErr, Transaction, attempts, new_customers, registry, sync_log};
use uuid::Uuid;

use crate::Hq;
use crate::live::overview::Reading;
use crate::live::rank::Rank;
use crate::live::ranking;
use crate::live::store_state::{ConnectionInfo, Loading, StoreState, TypeState};
use crate::live::waiting::is_stuck;
use crate::sync::ending::ended_because;

/// How long a warning counts among those of its store.
const WARNINGS_OF_MS: i64 = 7 * 24 * 3600 * 1000;

/// Which stores.
#[derive(Clone, Copy)]
pub(crate) enum Which<'a> {
    All,
    These(&'a BTreeSet<Uuid>),
}

/// So many stores are shown with all their types; of more than these only those that somebody should look at.
const WHOLE: usize = 200;

/// As [`load`]. Of many stores `sync` has the types alone that fail, that are behind or of which something waits, and all of it may
/// be two seconds old.
pub(crate) async fn overview(hq: &Hq, conn: &Connection, which: Which<'_>) -> Result<Reading, DbErr> {
    let count = match which {
        Which::These(ids) => ids.len(),
        Which::All => usize::try_from(living().count(conn).await?).unwrap_or(usize::MAX),
    };
    if count <= WHOLE {
        let at = hq.clock.now();
        return Ok(Reading { at, states: load(hq, conn, which).await? });
    }
    let all = hq.overview.get(&hq.clock, async || briefly(hq, conn).await).await?;
    let is_meant = |state: &&StoreState| match which {
        Which::All => true,
        Which::These(ids) => ids.contains(&state.store_id),
    };
    Ok(Reading { at: all.at, states: all.states.iter().filter(is_meant).cloned().collect() })
}

async fn briefly(hq: &Hq, conn: &Connection) -> Result<Vec<StoreState>, DbErr> {
    use store::Column;
    let columns = [Column::Id, Column::Code, Column::Name, Column::IsActive, Column::FirstSeenAt];
    let conn = conn.begin().await?;
    let stores: Vec<(Uuid, String, String, bool, Option<Instant>)> =
        living().select_only().columns(columns).into_tuple().all(&conn).await?;
    let store = |(id, code, name, is_active, first_seen_at)| store::Model {
        id,
        code,
        name,
        is_active,
        first_seen_at,
        ..store::Model::default()
    };
    let head = |name: &'static str| registry::find(name).map_or(0, |entity| hq.heads.get(entity, Uuid::nil()).version);
    let standing = sync_log::standing(&conn, head).await?;
    let read = Read { stores: stores.into_iter().map(store).collect(), standing, nodes: nodes::shown(&conn).await? };
    read.states(hq, &conn, None).await
}

/// The stores that are not deleted, by code.
fn living() -> Select<store::Entity> {
    store::Entity::find().filter(store::Column::DeletedAt.is_null()).order_by_asc(store::Column::Code)
}

/// The states of stores that are not deleted, by code.
pub(crate) async fn load(hq: &Hq, conn: &Connection, which: Which<'_>) -> Result<Vec<StoreState>, DbErr> {
    let mut stores = living();
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
    let conn = conn.begin().await?;
    let stores = stores.all(&conn).await?;
    let mut status: HashMap<Uuid, Vec<sync_status::Model>> = HashMap::new();
    for row in statuses.all(&conn).await? {
        status.entry(row.store_id).or_default().push(row);
    }
    let standing = status.into_iter().map(|(store, rows)| (store, Standing::from(rows))).collect();
    let nodes = nodes.all(&conn).await?.into_iter().map(|row| (row.store_id, row)).collect();
    Read { stores, standing, nodes }.states(hq, &conn, only.as_deref()).await
}

/// What the database has of stores.
struct Read {
    stores: Vec<store::Model>,
    standing: HashMap<Uuid, Standing>,
    nodes: HashMap<Uuid, store_node::Model>,
}

impl Read {
    async fn states(mut self, hq: &Hq, conn: &Transaction, only: Option<&[Uuid]>) -> Result<Vec<StoreState>, DbErr> {
        let now = hq.clock.now();
        let mut warned = warnings::warned(conn, now.plus_millis(-WARNINGS_OF_MS), only).await?;
        let mut unkept = sync_log::unkept(conn, only).await?;
        let stopped = attempts::stopped(conn, now).await?;
        let global = GlobalPeople::load(conn).await?;
        let beyond = new_customers::stores_beyond(conn, only, now).await?;
        let state = |store: store::Model| {
            let standing = self.standing.remove(&store.id).unwrap_or_default();
            let node = self.nodes.remove(&store.id).unwrap_or_default();
            let warned = warned.remove(&store.id).unwrap_or_default();
            let unkept = unkept.remove(&store.id).unwrap_or_default();
            let mut ours = alarms_here(&node, global, stopped.get(&store.id).copied());
            let since = beyond.get(&store.id).copied();
            ours.extend(since.map(|since| Alarm { code: AlarmCode::TooManyNewCustomers, since }));
            state_of(hq, store, standing, &node, (warned, unkept, ours), now)
        };
        Ok(self.stores.into_iter().map(state).collect())
    }
}

fn state_of(
    hq: &Hq,
    store: store::Model,
    standing: Standing,
    node: &store_node::Model,
    (warned, unkept, ours): (Warned, i64, Vec<Alarm>),
    now: Instant,
) -> StoreState {
    let heard = hq.tracker.heard(store.id, node, hq.nodes.id);
    let (connection, elsewhere) = connection(hq, &store, &heard, now);
    let connected = connection.connected;
    let ended = heard.connection.and_then(|(_, line)| line.ended());
    let Said { outbox, alarms } = heard.said.map(|(_, said)| said).unwrap_or_default();
    let clock_warning = node.clock_offset_ms.is_some_and(is_clock_off);
    let mut alarms = [alarms, ours].concat();
    // One of an older release does not say so itself.
    if let Some(since) = node.handshake_at.filter(|_| clock_warning && !alarms.iter().any(is_of_clock)) {
        alarms.push(Alarm { code: AlarmCode::ClockOff, since });
    }
    let Standing { success_at, error_at, error, has_pulled, rows } = standing;
    let (sent, fetched): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.direction == sync_log::PUSH);
    let mut state = StoreState {
        state: Rank::default(),
        severity: 0,
        connection,
        first_heard_at: store.first_seen_at,
        last_heard_at: heard.at,
        ended_because: ended_because(connected, ended, heard.at, now),
        node: elsewhere.or_else(|| connected.then(|| hq.nodes.name.clone())),
        store_id: store.id,
        store_code: store.code,
        store_name: store.name,
        active: store.is_active,
        last_success_at: success_at,
        last_error_at: error_at,
        last_error: error,
        error_count: sent.iter().map(|row| i64::from(row.pending_count)).sum::<i64>() + unkept,
        failures_full: sync_log::is_full(&sent),
        warnings: warned.count,
        last_warning_at: warned.last_at,
        last_warning: warned.last,
        outbox_pending: outbox.pending,
        dead_lettered: outbox.dead_lettered,
        oldest_pending_at: outbox.oldest,
        outbox_stuck: is_stuck(connected, outbox.oldest, node.clock_offset_ms, hq.nodes.shared(now)),
        alarms,
        registers_without_till: node.unenrolled,
        runs_twice_since: hq.copies.running_twice(store.id, hq.nodes.shared(now)),
        unstored: fetched.iter().filter(|row| row.pending_count > 0).map(|row| row.entity_type.clone()).collect(),
        clock_offset_ms: node.clock_offset_ms,
        clock_warning,
        data_age_seconds: heard.at.map(|at| now.millis_since(at) / 1000),
        has_pulled,
        sync: rows.into_iter().map(|row| type_state(hq, store.id, connected, row)).collect(),
    };
    (state.state, state.severity) = ranking::of(&state, now);
    state
}

fn is_of_clock(alarm: &Alarm) -> bool {
    alarm.code == AlarmCode::ClockOff
}

/// What headquarters itself knows to be wrong with a store.
fn alarms_here(node: &store_node::Model, global: GlobalPeople, stopped: Option<Instant>) -> Vec<Alarm> {
    let is_old = global == GlobalPeople::Online && node.sign_in != store_node::ASKS;
    let all = [
        (AlarmCode::PinKeyAsked, node.pin_key_asked_at),
        (AlarmCode::SignInsStopped, stopped),
        (AlarmCode::TooOld, node.handshake_at.filter(|_| is_old)),
    ];
    all.into_iter().filter_map(|(code, since)| Some(Alarm { code, since: since? })).collect()
}

/// The socket of a store, and the name of the server that has it when that is another one.
fn connection(hq: &Hq, store: &store::Model, heard: &Heard, now: Instant) -> (ConnectionInfo, Option<String>) {
    let here = hq.hub.get(store.id);
    let line = heard.connection.map(|(_, line)| line);
    // Here, or at another server that runs.
    let elsewhere = line.and_then(Line::node).filter(|_| here.is_none()).and_then(|node| hq.nodes.name_of(node));
    let connected = here.is_some() || elsewhere.is_some();
    let beat = match &here {
        Some(here) => here.heartbeat().map(|(at, beat)| (at, beat.uptime)),
        None => heard.heartbeat.filter(|_| connected).map(|(at, uptime_ms)| (at, seconds(uptime_ms))),
    };
    let (last_heartbeat_at, uptime) = beat.unzip();
    let connected_at = match &here {
        Some(here) => Some(here.connected_at),
        None => heard.connection.filter(|_| connected).map(|(at, _)| at),
    };
    let info = ConnectionInfo {
        store_id: store.id,
        connected,
        store_code: store.code.clone(),
        uptime: uptime.unwrap_or_default(),
        last_heartbeat_at,
        connected_at,
        seconds_since_heartbeat: last_heartbeat_at.map(|at| now.millis_since(at) / 1000),
    };
    (info, elsewhere)
}

fn type_state(hq: &Hq, store_id: Uuid, connected: bool, row: sync_status::Model) -> TypeState {
    let entity = registry::find(&row.entity_type);
    // Of a store that is switched off nothing loads.
    let loads = entity.filter(|_| connected && row.direction == sync_log::PULL);
    let loading = loads.and_then(|entity| {
        let rows = hq.tracker.loaded(store_id, entity.name)?;
        Some(Loading { rows, total: hq.totals.known(entity.name) })
    });
    TypeState {
        head_version: entity.map_or(0, |entity| hq.heads.get(entity, store_id).version),
        loading,
        version: row.last_since_version,
        entity_type: row.entity_type,
        direction: row.direction,
        last_success_at: row.last_success_at,
        last_error_at: row.last_error_at,
        last_error: row.last_error,
        pending_count: row.pending_count,
        total_pushed: row.total_pushed,
        total_pulled: row.total_pulled,
    }
}

fn seconds(millis: i64) -> f64 {
    Duration::from_millis(u64::try_from(millis).unwrap_or_default()).as_secs_f64()
}
