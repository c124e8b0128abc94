//! What is shown of a store, and what of it is news to a viewer who has seen it before.

use serde::Serialize;
use tillkeep_model::wire::Ended;
use tillkeep_model::{Alarm, Instant};
use utoipa::ToSchema;
use uuid::Uuid;

use super::rank::Rank;

#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DashboardStore)]
#[expect(clippy::struct_excessive_bools, reason = "each is an alarm of its own on the wire")]
pub(crate) struct StoreState {
    pub store_id: Uuid,
    pub store_code: String,
    pub store_name: String,
    pub active: bool,
    /// The worst that is so of it.
    pub state: Rank,
    /// How bad that is: 13 is the worst of all, 0 needs nobody.
    #[schema(minimum = 0, maximum = 13)]
    pub severity: u8,
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
    /// Entries that failed, and types that it could not keep, which are not settled.
    pub error_count: i64,
    /// So many entries failed, or such large ones, that further ones are only counted, or kept without what was sent.
    pub failures_full: bool,
    /// Entries of the last seven days that were taken and that an operator should look at.
    pub warnings: i64,
    pub last_warning_at: Option<Instant>,
    pub last_warning: Option<String>,
    pub outbox_pending: i64,
    pub dead_lettered: i64,
    /// Since when the oldest entry of its outbox waits, by its own clock.
    pub oldest_pending_at: Option<Instant>,
    /// It is connected, and its oldest entry has waited for more than five minutes.
    pub outbox_stuck: bool,
    /// What is wrong with it, as it said last.
    pub alarms: Vec<Alarm>,
    /// Since when two copies of it run at once; null while there is one.
    pub runs_twice_since: Option<Instant>,
    /// Registers of it without an enrolled till; null when it does not say so.
    pub registers_without_till: Option<i64>,
    /// Types that it was handed and could not store.
    pub unstored: Vec<String>,
    pub clock_offset_ms: Option<i64>,
    /// Its clock is more than two minutes off.
    pub clock_warning: bool,
    pub data_age_seconds: Option<i64>,
    /// It has asked for rows of some type, whatever of that is in `sync`.
    pub has_pulled: bool,
    pub sync: Vec<TypeState>,
}

/// Specification, section 2.8.
#[derive(Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StoreConnection)]
pub(crate) struct ConnectionInfo {
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
pub(crate) struct TypeState {
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
pub(crate) struct Loading {
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
    pub(crate) fn newest(&self) -> Option<Instant> {
        let moments = [self.last_success_at, self.last_error_at, self.last_warning_at, self.connection.connected_at];
        moments.into_iter().flatten().max()
    }

    /// What of this is new to a viewer who was shown `older`, if anything is: all of the store but the types that stand
    /// as they stood. That time goes by is no news, nor is a heartbeat or a cycle that says what the last one said.
    pub(crate) fn news(&self, older: &Self) -> Option<Self> {
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
        // With the success of each quiet cycle every type of every store would be sent, again and again.
        let stands: Vec<bool> = as_then.sync.iter().map(|state| older.sync.contains(state)).collect();
        let mut stands = stands.into_iter();
        news.sync.retain(|_| !stands.next().unwrap_or_default());
        Some(news)
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use tillkeep_storage::sync_log;

    use super::*;

    pub(crate) fn at(seconds: i64) -> Instant {
        Instant::default().plus_millis(seconds * 1000)
    }

    pub(crate) fn pulled(entity_type: &str, seconds: i64) -> TypeState {
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
    pub(crate) fn store(seconds: i64) -> StoreState {
        StoreState {
            store_id: Uuid::nil(),
            store_code: "S01".to_owned(),
            store_name: "Harbor Street".to_owned(),
            active: true,
            state: Rank::Well,
            severity: 2,
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
            alarms: Vec::new(),
            runs_twice_since: None,
            registers_without_till: None,
            unstored: Vec::new(),
            clock_offset_ms: None,
            clock_warning: false,
            data_age_seconds: Some(seconds),
            has_pulled: true,
            sync: vec![pulled("products", seconds), pulled("tenders", seconds)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{at, store};
    use super::*;

    #[test]
    fn that_a_store_is_as_well_as_before_is_no_news() {
        assert!(store(30).news(&store(0)).is_none());
        let first = StoreState { last_success_at: None, ..store(0) };
        assert!(store(30).news(&first).is_some(), "its first success is");
    }

    #[test]
    fn an_update_of_a_store_has_the_types_that_stand_otherwise_with_their_newest_success() {
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
