//! The report of a drawer at its close: the figures that were loaded in the same transaction, with the count and whoever closed it.

use serde::Deserialize;
use serde_json::Value as Json;
use tillkeep_http::error::Result;
use tillkeep_model::AlarmCode;
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::z::{Denomination, ZReport, identities};
use tillkeep_storage::entity::{register_session, tender};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use uuid::Uuid;

use super::header;
use crate::Store;

/// `report`, which [`super::Totals::load`] made in this transaction, as `session` keeps it. For a session that has everything of its
/// close but this: who closed it and when, and what was counted.
pub(crate) async fn settle(
    conn: &impl ConnectionTrait,
    session: &register_session::Model,
    mut report: ZReport,
) -> Result<ZReport> {
    report.cash.counted = session.counted_cash;
    report.cash.variance = session.cash_variance;
    // After a close by force what was counted before is not what was in the drawer.
    let counts = session.counts.as_ref().filter(|_| session.counted_cash.is_some());
    report.cash.denominations = match counts {
        Some(counts) => denominations(conn, &counts.0).await?,
        None => Vec::new(),
    };
    report.header = session.header();
    header::name(conn, std::iter::once(&mut report)).await?;
    let is_known = report.flags.iter().any(|flag| flag == ZReport::DOES_NOT_ADD_UP);
    if !is_known && !identities(&report, false).is_empty() {
        report.flags.push(ZReport::DOES_NOT_ADD_UP.to_owned());
    }
    Ok(report)
}

/// Once its close is committed: raises the alarm of a drawer that does not add up, and ends that of its register with the next one
/// that does.
pub(crate) fn tell(store: &Store, session: &register_session::Model) {
    let totals = session.totals.as_ref().map_or(&Json::Null, |totals| &totals.0);
    let mut flags = totals["flags"].as_array().into_iter().flatten();
    if flags.any(|flag| *flag == ZReport::DOES_NOT_ADD_UP) {
        tracing::error!(session = %session.id, "the figures of a drawer do not add up; it is closed, and says so");
        store.raise_alarm(AlarmCode::DrawerDoesNotAddUp, &session.register_code);
    } else {
        store.end_alarm(AlarmCode::DrawerDoesNotAddUp, &session.register_code);
    }
}

/// The coins and notes of the cash among `counts`.
async fn denominations(conn: &impl ConnectionTrait, counts: &Json) -> Result<Vec<Denomination>> {
    let counted = counts.as_array().into_iter().flatten().filter(|row| !row["denominations"].is_null());
    let counted: Vec<(Uuid, &Json)> =
        counted.filter_map(|row| Some((Uuid::deserialize(&row["tenderId"]).ok()?, &row["denominations"]))).collect();
    if counted.is_empty() {
        return Ok(Vec::new());
    }
    // A tender that was deleted that day is one still.
    let cash = tender::Entity::find().filter(tender::Column::Kind.eq(TenderKind::Cash.word()));
    let cash: Vec<Uuid> = cash.select_only().column(tender::Column::Id).into_tuple().all(conn).await?;
    let of_cash = counted.into_iter().filter(|(tender, _)| cash.contains(tender));
    Ok(of_cash.flat_map(|(_, list)| Vec::<Denomination>::deserialize(list).unwrap_or_default()).collect())
}
