//! How far the products and prices of a store are, for a till that keeps a copy of them and asks what changed since.
//!
//! Rows that are pulled have rising versions, and one that was deleted stays as a row that says so. A reload is the exception: it
//! forgets the versions, and what headquarters does not send again is gone without a trace. So each beginning and end of one is
//! another history, and a copy of before is read again as a whole.

use sea_orm::{ConnectionTrait, DbErr, EntityName};
use uuid::Uuid;

use super::cursors::cursor;
use crate::entity::{product, store_product};
use crate::registry::{self, SyncType};
use crate::{Tx, settings};

/// Names the last reload of one of the types that a copy is made of.
const RELOADED: &str = "catalogue_reloaded";

/// How far a copy is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// In which database, and since which reload, the other two count.
    pub history: String,
    pub products: i64,
    pub prices: i64,
}

/// A reload of `entity` begins or ends.
pub(super) async fn reloads(tx: &Tx, entity: &SyncType) -> Result<(), DbErr> {
    let is_copied = [product::Entity.table_name(), store_product::Entity.table_name()].contains(&entity.name);
    if is_copied { settings::set(tx, RELOADED, &Uuid::new_v4().simple().to_string()).await } else { Ok(()) }
}

/// How far this store is.
pub async fn version(conn: &impl ConnectionTrait) -> Result<Version, DbErr> {
    let database = settings::get(conn, settings::EPOCH).await?.unwrap_or_default().replace('-', "");
    let reloaded = settings::get(conn, RELOADED).await?.unwrap_or_default();
    Ok(Version {
        history: format!("{database}{reloaded}"),
        products: pulled(conn, product::Entity.table_name()).await?,
        prices: pulled(conn, store_product::Entity.table_name()).await?,
    })
}

async fn pulled(conn: &impl ConnectionTrait, name: &str) -> Result<i64, DbErr> {
    match registry::find(name) {
        Some(entity) => Ok(cursor(conn, entity).await?.version),
        None => Ok(0),
    }
}
