//! Rows that name others: what they name must be there, and nothing that is named goes.

use std::collections::BTreeSet;

use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tillkeep_storage::Tx;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use super::rows;

/// 409 for a row that others still point to.
pub(crate) fn refuse_in_use(count: u64, by: &str) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    Err(Error::new(ErrorCode::InUse, format!("{count} {by} still use this row; move them first")))
}

/// Whether a living row of `E` has this id. If so no request changes or deletes it before the transaction ends: who
/// deletes a row locks it before counting what names it.
pub(crate) async fn lives<E: EntityTrait>(tx: &Tx, id: Uuid) -> Result<bool> {
    Ok(!living::<E>(tx, [id]).await?.is_empty())
}

/// Those of `ids` that [`lives`] holds for, locked in one order.
pub(crate) async fn living<E: EntityTrait>(tx: &Tx, ids: impl IntoIterator<Item = Uuid>) -> Result<BTreeSet<Uuid>> {
    let id = rows::column::<E>("id")?;
    let select = E::find()
        .select_only()
        .column(id)
        .filter(id.is_in(ids))
        .filter(rows::column::<E>("deleted_at")?.is_null())
        .order_by_asc(id);
    Ok(select.lock_shared().into_tuple::<Uuid>().all(tx).await?.into_iter().collect())
}
