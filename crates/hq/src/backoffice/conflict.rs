//! Of two who change a row, the second one learns who was first.

use serde_json::{Value as Json, json};
use tillkeep_http::error::Result;
use tillkeep_http::resource;
use tillkeep_model::Instant;
use tillkeep_storage::Tx;
use tillkeep_storage::entity::{audit_log, user};
use tillkeep_storage::sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

/// A change and its line of the log are of one transaction, and none takes as long.
const WITHIN_MS: i64 = 60_000;
/// Where the moment is not known the newest lines are gone through: so many of them, while others wait for the writer.
const LOOKED_INTO: i64 = 20_000;

/// A row as the audit log names it.
pub(super) struct Named {
    pub entity_type: &'static str,
    /// What there is once has none.
    pub id: Option<Uuid>,
    /// When it was changed last: older lines of the log are of older versions, and the server changes rows without a line.
    pub changed_at: Option<Instant>,
}

/// As [`resource::refuse_outdated`]; the refusal says who made the present version (`changedBy`) and when (`changedAt`), as
/// far as the audit log knows. A store has no name there.
pub(super) async fn refuse_outdated(
    tx: &Tx,
    row: &Named,
    (expected, version): (Option<i64>, i64),
    current: impl FnOnce() -> Result<Json>,
) -> Result<()> {
    let Err(refusal) = resource::refuse_outdated(expected, version, current) else { return Ok(()) };
    let Some(line) = line_of(tx, row).await? else { return Err(refusal) };
    let refusal = refusal.with("changedAt", line.at);
    let Some(user_id) = line.user_id else { return Err(refusal) };
    let person = user::Entity::find_by_id(user_id).one(tx).await?;
    Err(match person {
        Some(person) => refusal.with("changedBy", json!({"id": person.id, "name": person.display_name})),
        None => refusal,
    })
}

/// The line of the log about the last change of `row`, among those of its moment.
async fn line_of(tx: &Tx, row: &Named) -> Result<Option<audit_log::Model>, DbErr> {
    use audit_log::{Column, Entity};
    let of_row = match row.id {
        Some(id) => Column::EntityId.eq(id.to_string()),
        None => Column::EntityId.is_null(),
    };
    let lines = Entity::find().filter(Column::EntityType.eq(row.entity_type)).filter(of_row);
    let lines = if let Some(at) = row.changed_at {
        let those = Column::At.between(at, at.plus_millis(WITHIN_MS));
        // Along the index of the moments.
        lines.filter(those).order_by_desc(Column::At).order_by_desc(Column::Seq)
    } else {
        let Some(newest) = Entity::find().order_by_desc(Column::Seq).one(tx).await? else { return Ok(None) };
        lines.filter(Column::Seq.gt(newest.seq - LOOKED_INTO)).order_by_desc(Column::Seq)
    };
    lines.one(tx).await
}
