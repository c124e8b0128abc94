//! Specials of one mix group count their units together, so they must be one deal.

use tillkeep_http::error::{Error, Result};
use tillkeep_storage::Tx;
use tillkeep_storage::db::{self, Turn};
use tillkeep_storage::entity::product_special::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, ModelTrait, QueryFilter, QueryOrder};

use super::shape::FIGURES;

/// What else the specials of a group have in common, with the names of the fields.
const COMMON: [(&str, Column); 5] = [
    ("type", Column::Kind),
    ("maxPerSale", Column::MaxPerSale),
    ("priority", Column::Priority),
    ("isStackable", Column::IsStackable),
    ("requiresCustomer", Column::RequiresCustomer),
];

/// Refuses an active special that is not the deal of the other active ones of its group.
pub(super) async fn check(tx: &Tx, old: Option<&Model>, row: &Model) -> Result<()> {
    let Some(group) = row.mix_group.as_deref().filter(|_| row.is_active) else { return Ok(()) };
    let common = || COMMON.into_iter().chain(FIGURES);
    let same = |old: &Model| common().all(|(_, column)| old.get(column) == row.get(column));
    if old.is_some_and(|old| old.is_active && old.mix_group == row.mix_group && same(old)) {
        return Ok(());
    }
    // Of two who join a group at once the second sees the first.
    db::take_turn(tx, Turn::MixGroup).await?;
    let others = Entity::find()
        .filter(Column::MixGroup.eq(group))
        .filter(Column::IsActive.eq(true))
        .filter(Column::DeletedAt.is_null())
        .filter(Column::Id.ne(row.id));
    let Some(other) = others.order_by_asc(Column::Code).one(tx).await? else { return Ok(()) };
    let Some((field, _)) = common().find(|(_, column)| other.get(*column) != row.get(*column)) else { return Ok(()) };
    let text = format!(
        "must be as in {}, which counts its units together with this one; deactivate the others of the group first, or \
         name another group",
        other.code
    );
    Err(Error::field(field, text))
}
