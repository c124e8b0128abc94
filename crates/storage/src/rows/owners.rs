//! Which columns a side owns. `docs/sync.md`, rule U11: what a store does not own is ignored.

/// Every column but those a server sets itself.
pub const ALL_OF_IT: &[&str] = &["*"];

/// Never taken from a sender.
pub const SERVER_COLUMNS: &[&str] = &[
    "id",
    "store_id",
    "sync_version",
    "synced",
    "received_at",
    "last_envelope_at",
    "flags",
    "receipt_end",
    "deleted_at",
    "updated_at",
    "created_at",
];

/// Whether the owner of `list` may write `column`.
pub fn owns(list: &[&str], column: &str) -> bool {
    if list == ALL_OF_IT { !SERVER_COLUMNS.contains(&column) } else { list.contains(&column) }
}
