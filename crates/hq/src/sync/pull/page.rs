//! One page of a pull as it is read: with what verifies PINs in its store, and once what it leaves out is noted.

use std::collections::HashMap;

use tillkeep_storage::pull::{self, Page};
use tillkeep_storage::registry::SyncType;
use tillkeep_storage::rows::Row;
use tillkeep_storage::{DbErr, Transaction, user_pins};
use uuid::Uuid;

use crate::Hq;
use crate::sync::{left_out, lookups};

/// A page, once what it leaves out is noted.
pub(super) async fn read(
    hq: &Hq,
    conn: &Transaction,
    entity: &'static SyncType,
    store: Uuid,
    since: i64,
    limit: u64,
) -> Result<Page, DbErr> {
    let (own, limit) = if entity.withheld.is_empty() {
        (HashMap::new(), limit)
    } else {
        let lookups = lookups::of_page(hq, conn, store, since, limit).await?;
        (lookups.own, lookups.limit)
    };
    let fit = |row: &mut dyn Row| verifiers(hq, store, row, &own);
    let page = pull::page(conn, entity, store, since, limit, &fit).await?;
    left_out::note(hq, entity, &page.left_out).await?;
    match page.flaw(entity) {
        Some(unread) => Err(unread.clone().into()),
        None => Ok(page),
    }
}

/// What verifies a PIN at headquarters becomes what verifies it in one store, by that store's own key.
fn verifiers(hq: &Hq, store: Uuid, row: &mut dyn Row, own: &HashMap<Uuid, String>) {
    if row.text("pin_lookup").is_some_and(|kept| user_pins::is_withheld(&kept)) {
        // Another one knows this PIN, and no store asks for the second factor that they lack.
        row.set("pin_hash", None::<String>.into());
        row.set("pin_lookup", None::<String>.into());
        return;
    }
    let Some((hash, former)) = row.text("pin_hash").and_then(|hash| hq.auth.pins.derived(store, &hash)) else { return };
    let lookup = row.uuid("id").and_then(|id| own.get(&id).cloned()).unwrap_or(former);
    row.set("pin_hash", Some(hash).into());
    row.set("pin_lookup", Some(lookup).into());
}
