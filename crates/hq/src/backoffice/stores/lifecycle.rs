//! Taking a store into use and out of it.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tillkeep_http::auth::{Revocation, Sessions};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::{Answer, Caller, Id};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::StoresEdit;
use tillkeep_storage::entity::store::{Entity, Model};
use tillkeep_storage::{Connection, Tx};
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::KIND;
use super::view::{of_caller, sync_state};
use crate::Hq;
use crate::backoffice::rows;

/// A store that was heard of within this time has sent what it had, if it says so: ten of its cycles.
const RECENT_MS: i64 = 5 * 60 * 1000;

/// `POST /stores/{id}/activate`
pub(super) async fn activate(caller: Caller<StoresEdit>, Id(id): Id) -> Result<Answer<Model>> {
    caller.at_store(id)?;
    set_active(&caller, id, true, Json::Null).await.map(Answer)
}

#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Deactivate {
    #[serde(default)]
    force: bool,
}

/// `POST /stores/{id}/deactivate`: what is still in that store's outbox can no longer be pushed afterwards, so that is
/// refused unless forced.
pub(super) async fn deactivate(
    caller: Caller<StoresEdit>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    OptionalBody(body): OptionalBody<Deactivate>,
) -> Result<Answer<Model>> {
    let store = of_caller(&caller, id).await?;
    if store.is_active && !body.force {
        refuse_pending(&hq, caller.reader(), &store).await?;
    }
    let row = set_active(&caller, id, false, json!({"force": body.force})).await?;
    hq.shut_out(id);
    caller.auth().ended(Revocation::AtStore(id));
    Ok(Answer(row))
}

async fn refuse_pending(hq: &Hq, conn: &Connection, store: &Model) -> Result<()> {
    let state = sync_state(hq, conn, store.id).await?;
    let waiting = state.pending_count + state.outbox_pending + state.dead_lettered;
    // A store that never came has nothing to send.
    let silent = store.first_seen_at.is_some()
        && !state.connected
        && state.last_success_at.max(state.last_seen_at).is_none_or(|at| hq.clock.now().millis_since(at) > RECENT_MS);
    if waiting == 0 && !silent {
        return Ok(());
    }
    let text = if waiting > 0 {
        format!("{waiting} entries of this store are not applied yet; send force to leave them behind")
    } else {
        "this store was not heard of lately, so it may have entries to send; send force to leave them behind".to_owned()
    };
    Err(Error::new(ErrorCode::PendingData, text).with("sync", state))
}

async fn set_active(caller: &Caller<StoresEdit>, id: Uuid, active: bool, details: Json) -> Result<Model> {
    let edit = async |_: &mut Tx, _: &Model, new: &mut Model| {
        new.is_active = active;
        Ok(details)
    };
    let action = if active { "store.activate" } else { "store.deactivate" };
    // After the row, which whoever signs in for this store holds until the session is there.
    let after = async |tx: &mut Tx, _: &Model, new: &Model| {
        if !new.is_active {
            Sessions::revoke(&*tx, Revocation::AtStore(id), "the store was taken out of use", caller.now()).await?;
        }
        Ok(())
    };
    rows::update::<Entity, _>(caller, &KIND, (action, id), edit, after).await
}
