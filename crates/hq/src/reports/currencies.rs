//! How many decimals amounts of a currency have.

use std::collections::HashMap;

use tillkeep_model::fields::shape::exponent;
use tillkeep_storage::Connection;
use tillkeep_storage::entity::store::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{DbErr, EntityTrait, QuerySelect};

/// The currencies of stores, with their decimals as stores have them.
#[derive(Default)]
pub(super) struct Currencies(HashMap<String, i16>);

impl Currencies {
    pub(super) fn of(stores: &[Model]) -> Self {
        Self(stores.iter().map(|store| (store.currency_code.clone(), store.currency_exponent)).collect())
    }

    /// Of all stores.
    pub(super) async fn load(conn: &Connection) -> Result<Self, DbErr> {
        let columns = [Column::CurrencyCode, Column::CurrencyExponent];
        let rows: Vec<(String, i16)> = Entity::find().select_only().columns(columns).into_tuple().all(conn).await?;
        Ok(Self(rows.into_iter().collect()))
    }

    pub(super) fn exponent(&self, code: &str) -> i16 {
        self.0.get(code).copied().or_else(|| exponent(code)).unwrap_or(2)
    }
}
