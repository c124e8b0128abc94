//! What HQ knows of the installation behind a store: its database's identity, ticket, clock and outbox.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use tillkeep_model::Instant;

#[derive(Clone, Debug, Default, PartialEq, Eq, DeriveEntityModel, Serialize, Deserialize)]
#[sea_orm(table_name = "store_nodes")]
#[serde(rename_all = "camelCase", default)]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub store_id: Uuid,
    pub node_epoch: String,
    /// The ticket that was handed out last, and the known one that was presented for it: the answer may have been lost.
    pub ticket: String,
    pub last_ticket: String,
    pub last_seq: i64,
    pub store_version: String,
    /// What the store and HQ had as columns when the store last took an answer, and at the last answer given.
    pub fingerprints: String,
    pub told_fingerprints: String,
    /// When another installation than before was last noticed.
    pub other_installation_at: Option<Instant>,
    pub clock_offset_ms: Option<i64>,
    pub outbox_pending: i64,
    pub dead_lettered: i64,
    pub oldest_pending_at: Option<Instant>,
    /// What is wrong with it, as `Alarm::write` writes it.
    pub alarms: String,
    /// When the store said so of its outbox and its alarms.
    pub outbox_at: Option<Instant>,
    pub handshake_at: Option<Instant>,
    pub last_seen_at: Option<Instant>,
    /// Why its last connection ended; nothing while there is one. One of `wire::Ended`.
    pub ended_because: Option<String>,
    /// When its last connection began, or ended.
    pub connection_at: Option<Instant>,
    /// Its processes, and those that run beside it, as JSON.
    pub processes: String,
    /// The server of headquarters that holds its socket; nothing while there is none.
    pub connected_node: Option<Uuid>,
    /// Its last heartbeat, and how long its process had run then.
    pub heartbeat_at: Option<Instant>,
    pub uptime_ms: i64,
    /// Whether it asks headquarters who signs in: [`ASKS_NEVER`], [`ASKS`] by its last handshake, or [`ASKED_ONCE`] and not by its
    /// last one.
    pub sign_in: i32,
    /// The key of its PINs was confirmed, and is given out no more;
    pub pin_key_closed: bool,
    /// until then, to tokens of this version and later ones.
    pub pin_key_for: i32,
    /// When it was asked for again.
    pub pin_key_asked_at: Option<Instant>,
    /// When a process of it was last heard that says which one it is.
    pub process_heard_at: Option<Instant>,
    /// How many of its registers have no enrolled till, by its last handshake; null when that says nothing of it.
    pub unenrolled: Option<i64>,
}

pub const ASKS_NEVER: i32 = 0;
pub const ASKS: i32 = 1;
pub const ASKED_ONCE: i32 = 2;

impl Model {
    /// A store that shook hands, of a release that cannot ask headquarters who signs in. What a store said once stays: whoever
    /// stole it must not become an older one.
    pub const fn never_asks(&self) -> bool {
        self.handshake_at.is_some() && self.sign_in == ASKS_NEVER
    }

    /// Whether it makes its look-ups with a salt of its own, which came with the same release.
    pub const fn has_own_salt(&self) -> bool {
        self.sign_in != ASKS_NEVER
    }

    /// As it is when a handshake says whether the store asks.
    pub const fn asks(&self, says_so: bool) -> i32 {
        match self.sign_in {
            _ if says_so => ASKS,
            ASKS_NEVER => ASKS_NEVER,
            _ => ASKED_ONCE,
        }
    }
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
