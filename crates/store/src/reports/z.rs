//! `GET /reports/z` and `GET /reports/z/{sessionId}`: what each close has stored. It is never computed again.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::documents::{business_dates, drawers, newest_first};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::{Caller, Id, List, Params};
use tillkeep_model::paper::ReportBody;
use tillkeep_model::permission::code::ReportsZReport;
use tillkeep_model::state::SessionStatus;
use tillkeep_model::z::ZReport;
use tillkeep_storage::entity::register_session::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use utoipa::ToSchema;
use uuid::Uuid;

use super::asked::Asked;
use crate::paper::Paper;
use crate::sessions::totals::stored;
use crate::{Store, printers};

const LIST: ListSpec = ListSpec {
    search: &[],
    filters: &["registerId", "registerCode", "businessDate", "zzNumber", "storeZzNumber"],
    sort: &["closedAt", "createdAt", "businessDate", "sessionNumber"],
};

/// The list of Z reports.
pub(super) struct Zs;

impl Listing for Zs {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const MORE: &'static [(&'static str, More)] = drawers::MORE;
}

/// The Z of one drawer.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Z {
    session_id: Uuid,
    register_id: Uuid,
    /// The ZZ of its register that has taken it.
    zz_number: Option<i32>,
    /// That of the store.
    store_zz_number: Option<i32>,
    /// How often it was printed besides the first time; nothing when it was not printed here. A list does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    copies: Option<i32>,
    #[serde(flatten)]
    report: ZReport,
}

impl Z {
    fn new(session: &Model, copies: Option<i32>, report: ZReport) -> Self {
        Self {
            session_id: session.id,
            register_id: session.register_id,
            zz_number: session.zz_number,
            store_zz_number: session.store_zz_number,
            copies,
            report,
        }
    }
}

pub(super) async fn list(
    caller: Caller<ReportsZReport>,
    State(store): State<Arc<Store>>,
    Lists { mut query, .. }: Lists<Zs>,
) -> Result<List<Z>> {
    newest_first(&mut query);
    let closed = Entity::find()
        .filter(Column::StoreId.eq(store.id))
        .filter(Column::Status.eq(SessionStatus::Closed.word()))
        .filter(Column::Totals.is_not_null());
    let closed = business_dates::<Entity>(&mut query, Column::BusinessDate, closed)?;
    let snapshot = caller.snapshot().await?;
    let (sessions, page): (Vec<Model>, _) = resource::list(&snapshot, &LIST, &query, closed).await?.split();
    let reports = stored(&snapshot, &sessions).await?;
    Ok(page.with(sessions.iter().zip(reports).map(|(session, report)| Z::new(session, None, report)).collect()))
}

/// A closed drawer with its report; 409 while it is open.
pub(super) async fn one(conn: &impl ConnectionTrait, id: Uuid) -> Result<(Model, ZReport)> {
    let session = Entity::find_by_id(id).one(conn).await?.ok_or_else(|| Error::not_found("register session"))?;
    let report = stored(conn, std::slice::from_ref(&session)).await?.pop();
    let report = report.ok_or_else(|| Error::not_found("register session"))?;
    Ok((session, report))
}

pub(super) async fn show(
    caller: Caller<ReportsZReport>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
    Params(asked): Params<Asked>,
) -> Result<Paper<Z>> {
    let shop = store.shop().await?;
    let snapshot = caller.snapshot().await?;
    let (session, report) = one(&snapshot, id).await?;
    let copies = printers::z_copies(&snapshot, id).await?;
    snapshot.commit().await?;
    let (own, now) = (shop.own()?, caller.now());
    // Whatever is looked at here is not the paper of the close, and nobody counts it.
    let copy = Some(0);
    let paper = |z: Z| printers::paper(own, now, copy, ReportBody::Z(Box::new(z.report)));
    asked.shown(Z::new(&session, copies, report), paper, own, shop.register(session.register_id))
}
