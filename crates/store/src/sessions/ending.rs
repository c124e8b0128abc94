//! The end of a drawer, counted or by force: its figures are taken in the transaction that ends its selling.

use tillkeep_http::error::Result;
use tillkeep_model::state::SessionStatus;
use tillkeep_model::z::ZReport;
use tillkeep_model::{Instant, JsonText};
use tillkeep_storage::entity::register_session::Model;
use tillkeep_storage::sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::totals::{documents, settle};

/// Closes `session`, of which what was counted is noted already, with the figures of `report`; its Z.
pub(super) async fn end(
    conn: &impl ConnectionTrait,
    session: &mut Model,
    report: ZReport,
    (closed_by, now): (Uuid, Instant),
) -> Result<ZReport> {
    session.status = SessionStatus::Closed.into();
    (session.closed_by, session.closed_at) = (Some(closed_by), Some(now));
    (session.updated_at, session.synced) = (now, false);
    session.expected_cash = Some(report.expected_cash);
    session.running_total = Some(report.running_total.after);
    session.first_receipt_number.clone_from(&report.first_receipt_number);
    session.last_receipt_number.clone_from(&report.last_receipt_number);
    session.sale_count = Some(documents(&report));
    let report = settle(conn, session, report).await?;
    session.totals = Some(JsonText::new(&report));
    Ok(report)
}
