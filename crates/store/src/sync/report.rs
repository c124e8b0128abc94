//! What a store says of itself with each cycle: what it has, what it could not store, and what waits for headquarters.

use std::fmt::Write;

use tillkeep_model::Alarm;
use tillkeep_model::wire::unstored;
use tillkeep_storage::apply::{self, Cursor};
use tillkeep_storage::{DbErr, outbox};

use crate::Store;

/// The query of `GET /sync/versions`; what it has is from the data of `epoch`.
pub(super) async fn query(store: &Store, epoch: &str) -> Result<String, DbErr> {
    let conn = store.snapshot().await?;
    let cursors = apply::cursors(&conn).await?;
    let outbox = outbox::state(&conn).await?;
    drop(conn);
    let tag = |cursor: &Cursor| cursor.tag.map(|tag| format!(":{tag}")).unwrap_or_default();
    let had = |(name, cursor): (&String, &Cursor)| format!("{name}:{}{}", cursor.version, tag(cursor));
    let mut have: Vec<_> = cursors.iter().map(had).collect();
    have.sort_unstable();
    let (pending, dead) = (outbox.pending, outbox.dead_lettered);
    let mut said = format!("epoch={epoch}&have={}&pending={pending}&dead={dead}", have.join(","));
    let mut add = |name: &str, value: &str| {
        let value = form_urlencoded::byte_serialize(value.as_bytes());
        // Writing to a text does not fail.
        write!(said, "&{name}={}", value.collect::<String>()).unwrap_or_default();
    };
    add("instance", &store.sync.instance.to_string());
    if let Some(nonce) = store.sync.nonce() {
        add("nonce", &nonce.to_string());
    }
    if let Some(oldest) = outbox.oldest {
        add("oldest", &oldest.to_string());
    }
    let alarms = store.alarms.all();
    if !alarms.is_empty() {
        add("alarms", &Alarm::write(&alarms));
    }
    let lacking = store.sync.line().unstored;
    if !lacking.is_empty() {
        add("unstored", &unstored::write(&lacking));
    }
    Ok(said)
}
