//! The tax groups as a store applies them: at its tills, and where headquarters shows what a price comes to.

use std::collections::HashMap;
use std::sync::Arc;

use sea_orm::sea_query::Condition;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder};
use tillkeep_model::pricing::TaxRate;
use uuid::Uuid;

use crate::entity::{store, tax_group, tax_group_rate, tax_rate};

/// One group with the rates that count in this store, by sequence.
#[derive(Clone, Debug)]
pub struct TaxGroup {
    pub row: tax_group::Model,
    pub rates: Arc<[TaxRate]>,
}

impl TaxGroup {
    /// Whether shelf prices of this group contain the tax, in this store or where no store says it.
    #[must_use]
    pub fn inclusive(&self, store: Option<&store::Model>) -> bool {
        match self.row.price_mode.as_str() {
            "inclusive" => true,
            "exclusive" => false,
            _ => store.is_some_and(|store| store.prices_include_tax),
        }
    }
}

/// Every living group by its id. They are a handful, so all of them are read. Without a store: as one that no group names.
pub async fn of_store(conn: &impl ConnectionTrait, store_id: Option<Uuid>) -> Result<HashMap<Uuid, TaxGroup>, DbErr> {
    let groups = tax_group::Entity::find().all(conn).await?;
    let mut links: HashMap<Uuid, Vec<tax_group_rate::Model>> = HashMap::new();
    for link in links_of(conn, store_id).await? {
        links.entry(link.tax_group_id).or_default().push(link);
    }
    let rates: HashMap<Uuid, tax_rate::Model> = tax_rate::Entity::find()
        .filter(tax_rate::Column::DeletedAt.is_null())
        .filter(tax_rate::Column::IsActive.eq(true))
        .all(conn)
        .await?
        .into_iter()
        .map(|rate| (rate.id, rate))
        .collect();
    Ok(groups
        .into_iter()
        .map(|row| {
            let rates = counting(links.remove(&row.id).unwrap_or_default(), &rates);
            (row.id, TaxGroup { row, rates })
        })
        .collect())
}

/// The living rows that name this store or every store, by sequence.
async fn links_of(conn: &impl ConnectionTrait, store_id: Option<Uuid>) -> Result<Vec<tax_group_rate::Model>, DbErr> {
    use tax_group_rate::Column;
    tax_group_rate::Entity::find()
        .filter(Column::DeletedAt.is_null())
        .filter(Condition::any().add(Column::StoreId.is_null()).add_option(store_id.map(|id| Column::StoreId.eq(id))))
        .order_by_asc(Column::Sequence)
        .order_by_asc(Column::Id)
        .all(conn)
        .await
}

/// A group that names this store at all counts with those rows alone: that is how one catalogue serves stores in
/// different tax areas.
fn counting(links: Vec<tax_group_rate::Model>, rates: &HashMap<Uuid, tax_rate::Model>) -> Arc<[TaxRate]> {
    let own = links.iter().any(|link| link.store_id.is_some());
    links
        .into_iter()
        .filter(|link| link.store_id.is_some() == own)
        .filter_map(|link| {
            let rate = rates.get(&link.tax_rate_id)?;
            Some(TaxRate {
                id: rate.id,
                code: rate.code.clone(),
                name: rate.name.clone(),
                rate: rate.rate_ppm,
                compound: link.is_compound,
            })
        })
        .collect()
}
