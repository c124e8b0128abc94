//! The sync token of a store, as far as it can be judged without asking headquarters: whatever is asked with a token counts there
//! as a sign of life of the store, and a handshake would take its place.

use std::sync::Arc;

use tillkeep_http::tokens::read_sync_token;
use tillkeep_storage::settings;

use super::configured::missing;
use super::finding::{Checked, fault, ok, warning};
use super::installation::{Database, Installation};
use super::ports::gauge_of;

const PROVISION: &str = "provision the store at headquarters (page Stores), and set SYNC_TOKEN to what that shows";

pub async fn good(at: Arc<Installation>) -> Checked {
    let token = match &at.token {
        Ok(Some(token)) => token,
        Ok(None) => {
            return Ok(vec![missing(&at, "SYNC_TOKEN", "what headquarters shows when it provisions the store")]);
        }
        Err(error) => {
            return Ok(vec![fault(error.clone(), "set SYNC_TOKEN, or SYNC_TOKEN_FILE to a file that is there")]);
        }
    };
    let Some(claims) = read_sync_token(token.expose()) else {
        return Ok(vec![fault("SYNC_TOKEN is no sync token of a store", PROVISION)]);
    };
    let Some(id) = claims.store_id.filter(|id| !id.is_nil()) else {
        return Ok(vec![fault("SYNC_TOKEN names no store", PROVISION)]);
    };
    let code = &claims.store_code;
    if let Database::Open { release, .. } = &at.database
        && release.is_readable()
        && let Some(owner) = settings::get(at.tables()?, "store_id").await?
        && owner != id.to_string()
    {
        return Ok(vec![fault(
            format!("SYNC_TOKEN is of store {code} ({id}), and the database of store {owner}"),
            "name the data directory of that store with --data-dir, or set its own SYNC_TOKEN",
        )]);
    }
    // What the running server uses is not seen; that it is connected says that its own is good.
    match gauge_of(&at, "tillkeep_hq_connected").await {
        Some(0) => Ok(vec![warning(
            format!("SYNC_TOKEN is one of store {code}; the server that runs has no line to headquarters now"),
            "its log and `lastError` of GET /sync/status say why; a refused token is provisioned anew at headquarters",
        )]),
        Some(_) => Ok(vec![ok(format!("of store {code}; the server that runs is connected to headquarters"))]),
        None => Ok(vec![ok(format!(
            "of store {code}; whether headquarters takes it is not asked, as that would count as the store"
        ))]),
    }
}
