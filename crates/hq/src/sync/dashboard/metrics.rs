//! How each store stands, and what the database says of all, for `GET /metrics`.

use std::collections::HashSet;

use tillkeep_model::{Alarm, Instant};
use tillkeep_storage::{DbErr, attempts};

use super::states::{self, Which};
use crate::Hq;
use crate::live::alerting::Gaps;
use crate::live::store_state::StoreState;

/// Stores that the page has at the most, by code: a monitor pays for each line.
const MOST: usize = 1000;

/// What is measured: name, what it is, and its lines.
type Meter = (&'static str, &'static str, Lines);

/// What is read beside the states of stores.
struct Beside {
    /// At the server that looks for what is missing.
    gaps: Option<Gaps>,
    people_locked: i64,
}

enum Lines {
    /// One of a store, if there is a value.
    One(fn(&StoreState, Instant) -> Option<i64>),
    /// One of a store by what is read beside it.
    With(fn(&StoreState, &Beside) -> Option<i64>),
    /// One for each of its alarms.
    Alarms,
    /// One of headquarters as a whole.
    All(fn(&Beside) -> Option<i64>),
}
use Lines::{Alarms, All, One, With};

const METERS: [Meter; 12] = [
    (
        "tillkeep_stores_with_gaps",
        "Stores in use of which documents or entries are missing; at the server that looks for them, every ten minutes",
        All(|beside| i64::try_from(beside.gaps.as_ref()?.len()).ok()),
    ),
    (
        "tillkeep_people_locked",
        "People who have to wait after wrong PINs of their name",
        All(|beside| Some(beside.people_locked)),
    ),
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
    (
        "tillkeep_store_missing",
        "Documents or entries of it that headquarters lacks; at the server that looks for them",
        With(|store, beside| Some(beside.gaps.as_ref()?.get(&store.store_id).map_or(0, |gap| gap.missing))),
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
    let (conn, now) = (hq.db().reader(), hq.clock.now());
    let mut stores = states::overview(hq, conn, Which::All).await?.states;
    stores.retain(|store| store.active);
    let gaps = hq.alerting.shown_gaps(now).map(|gaps| of_these(gaps, &stores));
    stores.truncate(MOST);
    let beside = Beside { gaps, people_locked: attempts::people_locked(conn, now).await? };
    Ok(METERS.into_iter().map(|meter| of_meter(&meter, &stores, &beside, now)).collect())
}

/// What is missing of `stores`: one that is closed is on no line of the page, and in none of its counts.
fn of_these(mut gaps: Gaps, stores: &[StoreState]) -> Gaps {
    let ids: HashSet<_> = stores.iter().map(|store| store.store_id).collect();
    gaps.retain(|id, _| ids.contains(id));
    gaps
}

/// The lines of one meter, with what it is.
fn of_meter((name, about, lines): &Meter, stores: &[StoreState], beside: &Beside, now: Instant) -> String {
    let of_store = |store: &StoreState, value: Option<i64>| {
        value.map(|value| format!("{name}{{store=\"{}\"}} {value}\n", store.store_code)).unwrap_or_default()
    };
    let values: String = match lines {
        One(value) => stores.iter().map(|store| of_store(store, value(store, now))).collect(),
        With(value) => stores.iter().map(|store| of_store(store, value(store, beside))).collect(),
        Alarms => stores.iter().map(|store| alarms(name, store)).collect(),
        All(value) => value(beside).map(|value| format!("{name} {value}\n")).unwrap_or_default(),
    };
    format!("# HELP {name} {about}\n# TYPE {name} gauge\n{values}")
}

fn alarms(name: &str, store: &StoreState) -> String {
    let code = &store.store_code;
    let line = |alarm: &Alarm| format!("{name}{{store=\"{code}\",alarm=\"{}\"}} 1\n", alarm.code.as_str());
    store.alarms.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use tillkeep_storage::alerts::found::Gap;
    use uuid::Uuid;

    use super::*;
    use crate::live::store_state::testing::{at, store};

    fn written(name: &str, gaps: Option<Gaps>) -> Vec<String> {
        let meter = METERS.iter().find(|meter| meter.0 == name).expect("a meter");
        let text = of_meter(meter, &[store(0)], &Beside { gaps, people_locked: 3 }, at(0));
        text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    }

    #[test]
    fn what_is_missing_is_said_by_the_server_that_looks_and_is_none_where_nothing_is() {
        let gaps = Gaps::from([(store(0).store_id, Gap { since: at(0), missing: 7 })]);
        let code = store(0).store_code;
        let of_store = |count: i64| vec![format!("tillkeep_store_missing{{store=\"{code}\"}} {count}")];
        assert_eq!(written("tillkeep_store_missing", Some(gaps.clone())), of_store(7));
        assert_eq!(written("tillkeep_stores_with_gaps", Some(gaps)), ["tillkeep_stores_with_gaps 1"]);
        assert_eq!(written("tillkeep_store_missing", Some(Gaps::new())), of_store(0));
        assert_eq!(written("tillkeep_stores_with_gaps", Some(Gaps::new())), ["tillkeep_stores_with_gaps 0"]);
        for name in ["tillkeep_store_missing", "tillkeep_stores_with_gaps"] {
            assert_eq!(written(name, None), [""; 0], "another server looks");
        }
        assert_eq!(written("tillkeep_people_locked", None), ["tillkeep_people_locked 3"]);
    }

    #[test]
    fn what_is_missing_of_a_store_that_is_closed_is_not_counted() {
        let gap = || Gap { since: at(0), missing: 7 };
        let gaps = Gaps::from([(store(0).store_id, gap()), (Uuid::from_u128(7), gap())]);
        let left = of_these(gaps, &[store(0)]);
        assert_eq!(left.into_keys().collect::<Vec<_>>(), [store(0).store_id]);
    }
}
