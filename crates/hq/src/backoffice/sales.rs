//! The sales of every store, as they were pushed; nothing here writes.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::documents::business_dates;
use tillkeep_http::documents::csv::{self, Cell, Csv, Listed};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec, Parts, Query};
use tillkeep_http::{Answer, Caller, Id, Params, Summed};
use tillkeep_model::calendar::Calendar;
use tillkeep_model::fields::shape::exponent;
use tillkeep_model::{ErrorCode, Money};
use tillkeep_storage::entity::sale::{Column, Entity, Model};
use tillkeep_storage::entity::{sale, store};
use tillkeep_storage::reports::listed::{self, Sums};
use tillkeep_storage::sea_orm::{ConnectionTrait, EntityTrait, QueryFilter, Select};
use tillkeep_storage::{DbErr, Transaction};
use utoipa::ToSchema;
use uuid::Uuid;

use super::choices::{self, Choices};
use super::files;
use super::sale_documents::{self, SaleView};
use crate::Hq;
use crate::replica::Figures;
use crate::scope::{OfReports, Views};
use crate::state::Routes;

/// What may be asked of the list.
pub const LIST: ListSpec = ListSpec {
    search: &[],
    filters: &["storeId", "registerCode", "receiptNumber", "customerId", "cashierUserId", "status", "saleType"],
    sort: &["completedAt", "businessDate", "receiptNumber", "totalAmount"],
};

/// The list of sales.
pub struct Sales;

impl Listing for Sales {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const LONG: bool = true;
    const MORE: &'static [(&'static str, More)] = &[
        ("businessDateFrom", More::Date),
        ("businessDateTo", More::Date),
        ("tenderCode", More::Text),
        ("flagged", More::Flag),
        ("sums", More::Flag),
        ("format", More::Format),
    ];
}

/// What all listed documents of one currency come to, and not those of the page alone. Amounts of those that were voided are in
/// none of them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SalesSum)]
pub struct Sum {
    currency_code: String,
    currency_exponent: i16,
    /// Sales, refunds and payments on accounts that were not voided.
    count: i64,
    refund_count: i64,
    voided_count: i64,
    net_amount: Money,
    tax_amount: Money,
    total_amount: Money,
    /// What was taken beside the total because cash was rounded.
    cash_rounding: Money,
    /// Of the total what refunds gave back, below zero.
    refund_amount: Money,
}

impl Sum {
    fn new(sums: Sums, stores: &Stores) -> Self {
        Self {
            currency_exponent: stores.exponent(&sums.currency_code),
            currency_code: sums.currency_code,
            count: sums.count,
            refund_count: sums.refunds,
            voided_count: sums.voided,
            net_amount: sums.net,
            tax_amount: sums.tax,
            total_amount: sums.total,
            cash_rounding: sums.cash_rounding,
            refund_amount: sums.refunded,
        }
    }
}

/// `GET /sales`: the newest first, without their lines, on demand with what all of them come to; as a file all of them.
pub async fn list(
    caller: Caller<Views>,
    State(hq): State<Arc<Hq>>,
    Lists { mut query, .. }: Lists<Sales>,
) -> Result<Figures<Listed<Summed<Model, Sum>>>> {
    let as_file = csv::wanted(&mut query)?;
    let adds_up = summed(&mut query)?;
    let asked = as_file.then(|| query.clone());
    let store = query.get("storeId").and_then(|id| id.parse().ok());
    let scope = OfReports::sales(&caller).await?.narrowed(store)?;
    let tender = tender(&mut query)?;
    // With anything else that is asked for, or out of sight, fewer sales are meant than were paid so.
    let is_alone = scope.stores().is_none() && query.keys().all(|key| PLACES.contains(&key.as_str()));
    let select = narrowed(&mut query, scope.cut(Entity::find(), Column::StoreId))?;
    let found = hq
        .figures(|conn| {
            let (query, mut select, tender) = (&query, select.clone(), tender.as_deref());
            async move {
                // The page, the sums and each part of a file are of one moment.
                let conn = conn.begin().await?;
                let mut known = None;
                if let Some(code) = tender {
                    let is_rare = listed::is_rare(&conn, code).await?;
                    select = listed::paid_with(select, code, is_rare);
                    if is_alone && !is_rare && !as_file {
                        known = Some(listed::count_paid_with(&conn, code).await?);
                    }
                }
                if as_file {
                    return file(&conn, query, select, &Stores::load(&conn).await?).await.map(Listed::File);
                }
                let list = resource::counted_list(&conn, &LIST, query, select.clone(), known).await?;
                let mut sums = Vec::new();
                if adds_up {
                    let all = resource::narrowed(&LIST, query, select)?;
                    let stores = Stores::load(&conn).await?;
                    sums.extend(listed::sums(&conn, all).await?.into_iter().map(|sums| Sum::new(sums, &stores)));
                }
                Ok(Listed::Json(Summed { list, sums }))
            }
        })
        .await?;
    if let Some(asked) = asked {
        files::kept(&caller, "sales.export", &asked).await?;
    }
    Ok(found)
}

/// What of a request says which part of the list is meant, and not which sales.
const PLACES: [&str; 4] = ["page", "pageSize", "cursor", "sort"];

/// The tender that the list is narrowed to.
fn tender(query: &mut Query) -> Result<Option<String>> {
    let code = query.remove("tenderCode");
    if let Some(code) = &code {
        resource::check_value("tenderCode", code)?;
    }
    Ok(code)
}

/// `sums=true`: to add up all that is listed takes a look at each of them, which a page of it does not.
fn summed(query: &mut Query) -> Result<bool> {
    resource::take_flag(query, "sums")
}

/// As much of stores as sales are shown with.
struct Stores {
    by_id: HashMap<Uuid, store::Model>,
}

impl Stores {
    async fn load(conn: &impl ConnectionTrait) -> Result<Self, DbErr> {
        let rows = store::Entity::find().all(conn).await?;
        Ok(Self { by_id: rows.into_iter().map(|row| (row.id, row)).collect() })
    }

    /// Decimals of a currency, as the stores that sell in it have them.
    fn exponent(&self, currency_code: &str) -> i16 {
        let of_store = self.by_id.values().find(|store| store.currency_code == currency_code);
        of_store.map(|store| store.currency_exponent).or_else(|| exponent(currency_code)).unwrap_or(2)
    }
}

/// The columns of a file; `docs/api.md` says what stands in them.
const COLUMNS: [&str; 22] = [
    "storeCode",
    "storeName",
    "registerCode",
    "receiptNumber",
    "saleType",
    "status",
    "businessDate",
    "localTime",
    "completedAt",
    "cashierName",
    "customerName",
    "originalReceiptNumber",
    "currencyCode",
    "listAmount",
    "discountAmount",
    "netAmount",
    "taxAmount",
    "totalAmount",
    "cashRounding",
    "refundedAmount",
    "voidReason",
    "id",
];

/// All that the list means, in its order.
async fn file(conn: &Transaction, query: &Query, select: Select<Entity>, stores: &Stores) -> Result<Csv> {
    let mut parts = Parts::new(&LIST, query, select, csv::CHUNK)?;
    csv::fits(parts.count(conn).await?)?;
    let mut file = Csv::new("sales", &COLUMNS);
    loop {
        let rows = parts.next(conn).await?;
        if rows.is_empty() {
            return Ok(file);
        }
        for sale in &rows {
            file.row(&cells(sale, stores));
        }
    }
}

fn cells<'a>(sale: &'a Model, stores: &'a Stores) -> [Cell<'a>; COLUMNS.len()] {
    let store = stores.by_id.get(&sale.store_id);
    let exponent = store.map_or_else(|| stores.exponent(&sale.currency_code), |store| store.currency_exponent);
    let calendar = store.map(|store| Calendar::new(&store.timezone, &store.business_day_start));
    let local = calendar.map(|calendar| calendar.wall_clock(sale.completed_at).format("%Y-%m-%d %H:%M:%S").to_string());
    let discounts = [sale.special_discount, sale.line_discount, sale.cart_discount];
    let discount = Money::from_wide(discounts.iter().map(|discount| i128::from(discount.0)).sum());
    let money = |amount: Money| Cell::money(amount, exponent);
    [
        Cell::text(store.map(|store| store.code.as_str())),
        Cell::text(store.map(|store| store.name.as_str())),
        Cell::Text(&sale.register_code),
        Cell::Text(&sale.receipt_number),
        Cell::Text(&sale.sale_type),
        Cell::Text(&sale.status),
        Cell::Text(&sale.business_date),
        local.map_or(Cell::Nothing, Cell::Plain),
        Cell::instant(sale.completed_at),
        Cell::Text(&sale.cashier_name),
        Cell::text(sale.customer_name.as_deref()),
        Cell::text(sale.original_receipt_number.as_deref()),
        Cell::Text(&sale.currency_code),
        money(sale.list_amount),
        money(discount),
        money(sale.net_amount),
        money(sale.tax_amount),
        money(sale.total_amount),
        money(sale.cash_rounding),
        money(sale.refunded_amount),
        Cell::text(sale.void_reason.as_deref()),
        Cell::id(sale.id),
    ]
}

/// `GET /sales/choices`: what a list of sales can be narrowed to.
async fn choose(caller: Caller<Views>, Params(query): Params<choices::Query>) -> Result<Answer<Choices>> {
    let scope = OfReports::sales(&caller).await?.narrowed(query.store_id)?;
    choices::load(&caller, &scope).await.map(Answer)
}

/// What only this list takes, out of `query`; the newest first, unless it says otherwise.
pub fn narrowed(query: &mut Query, mut select: Select<Entity>) -> Result<Select<Entity>> {
    query.entry("sort".to_owned()).or_insert_with(|| "-completedAt".to_owned());
    // Whoever knows the number is not led along all that are of that status.
    let by_number = query.contains_key("receiptNumber");
    for (key, column, most) in [("status", "status", "completed"), ("saleType", "sale_type", "sale")] {
        if !by_number && query.get(key).is_some_and(|value| value != most) {
            select = listed::unlike_most(select, column, most);
        }
    }
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
pub async fn get(caller: Caller<Views>, Id(id): Id) -> Result<Answer<SaleView>> {
    let scope = OfReports::sales(&caller).await?;
    let conn = caller.snapshot().await?;
    let found = scope.cut(Entity::find_by_id(id), Column::StoreId).one(&conn).await?;
    let shown = sale_documents::load(&conn, found.into_iter().collect(), |store| scope.contains(store)).await?;
    let missing = || Error::new(ErrorCode::SaleNotFound, "sale not found");
    shown.into_iter().next().map(Answer).ok_or_else(missing)
}

/// The routes of sales.
pub fn routes(routes: Routes) -> Routes {
    routes
        .get("/sales", list)
        .about("List the sales of the stores whose reports the caller sees, with `sums=true` also what all that are listed come to; as JSON or as a file.")
        .get("/sales/choices", choose)
        .about("The stores, registers, cashiers and tenders that a list of sales can be narrowed to.")
        .get("/sales/{id}", get)
        .about("One sale with its lines and payments, and what was given back of it.")
        .fails(&[ErrorCode::SaleNotFound])
}
