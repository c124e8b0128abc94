//! Drawers from their opening to their close.

use tillkeep_model::state::{MayFollow, SessionStatus, may_follow};

use super::sale::{self, UNKNOWN_SESSION};
use super::{
    Act, Awaited, Beyond, Clash, Exported, Facts, Form, Maker, Named, Numbering, Parent, Pushed, Restored, UsedId,
    When, Whole, WriteContext,
};
use crate::document::movement::{Movement, Position};
use crate::rows::Row;
use crate::rows::owners::ALL_OF_IT;

pub const TYPE: &str = "register_sessions";

static NUMBER: Numbering = Numbering {
    kind: "session",
    table: TYPE,
    column: "session_number",
    store: "store_id",
    register: Some("register_code"),
    form: Form::Whole,
    clash: Clash::Flagged("duplicate_session_number"),
};

pub struct RegisterSession;

impl Pushed for RegisterSession {
    fn order(&self) -> u8 {
        2
    }

    fn owned(&self, _: WriteContext<'_>) -> &'static [&'static str] {
        ALL_OF_IT
    }

    fn beyond(&self) -> Beyond {
        Beyond::Cut
    }

    fn used_id(&self) -> UsedId {
        UsedId::Another
    }

    fn states(&self) -> Option<MayFollow> {
        Some(may_follow::<SessionStatus>)
    }

    fn is_co_written(&self) -> bool {
        false
    }

    fn sent_status(&self, _: &str, row: &dyn Row) -> Option<String> {
        row.text("status")
    }

    fn next_status(&self, _: WriteContext<'_>, sent: Option<&str>, _: &mut dyn Row) -> Option<String> {
        // One writer: the way was judged before.
        sent.map(str::to_owned)
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
        Some(&NUMBER)
    }

    fn printed(&self) -> &'static [&'static str] {
        &["first_receipt_number", "last_receipt_number"]
    }

    fn times(&self) -> &'static [&'static str] {
        &["created_at", "opened_at", "closed_at"]
    }

    fn complete(&self, _: &mut dyn Row, _: &Maker<'_>) {}

    fn movements(&self, _: &Whole<'_>, _: Option<Position>) -> Vec<Movement> {
        Vec::new()
    }

    fn charged(&self, _: &Whole<'_>) -> i128 {
        0
    }

    fn checks(&self, _: &Whole<'_>) -> Vec<&'static str> {
        Vec::new()
    }

    fn named(&self, _: &Whole<'_>) -> Named {
        Named::default()
    }

    fn flags(&self, _: &Whole<'_>, _: &Facts) -> Vec<&'static str> {
        Vec::new()
    }

    fn awaited(&self) -> Option<Awaited> {
        Some(Awaited { by: sale::TYPE, column: "register_session_id", flag: UNKNOWN_SESSION, sales_charge_it: false })
    }

    fn restored(&self) -> Option<Restored> {
        Some(Restored { place: 1, registers: true })
    }

    fn exported(&self) -> Option<Exported> {
        Some(Exported { place: 2, amounts: &["expected_cash", "counted_cash", "cash_variance"], quantities: &[] })
    }

    fn acts(&self) -> &'static [Act] {
        &[Act { when: When::Created, action: "session.open" }, Act { when: When::Closed, action: "session.close" }]
    }
}
