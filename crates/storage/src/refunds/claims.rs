//! Claims that are open: a store is about to give something back, and no other one may give the same back meanwhile. A claim lasts
//! until its document comes or its store lets go of it.

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, Value};
use tillkeep_model::ids;
use tillkeep_model::wire::ClaimLine;
use uuid::Uuid;

use crate::Tx;
use crate::db::{execute, query};
use crate::document::sale::TYPE;
use crate::entity::refund_claim::{Column, Entity, Model};
use crate::kept_ids::Renamed;
use crate::many::execute_in;

/// Claims that one store may have open. Its documents come within minutes while it has a line: whoever has more holds back what
/// others could give.
pub const MOST_OPEN: i64 = 1000;

/// Lets go of what `store` claimed under the id `refund`.
pub async fn release(tx: &Tx, store: Uuid, refund: Uuid) -> Result<(), DbErr> {
    remove(tx, store, &[refund, ids::elsewhere(store, refund)]).await
}

/// Lets go of a claim of which nothing comes, for a person.
pub async fn drop_one(conn: &impl ConnectionTrait, id: Uuid) -> Result<bool, DbErr> {
    Ok(execute(conn, "DELETE FROM refund_claims WHERE id = $1", [id.into()]).await? > 0)
}

/// Whether `store` has as many claims open as it may.
pub(super) async fn is_full(tx: &Tx, store: Uuid) -> Result<bool, DbErr> {
    let sql = "SELECT COUNT(*) AS claims FROM refund_claims WHERE store_id = $1";
    let rows = query(&**tx, sql, [store.into()]).await?;
    let open = rows.first().map_or(Ok(0), |row| row.try_get::<i64>("", "claims"))?;
    Ok(open >= MOST_OPEN)
}

/// The documents of claims came, under the ids that `store` gave them.
pub(crate) async fn settled(tx: &Tx, store: Uuid, sent: Vec<Uuid>) -> Result<(), DbErr> {
    let elsewhere: Vec<Uuid> = sent.iter().map(|id| ids::elsewhere(store, *id)).collect();
    remove(tx, store, &[sent, elsewhere].concat()).await
}

/// What was claimed before the sale came, and names what is kept under other ids here, follows.
pub(crate) async fn follow(tx: &Tx, store: Uuid, renamed: &[Renamed]) -> Result<(), DbErr> {
    for Renamed { table, sent, kept } in renamed {
        let (sql, values): (&str, [Value; 3]) = if *table == TYPE {
            let sale = "UPDATE refund_claims SET sale_id = $2 WHERE store_id = $1 AND sale_id = $3";
            (sale, [store.into(), (*kept).into(), (*sent).into()])
        } else {
            let lines = "UPDATE refund_claims SET lines = REPLACE(lines, $3, $2) WHERE store_id = $1 \
                       AND lines LIKE '%' || $3 || '%'";
            (lines, [store.into(), kept.to_string().into(), sent.to_string().into()])
        };
        execute(&**tx, sql, values).await?;
    }
    Ok(())
}

/// The claims on a sale, by the id that it has here.
pub(super) async fn of_sale(conn: &impl ConnectionTrait, sale: Uuid) -> Result<Vec<Model>, DbErr> {
    Entity::find().filter(Column::SaleId.eq(sale)).order_by_asc(Column::Id).all(conn).await
}

/// What is claimed.
pub fn lines(claim: &Model) -> Vec<ClaimLine> {
    serde_json::from_value(claim.lines.0.clone()).unwrap_or_default()
}

pub(super) async fn remove(tx: &Tx, store: Uuid, ids: &[Uuid]) -> Result<(), DbErr> {
    let sql = "DELETE FROM refund_claims WHERE store_id = $1 AND id IN ($list)";
    execute_in(&**tx, sql, &[store.into()], ids.iter().copied()).await?;
    Ok(())
}
