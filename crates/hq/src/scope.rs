//! Lists of rows that belong to stores show those of the stores where the caller may see them.

use std::collections::BTreeSet;

use tillkeep_http::Caller;
use tillkeep_http::documents::customer_sales::KNOW_PAYMENTS;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Query;
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::{ReportsViewGlobal, ReportsViewLocal};
use tillkeep_storage::entity::store;
use tillkeep_storage::sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, QuerySelect, Select};
use uuid::Uuid;

/// How far reports go: those of a store are for whoever holds one of the two there, alone or for all stores.
pub(crate) type Views = (ReportsViewLocal, ReportsViewGlobal);

/// Cuts rows of stores to those where the caller holds the permission of the route.
pub(crate) fn in_scope<E: EntityTrait, P: Requirement>(
    caller: &Caller<P>,
    select: Select<E>,
    store: E::Column,
) -> Select<E> {
    match caller.stores() {
        None => select,
        Some(stores) => select.filter(store.is_in(stores)),
    }
}

/// Refuses a list of a store that the caller may not see; without one it is cut by [`in_scope`].
pub(crate) fn named_store<P: Requirement>(caller: &Caller<P>, query: &Query) -> Result<()> {
    query.get("storeId").and_then(|id| id.parse().ok()).map_or(Ok(()), |store_id| caller.at_store(store_id))
}

/// The stores of which the caller may see reports; `None` is all of them.
pub(crate) struct OfReports(Option<BTreeSet<Uuid>>);

impl OfReports {
    /// Where the caller holds the code of the report, and one of the two that say how far reports go.
    pub(crate) fn of<P: Requirement>(caller: &Caller<P>) -> Self {
        let views = Views::any_of();
        Self(both(caller.stores(), caller.access.stores(&views, caller.store_id)))
    }

    /// Where the caller may see sales, one by one and with how they were paid.
    pub(crate) async fn sales<P: Requirement>(caller: &Caller<P>) -> Result<Self, DbErr> {
        Self(caller.access.stores(&Views::any_of(), caller.store_id)).told(caller, KNOW_PAYMENTS).await
    }

    /// Without the stores that close blind, but for those where the caller holds one of `knowing`.
    pub(crate) async fn told<P: Requirement>(self, caller: &Caller<P>, knowing: &[&str]) -> Result<Self, DbErr> {
        let Some(known) = caller.access.stores(knowing, caller.store_id) else { return Ok(self) };
        let stores: Vec<(Uuid, bool)> = store::Entity::find()
            .select_only()
            .columns([store::Column::Id, store::Column::BlindClose])
            .into_tuple()
            .all(caller.reader())
            .await?;
        let blind = stores.iter().filter(|(id, blind)| *blind && !known.contains(id));
        let blind: BTreeSet<Uuid> = blind.map(|(id, _)| *id).collect();
        Ok(self.without(stores.into_iter().map(|(id, _)| id), &blind))
    }

    /// Those without these.
    fn without(self, all: impl IntoIterator<Item = Uuid>, left_out: &BTreeSet<Uuid>) -> Self {
        let stores = self.0.unwrap_or_else(|| all.into_iter().collect());
        Self(Some(stores.into_iter().filter(|store| !left_out.contains(store)).collect()))
    }

    pub(crate) fn contains(&self, store: Uuid) -> bool {
        self.0.as_ref().is_none_or(|stores| stores.contains(&store))
    }

    /// Only `store`, where one is named: 403 `scope` when it is none of them.
    pub(crate) fn narrowed(self, store: Option<Uuid>) -> Result<Self> {
        match store {
            None => Ok(self),
            Some(store) if self.contains(store) => Ok(Self(Some(BTreeSet::from([store])))),
            Some(_) => Err(Error::new(ErrorCode::Scope, "this is outside of the stores whose reports you may see")),
        }
    }

    pub(crate) const fn stores(&self) -> Option<&BTreeSet<Uuid>> {
        self.0.as_ref()
    }

    /// The rows of these stores.
    pub(crate) fn cut<E: EntityTrait>(&self, select: Select<E>, store: E::Column) -> Select<E> {
        match &self.0 {
            None => select,
            Some(stores) => select.filter(store.is_in(stores.iter().copied())),
        }
    }
}

fn both(one: Option<BTreeSet<Uuid>>, other: Option<BTreeSet<Uuid>>) -> Option<BTreeSet<Uuid>> {
    match (one, other) {
        (None, other) => other,
        (one, None) => one,
        (Some(one), Some(other)) => Some(one.intersection(&other).copied().collect()),
    }
}
