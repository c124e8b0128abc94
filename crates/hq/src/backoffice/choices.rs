//! What a list of sales can be narrowed to, by the names that headquarters has: who may read sales need not read people and
//! tenders.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tillkeep_http::Caller;
use tillkeep_http::error::Result;
use tillkeep_model::permission::Requirement;
use tillkeep_storage::Transaction;
use tillkeep_storage::entity::{register_session, store, tender, user, user_store_role};
use tillkeep_storage::sea_orm::{
    ColumnTrait, Condition, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::scope::OfReports;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = SalesChoicesQuery)]
pub(super) struct Query {
    /// Registers and cashiers of this store alone.
    pub(super) store_id: Option<Uuid>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SalesChoices)]
pub(super) struct Choices {
    /// By code: those whose sales the caller may see.
    stores: Vec<Store>,
    /// The codes of registers there.
    registers: Vec<String>,
    /// By name: people with a role there, or with one that counts everywhere.
    cashiers: Vec<Cashier>,
    /// By code, also those that are not offered any more.
    tenders: Vec<Tender>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = SalesChoiceStore)]
struct Store {
    id: Uuid,
    code: String,
    name: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = SalesChoiceCashier)]
struct Cashier {
    id: Uuid,
    name: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = SalesChoiceTender)]
struct Tender {
    code: String,
    name: String,
}

/// What the caller may choose of, in the stores of `scope`.
pub(super) async fn load<P: Requirement>(caller: &Caller<P>, scope: &OfReports) -> Result<Choices> {
    let conn = caller.snapshot().await?;
    let stores = scope
        .cut(store::Entity::find(), store::Column::Id)
        .filter(store::Column::DeletedAt.is_null())
        .order_by_asc(store::Column::Code)
        .select_only()
        .columns([store::Column::Id, store::Column::Code, store::Column::Name])
        .into_tuple::<(Uuid, String, String)>()
        .all(&conn)
        .await?;
    Ok(Choices {
        stores: stores.into_iter().map(|(id, code, name)| Store { id, code, name }).collect(),
        registers: registers(&conn, scope.stores()).await?,
        cashiers: cashiers(&conn, scope.stores()).await?,
        tenders: tenders(&conn).await?,
    })
}

async fn registers(conn: &Transaction, scope: Option<&BTreeSet<Uuid>>) -> Result<Vec<String>, DbErr> {
    use register_session::{Column, Entity};
    let mut select = Entity::find().select_only().column(Column::RegisterCode).distinct();
    if let Some(stores) = scope {
        select = select.filter(Column::StoreId.is_in(stores.iter().copied()));
    }
    select.order_by_asc(Column::RegisterCode).into_tuple().all(conn).await
}

async fn cashiers(conn: &Transaction, scope: Option<&BTreeSet<Uuid>>) -> Result<Vec<Cashier>, DbErr> {
    use user::{Column, Entity};
    use user_store_role::Column as Given;
    let mut select = Entity::find().filter(Column::DeletedAt.is_null());
    if let Some(stores) = scope {
        let there = Condition::any().add(Given::StoreId.is_in(stores.iter().copied())).add(Given::StoreId.is_null());
        let people = user_store_role::Entity::find()
            .select_only()
            .column(Given::UserId)
            .filter(Given::DeletedAt.is_null())
            .filter(there);
        select = select.filter(Column::Id.in_subquery(people.into_query()));
    }
    let people: Vec<(Uuid, String)> = select
        .order_by_asc(Column::DisplayName)
        .order_by_asc(Column::Id)
        .select_only()
        .columns([Column::Id, Column::DisplayName])
        .into_tuple()
        .all(conn)
        .await?;
    Ok(people.into_iter().map(|(id, name)| Cashier { id, name }).collect())
}

async fn tenders(conn: &Transaction) -> Result<Vec<Tender>, DbErr> {
    let rows = tender::Entity::find().all(conn).await?;
    let mut by_code: BTreeMap<String, tender::Model> = BTreeMap::new();
    for row in rows {
        // Of several with one code that were there one after the other the one that is there now.
        let is_newer = |kept: &tender::Model| row.deleted_at.is_none() || row.deleted_at > kept.deleted_at;
        if by_code.get(&row.code).is_none_or(|kept| kept.deleted_at.is_some() && is_newer(kept)) {
            by_code.insert(row.code.clone(), row);
        }
    }
    Ok(by_code.into_values().map(|row| Tender { code: row.code, name: row.name }).collect())
}
