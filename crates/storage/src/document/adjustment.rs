//! Changes of stock by hand: written whole by their store, and never changed afterwards.

use std::sync::LazyLock;

use tillkeep_model::adjustment::Reason;
use tillkeep_model::fields::adjustment::BOOK;

use super::columns::ByBook;
use super::{AuditedAct, Awaited, Beyond, Exported, Pushed, Reference, Restored, UsedId, When, Whole, WriteContext};
use crate::document::movement::{Kind, Movement, Position};
use crate::entity::inventory_adjustment::{Entity, Model};
use crate::rows::Of;

pub const TYPE: &str = "inventory_adjustments";

pub static ADJUSTMENT: Pushed = Pushed {
    owned,
    beyond: Beyond::Cut,
    used_id: UsedId::Another,
    states: None,
    parent: None,
    may_be_deleted: None,
    append_only_lists: &[],
    kept: None,
    number: None,
    printed: &[],
    times: &["created_at", "occurred_at"],
    day: Some("business_date"),
    complete: None,
    movements: Some(movements),
    charged: None,
    has_account: false,
    checks: None,
    awaited: &[Awaited { lines: None, column: "product_id", names: Reference::Product }],
    flags: None,
    reckoned: &[],
    restored: Some(Restored { registers: false }),
    exported: Some(Exported { amounts: &[], quantities: &["quantity_change"] }),
    acts: &[AuditedAct { when: When::Created, action: "inventory.adjust" }],
};

fn owned(context: WriteContext<'_>) -> &'static [&'static str] {
    static COLUMNS: LazyLock<ByBook> = LazyLock::new(|| ByBook::new(&BOOK, &Of::<Entity>::NEW));
    COLUMNS.columns(context)
}

fn movements(document: &Whole<'_>, position: Option<Position>) -> Vec<Movement> {
    // What names no product moves nothing; HQ flags it as of a product that it does not know.
    let row = document.row.typed::<Model>().filter(|row| !row.product_id.is_nil());
    row.map(|row| movement(row, position)).into_iter().collect()
}

/// The stock that an adjustment moves, at its store and at HQ.
pub fn movement(row: &Model, position: Option<Position>) -> Movement {
    let priced = Reason::find(&row.reason).is_some_and(|reason| reason.priced);
    Movement {
        kind: Kind::Adjustment,
        product_id: row.product_id,
        change: row.quantity_change,
        source_id: row.id,
        line_id: row.id,
        business_date: row.business_date.clone(),
        at: Some(row.occurred_at).filter(|at| !at.is_unset()).unwrap_or(row.created_at),
        received: row.reason == "received",
        unit_cost: row.unit_cost.filter(|_| priced).map(|cost| cost.0),
        // A store adjusts nothing of which it keeps no stock.
        tracked: Some(true),
        average_after: row.average_cost_after.map(|cost| cost.0).zip(position),
    }
}
