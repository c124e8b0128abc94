//! What was heard of a store, by whichever server of headquarters: of each part the newest.

use sea_orm::{ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, Iterable};
use tillkeep_model::wire::{Ended, OutboxState};
use tillkeep_model::{Alarm, Instant};
use uuid::Uuid;

use super::newer::newer_parts;
use crate::db::rows_per_statement;
use crate::entity::store_node::{Column, Entity, Model};

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

    /// As the database has it of a store of which it has nothing else.
    fn row(&self, store: Uuid) -> Model {
        let (outbox_at, said) = self.said.clone().unzip();
        let (connection_at, line) = self.connection.unzip();
        let (heartbeat_at, uptime_ms) = self.heartbeat.unzip();
        let Said { outbox, alarms } = said.unwrap_or_default();
        Model {
            store_id: store,
            last_seen_at: self.at,
            outbox_pending: outbox.pending,
            dead_lettered: outbox.dead_lettered,
            oldest_pending_at: outbox.oldest,
            alarms: Alarm::write(&alarms),
            outbox_at,
            ended_because: line.and_then(Line::ended).map(|ended| ended.as_str().to_owned()),
            connection_at,
            connected_node: line.and_then(Line::node),
            heartbeat_at,
            uptime_ms: uptime_ms.unwrap_or_default(),
            process_heard_at: self.process_at,
            ..Model::default()
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
    let upsert = newer_parts(here);
    for chunk in heard.chunks(rows_per_statement(Column::iter().count())) {
        let rows = chunk.iter().map(|(store, heard)| heard.row(*store).into_active_model());
        Entity::insert_many(rows).on_conflict(upsert.clone()).exec_without_returning(conn).await?;
    }
    Ok(())
}
