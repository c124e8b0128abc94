//! The reports of closed drawers, as their stores made them: nothing is reckoned again. Each that is shown here is a copy.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::documents::papers::{Form, Paper};
use tillkeep_http::documents::{business_dates, drawers};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::{Caller, Id, List, Params};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::ReportsZReport;
use tillkeep_model::state::SessionStatus;
use tillkeep_model::z::ZReport;
use tillkeep_storage::entity::register_session::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use utoipa::ToSchema;
use uuid::Uuid;

use super::closed::{Closed, Named};
use super::paper::{self, Asked};
use crate::Hq;
use crate::replica::Figures;
use crate::scope::OfReports;

/// What may be asked of the list.
const LIST: ListSpec = ListSpec {
    search: &[],
    filters: &["storeId", "registerId", "registerCode", "zzNumber", "storeZzNumber", "forced"],
    sort: &["businessDate", "closedAt", "sessionNumber", "cashVariance"],
};

/// The list of reports.
pub(super) struct Reports;

impl Listing for Reports {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const MORE: &'static [(&'static str, More)] = drawers::MORE;
}

/// `GET /reports/z`: the newest first.
pub(super) async fn list(
    caller: Caller<ReportsZReport>,
    State(hq): State<Arc<Hq>>,
    Lists { mut query, .. }: Lists<Reports>,
) -> Result<Figures<List<Closed>>> {
    let store = query.get("storeId").and_then(|id| id.parse::<Uuid>().ok());
    let scope = OfReports::of(&caller).narrowed(store)?;
    query.entry("sort".to_owned()).or_insert_with(|| "-businessDate,-closedAt".to_owned());
    let select = scope.cut(Entity::find(), Column::StoreId);
    let select = business_dates::<Entity>(&mut query, Column::BusinessDate, select)?
        .filter(Column::Status.eq(SessionStatus::Closed.word()))
        .filter(Column::Totals.is_not_null());
    hq.figures(|conn| {
        let (query, select) = (&query, select.clone());
        async move {
            let page = resource::list(&conn, &LIST, query, select).await?;
            let names = Named::of(&conn, &page.rows).await?;
            Ok(page.map(|row: Model| {
                let report = row.z_report().unwrap_or_default();
                Closed::new(row, &report, &names)
            }))
        }
    })
    .await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ReportPaperQuery)]
pub(super) struct Query {
    /// `json` when not said.
    format: Option<Form>,
    /// Of a text 32, 42 or 48 letters (42 when not said); of a page 58 or 80 mm (80 when not said).
    width: Option<u32>,
}

/// The report of one drawer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ZReportOfStore)]
pub(super) struct Shown {
    /// Always: the report itself came out of its till.
    copy: bool,
    #[serde(flatten)]
    drawer: Closed,
    report: ZReport,
}

/// `GET /reports/z/{sessionId}`
pub(super) async fn get(
    caller: Caller<ReportsZReport>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    Params(query): Params<Query>,
) -> Result<Figures<Paper<Shown>>> {
    let form = query.format.unwrap_or_default();
    let asked = Asked { form, width: form.width(query.width)?, now: caller.now() };
    let select = OfReports::of(&caller).cut(Entity::find_by_id(id), Column::StoreId);
    hq.figures(|conn| {
        let select = select.clone();
        async move {
            let session = select.one(&conn).await?.ok_or_else(|| Error::not_found("drawer"))?;
            if session.status != SessionStatus::Closed {
                let text = "this drawer is open: its store shows what it comes to so far, with GET /reports/x";
                return Err(Error::new(ErrorCode::SessionOpen, text));
            }
            let names = Named::of(&conn, std::slice::from_ref(&session)).await?;
            let report = names.report(&session).ok_or_else(|| Error::not_found("report of this drawer"))?;
            let store = names.stores.get(&session.store_id);
            if let (Form::Text | Form::Html, Some(store)) = (form, store) {
                return Ok(paper::of_z(report, store, asked));
            }
            let drawer = Closed::new(session, &report, &names);
            Ok(Paper::Json(Box::new(Shown { copy: true, drawer, report })))
        }
    })
    .await
}
