//! The line to headquarters, as people and the till see it.

use std::collections::BTreeMap;

use serde::Serialize;
use tillkeep_model::Instant;
use utoipa::ToSchema;

/// The line to HQ as this store sees it.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SyncLine)]
pub struct Line {
    /// The socket stands.
    pub connected: bool,
    pub last_contact_at: Option<Instant>,
    pub last_cycle_at: Option<Instant>,
    pub last_push_at: Option<Instant>,
    pub last_error_at: Option<Instant>,
    pub last_error: Option<String>,
    /// HQ's clock minus ours, in milliseconds, at the last handshake.
    pub clock_offset_ms: Option<i64>,
    /// HQ's epoch at the last handshake.
    pub epoch: Option<String>,
    /// Over how many milliseconds a notified pull is spread.
    pub notify_delay_ms: u64,
    /// Types that could not be stored when they were last pulled, with why; headquarters gets it with each cycle.
    pub unstored: BTreeMap<String, String>,
    /// Types of which a load is under way.
    pub loading: BTreeMap<String, Loading>,
    /// Another copy of this store runs and goes on in place of this one: nothing is sold here.
    pub runs_elsewhere: bool,
}

/// A type of which more is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Loading {
    /// Rows that are here.
    pub rows: i64,
    /// Rows that headquarters has, where it says so.
    pub total: Option<i64>,
}
