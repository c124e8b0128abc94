//! What waits for a user: the failed entries.

use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, Iterable, QueryFilter, QueryOrder, QuerySelect};
use tillkeep_model::Instant;
use uuid::Uuid;

use super::words::{FAILED, PUSH, UNKNOWN};
use crate::db::execute;
use crate::entity::sync_log::{Column, Entity, Model};
use crate::registry;

/// `pending_count` is what waits for a user: the failed entries of the type.
pub async fn count_pending(conn: &impl ConnectionTrait, store: Uuid) -> Result<(), DbErr> {
    let names = registry::ALL.iter().map(|entity| format!("'{}'", entity.name)).collect::<Vec<_>>().join(", ");
    let of = |what: &str| {
        format!(
            "(SELECT {what} FROM sync_log l WHERE l.store_id = $1 AND l.status = '{FAILED}' AND l.direction = '{PUSH}' \
             AND sync_status.entity_type = CASE WHEN l.entity_type IN ({names}) THEN l.entity_type ELSE '{UNKNOWN}' END)"
        )
    };
    let bytes = "CAST(COALESCE(SUM(OCTET_LENGTH(COALESCE(l.envelope, l.beginning, ''))), 0) AS BIGINT)";
    let sql = format!(
        "UPDATE sync_status SET pending_count = {}, pending_bytes = {} WHERE store_id = $1 AND direction = '{PUSH}'",
        of("COUNT(*)"),
        of(bytes)
    );
    execute(conn, &sql, [store.into()]).await?;
    Ok(())
}

/// Failed entries listed in one go at the most.
const NEWEST: u64 = 200;

/// The newest failed entries that were first seen since then, without what was sent.
pub async fn failed_since(conn: &impl ConnectionTrait, since: Instant) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .select_only()
        .columns(Column::iter().filter(|column| !matches!(column, Column::Envelope | Column::Beginning)))
        .expr_as(Expr::cust("CAST(NULL AS TEXT)"), "envelope")
        .expr_as(Expr::cust("CAST(NULL AS TEXT)"), "beginning")
        .filter(Column::Status.eq(FAILED))
        .filter(Column::FirstSeenAt.gte(since))
        .order_by_desc(Column::FirstSeenAt)
        .limit(NEWEST)
        .all(conn)
        .await
}
