//! Sales representatives.

use tillkeep_model::permission::code::{PosSell, SalesRepsView};
use tillkeep_storage::entity::sales_rep::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter};

use crate::Answer;
use crate::answer::List;
use crate::auth::Caller;
use crate::describe::{Listing, Lists, More};
use crate::error::{Error, Result};
use crate::extract::Id;
use crate::resource::{self, ListSpec};

pub const LIST: ListSpec = ListSpec {
    search: &["code", "name", "email"],
    filters: &["userId"],
    sort: &["name", "code", "createdAt", "updatedAt"],
};

/// The list of sales representatives.
pub struct SalesReps;

impl Listing for SalesReps {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const MORE: &'static [(&'static str, More)] = &[("storeId", More::Id)];
}

/// `GET /sales-reps?storeId`: with a store those who work there, among them those who work in all stores.
pub async fn list(
    caller: Caller<(SalesRepsView, PosSell)>,
    Lists { mut query, .. }: Lists<SalesReps>,
) -> Result<List<Model>> {
    let store = resource::take_id(&mut query, "storeId")?;
    let works_there = store.map(|id| Condition::any().add(Column::StoreId.is_null()).add(Column::StoreId.eq(id)));
    let select = Entity::find().filter(Condition::all().add_option(works_there));
    resource::list(caller.reader(), &LIST, &query, select).await
}

/// `GET /sales-reps/{id}`
pub async fn get(caller: Caller<SalesRepsView>, Id(id): Id) -> Result<Answer<Model>> {
    let rep = Entity::find_by_id(id).filter(Column::DeletedAt.is_null()).one(caller.reader()).await?;
    rep.map(Answer).ok_or_else(|| Error::not_found("sales representative"))
}
