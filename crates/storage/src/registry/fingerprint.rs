//! A fingerprint of a type's columns. `docs/sync.md`, rule D11: the values of an added column do not reach a row if its
//! version did not move, so a type with other columns at HQ than at a store is reloaded.

use sha2::{Digest, Sha256};

use super::sync_type::SyncType;

/// Hex, 16 characters.
pub fn fingerprint(entity: &SyncType) -> String {
    let mut columns: Vec<_> = entity.table.columns();
    columns.extend(entity.children.iter().flat_map(|child| child.table.columns()));
    columns.sort_unstable();
    let digest = Sha256::digest(columns.join(",").as_bytes());
    hex::encode(&digest[..8])
}
