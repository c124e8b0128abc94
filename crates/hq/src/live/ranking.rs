//! How bad it stands with a store: the one table of states that all pages and lists go by.

use tillkeep_model::{AlarmCode, Instant};
use tillkeep_storage::sync_log;

use super::rank::Rank;
use super::store_state::{StoreState, TypeState};

/// Each sale of a store moves a row of this type at headquarters, which the store pulls back a moment later.
const MOVED_BY_SALES: &str = "store_product_dynamic";
/// What a store that sells is behind in for no longer is no reason to look at it.
const A_MOMENT_MS: i64 = 60_000;

type Fits = fn(&StoreState, Instant) -> bool;

/// Each state with what is so in it, from the worst: what stands above hides what is below it.
static TABLE: [(Rank, Fits); 14] = [
    (Rank::Dead, |store, _| store.dead_lettered > 0),
    (Rank::Twice, |store, _| store.active && store.runs_twice_since.is_some()),
    (Rank::Unstored, |store, _| store.active && !store.unstored.is_empty()),
    (Rank::Alarmed, |store, _| store.active && store.alarms.iter().any(|alarm| alarm.code != AlarmCode::ClockOff)),
    (Rank::Silent, |store, _| store.active && !store.connection.connected && was_started(store)),
    (Rank::Failed, |store, _| store.error_count > 0),
    (Rank::Stuck, |store, _| store.outbox_stuck),
    (Rank::Clock, |store, _| store.active && has_wrong_clock(store)),
    (Rank::Loading, is_loading),
    (Rank::Behind, |store, now| store.active && store.sync.iter().any(|row| is_behind(row, now))),
    (Rank::Waiting, |store, _| store.active && store.outbox_pending > 0),
    (Rank::Well, |store, _| store.connection.connected),
    (Rank::Never, |store, _| store.active),
    (Rank::Inactive, |_, _| true),
];

/// How `store` stands now, and how bad that is: 13 is the worst, 0 needs nobody.
pub(crate) fn of(store: &StoreState, now: Instant) -> (Rank, u8) {
    let place = TABLE.iter().position(|(_, fits)| fits(store, now)).unwrap_or(TABLE.len() - 1);
    let severity = u8::try_from(TABLE.len() - 1 - place).unwrap_or_default();
    (TABLE[place].0, severity)
}

/// Whether its server was ever there, by whatever is left of it.
fn was_started(store: &StoreState) -> bool {
    let heard = store.last_heard_at.or(store.first_heard_at).or(store.last_success_at);
    heard.is_some() || store.ended_because.is_some()
}

fn has_wrong_clock(store: &StoreState) -> bool {
    store.clock_warning || store.alarms.iter().any(|alarm| alarm.code == AlarmCode::ClockOff)
}

fn is_loading(store: &StoreState, now: Instant) -> bool {
    let loads = |row: &TypeState| row.loading.is_some() && is_behind(row, now);
    store.connection.connected && (!store.has_pulled || store.sync.iter().any(loads))
}

fn is_behind(row: &TypeState, now: Instant) -> bool {
    let lasts = || row.last_success_at.is_none_or(|at| now.millis_since(at) > A_MOMENT_MS);
    row.direction == sync_log::PULL && row.version < row.head_version && (row.entity_type != MOVED_BY_SALES || lasts())
}

#[cfg(test)]
mod tests {
    use tillkeep_model::Alarm;
    use tillkeep_model::wire::Ended;

    use super::super::store_state::testing::{at, pulled, store};
    use super::*;

    fn late(entity_type: &str) -> TypeState {
        TypeState { head_version: 8, ..pulled(entity_type, 0) }
    }

    fn away() -> StoreState {
        let mut away = StoreState { ended_because: Some(Ended::Stopped), ..store(0) };
        away.connection.connected = false;
        away
    }

    /// Each state alone, from the worst.
    fn alone() -> Vec<(Rank, StoreState)> {
        let alarm = |code| vec![Alarm { code, since: at(0) }];
        let never = StoreState {
            ended_because: None,
            last_heard_at: None,
            first_heard_at: None,
            last_success_at: None,
            sync: Vec::new(),
            ..away()
        };
        vec![
            (Rank::Dead, StoreState { dead_lettered: 1, error_count: 1, ..store(0) }),
            (Rank::Twice, StoreState { runs_twice_since: Some(at(0)), ..store(0) }),
            (Rank::Unstored, StoreState { unstored: vec!["products".to_owned()], ..store(0) }),
            (Rank::Alarmed, StoreState { alarms: alarm(AlarmCode::NumbersFile), ..store(0) }),
            (Rank::Silent, away()),
            (Rank::Failed, StoreState { error_count: 1, ..store(0) }),
            (Rank::Stuck, StoreState { outbox_stuck: true, outbox_pending: 9, ..store(0) }),
            (Rank::Clock, StoreState { clock_warning: true, alarms: alarm(AlarmCode::ClockOff), ..store(0) }),
            (Rank::Loading, StoreState { sync: Vec::new(), has_pulled: false, ..store(0) }),
            (Rank::Behind, StoreState { sync: vec![late("products")], ..store(0) }),
            (Rank::Waiting, StoreState { outbox_pending: 3, ..store(0) }),
            (Rank::Well, store(0)),
            (Rank::Never, never),
            (Rank::Inactive, StoreState { active: false, ..away() }),
        ]
    }

    #[test]
    fn each_state_has_its_place_from_the_worst() {
        let found: Vec<(Rank, u8)> = alone().iter().map(|(_, store)| of(store, at(0))).collect();
        let wanted: Vec<(Rank, u8)> = alone().iter().map(|(rank, _)| *rank).zip((0..14).rev()).collect();
        assert_eq!(found, wanted);
        assert!(TABLE.iter().map(|(rank, _)| *rank).eq(wanted.iter().map(|(rank, _)| *rank)));
    }

    #[test]
    fn the_worst_of_what_is_so_at_once_is_shown() {
        let all = StoreState { outbox_pending: 3, outbox_stuck: true, error_count: 2, clock_warning: true, ..store(0) };
        assert_eq!(of(&all, at(0)).0, Rank::Failed);
        assert_eq!(of(&StoreState { error_count: 0, ..all.clone() }, at(0)).0, Rank::Stuck);
        assert_eq!(of(&StoreState { error_count: 0, outbox_stuck: false, ..all }, at(0)).0, Rank::Clock);
    }

    #[test]
    fn a_store_that_sells_is_not_behind_for_a_moment_in_its_own_stock() {
        let sells = StoreState { sync: vec![late(MOVED_BY_SALES)], ..store(0) };
        assert_eq!(of(&sells, at(5)).0, Rank::Well);
        assert_eq!(of(&sells, at(120)).0, Rank::Behind);
        assert_eq!(of(&StoreState { sync: vec![late("products")], ..store(0) }, at(5)).0, Rank::Behind);
    }
}
