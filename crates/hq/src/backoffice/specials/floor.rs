//! A special may go below the lowest price of a product; whoever makes it is asked whether that is meant.

use std::collections::BTreeMap;

use tillkeep_http::error::{Error, Result};
use tillkeep_http::shelf::special::of_row;
use tillkeep_model::fields::special::figures;
use tillkeep_model::pricing::Deal;
use tillkeep_model::{ErrorCode, Money};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::product_special::{Column, Model};
use tillkeep_storage::entity::{product, store_product};
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, EntityTrait, ModelTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

use super::shape::type_of;

/// How many products are named.
const NAMED: usize = 5;

pub(super) async fn check(tx: &Tx, old: Option<&Model>, row: &Model) -> Result<()> {
    const ASKED: [Column; 13] = [
        Column::Kind,
        Column::PercentBps,
        Column::Amount,
        Column::FixedPrice,
        Column::BuyQuantity,
        Column::GetQuantity,
        Column::GetDiscountBps,
        Column::BundleQuantity,
        Column::BundlePrice,
        Column::ProductId,
        Column::DepartmentId,
        Column::StoreId,
        Column::IsActive,
    ];
    let is_asked = old.is_none_or(|old| ASKED.iter().any(|column| old.get(*column) != row.get(*column)));
    let (Some(deal), true) = (of_row(row).map(|special| special.deal), is_asked) else { return Ok(()) };
    let below = below(tx, row, deal).await?;
    if below.is_empty() {
        return Ok(());
    }
    let field = type_of(row).and_then(|kind| figures(kind).first().copied()).unwrap_or("type");
    let more = below.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let named = below.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let text = format!("brings {named}{more} below their lowest price; send force: true if that is meant");
    Err(Error::new(ErrorCode::BelowMinPrice, text).at(field))
}

/// The numbers of the products that would cost less than they may, in some store.
async fn below(tx: &Tx, row: &Model, deal: Deal) -> Result<Vec<String>> {
    use product::Column;
    let of = match (row.product_id, row.department_id) {
        (Some(id), _) => Column::Id.eq(id),
        (None, Some(department)) => Column::DepartmentId.eq(department),
        (None, None) => return Ok(Vec::new()),
    };
    let products = product::Entity::find()
        .filter(of)
        .filter(Column::MinPrice.is_not_null())
        .filter(Column::IsOpenPrice.eq(false))
        .filter(Column::DeletedAt.is_null())
        .order_by_asc(Column::Sku)
        .all(tx)
        .await?;
    let own = own_prices(tx, row.store_id, &products).await?;
    let is_below = |product: &&product::Model| {
        let floor = product.min_price.map_or(Money::ZERO, |floor| floor.0);
        let own = own.get(&product.id);
        // In the one store of a special its own price counts alone.
        let default = (row.store_id.is_none() || own.is_none()).then_some(product.price);
        own.into_iter().flatten().copied().chain(default).any(|price| deal.unit_price(price) < floor)
    };
    Ok(products.iter().filter(is_below).map(|product| product.sku.clone()).collect())
}

/// What stores charge for these products of their own.
async fn own_prices(tx: &Tx, store: Option<Uuid>, products: &[product::Model]) -> Result<BTreeMap<Uuid, Vec<Money>>> {
    use store_product::Column;
    let mut own: BTreeMap<Uuid, Vec<Money>> = BTreeMap::new();
    for some in products.chunks(500) {
        let rows = store_product::Entity::find()
            .filter(Column::ProductId.is_in(some.iter().map(|product| product.id)))
            .filter(Column::HasPriceOverride.eq(true))
            .filter(Column::DeletedAt.is_null())
            .filter(Condition::all().add_option(store.map(|id| Column::StoreId.eq(id))));
        for row in rows.all(tx).await? {
            own.entry(row.product_id).or_default().push(row.price);
        }
    }
    Ok(own)
}
