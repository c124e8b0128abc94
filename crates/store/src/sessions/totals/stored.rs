//! The reports of closed drawers as their closes stored them, in this release or an earlier one.

use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tillkeep_model::state::SessionStatus;
use tillkeep_model::z::{Stored, ZReport};
use tillkeep_storage::entity::register_session;
use tillkeep_storage::sea_orm::ConnectionTrait;

use super::header;

/// Those of `sessions`, in their order; 409 when one of them is not closed. Earlier releases stored no header: it is made of the
/// session.
pub(crate) async fn stored(conn: &impl ConnectionTrait, sessions: &[register_session::Model]) -> Result<Vec<ZReport>> {
    let mut reports: Vec<ZReport> = sessions.iter().map(read).collect::<Result<_>>()?;
    header::name(conn, reports.iter_mut()).await?;
    Ok(reports)
}

fn read(session: &register_session::Model) -> Result<ZReport> {
    let totals = session.totals.as_ref().filter(|_| session.status == SessionStatus::Closed);
    let totals = totals.ok_or_else(|| {
        let text = "this drawer is not closed; look at it with GET /reports/x, or close it";
        Error::new(ErrorCode::SessionOpen, text).with("sessionId", session.id)
    })?;
    let known = Stored {
        running_total: session.running_total,
        counted_cash: session.counted_cash,
        cash_variance: session.cash_variance,
    };
    let mut report = ZReport::read(totals, known)?;
    if report.header.session_id.is_none() {
        report.header = session.header();
    }
    Ok(report)
}
