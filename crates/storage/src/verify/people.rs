//! What verifies people at headquarters and at a store, made comparable.

use std::collections::{HashMap, HashSet};

use sea_orm::DbErr;
use uuid::Uuid;

use super::finding::Options;
use super::source::{SidesMut, Source};
use crate::db::query;
use crate::entity::store_node;
use crate::registry::SyncType;
use crate::rows::Row;
use crate::staff::FORMER_PIN;
use crate::{settings, store_lookups, user_pins};

/// What headquarters knows of the people of one store who verify themselves there.
pub(super) struct People {
    store: Uuid,
    staff: HashSet<Uuid>,
    /// Those of a store with a salt of its own are slow hashes: what headquarters handed out is what it noted.
    salted: bool,
}

impl People {
    pub(super) async fn of_store(hq: &Source, store: Uuid) -> Result<Self, DbErr> {
        let asks = asks(hq, store).await?;
        let staff = staff(hq, store, asks).await?;
        Ok(Self { store, staff, salted: asks.is_some_and(|asks| asks != store_node::ASKS_NEVER) })
    }

    /// Leaves nothing in the columns of headquarters that are not for the store. Each server has its own way to verify one PIN:
    /// where that of the store cannot be known, it is there or not.
    pub(super) async fn compare_by_what_is_there(
        &self,
        hq: &Source,
        entity: &SyncType,
        options: &Options,
        (here, there): SidesMut<'_>,
    ) -> Result<(), DbErr> {
        let ids: Vec<Uuid> = there.iter().filter_map(|row| row.uuid("id")).filter(|_| self.salted).collect();
        let lookups = store_lookups::made(&hq.conn, self.store, ids).await?;
        let mut comparable = HashSet::new();
        for row in there {
            let is_withheld = row.text("pin_lookup").is_some_and(|kept| user_pins::is_withheld(&kept));
            if is_withheld || row.uuid("id").is_none_or(|id| !self.staff.contains(&id)) {
                for column in entity.withheld {
                    row.set(column, None::<String>.into());
                }
                comparable.extend(row.uuid("id"));
            } else if verify_at(&mut **row, self.store, options, self.salted.then_some(&lookups)) {
                comparable.extend(row.uuid("id"));
            } else {
                only_presence(&mut **row, entity);
            }
        }
        for row in here.iter_mut().filter(|row| row.uuid("id").is_none_or(|id| !comparable.contains(&id))) {
            only_presence(&mut **row, entity);
        }
        Ok(())
    }
}

/// The people that a store may verify by their PINs.
async fn staff(hq: &Source, store: Uuid, asks: Option<i32>) -> Result<HashSet<Uuid>, DbErr> {
    let word = settings::get(&hq.conn, "global_people_at_stores").await?;
    let everywhere = match word.as_deref() {
        Some("all") => true,
        Some("named") => false,
        // A store of a release that cannot ask headquarters.
        _ => asks == Some(store_node::ASKS_NEVER),
    };
    let counts = if everywhere { "(store_id IS NULL OR store_id = $1)" } else { "store_id = $1" };
    let sql = &format!("SELECT user_id FROM user_store_roles WHERE deleted_at IS NULL AND {counts}");
    let rows = query(&hq.conn, sql, [store.into()]).await?;
    rows.iter().map(|row| row.try_get("", "user_id")).collect()
}

/// Whether a store that has shaken hands asks headquarters who signs in, as its row says it.
async fn asks(hq: &Source, store: Uuid) -> Result<Option<i32>, DbErr> {
    let sql = "SELECT sign_in FROM store_nodes WHERE store_id = $1 AND handshake_at IS NOT NULL";
    let rows = query(&hq.conn, sql, [store.into()]).await?;
    rows.first().map(|row| row.try_get("", "sign_in")).transpose()
}

/// Makes of what verifies a PIN at headquarters what verifies it at `store`, where that is known: one of release 0.1.0 is
/// the same everywhere.
fn verify_at(
    row: &mut dyn Row,
    store: Uuid,
    options: &Options,
    lookups: Option<&HashMap<Uuid, store_lookups::Made>>,
) -> bool {
    let (Some(verifiers), Some(hash)) = (&options.verifiers, row.text("pin_hash")) else { return false };
    if hash.starts_with(FORMER_PIN) {
        return true;
    }
    let Some((hash, former)) = verifiers.of_store(store, &hash) else { return false };
    let lookup = match lookups {
        None => former,
        Some(made) => match row.uuid("id").and_then(|id| made.get(&id)) {
            Some(made) => made.lookup.clone(),
            None => return false,
        },
    };
    row.set("pin_hash", Some(hash).into()) && row.set("pin_lookup", Some(lookup).into())
}

/// Leaves of the columns that verify a PIN whether they are filled.
fn only_presence(row: &mut dyn Row, entity: &SyncType) {
    for column in entity.withheld {
        if row.text(column).is_some() {
            row.set(column, Some("there".to_owned()).into());
        }
    }
}
