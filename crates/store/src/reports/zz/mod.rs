//! ZZ reports: all Z reports of a register, or of the store, since the last ZZ, added up once and stored. Nothing is reset but the
//! question what comes next.

mod make;
mod range;
mod rebuilt;

pub(super) use make::make;

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tillkeep_http::describe::{Listing, Lists};
use tillkeep_http::documents::newest_first;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::{Caller, Id, List, Params};
use tillkeep_model::Instant;
use tillkeep_model::paper::{ReportBody, ZzPaper};
use tillkeep_model::permission::code::ReportsZzReport;
use tillkeep_model::z::ZzReport;
use tillkeep_storage::entity::zz_report::{self, Entity, Model};
use tillkeep_storage::sea_orm::{ConnectionTrait, EntityTrait};
use utoipa::ToSchema;
use uuid::Uuid;

use super::asked::Asked;
use crate::act::record_of_row;
use crate::paper::Paper;
use crate::{Store, printers};

const LIST: ListSpec = ListSpec {
    search: &[],
    filters: &["registerId", "registerCode", "zzNumber"],
    sort: &["createdAt", "zzNumber", "fromDate", "toDate"],
};

/// The list of ZZ reports.
pub(super) struct Zzs;

impl Listing for Zzs {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
}

record_of_row!(zz_report, "a ZZ report");

/// A ZZ as it was made.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names on the wire")]
pub(super) struct Zz {
    id: Uuid,
    created_at: Instant,
    /// Nothing of the whole store.
    pub register_id: Option<Uuid>,
    register_code: Option<String>,
    zz_number: i32,
    /// Of a register: the numbers of its first and its last drawer.
    from_session_number: Option<i32>,
    to_session_number: Option<i32>,
    from_date: String,
    to_date: String,
    /// Nobody of one that was put together again after a database was lost.
    created_by: Option<Uuid>,
    totals: ZzReport,
}

impl Zz {
    fn of(row: Model) -> Result<Self> {
        Ok(Self {
            id: row.id,
            created_at: row.created_at,
            register_id: row.register_id,
            register_code: row.register_code,
            zz_number: row.zz_number,
            from_session_number: row.from_session_number,
            to_session_number: row.to_session_number,
            from_date: row.from_date,
            to_date: row.to_date,
            created_by: Some(row.created_by).filter(|user| !user.is_nil()),
            totals: ZzReport::deserialize(&row.totals.0)?,
        })
    }

    /// On paper.
    pub(super) fn body(self) -> ReportBody {
        ReportBody::Zz(Box::new(ZzPaper {
            zz_number: self.zz_number,
            register_code: self.register_code,
            from_date: self.from_date,
            to_date: self.to_date,
            report: self.totals,
        }))
    }
}

pub(super) async fn list(
    caller: Caller<ReportsZzReport>,
    State(store): State<Arc<Store>>,
    Lists { mut query, .. }: Lists<Zzs>,
) -> Result<List<Zz>> {
    rebuilt::run(&store).await?;
    newest_first(&mut query);
    let (rows, page): (Vec<Model>, _) = resource::list(caller.reader(), &LIST, &query, Entity::find()).await?.split();
    Ok(page.with(rows.into_iter().map(Zz::of).collect::<Result<_>>()?))
}

pub(super) async fn one(conn: &impl ConnectionTrait, id: Uuid) -> Result<Zz> {
    let row = Entity::find_by_id(id).one(conn).await?;
    Zz::of(row.ok_or_else(|| Error::not_found("ZZ report"))?)
}

pub(super) async fn show(
    caller: Caller<ReportsZzReport>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
    Params(asked): Params<Asked>,
) -> Result<Paper<Zz>> {
    rebuilt::run(&store).await?;
    let shop = store.shop().await?;
    let zz = one(caller.reader(), id).await?;
    let (own, now, register) = (shop.own()?, caller.now(), zz.register_id.and_then(|id| shop.register(id)));
    asked.shown(zz, |zz| printers::paper(own, now, None, zz.body()), own, register)
}
