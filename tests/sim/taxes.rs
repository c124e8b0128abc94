//! Taxes: what headquarters makes of them, and what a database has of them.

use std::fmt::Write;

use serde_json::{Value as Json, json};
use tillkeep_model::ids;
use tillkeep_storage::Db;
use tillkeep_storage::entity::{tax_group, tax_group_rate, tax_rate};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

use crate::world::World;

/// As many as a group may have in one place.
pub const RATES: usize = 5;
pub const GROUPS: usize = 2;

pub fn rate_id(index: usize) -> Uuid {
    ids::named(&format!("tax rate {index}"))
}

pub fn group_id(index: usize) -> Uuid {
    ids::named(&format!("tax group {index}"))
}

pub fn rate(index: usize) -> Json {
    json!({"id": rate_id(index), "code": format!("R{index}"), "name": "A rate", "ratePpm": 1000 + index})
}

/// Rates of a group everywhere and in each store: some of them, in some order.
pub fn draw(world: &World, stores: &[Uuid]) -> Json {
    let mut rates = Vec::new();
    for store in std::iter::once(None).chain(stores.iter().copied().map(Some)) {
        let first = world.index(RATES);
        for place in 0..RATES {
            if world.up_to(2) > 0 {
                let rate = rate_id((first + place) % RATES);
                rates.push(json!({"taxRateId": rate, "storeId": store, "sequence": 1 + place}));
            }
        }
    }
    rates.into()
}

/// What a database has of taxes: the groups, with their rates in each place. Nothing where there is no group.
pub async fn picture(db: &Db) -> String {
    let snapshot = db.snapshot().await.expect("a snapshot");
    let groups = tax_group::Entity::find().filter(tax_group::Column::DeletedAt.is_null());
    let groups = groups.order_by_asc(tax_group::Column::Id).all(&snapshot).await.expect("groups");
    let links = tax_group_rate::Entity::find()
        .filter(tax_group_rate::Column::DeletedAt.is_null())
        .order_by_asc(tax_group_rate::Column::StoreId)
        .order_by_asc(tax_group_rate::Column::Sequence)
        .all(&snapshot)
        .await
        .expect("rates of groups");
    let rates = tax_rate::Entity::find().all(&snapshot).await.expect("rates");
    let mut text = String::new();
    for group in groups {
        writeln!(text, "{} {}", group.id, group.price_mode).expect("a text");
        for link in links.iter().filter(|link| link.tax_group_id == group.id) {
            let rate =
                rates.iter().find(|rate| rate.id == link.tax_rate_id).map(|rate| (rate.rate_ppm, rate.is_active));
            writeln!(text, "{:?} {} {} {rate:?}", link.store_id, link.sequence, link.tax_rate_id).expect("a text");
        }
    }
    text
}
