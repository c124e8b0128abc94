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
}

/// One business day of a store.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DayCompleteness)]
pub struct Day {
    pub business_date: String,
    pub verdict: Verdict,
    /// `receipts_missing`, `receipts_lost`, `sessions_lost`, `receipts_twice`, `sessions_missing`, `session_unknown`, `totals_differ`, `session_open`,
    /// `store_has_pending`, `nothing_received`; for a single day those of the outbox too.
    pub reasons: Vec<&'static str>,
    pub receipt_count: usize,
    pub missing_receipt_count: i64,
    pub session_count: usize,
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
