//! Drawers from their opening to their close.

use serde::Deserialize;
use serde_json::Value as Json;
use tillkeep_model::series;
use tillkeep_model::state::{SessionStatus, may_follow};
use tillkeep_model::words::CashMovementKind;
use tillkeep_model::z::{self, Header, Stored, ZReport, ZRow};
use uuid::Uuid;

use super::lists::{self, Said};
use super::{AuditedAct, Beyond, Clash, Exported, Form, Numbering, Pushed, Restored, States, UsedId, When, Whole};
use crate::entity::register_session::Model;
use crate::rows::Row;
use crate::rows::owners::ALL_OF_IT;

pub const TYPE: &str = "register_sessions";

/// The flag of a drawer with movements that came back after its report was made: it does not say them.
const LATE_MOVEMENT: &str = "late_movement";
/// Beside such a movement.
const LATE: &str = "late";

/// So many earlier counts a drawer keeps, and so many bytes of them.
const MOST_EARLIER: usize = 20;
const MOST_EARLIER_BYTES: usize = 240 << 10;

static NUMBER: Numbering = Numbering {
    kind: "session",
    table: TYPE,
    column: "session_number",
    store: "store_id",
    register: Some("register_code"),
    form: Form::Whole,
    clash: Clash::Flagged("duplicate_session_number"),
};

pub static REGISTER_SESSION: Pushed = Pushed {
    owned: |_| ALL_OF_IT,
    beyond: Beyond::Cut,
    used_id: UsedId::Another,
    states: Some(States {
        column: "status",
        may_follow: may_follow::<SessionStatus>,
        by_action: &[],
        made_by_hq: None,
        merged: None,
        reckoned: None,
    }),
    parent: None,
    may_be_deleted: None,
    append_only_lists: &["cash_movements", "safe_movements", "earlier_counts", "owners"],
    kept: Some(keep),
    number: Some(&NUMBER),
    printed: &["first_receipt_number", "last_receipt_number"],
    times: &["created_at", "opened_at", "closed_at"],
    day: Some("business_date"),
    complete: None,
    movements: None,
    charged: None,
    has_account: false,
    checks: Some(checks),
    awaited: &[],
    flags: None,
    reckoned: &[],
    restored: Some(Restored { registers: true }),
    exported: Some(Exported { amounts: &["expected_cash", "counted_cash", "cash_variance"], quantities: &[] }),
    acts: &[
        AuditedAct { when: When::Created, action: "session.open" },
        AuditedAct { when: When::Closed, action: "session.close" },
        AuditedAct { when: When::ForceClosed, action: "session.force_close" },
    ],
};

impl Model {
    /// Whose drawer it is, or was at its close: who opened it, or was given it last.
    pub fn owner(&self) -> Uuid {
        self.owner_id.unwrap_or(self.opened_by)
    }

    /// What stands above its report, without the names of its people.
    pub fn header(&self) -> Header {
        Header {
            session_id: Some(self.id),
            session_number: Some(self.session_number),
            register_code: self.register_code.clone(),
            business_date: self.business_date.clone(),
            opened_by: Some(self.opened_by),
            opened_by_name: String::new(),
            opened_at: Some(self.opened_at),
            closed_by: self.closed_by,
            closed_by_name: String::new(),
            closed_at: self.closed_at,
            owners: Deserialize::deserialize(&self.owners.0).unwrap_or_default(),
            forced: self.forced,
        }
    }

    /// It in a report of several drawers, with its own `report`: whose it was as that was printed.
    pub fn z_row(&self, report: ZReport) -> ZRow {
        let (letter, number) = series::session(self.session_number.into());
        let header = &report.header;
        let given = header.owners.iter().rev().find(|given| given.user_id == self.owner());
        ZRow {
            session_id: self.id,
            register_code: self.register_code.clone(),
            letter,
            number,
            business_date: self.business_date.clone(),
            cashier: given.map_or(&header.opened_by_name, |given| &given.name).clone(),
            report,
        }
    }

    /// The report of its close, of whatever release; `None` before the close, and of what no release of this program wrote.
    pub fn z_report(&self) -> Option<ZReport> {
        let stored = Stored {
            running_total: self.running_total,
            counted_cash: self.counted_cash,
            cash_variance: self.cash_variance,
        };
        let totals = self.totals.as_ref().filter(|_| self.status == SessionStatus::Closed)?;
        ZReport::read(totals, stored).ok()
    }
}

/// Whether a movement of a drawer came back after the report of its close was made.
#[must_use]
pub fn is_late(movement: &Json) -> bool {
    movement[LATE] == true
}

/// Leaves as many earlier counts as a drawer keeps. The first one always stays: of too many those after it are forgotten.
pub fn forget_counts(earlier: &mut Vec<Json>) {
    if let Some(more) = earlier.len().checked_sub(MOST_EARLIER) {
        earlier.drain(1..=more);
    }
    let bytes = |list: &[Json]| list.iter().map(|row| row.to_string().len()).sum::<usize>();
    while earlier.len() > 2 && bytes(earlier) > MOST_EARLIER_BYTES {
        earlier.remove(1);
    }
}

/// A store that goes on from a copy knows less of an open drawer than was sent of it.
fn keep(row: &mut dyn Row, list: &str, said: Option<&str>) {
    match list {
        "cash_movements" => keep_movements(row, &Said::new(said)),
        "earlier_counts" => {
            let mut earlier = lists::read(row.text(list).as_deref());
            forget_counts(&mut earlier);
            row.set(list, Json::Array(earlier).to_string().into());
        }
        _ => {}
    }
}

/// The report of a drawer that was closed without knowing a movement stays as it was printed, and the movement says so.
fn keep_movements(row: &mut dyn Row, said: &Said) {
    // A status of a release to come is one after the close.
    let before_it = ["", SessionStatus::Open.word(), SessionStatus::Counting.word()];
    let is_closed = row.text("status").is_some_and(|status| !before_it.contains(&status.as_str()));
    let mut all = lists::read(row.text("cash_movements").as_deref());
    for movement in all.iter_mut().filter(|movement| !said.has(movement)).filter_map(Json::as_object_mut) {
        if is_closed {
            movement.insert(LATE.to_owned(), true.into());
        } else {
            movement.remove(LATE);
        }
    }
    let openings = all.iter().filter(|movement| movement["type"] == CashMovementKind::NoSale.word()).count();
    let counted = row.integer("no_sale_count").unwrap_or_default();
    if let Some(openings) = i32::try_from(openings).ok().filter(|openings| i64::from(*openings) > counted) {
        row.set("no_sale_count", openings.into());
    }
    row.set("cash_movements", Json::Array(all).to_string().into());
}

/// Headquarters never refuses money. What a release before says was not checked at its store, and one to come may say more
/// than is known here: neither is judged.
fn checks(document: &Whole<'_>) -> Vec<&'static str> {
    let Some(session) = document.row.typed::<Model>() else { return Vec::new() };
    let mut flags = Vec::new();
    if session.cash_movements.0.as_array().into_iter().flatten().any(is_late) {
        flags.push(LATE_MOVEMENT);
    }
    flags.extend((!adds_up(session)).then_some(ZReport::DOES_NOT_ADD_UP));
    flags
}

/// Whether the report of a drawer adds up, where it is known here what it says.
fn adds_up(session: &Model) -> bool {
    let says = |key: &str| session.totals.as_ref().and_then(|totals| totals.0.get(key));
    let is_known = says("version").and_then(Json::as_i64) == Some(i64::from(ZReport::VERSION));
    if session.status != SessionStatus::Closed || !is_known {
        return true;
    }
    session.z_report().is_some_and(|report| {
        let is_said = report.flags.iter().any(|flag| flag == ZReport::DOES_NOT_ADD_UP);
        !is_said && has_its_figures(session, &report) && z::identities(&report, false).is_empty()
    })
}

/// Whether the report says what stands beside it.
fn has_its_figures(session: &Model, report: &ZReport) -> bool {
    session.expected_cash == Some(report.expected_cash)
        && session.counted_cash == report.cash.counted
        && session.cash_variance == report.cash.variance
        && session.running_total == Some(report.running_total.after)
}
