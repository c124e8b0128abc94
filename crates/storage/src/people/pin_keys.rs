//! Whether the key of a store's PINs is given out: to whoever comes first with its token, until the store has confirmed it. After
//! that it is withheld until a person at headquarters says otherwise. `docs/security.md`, PINs.

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::db::execute;
use crate::entity::store_node::{ASKS_NEVER, Model};

/// What a store shows of its key that does not know the present one.
pub const fn is_given(node: &Model, token_version: i32) -> bool {
    !node.pin_key_closed && token_version >= node.pin_key_for
}

/// The store has it, by the word of whoever has a token of this version. One from before says nothing of the machine that the
/// key is open for.
pub async fn confirmed(conn: &impl ConnectionTrait, store: Uuid, token_version: i32) -> Result<(), DbErr> {
    let sql = "UPDATE store_nodes SET pin_key_closed = TRUE WHERE store_id = $1 AND NOT pin_key_closed \
               AND pin_key_for <= $2";
    execute(conn, sql, [store.into(), token_version.into()]).await?;
    Ok(())
}

/// A caller with its token asked for it again.
pub async fn asked(conn: &impl ConnectionTrait, store: Uuid, now: Instant) -> Result<(), DbErr> {
    let sql = "UPDATE store_nodes SET pin_key_asked_at = $2 WHERE store_id = $1 AND pin_key_asked_at IS NULL";
    execute(conn, sql, [store.into(), now.into()]).await?;
    Ok(())
}

/// A user at headquarters decided that it is given out once more, to tokens from `token_version` on.
pub async fn open(conn: &impl ConnectionTrait, store: Uuid, token_version: i32) -> Result<(), DbErr> {
    // A store that was never heard has no row yet: what counts from here on must be there when it comes.
    let sql = "INSERT INTO store_nodes (store_id, pin_key_closed, pin_key_for, node_epoch, ticket, last_ticket, last_seq, \
               store_version, fingerprints, told_fingerprints, outbox_pending, dead_lettered) \
               VALUES ($1, FALSE, $2, '', '', '', 0, '', '', '', 0, 0) ON CONFLICT (store_id) DO UPDATE SET \
               pin_key_closed = FALSE, pin_key_for = excluded.pin_key_for, pin_key_asked_at = NULL";
    execute(conn, sql, [store.into(), token_version.into()]).await?;
    Ok(())
}

/// A user at headquarters decided that the store has an older release again, which cannot ask who signs in: people travel to it
/// as they did to that one, all of them once more.
pub async fn is_older(conn: &impl ConnectionTrait, store: Uuid) -> Result<(), DbErr> {
    let sql = "UPDATE store_nodes SET sign_in = $2, fingerprints = $3, told_fingerprints = $3 WHERE store_id = $1";
    execute(conn, sql, [store.into(), ASKS_NEVER.into(), r#"{"users":"an older release"}"#.into()]).await?;
    Ok(())
}
