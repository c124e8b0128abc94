//! The reports of several drawers: of one register, or of a whole store, which numbers its own. None of them travels: each drawer
//! says in which it is, and the sums are reckoned from the reports of the drawers.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tillkeep_http::documents::drawers::MAY_CLOSE;
use tillkeep_http::documents::papers::{Form, Paper};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::TwoSegments;
use tillkeep_http::{Caller, List, Paging, Params};
use tillkeep_model::Money;
use tillkeep_model::permission::code::ReportsZzReport;
use tillkeep_model::z::{ZRow, ZzReport, zz};
use tillkeep_storage::reports::closed_drawers::{self, Wanted, Zz};
use tillkeep_storage::zz_reports;
use utoipa::ToSchema;
use uuid::Uuid;

use super::closed::{Named, z_row};
use super::paper::{self, Asked};
use crate::Hq;
use crate::replica::Figures;
use crate::scope::OfReports;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ZzListQuery)]
pub(super) struct ListQuery {
    /// Of this store alone.
    store_id: Option<Uuid>,
    /// Of this register alone; without it those of whole stores too.
    register_code: Option<String>,
    /// From 1.
    #[schema(minimum = 1, maximum = 1_000_000)]
    page: Option<u64>,
    #[schema(minimum = 1, maximum = 200)]
    page_size: Option<u64>,
}

/// A report of several drawers in a list.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ZzOfStore)]
pub(super) struct Row {
    store_id: Uuid,
    store_code: String,
    currency_code: String,
    currency_exponent: i16,
    /// Null of a report of the whole store.
    register_code: Option<String>,
    zz_number: i32,
    session_count: i64,
    /// Of one register.
    from_session_number: Option<i32>,
    to_session_number: Option<i32>,
    from_date: String,
    to_date: String,
    /// Drawers that were closed without a count.
    forced_count: i64,
    /// Counted less expected cash, all together.
    cash_variance: Money,
    /// The same without signs: what is over hides nothing that is short.
    cash_variance_absolute: Money,
}

impl Row {
    fn new(found: Zz, names: &Named) -> Self {
        let (currency_code, currency_exponent) = names.currency(found.store);
        Self {
            store_id: found.store,
            store_code: names.store_code(found.store),
            currency_code,
            currency_exponent,
            register_code: found.register_code,
            zz_number: found.number,
            session_count: found.sums.closes,
            from_session_number: found.sessions.map(|(from, _)| from),
            to_session_number: found.sessions.map(|(_, to)| to),
            from_date: found.from_date,
            to_date: found.to_date,
            forced_count: found.sums.forced,
            cash_variance: found.sums.variance(),
            cash_variance_absolute: found.sums.absolute(),
        }
    }
}

/// Where the caller may see these reports: also what was expected in a drawer stands in them, which in a store that closes blind
/// is for those who may close.
async fn scope(caller: &Caller<ReportsZzReport>) -> Result<OfReports> {
    Ok(OfReports::of(caller).told(caller, MAY_CLOSE).await?)
}

/// `GET /reports/zz`: the newest first.
pub(super) async fn list(
    caller: Caller<ReportsZzReport>,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<ListQuery>,
) -> Result<Figures<List<Row>>> {
    let paging = Paging::new(query.page, query.page_size)?;
    let scope = scope(&caller).await?.narrowed(query.store_id)?;
    let wanted = Wanted { stores: scope.stores(), register_code: query.register_code.as_deref() };
    hq.figures(|conn| async move {
        let (found, total) = closed_drawers::zz_page(&conn, wanted, paging.size, paging.offset()).await?;
        let names = Named::load(&conn, found.iter().map(|zz| zz.store).collect(), BTreeSet::new()).await?;
        let rows = found.into_iter().map(|found| Row::new(found, &names)).collect();
        Ok(List::new(rows, total, paging))
    })
    .await
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ZzPaperQuery)]
pub(super) struct Query {
    /// Of this register; without it the one of the whole store.
    register_code: Option<String>,
    /// `json` when not said.
    format: Option<Form>,
    /// Of a text 32, 42 or 48 letters (42 when not said); of a page 58 or 80 mm (80 when not said).
    width: Option<u32>,
}

/// One report of several drawers.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ZzReportOfStore)]
pub(super) struct Shown {
    /// Always: the report itself came out at its store.
    copy: bool,
    store_id: Uuid,
    store_code: String,
    currency_code: String,
    currency_exponent: i16,
    /// Null of a report of the whole store.
    register_code: Option<String>,
    zz_number: i32,
    report: ZzReport,
}

/// `GET /reports/zz/{storeId}/{zzNumber}`
pub(super) async fn get(
    caller: Caller<ReportsZzReport>,
    State(hq): State<Arc<Hq>>,
    TwoSegments(store_id, number): TwoSegments,
    Params(query): Params<Query>,
) -> Result<Figures<Paper<Shown>>> {
    let none = || Error::not_found("report");
    let (store_id, zz_number) =
        (store_id.parse::<Uuid>().map_err(|_| none())?, number.parse::<i32>().map_err(|_| none())?);
    let form = query.format.unwrap_or_default();
    let asked = Asked { form, width: form.width(query.width)?, now: caller.now() };
    if !scope(&caller).await?.contains(store_id) {
        return Err(none());
    }
    let register_code = query.register_code.as_deref();
    hq.figures(|conn| async move {
        let sessions = closed_drawers::of_zz(&conn, store_id, register_code, zz_number).await?;
        let names = Named::of(&conn, &sessions).await?;
        let store = names.stores.get(&store_id).filter(|_| !sessions.is_empty()).ok_or_else(none)?;
        let rows: Vec<ZRow> = sessions.iter().map(|session| z_row(session, &names)).collect();
        let taken = zz_reports::taken_before(&conn, store_id, register_code, zz_number).await?;
        let mut report = zz(&rows);
        report.gaps.splice(..0, taken.gaps_before(&sessions));
        if form != Form::Json {
            return Ok(paper::of_zz(report, (zz_number, register_code), store, asked));
        }
        Ok(Paper::Json(Box::new(Shown {
            copy: true,
            store_id,
            store_code: store.code.clone(),
            currency_code: store.currency_code.clone(),
            currency_exponent: store.currency_exponent,
            register_code: register_code.map(str::to_owned),
            zz_number,
            report,
        })))
    })
    .await
}
