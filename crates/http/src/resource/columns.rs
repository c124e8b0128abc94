//! The columns of a kind of row, by the names that they have in requests.

use std::str::FromStr;

use tillkeep_storage::sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter, Value,
};
use uuid::Uuid;

use crate::error::{Error, Result};

pub(super) fn column<E: EntityTrait>(name: &str) -> Result<E::Column> {
    // A row of Rust has no field of that name.
    let named = if name == "type" { "kind" } else { name };
    E::Column::from_str(named).map_err(|_| Error::internal(format!("no column {name}")))
}

/// Another living row with the same value in `column`.
pub async fn taken<E>(conn: &impl ConnectionTrait, id: Uuid, key: &str, value: impl Into<Value> + Send) -> Result<bool>
where
    E: EntityTrait,
    E::Model: IntoActiveModel<E::ActiveModel> + Send + Sync,
{
    let mut select = E::find().filter(column::<E>(key)?.eq(value.into())).filter(column::<E>("id")?.ne(id));
    if let Ok(deleted) = column::<E>("deleted_at") {
        select = select.filter(deleted.is_null());
    }
    Ok(select.count(conn).await? > 0)
}
