//! Sockets outlive the moment in which their tokens were judged: after a change of a store, here or at another server, those
//! that are open are judged again. A store whose token another server replaced is asked for a handshake here too.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tillkeep_model::wire::close;
use tillkeep_storage::entity::store;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::standing::{Standing, open_handovers, standing};
use crate::Hq;

/// After a failure.
const AGAIN: Duration = Duration::from_secs(1);
/// Stores that one statement asks for.
const AT_ONCE: usize = 1000;

/// Judges until the server stops.
pub(crate) fn start(hq: Arc<Hq>) {
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = hq.judge.notified() => {}
                () = hq.stop.cancelled() => return,
            }
            if let Err(error) = judge(&hq).await {
                tracing::debug!(%error, "sockets could not be judged; the database is away");
                tokio::time::sleep(AGAIN).await;
                hq.judge.notify_one();
            }
        }
    });
}

async fn judge(hq: &Hq) -> tillkeep_http::error::Result<()> {
    for ids in hq.hub.stores().chunks(AT_ONCE) {
        let rows = store::Entity::find().filter(store::Column::Id.is_in(ids.iter().copied()));
        let rows: HashMap<Uuid, store::Model> =
            rows.all(hq.sync_db().reader()).await?.into_iter().map(|row| (row.id, row)).collect();
        for id in ids {
            let Some(connection) = hq.hub.get(*id) else { continue };
            let Some(token_version) = connection.token_version() else { continue };
            let row = rows.get(id).filter(|row| row.is_active && row.deleted_at.is_none());
            // Only a token that was replaced is asked for, which is rare.
            let standing = match row {
                Some(row) => standing(hq.sync_db(), row, token_version, hq.clock.now()).await?,
                None => Standing::Refused,
            };
            match standing {
                Standing::Good => {}
                // Another server replaced the token: the store is to hear of it within the grace.
                Standing::Until(until) => {
                    if connection.ends_at(until) {
                        hq.stores_to_notify.insert(*id);
                    }
                }
                Standing::Refused => connection.close(close::REVOKED),
            }
        }
    }
    // Their sockets may be at a second server, and what they ask come to a third one.
    for store in open_handovers(hq.sync_db().reader(), hq.clock.now()).await? {
        hq.stores_to_notify.insert(store);
    }
    Ok(())
}
