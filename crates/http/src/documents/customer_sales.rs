//! What a customer bought, paid and brought back, as far as this server knows of it: a store its own documents, headquarters
//! those of all stores.

use std::collections::HashMap;

use serde::Serialize;
use tillkeep_model::Money;
use tillkeep_model::permission::Requirement;
use tillkeep_model::state::SessionStatus;
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::{customer, register_session, sale, store};
use tillkeep_storage::reports::bought::{self, Bought};
use tillkeep_storage::sea_orm::sea_query::{Expr, ExprTrait, Query as SubQuery};
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use utoipa::ToSchema;
use uuid::Uuid;

use super::business_dates;
use super::sales::ListedSale;
use crate::Summed;
use crate::auth::Caller;
use crate::describe::{Listing, Lists, More};
use crate::error::{Error, Result};
use crate::extract::Id;
use crate::resource::{self, ListSpec};

/// What may be asked of the list.
pub const LIST: ListSpec = ListSpec {
    search: &[],
    filters: &["storeId", "receiptNumber", "status", "saleType"],
    sort: &["completedAt", "businessDate", "receiptNumber", "totalAmount"],
};

/// The list of what a customer bought.
pub struct CustomerSales;

impl Listing for CustomerSales {
    type Row = sale::Entity;
    const SPEC: ListSpec = LIST;
    const LONG: bool = true;
    const MORE: &'static [(&'static str, More)] = &[("businessDateFrom", More::Date), ("businessDateTo", More::Date)];
}

/// Who may know what is in a drawer that is still open where it is closed blind: whoever closes one, and whoever is shown all
/// sales anyway.
static SEE_OPEN_DRAWERS: &[&str] =
    &["registers.close", "reports.z_report", "reports.view_local", "reports.view_global"];

/// Who may know how sales were paid where drawers are closed blind: whoever closes one, and whoever reads the sales of the chain.
pub static KNOW_PAYMENTS: &[&str] = &["registers.close", "reports.z_report", "reports.view_global"];

/// A sale, refund or settlement with the code of its store.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SaleOfCustomer {
    store_code: String,
    #[serde(flatten)]
    sale: ListedSale,
}

/// What all documents of one kind come to that were not voided, whatever the list was narrowed to.
#[derive(Serialize, ToSchema)]
#[schema(as = BoughtSum)]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    currency_code: String,
    sale_type: String,
    count: i64,
    /// Negative of refunds.
    total_amount: Money,
}

impl From<Bought> for Sum {
    fn from(Bought { currency_code, sale_type, count, total }: Bought) -> Self {
        Self { currency_code, sale_type, count, total_amount: total }
    }
}

/// `GET /customers/{id}/sales`: the newest first.
pub async fn list<P: Requirement>(
    caller: Caller<P>,
    Id(id): Id,
    Lists { mut query, .. }: Lists<CustomerSales>,
) -> Result<Summed<SaleOfCustomer, Sum>> {
    if let Some(store) = query.get("storeId").and_then(|id| id.parse().ok()) {
        caller.at_store(store)?;
    }
    query.entry("sort".to_owned()).or_insert_with(|| "-completedAt".to_owned());
    let conn = caller.snapshot().await?;
    let stores = stores(&conn).await?;
    let all = sale::Entity::find()
        .filter(sale::Column::CustomerId.is_in(bought::same_customer(&conn, id).await?))
        .filter(in_sight(&caller, &stores));
    let select = business_dates::<sale::Entity>(&mut query, sale::Column::BusinessDate, all.clone())?;
    let list = resource::long_list(&conn, &LIST, &query, select).await?;
    let found = customer::Entity::find_by_id(id).filter(customer::Column::DeletedAt.is_null()).one(&conn).await?;
    if found.is_none() {
        return Err(Error::not_found("customer"));
    }
    let sums = bought::sums(&conn, all).await?;
    let shown = |sale: sale::Model| {
        let store_code = stores.get(&sale.store_id).map(|store| store.code.clone()).unwrap_or_default();
        let is_told = is_told(&caller, &stores, sale.store_id);
        SaleOfCustomer { store_code, sale: ListedSale::new(sale, is_told) }
    };
    Ok(Summed { list: list.map(shown), sums: sums.into_iter().map(Sum::from).collect() })
}

/// Whether the caller is told how what `store` sold was paid.
fn is_told<P: Requirement>(caller: &Caller<P>, stores: &HashMap<Uuid, Shop>, store: Uuid) -> bool {
    let is_blind = stores.get(&store).is_none_or(|shop| shop.blind_close);
    !is_blind || caller.access.may(KNOW_PAYMENTS, Some(store))
}

/// As much of a store as decides what is shown of it.
struct Shop {
    code: String,
    blind_close: bool,
}

async fn stores(conn: &impl ConnectionTrait) -> Result<HashMap<Uuid, Shop>, DbErr> {
    use store::Column;
    let columns = [Column::Id, Column::Code, Column::BlindClose];
    let rows: Vec<(Uuid, String, bool)> =
        store::Entity::find().select_only().columns(columns).into_tuple().all(conn).await?;
    Ok(rows.into_iter().map(|(id, code, blind_close)| (id, Shop { code, blind_close })).collect())
}

/// The sales of the stores where the caller sees customers. What lies in a drawer that is still open would tell what must
/// not be known before it is counted.
fn in_sight<P: Requirement>(caller: &Caller<P>, stores: &HashMap<Uuid, Shop>) -> Condition {
    let here = caller.stores().map(|ids| sale::Column::StoreId.is_in(ids));
    let open = |(id, shop): (&Uuid, &Shop)| {
        (!shop.blind_close || caller.access.may(SEE_OPEN_DRAWERS, Some(*id))).then_some(*id)
    };
    let known: Vec<Uuid> = stores.iter().filter_map(open).collect();
    let closed = SubQuery::select()
        .column(register_session::Column::Id)
        .from(register_session::Entity)
        // Looked up for each sale: there are few of a customer, and many drawers.
        .and_where(
            Expr::col((register_session::Entity, register_session::Column::Id))
                .eq(Expr::col((sale::Entity, sale::Column::RegisterSessionId))),
        )
        .and_where(register_session::Column::Status.eq(SessionStatus::Closed.word()))
        .to_owned();
    let told = Condition::any()
        .add(sale::Column::StoreId.is_in(known))
        .add(sale::Column::RegisterSessionId.in_subquery(closed));
    Condition::all().add_option(here).add(told)
}
