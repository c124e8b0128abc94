//! What is said of a business day.

use serde::{Deserialize, Serialize};
use tillkeep_model::Money;
use utoipa::ToSchema;
use uuid::Uuid;

use super::ranges::Range;

/// Whether everything is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = CompletenessVerdict)]
pub enum Verdict {
    Complete,
    Incomplete,
    /// The day goes on, or the store still has something to send.
    Open,
    /// The store was first heard of on a later day, or never.
    BeforeFirstStart,
}

/// What was sold in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
#[schema(as = SessionFigures)]
pub struct Figures {
    pub sale_count: i64,
    pub refund_count: i64,
    pub void_count: i64,
    pub net_amount: Money,
    pub tax_amount: Money,
    pub total_amount: Money,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionCompleteness)]
pub struct SessionState {
    pub id: Uuid,
    /// Null for a session that HQ knows only from its sales.
    pub session_number: Option<i32>,
    pub status: Option<String>,
    /// Sums of the sales that HQ has.
    pub received: Figures,
    /// As the close printed them; null before it.
    pub z_report: Option<Figures>,
    /// `received` less `zReport`.
    pub difference: Option<Figures>,
    /// What its cash movements come to; null before the close, and of a report of earlier releases, which knew of none.
    pub cash: Option<CashMoved>,
}

/// What the movements of a drawer come to, beside what its Z report says of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CashCompleteness)]
pub struct CashMoved {
    /// Of the movements that HQ has: paid in and added less paid out and dropped.
    pub received: Money,
    /// The same of the Z report.
    pub z_report: Money,
    /// `received` less `zReport`.
    pub difference: Money,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MissingReceipts)]
pub struct ReceiptRange {
    pub from: String,
    pub to: String,
    pub count: i64,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RegisterCompleteness)]
pub struct Register {
    /// A series with a letter (`02A`) is a line of its own.
    pub register_code: String,
    pub sessions: Vec<SessionState>,
    /// Session numbers since the last session before this day.
    pub missing_sessions: Vec<Range>,
    pub first_receipt_number: Option<String>,
    pub last_receipt_number: Option<String>,
    pub receipt_count: usize,
    /// Since the last receipt before this day, up to the last one that HQ has or a Z report names.
    pub missing_receipts: Vec<ReceiptRange>,
    /// Of the missing ones those that went with the store's database: it was restored, and the file of its last
    /// numbers knew of them.
    pub lost_receipts: Vec<ReceiptRange>,
    pub lost_sessions: Vec<Range>,
    /// Numbers that more than one sale has.
    pub receipts_twice: Vec<String>,
    /// Numbers of ZZ reports since the last one before this day, up to the last one that a drawer names, that no drawer names.
    pub missing_zz: Vec<Range>,
    /// Numbers of ZZ reports that drawers name again, after a later one.
    pub zz_twice: Vec<i64>,
}

/// One business day of a store.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DayCompleteness)]
pub struct Day {
    pub business_date: String,
    pub verdict: Verdict,
    /// `receipts_missing`, `receipts_lost`, `sessions_lost`, `receipts_twice`, `sessions_missing`, `session_unknown`, `totals_differ`, `cash_differs`, `zz_missing`, `zz_twice`, `session_open`,
    /// `store_has_pending`, `nothing_received`; for a single day those of the outbox too.
    pub reasons: Vec<&'static str>,
    pub receipt_count: usize,
    pub missing_receipt_count: i64,
    pub session_count: usize,
    /// Numbers of ZZ reports of the whole store that no drawer names, since the last one before this day.
    pub missing_store_zz: Vec<Range>,
    /// Only when one day was asked for.
    pub registers: Option<Vec<Register>>,
}

/// What headquarters knows of the store of which the days are judged.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoreContact<'a> {
    /// It still has something to send.
    pub pending: bool,
    /// The dates on which it was first and last heard of.
    pub first_seen: Option<&'a str>,
    pub last_seen: Option<&'a str>,
}
