//! What belongs to a sale and is a document of its own: its refunds, wherever they were made, and the other half of an exchange.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use tillkeep_model::{Instant, Money, Qty};
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::sale::{Column, Entity, Model};
use tillkeep_storage::entity::{sale_item, store};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use utoipa::ToSchema;
use uuid::Uuid;

/// A refund of a sale: its amounts are negative, as in its document.
#[derive(Serialize, ToSchema)]
#[schema(as = RefundOfSale)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Refund {
    id: Uuid,
    receipt_number: String,
    pub(super) store_id: Uuid,
    store_code: String,
    store_name: String,
    business_date: String,
    completed_at: Instant,
    cashier_user_id: Uuid,
    cashier_name: String,
    status: String,
    total_amount: Money,
    lines: Vec<Line>,
}

/// What of a line came back.
#[derive(Serialize, ToSchema)]
#[schema(as = RefundedLine)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Line {
    /// None of what was not in the sale.
    original_sale_item_id: Option<Uuid>,
    product_name: String,
    /// Negative, as in its document.
    quantity: Qty,
    total_amount: Money,
    /// Whether it went back to the shelf.
    restock: Option<bool>,
    return_reason: Option<String>,
}

impl From<sale_item::Model> for Line {
    fn from(item: sale_item::Model) -> Self {
        Self {
            original_sale_item_id: item.original_sale_item_id,
            product_name: item.product_name,
            quantity: item.quantity,
            total_amount: item.total_amount,
            restock: item.restock,
            return_reason: item.return_reason,
        }
    }
}

/// The other document of an exchange.
#[derive(Serialize, ToSchema)]
#[schema(as = ExchangeHalf)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Half {
    id: Uuid,
    receipt_number: String,
    sale_type: String,
    total_amount: Money,
}

/// The refunds of each of these sales, in the order they were made in.
pub(crate) async fn refunds(
    conn: &impl ConnectionTrait,
    sale_ids: &[Uuid],
) -> Result<HashMap<Uuid, Vec<Refund>>, DbErr> {
    let refunds = Entity::find()
        .filter(Column::OriginalSaleId.is_in(sale_ids.iter().copied()))
        .order_by_asc(Column::CompletedAt)
        .order_by_asc(Column::Id)
        .all(conn)
        .await?;
    if refunds.is_empty() {
        return Ok(HashMap::new());
    }
    let items = sale_item::Entity::find()
        .filter(sale_item::Column::SaleId.is_in(refunds.iter().map(|refund| refund.id)))
        .order_by_asc(sale_item::Column::LineNo)
        .all(conn)
        .await?;
    let mut lines: HashMap<Uuid, Vec<Line>> = HashMap::new();
    for item in items {
        lines.entry(item.sale_id).or_default().push(item.into());
    }
    let stores = stores(conn, &refunds).await?;
    let mut shown = |refund: Model| {
        let (store_code, store_name) = stores.get(&refund.store_id).cloned().unwrap_or_default();
        Refund {
            store_code,
            store_name,
            lines: lines.remove(&refund.id).unwrap_or_default(),
            id: refund.id,
            receipt_number: refund.receipt_number,
            store_id: refund.store_id,
            business_date: refund.business_date,
            completed_at: refund.completed_at,
            cashier_user_id: refund.cashier_user_id,
            cashier_name: refund.cashier_name,
            status: refund.status,
            total_amount: refund.total_amount,
        }
    };
    let mut found: HashMap<Uuid, Vec<Refund>> = HashMap::new();
    for refund in refunds {
        if let Some(original) = refund.original_sale_id {
            found.entry(original).or_default().push(shown(refund));
        }
    }
    Ok(found)
}

/// Codes and names of the stores where these were made.
async fn stores(conn: &impl ConnectionTrait, sales: &[Model]) -> Result<HashMap<Uuid, (String, String)>, DbErr> {
    use store::Column;
    let ids: BTreeSet<Uuid> = sales.iter().map(|sale| sale.store_id).collect();
    let rows: Vec<(Uuid, String, String)> = store::Entity::find()
        .select_only()
        .columns([Column::Id, Column::Code, Column::Name])
        .filter(Column::Id.is_in(ids))
        .into_tuple()
        .all(conn)
        .await?;
    Ok(rows.into_iter().map(|(id, code, name)| (id, (code, name))).collect())
}

/// The other half of each exchange that one of `sales` belongs to; nothing before it has arrived.
pub(crate) async fn other_halves(conn: &impl ConnectionTrait, sales: &[Model]) -> Result<HashMap<Uuid, Half>, DbErr> {
    let groups: BTreeSet<Uuid> = sales.iter().filter_map(|sale| sale.exchange_group_id).collect();
    if groups.is_empty() {
        return Ok(HashMap::new());
    }
    let all = Entity::find().filter(Column::ExchangeGroupId.is_in(groups)).order_by_asc(Column::Id).all(conn).await?;
    let other = |sale: &Model| {
        let group = sale.exchange_group_id?;
        let is_other = |half: &&Model| {
            half.exchange_group_id == Some(group) && half.store_id == sale.store_id && half.id != sale.id
        };
        let half = all.iter().find(is_other)?;
        Some((
            sale.id,
            Half {
                id: half.id,
                receipt_number: half.receipt_number.clone(),
                sale_type: half.sale_type.clone(),
                total_amount: half.total_amount,
            },
        ))
    };
    Ok(sales.iter().filter_map(other).collect())
}
