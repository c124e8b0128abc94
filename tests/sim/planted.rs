//! Wrong programs, and what catches each of them. A fault is one line of the product behind `fault::planted`, which no
//! release has. A checker that lets one of these pass proves nothing.

use crate::plan::{LATE, LOST_ANSWERS, OVERTAKEN, Plan, SHORT, SHORT_PUT_BACK, SHORT_STORE_PUT_BACK, failing_at};

const PAGES_FAIL: Plan = failing_at("apply.page");
const ENTRIES_FAIL: Plan = failing_at("outbox.enqueue");

pub struct Planted {
    /// What is wrong, for people.
    pub what: &'static str,
    /// The lines that are wrong, by their names in the code.
    pub lines: &'static [&'static str],
    /// The runs in which it shows: the first seed that catches it ends the search.
    pub plan: &'static Plan,
    /// How the broken promise begins; another one does not count.
    pub caught_by: &'static [&'static str],
    /// The seed to begin with: one that is known to catch it saves the others.
    pub first_seed: u64,
}

impl Planted {
    /// The seeds that are tried; each passes without a planted fault.
    pub fn seeds(&self) -> impl Iterator<Item = u64> {
        self.first_seed..self.first_seed + 6
    }

    const fn first_tried_with(mut self, seed: u64) -> Self {
        self.first_seed = seed;
        self
    }
}

const fn planted(
    what: &'static str,
    lines: &'static [&'static str],
    plan: &'static Plan,
    caught_by: &'static [&'static str],
) -> Planted {
    Planted { what, lines, plan, caught_by, first_seed: 1 }
}

pub const FAULTS: &[Planted] = &[
    planted("an entry is marked sent before the answer", &["plant.sent_before_answer"], &SHORT, &["I2", "I9", "U7"]),
    planted(
        "the same envelope takes effect again",
        &["plant.no_duplicate_check", "plant.no_movement_key"],
        &SHORT,
        &["P5", "I4"],
    ),
    planted("a late envelope undoes a newer one", &["plant.no_duplicate_check", "plant.no_time_rule"], &LATE, &["U7"]),
    planted("deleted rows are not pulled", &["plant.no_tombstones"], &SHORT, &["I7"]),
    planted("what the network does counts as an attempt", &["plant.network_counts"], &SHORT, &["P5"]),
    planted("the cursor comes from the head, not from the last row", &["plant.cursor_from_head"], &SHORT, &["I7"]),
    planted("the cursor is moved before its rows are there", &["plant.cursor_first"], &PAGES_FAIL, &["I7"]),
    planted("a pull overwrites unsent work", &["plant.unsent_overwritten"], &SHORT, &["D6"]),
    planted("what was left aside does not travel back", &["plant.left_not_raised"], &LOST_ANSWERS, &["I7"]),
    planted("permissions are merged", &["plant.permissions_merged"], &SHORT, &["I7"]),
    planted("later entries of an entity do not wait", &["plant.no_order"], &SHORT, &["U4"]),
    planted("the entry is not in the document's transaction", &["plant.entry_apart"], &ENTRIES_FAIL, &["I2"]),
    planted("a refused entry holds up the others", &["plant.refused_blocks"], &SHORT, &["U4"]),
    planted("the sender rests for an hour", &["plant.long_back_off"], &SHORT, &["P3"]),
    planted("a pull brings the level of headquarters", &["plant.stock_pulled"], &SHORT, &["I4"]),
    planted("values of an added column are not loaded", &["plant.resync_ignored"], &SHORT, &["I7"]),
    planted("a reload brings no deletes", &["plant.reload_merges"], &SHORT_PUT_BACK, &["I7"]),
    planted("a reload drops unsent work", &["plant.reload_drops_unsent"], &SHORT_PUT_BACK, &["D6", "I2"]),
    planted("what headquarters lost is not sent again", &["plant.no_resend"], &SHORT_PUT_BACK, &["I2"]),
    planted("a store put back gives numbers again", &["plant.numbers_again"], &SHORT_STORE_PUT_BACK, &["I6", "P5"]),
    planted(
        "a store made anew does not fetch its documents",
        &["plant.no_own_documents"],
        &SHORT_STORE_PUT_BACK,
        &["I3"],
    ),
    planted("an unknown ticket means nothing", &["plant.ticket_ignored"], &OVERTAKEN, &["I7", "I2"])
        .first_tried_with(6),
];
