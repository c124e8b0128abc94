//! What happens in a run, as numbers: how long, how many, and what goes wrong how often.

/// One run but for its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    pub stores: usize,
    /// Virtual hours before everything is healed.
    pub hours: i64,
    /// Minutes between two sales of a store, on average.
    pub sale_every_minutes: i64,
    /// Minutes between two edits at headquarters, on average.
    pub edit_every_minutes: i64,
    /// Minutes between two changes of customers in a store, on average.
    pub rename_every_minutes: i64,
    /// Minutes between two times that somebody wants money back at a store, or pays what is owed, on average.
    pub undo_every_minutes: i64,
    /// Minutes between two new customers of a store, and between two adjustments, on average.
    pub other_work_every_minutes: i64,
    /// Minutes between two times that something other than a sale is done at a drawer of a store, on average; 0 for never.
    pub drawer_every_minutes: i64,
    /// Minutes after which a copy is restored, at the longest.
    pub longest_copy_minutes: i64,
    /// The only place that fails; any of them without it.
    pub place: Option<&'static str>,
    pub faults: Faults,
    pub events: Events,
}

/// Of a thousand requests, how many suffer what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The request never arrives.
    pub request_lost: u64,
    /// Headquarters did it, and no store hears of it.
    pub answer_lost: u64,
    /// Headquarters did it, and something in between says that it did not.
    pub gateway: u64,
    /// The request arrives twice.
    pub twice: u64,
    /// The request arrives once more within 20 minutes.
    pub late: u64,
    /// A captive portal answers.
    pub html: u64,
    /// 503 with a time to wait.
    pub busy: u64,
    /// 429 without one.
    pub many: u64,
    /// 500 from something in between.
    pub broken: u64,
}

/// How often in a day of the run; partitions and what happens to a store count for each store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    pub partitions: i64,
    pub longest_partition_minutes: i64,
    pub store_crashes: i64,
    pub hq_crashes: i64,
    /// Something within a server fails once, like a disk.
    pub failing_places: i64,
    pub clock_jumps: i64,
    pub columns_added: i64,
    /// Entries that headquarters refuses until a user resolves them.
    pub refused_entries: i64,
    pub stores_restored: i64,
    pub reinstalls: i64,
    pub hq_restored: i64,
}

/// A bad line, and nothing else.
pub const BAD_LINE: Faults = Faults {
    request_lost: 15,
    answer_lost: 25,
    gateway: 10,
    twice: 15,
    late: 15,
    html: 8,
    busy: 8,
    many: 6,
    broken: 8,
};

/// All that may happen without a restore.
pub const HARD: Plan = Plan {
    stores: 3,
    hours: 6,
    sale_every_minutes: 8,
    edit_every_minutes: 10,
    rename_every_minutes: 10,
    undo_every_minutes: 12,
    other_work_every_minutes: 60,
    drawer_every_minutes: 15,
    longest_copy_minutes: 180,
    place: None,
    faults: BAD_LINE,
    events: Events {
        partitions: 6,
        longest_partition_minutes: 90,
        store_crashes: 4,
        hq_crashes: 6,
        failing_places: 24,
        clock_jumps: 2,
        columns_added: 2,
        refused_entries: 2,
        stores_restored: 0,
        reinstalls: 0,
        hq_restored: 0,
    },
};

/// All of it in little time, to find what is wrong soon: most of what a run costs are its cycles.
pub const SHORT: Plan = Plan {
    stores: 2,
    hours: 1,
    sale_every_minutes: 2,
    edit_every_minutes: 1,
    rename_every_minutes: 2,
    undo_every_minutes: 2,
    other_work_every_minutes: 20,
    drawer_every_minutes: 0,
    longest_copy_minutes: 60,
    place: None,
    faults: Faults { request_lost: 40, answer_lost: 60, gateway: 20, twice: 40, late: 50, ..BAD_LINE },
    events: Events {
        partitions: 72,
        longest_partition_minutes: 10,
        store_crashes: 48,
        hq_crashes: 48,
        failing_places: 600,
        clock_jumps: 24,
        columns_added: 48,
        refused_entries: 48,
        ..HARD.events
    },
};

/// The same, with one place that fails again and again.
pub const fn failing_at(place: &'static str) -> Plan {
    Plan { place: Some(place), ..SHORT }
}

/// Headquarters is restored again and again and has overtaken the cursors before a store with a bad line hears of it.
pub const OVERTAKEN: Plan = Plan {
    hours: 3,
    longest_copy_minutes: 6,
    events: Events {
        hq_restored: 30,
        partitions: 60,
        longest_partition_minutes: 60,
        // It would have everything loaded once more.
        columns_added: 0,
        ..SHORT.events
    },
    ..SHORT
};

/// Answers that are lost while a store and headquarters change the same customers.
pub const LOST_ANSWERS: Plan =
    Plan { stores: 1, hours: 3, rename_every_minutes: 1, faults: Faults { answer_lost: 200, ..SHORT.faults }, ..SHORT };

/// Requests that arrive once more, late, while a store changes its customers all the time.
pub const LATE: Plan = Plan { rename_every_minutes: 1, faults: Faults { late: 250, ..SHORT.faults }, ..SHORT };

/// Money comes back all the time, of one sale in several stores, and headquarters often hears of it later than it was asked.
pub const GIVEN_BACK: Plan =
    Plan { stores: 3, hours: 2, undo_every_minutes: 1, faults: Faults { request_lost: 200, ..SHORT.faults }, ..SHORT };

/// Cash moves all the time, drawers are counted and carts wait.
pub const DRAWERS: Plan = Plan { drawer_every_minutes: 1, ..SHORT };

/// All of [`SHORT`], with headquarters restored from a copy.
pub const SHORT_HQ_RESTORED: Plan = Plan { events: Events { hq_restored: 48, ..SHORT.events }, ..SHORT };

/// The same, with stores restored from a copy or reinstalled.
pub const SHORT_STORES_RESTORED: Plan =
    Plan { events: Events { stores_restored: 36, reinstalls: 12, ..SHORT.events }, ..SHORT };

/// The same, with installations that are restored or reinstalled.
pub const RESTORED: Plan =
    Plan { events: Events { stores_restored: 2, reinstalls: 1, hq_restored: 2, ..HARD.events }, ..HARD };
