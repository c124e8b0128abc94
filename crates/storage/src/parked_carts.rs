//! Carts that wait at a store. A row is never taken away while its cart may still be sold.

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect};
use serde::{Deserialize, Serialize};
use tillkeep_model::words::ParkedState;
use tillkeep_model::{Instant, JsonText};
use uuid::Uuid;

use crate::db::{execute, models};
use crate::entity::parked_cart::{Column, Entity, Model};
use crate::entity::sale;

/// So long a cart is kept that was dropped or sold: for the report of its cashier.
const KEPT_MS: i64 = 90 * 24 * 60 * 60 * 1000;

/// One time that a cart was parked: an entry of `parked_carts.earlier`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Earlier {
    /// The sale that it was to become, which is refused since.
    pub sale_id: Uuid,
    /// The request that parked it.
    pub by: Uuid,
    /// A hash of what the row said before, for whoever repeats the request that made that.
    pub was: Option<String>,
}

/// The times that `cart` was parked, the last one last.
#[must_use]
pub fn earlier_of(cart: &Model) -> Vec<Earlier> {
    times(&cart.earlier)
}

fn times(earlier: &JsonText) -> Vec<Earlier> {
    Deserialize::deserialize(&earlier.0).unwrap_or_default()
}

/// The carts that were parked in place of a sale, each with the times that it was.
pub async fn earlier(conn: &impl ConnectionTrait) -> Result<Vec<(Uuid, Vec<Earlier>)>, DbErr> {
    let select = Entity::find().select_only().columns([Column::Id, Column::Earlier]);
    let rows: Vec<(Uuid, JsonText)> =
        select.filter(Column::Earlier.ne(JsonText::empty_list())).into_tuple().all(conn).await?;
    Ok(rows.into_iter().map(|(id, earlier)| (id, times(&earlier))).collect())
}

/// The cart that was resumed to become the sale `sale_id`.
pub async fn of_sale(conn: &impl ConnectionTrait, sale_id: Uuid) -> Result<Option<Model>, DbErr> {
    let resumed = Entity::find().filter(Column::State.eq(ParkedState::Resumed.word()));
    resumed.filter(Column::SaleId.eq(sale_id)).one(conn).await
}

/// Whether there is a sale with this id.
pub async fn is_sold(conn: &impl ConnectionTrait, sale_id: Uuid) -> Result<bool, DbErr> {
    let found: Option<Uuid> =
        sale::Entity::find_by_id(sale_id).select_only().column(sale::Column::Id).into_tuple().one(conn).await?;
    Ok(found.is_some())
}

/// How many carts wait, of `terminal` or of the whole store.
pub async fn count(conn: &impl ConnectionTrait, terminal: Option<&str>) -> Result<u64, DbErr> {
    let parked = Entity::find().filter(Column::State.eq(ParkedState::Parked.word()));
    let parked = match terminal {
        Some(terminal) => parked.filter(Column::TerminalId.eq(terminal)),
        None => parked,
    };
    parked.count(conn).await
}

/// The carts that are in the hands of `terminal`: parked there, or resumed there and not sold. The oldest first.
pub async fn open_at(conn: &impl ConnectionTrait, terminal: &str) -> Result<Vec<Model>, DbErr> {
    let sql = "SELECT * FROM parked_carts WHERE (state = $1 AND terminal_id = $2) \
               OR (state = $3 AND resumed_at_terminal = $2 \
                   AND NOT EXISTS (SELECT 1 FROM sales WHERE sales.id = parked_carts.sale_id)) \
               ORDER BY parked_at, id";
    let (parked, resumed) = (ParkedState::Parked.word(), ParkedState::Resumed.word());
    models(conn, sql, [parked.into(), terminal.into(), resumed.into()]).await
}

/// The carts that were dropped at `terminal` while no drawer of it was open count in the one that is opened now.
pub async fn count_in(conn: &impl ConnectionTrait, terminal: &str, session: Uuid) -> Result<u64, DbErr> {
    let sql = "UPDATE parked_carts SET session_id = $1 WHERE session_id IS NULL AND state = $2 AND terminal_id = $3";
    execute(conn, sql, [session.into(), ParkedState::Abandoned.word().into(), terminal.into()]).await
}

/// Forgets the carts that were dropped or sold long ago. One that waits stays, however old it is.
pub async fn prune(conn: &impl ConnectionTrait, now: Instant) -> Result<u64, DbErr> {
    let before = now.plus_millis(-KEPT_MS);
    let sql = "DELETE FROM parked_carts WHERE (state = $1 AND abandoned_at < $2) OR (state = $3 AND resumed_at < $2 \
               AND EXISTS (SELECT 1 FROM sales WHERE sales.id = parked_carts.sale_id))";
    let (abandoned, resumed) = (ParkedState::Abandoned.word(), ParkedState::Resumed.word());
    execute(conn, sql, [abandoned.into(), before.into(), resumed.into()]).await
}
