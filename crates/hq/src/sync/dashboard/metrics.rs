//! How each store stands, for `GET /metrics`.

use tillkeep_model::{Alarm, Instant};
use tillkeep_storage::DbErr;

use super::states::{self, Which};
use crate::Hq;
use crate::live::store_state::StoreState;

/// Stores that the page has at the most, by code: a monitor pays for each line.
const MOST: usize = 1000;

/// What is measured of a store: name, what it is, and its lines.
type Meter = (&'static str, &'static str, Lines);

enum Lines {
    /// One, if there is a value.
    One(fn(&StoreState, Instant) -> Option<i64>),
    /// One for each of its alarms.
    Alarms,
}
use Lines::{Alarms, One};

const METERS: [Meter; 9] = [
    (
        "tillkeep_store_connected",
        "1 while its socket is open, at any server of headquarters",
        One(|store, _| Some(store.connection.connected.into())),
    ),
    (
        "tillkeep_store_silent_seconds",
        "Since it was last heard; absent before its first start",
        One(|store, now| Some(now.millis_since(store.last_heard_at?).max(0) / 1000)),
    ),
    (
        "tillkeep_store_data_age_seconds",
        "How old what headquarters knows of it is",
        One(|store, _| store.data_age_seconds),
    ),
    (
        "tillkeep_store_outbox_pending",
        "Entries that it has to send, as it said last",
        One(|store, _| Some(store.outbox_pending)),
    ),
    ("tillkeep_store_dead_letters", "Entries that it has stopped to send", One(|store, _| Some(store.dead_lettered))),
    (
        "tillkeep_store_failed_entries",
        "Entries that headquarters refused and that are not settled",
        One(|store, _| Some(store.error_count)),
    ),
    (
        "tillkeep_store_unstored_types",
        "Types that it was handed and could not store",
        One(|store, _| i64::try_from(store.unstored.len()).ok()),
    ),
    ("tillkeep_store_alarms", "1 for each alarm that it has, as it said last", Alarms),
    (
        "tillkeep_store_clock_offset_seconds",
        "How far its clock is ahead of that of headquarters",
        One(|store, _| Some(store.clock_offset_ms? / 1000)),
    ),
];

/// The lines of all stores in use, in the text format of Prometheus.
pub(crate) async fn lines(hq: &Hq) -> String {
    hq.store_metrics.lines(&hq.clock, async || written(hq).await).await
}

async fn written(hq: &Hq) -> Result<String, DbErr> {
    let mut stores = states::load(hq, hq.db().reader(), Which::All).await?;
    stores.retain(|store| store.active);
    stores.truncate(MOST);
    let now = hq.clock.now();
    let of_meter = |(name, about, lines): Meter| {
        let lines = stores.iter().map(move |store| match lines {
            One(value) => value(store, now)
                .map(|value| format!("{name}{{store=\"{}\"}} {value}\n", store.store_code))
                .unwrap_or_default(),
            Alarms => {
                let code = &store.store_code;
                let line = |alarm: &Alarm| format!("{name}{{store=\"{code}\",alarm=\"{}\"}} 1\n", alarm.code.as_str());
                store.alarms.iter().map(line).collect::<Vec<_>>().concat()
            }
        });
        std::iter::once(format!("# HELP {name} {about}\n# TYPE {name} gauge\n")).chain(lines)
    };
    Ok(METERS.into_iter().flat_map(of_meter).collect())
}
