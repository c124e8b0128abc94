//! The sales of every store, as they were pushed; nothing here writes.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::documents::business_dates;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec, Query};
use tillkeep_http::{Answer, Caller, Id, List};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::ReportsViewGlobal;
use tillkeep_storage::entity::sale::{Column, Entity, Model};
use tillkeep_storage::entity::{sale, sale_item, sale_payment};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, Select};
use utoipa::ToSchema;

use crate::Hq;
use crate::replica::Figures;
use crate::scope::{in_scope, named_store};
use crate::state::Routes;

/// What may be asked of the list.
pub const LIST: ListSpec = ListSpec {
    search: &[],
    filters: &["storeId", "receiptNumber", "customerId", "cashierUserId", "status", "saleType"],
    sort: &["completedAt", "businessDate", "receiptNumber", "totalAmount"],
};

/// The list of sales.
pub struct Sales;

impl Listing for Sales {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const MORE: &'static [(&'static str, More)] =
        &[("businessDateFrom", More::Date), ("businessDateTo", More::Date), ("flagged", More::Flag)];
}

/// A sale with its lines.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SaleDocument)]
pub struct SaleView {
    #[serde(flatten)]
    sale: Model,
    sale_items: Vec<sale_item::Model>,
    sale_payments: Vec<sale_payment::Model>,
}

/// `GET /sales`: the newest first, without their lines.
pub async fn list(
    caller: Caller<ReportsViewGlobal>,
    State(hq): State<Arc<Hq>>,
    Lists { mut query, .. }: Lists<Sales>,
) -> Result<Figures<List<Model>>> {
    named_store(&caller, &query)?;
    let select = narrowed(&mut query, in_scope(&caller, Entity::find(), Column::StoreId))?;
    hq.figures(|conn| {
        let (query, select) = (&query, select.clone());
        async move { resource::list(&conn, &LIST, query, select).await }
    })
    .await
}

/// What only this list takes, out of `query`; the newest first, unless it says otherwise.
pub fn narrowed(query: &mut Query, mut select: Select<Entity>) -> Result<Select<Entity>> {
    query.entry("sort".to_owned()).or_insert_with(|| "-completedAt".to_owned());
    select = business_dates::<Entity>(query, Column::BusinessDate, select)?;
    if let Some(flagged) = query.remove("flagged") {
        select = match flagged.as_str() {
            "true" => select.filter(sale::is_flagged(true)),
            "false" => select.filter(sale::is_flagged(false)),
            _ => return Err(Error::field("flagged", "must be true or false")),
        };
    }
    Ok(select)
}

/// `GET /sales/{id}`
pub async fn get(caller: Caller<ReportsViewGlobal>, Id(id): Id) -> Result<Answer<SaleView>> {
    let conn = caller.snapshot().await?;
    let found = in_scope(&caller, Entity::find_by_id(id), Column::StoreId).one(&conn).await?;
    let sale = found.ok_or_else(|| Error::new(ErrorCode::SaleNotFound, "sale not found"))?;
    let sale_items = sale_item::Entity::find()
        .filter(sale_item::Column::SaleId.eq(id))
        .order_by_asc(sale_item::Column::LineNo)
        .all(&conn)
        .await?;
    let sale_payments = sale_payment::Entity::find()
        .filter(sale_payment::Column::SaleId.eq(id))
        .order_by_asc(sale_payment::Column::LineNo)
        .all(&conn)
        .await?;
    Ok(Answer(SaleView { sale, sale_items, sale_payments }))
}

/// The routes of sales.
pub fn routes(routes: Routes) -> Routes {
    routes
        .get("/sales", list)
        .about("List the sales of all stores.")
        .get("/sales/{id}", get)
        .about("One sale with its lines and payments.")
        .fails(&[ErrorCode::SaleNotFound])
}
