//! `GET /pos/parked-carts`: whoever may park sees the carts of the whole store, and no more of the drawer than these carts come to.

use tillkeep_http::describe::{Listing, Lists};
use tillkeep_http::error::Result;
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::{Answer, Caller, Id, List};
use tillkeep_model::permission::code::PosParkCart;
use tillkeep_model::words::ParkedState;
use tillkeep_storage::entity::parked_cart::{Column, Entity, Model};
use tillkeep_storage::entity::sale;
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Select};

use super::find;
use super::view::{ParkedCart, WholeParkedCart};

const LIST: ListSpec = ListSpec {
    search: &["label"],
    filters: &["state", "terminalId", "customerId", "cashierUserId", "businessDate"],
    sort: &["parkedAt", "createdAt", "label", "totalAtPark"],
};

/// The list of parked carts.
pub(crate) struct ParkedCarts;

impl Listing for ParkedCarts {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
}

pub(super) async fn list(
    caller: Caller<PosParkCart>,
    Lists { mut query, .. }: Lists<ParkedCarts>,
) -> Result<List<ParkedCart>> {
    query.entry("state".to_owned()).or_insert_with(|| ParkedState::Parked.word().to_owned());
    let rows: List<Model> = resource::list(caller.reader(), &LIST, &query, unsold()).await?;
    Ok(rows.map(ParkedCart::from))
}

/// Without those that are sold, of which there is the sale: among them nobody finds one that a broken till has in its hands.
fn unsold() -> Select<Entity> {
    let sales = sale::Entity::find().select_only().column(sale::Column::Id);
    let has_no_sale = Column::SaleId.not_in_subquery(sales.into_query());
    Entity::find().filter(Condition::any().add(Column::SaleId.is_null()).add(has_no_sale))
}

pub(super) async fn get(caller: Caller<PosParkCart>, Id(id): Id) -> Result<Answer<WholeParkedCart>> {
    Ok(Answer(find(caller.reader(), id).await?.into()))
}
