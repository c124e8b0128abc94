//! Changes of stock by hand: written whole by their store, and never changed afterwards.

use std::sync::LazyLock;

use tillkeep_model::adjustment::Reason;
use tillkeep_model::fields::adjustment::BOOK;
use tillkeep_model::state::MayFollow;

use super::columns::ByBook;
use super::{
    Act, Awaited, Beyond, Exported, Facts, Maker, Named, Numbering, Parent, Pushed, Restored, UsedId, When, Whole,
    WriteContext,
};
use crate::document::movement::{Kind, Movement, Position};
use crate::entity::inventory_adjustment::{Entity, Model};
use crate::rows::{Of, Row};

pub const TYPE: &str = "inventory_adjustments";

pub struct Adjustment;

impl Pushed for Adjustment {
    fn order(&self) -> u8 {
        7
    }

    fn owned(&self, context: WriteContext<'_>) -> &'static [&'static str] {
        static COLUMNS: LazyLock<ByBook> = LazyLock::new(|| ByBook::new(&BOOK, &Of::<Entity>::NEW));
        COLUMNS.columns(context)
    }

    fn beyond(&self) -> Beyond {
        Beyond::Cut
    }

    fn used_id(&self) -> UsedId {
        UsedId::Another
    }

    fn states(&self) -> Option<MayFollow> {
        None
    }

    fn is_co_written(&self) -> bool {
        false
    }

    fn sent_status(&self, _: &str, _: &dyn Row) -> Option<String> {
        None
    }

    fn next_status(&self, _: WriteContext<'_>, _: Option<&str>, _: &mut dyn Row) -> Option<String> {
        None
    }

    fn parent(&self) -> Option<Parent> {
        None
    }

    fn may_be_deleted(&self, _: Option<&dyn Row>) -> bool {
        false
    }

    fn append_only_lists(&self) -> &'static [&'static str] {
        &[]
    }

    fn number(&self) -> Option<&'static Numbering> {
        None
    }

    fn printed(&self) -> &'static [&'static str] {
        &[]
    }

    fn times(&self) -> &'static [&'static str] {
        &["created_at", "occurred_at"]
    }

    fn complete(&self, _: &mut dyn Row, _: &Maker<'_>) {}

    fn movements(&self, document: &Whole<'_>, position: Option<Position>) -> Vec<Movement> {
        // What names no product moves nothing; HQ flags it as of a product that it does not know.
        let row = document.row.typed::<Model>().filter(|row| !row.product_id.is_nil());
        row.map(|row| movement(row, position)).into_iter().collect()
    }

    fn charged(&self, _: &Whole<'_>) -> i128 {
        0
    }

    fn checks(&self, _: &Whole<'_>) -> Vec<&'static str> {
        Vec::new()
    }

    fn named(&self, document: &Whole<'_>) -> Named {
        Named { products: document.row.uuid("product_id").into_iter().collect(), ..Named::default() }
    }

    fn flags(&self, document: &Whole<'_>, facts: &Facts) -> Vec<&'static str> {
        facts.unknown_product(&self.named(document)).into_iter().collect()
    }

    fn awaited(&self) -> Option<Awaited> {
        None
    }

    fn restored(&self) -> Option<Restored> {
        Some(Restored { place: 3, registers: false })
    }

    fn exported(&self) -> Option<Exported> {
        Some(Exported { place: 3, amounts: &[], quantities: &["quantity_change"] })
    }

    fn acts(&self) -> &'static [Act] {
        &[Act { when: When::Created, action: "inventory.adjust" }]
    }
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
        unit_cost: row.unit_cost.filter(|_| priced),
        // A store adjusts nothing of which it keeps no stock.
        tracked: Some(true),
        average_after: row.average_cost_after.zip(position),
    }
}
