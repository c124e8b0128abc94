//! Drawers from their opening to their close.

use tillkeep_model::state::{SessionStatus, may_follow};

use super::{AuditedAct, Beyond, Clash, Exported, Form, Numbering, Pushed, Restored, States, UsedId, When};
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
    }),
    parent: None,
    may_be_deleted: None,
    append_only_lists: &[],
    number: Some(&NUMBER),
    printed: &["first_receipt_number", "last_receipt_number"],
    times: &["created_at", "opened_at", "closed_at"],
    day: Some("business_date"),
    complete: None,
    movements: None,
    charged: None,
    has_account: false,
    checks: None,
    awaited: &[],
    flags: None,
    restored: Some(Restored { registers: true }),
    exported: Some(Exported { amounts: &["expected_cash", "counted_cash", "cash_variance"], quantities: &[] }),
    acts: &[
        AuditedAct { when: When::Created, action: "session.open" },
        AuditedAct { when: When::Closed, action: "session.close" },
    ],
};
