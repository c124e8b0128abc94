//! The key of a store's PINs, given out once more: to a store that lost its disk, and to no other. `docs/security.md`,
//! PINs.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use tillkeep_http::error::Result;
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::{Caller, Id, NoContent};
use tillkeep_model::fields;
use tillkeep_model::permission::Fresh;
use tillkeep_model::permission::code::StoresEdit;
use tillkeep_storage::{audit, pin_keys};
use utoipa::ToSchema;

use super::view::of_caller;
use crate::Hq;

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = AllowPinKey)]
pub(super) struct Allow {
    /// The store has an older release again, which cannot ask headquarters who signs in.
    #[serde(default)]
    older_release: bool,
}

/// `POST /stores/{id}/allow-pin-key`: the next handshake with the present token gets it.
pub(super) async fn allow(
    caller: Caller<Fresh<StoresEdit>>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    OptionalBody(body): OptionalBody<Allow>,
) -> Result<NoContent> {
    let store = of_caller(&caller, id).await?;
    let act = caller.begin().await?;
    pin_keys::open(&**act, id, store.sync_token_version).await?;
    if body.older_release {
        pin_keys::is_older(&**act, id).await?;
    }
    let entry = audit::Entry {
        entity_type: Some(fields::store::BOOK.table),
        entity_id: Some(id.to_string()),
        details: json!({"olderRelease": body.older_release}),
        ..caller.audit("store.allow_pin_key")
    };
    act.done(entry).await?;
    // It need not wait for the hour.
    hq.stores_to_notify.insert(id);
    hq.changed_by_hand(id);
    Ok(NoContent)
}
