//! The drawers that a ZZ takes, and what they come to.

use tillkeep_http::error::Result;
use tillkeep_model::JsonText;
use tillkeep_model::state::SessionStatus;
use tillkeep_model::z::{self, Gap, ZRow, ZzReport};
use tillkeep_storage::entity::register_session::{Column, Entity, Model as Session};
use tillkeep_storage::entity::zz_report;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, Select};
use uuid::Uuid;

use crate::sessions::totals::stored;

/// The closed drawers of a register, by its code, or of the store, the oldest one first.
pub(super) fn of_range(store: Uuid, register: Option<&str>) -> Select<Entity> {
    let mut select = Entity::find().filter(Column::StoreId.eq(store));
    if let Some(code) = register {
        select = select.filter(Column::RegisterCode.eq(code));
    } else {
        select = select.order_by_asc(Column::BusinessDate);
    }
    let closed = select.filter(Column::Status.eq(SessionStatus::Closed.word())).filter(Column::Totals.is_not_null());
    closed.order_by_asc(Column::RegisterCode).order_by_asc(Column::SessionNumber)
}

/// The report of `sessions`; what is missing `before` them is named.
pub(super) async fn added_up(conn: &impl ConnectionTrait, sessions: &[Session], before: Vec<Gap>) -> Result<ZzReport> {
    let reports = stored(conn, sessions).await?;
    let rows: Vec<ZRow> = sessions.iter().zip(reports).map(|(session, report)| session.z_row(report)).collect();
    let mut report = z::zz(&rows);
    report.gaps.splice(..0, before);
    Ok(report)
}

/// The row of a ZZ of `sessions`, without who made it and when.
pub(super) fn row(
    sessions: &[Session],
    (register_id, register_code): (Option<Uuid>, Option<String>),
    zz_number: i32,
    report: &ZzReport,
) -> zz_report::Model {
    let dates = || sessions.iter().map(|session| session.business_date.as_str());
    let is_of_one = register_id.is_some();
    let numbers = || sessions.iter().map(|session| session.session_number).filter(move |_| is_of_one);
    zz_report::Model {
        register_id,
        register_code,
        zz_number,
        from_session_number: numbers().min(),
        to_session_number: numbers().max(),
        from_date: dates().min().unwrap_or_default().to_owned(),
        to_date: dates().max().unwrap_or_default().to_owned(),
        totals: JsonText::new(report),
        ..zz_report::Model::default()
    }
}
