//! `POST /register-sessions/{id}/reassign`: a drawer is another user's from now on. Nothing is counted, and whose it was is kept.

use std::sync::Arc;

use axum::extract::State;
use serde_json::json;
use tillkeep_http::documents::drawers::shown;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::sent::Sent;
use tillkeep_http::{Answer, Body, Caller, Id, sent};
use tillkeep_model::fields::session::{REASSIGNING, SESSION};
use tillkeep_model::permission::code::RegistersOpen;
use tillkeep_model::state::SessionStatus;
use tillkeep_model::{ErrorCode, JsonText};
use tillkeep_storage::entity::register_session::Model;
use tillkeep_storage::fault;
use uuid::Uuid;

use super::drawer::{closed, find, require_user};
use super::view::knows;
use crate::Store;
use crate::act::{Acting, Log, Stopped};

/// So often a drawer is handed on at the most.
const MOST: usize = 200;

sent! {
    pub(crate) struct Reassigning as "SessionReassignment" by REASSIGNING {
        /// Whose drawer it is from now on.
        user_id: Uuid,
    }
}

pub(crate) async fn reassign(
    caller: Caller<RegistersOpen>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
    Body(body): Body<Reassigning>,
) -> Result<Answer<Model>> {
    body.check_fields(caller.now())?;
    require_user(caller.reader(), body.user_id, "userId").await?;
    let knows = knows(&caller, &store).await?;
    let (to, by) = (body.user_id, caller.user_id);
    let act = store.act(&caller, "session.reassign").about(SESSION.table, &id);
    let session = act.run(move |tx| Box::pin(hand_on(tx, id, to, by))).await?;
    Ok(Answer(shown(session, knows)))
}

async fn hand_on(tx: &mut Acting<'_>, id: Uuid, to: Uuid, by: Uuid) -> std::result::Result<(Model, Log), Stopped> {
    let mut session = find(&**tx, id).await?;
    if session.status == SessionStatus::Closed {
        return Err(closed().into());
    }
    let from = session.owner();
    if from == to {
        return Ok((session, Log::Unchanged));
    }
    let mut owners = session.owners.0.as_array().cloned().unwrap_or_default();
    if owners.len() >= MOST {
        let text = "this drawer was handed on too often; close it and open it again";
        return Err(Error::new(ErrorCode::Conflict, text).into());
    }
    owners.push(json!({"userId": to, "byUserId": by, "at": tx.now()}));
    (session.owner_id, session.owners) = (Some(to), JsonText::new(&owners));
    (session.updated_at, session.synced) = (tx.now(), false);
    tx.update(&session).await?;
    fault::point("reassign.written")?;
    let details = json!({"from": from, "to": to});
    Ok((session, Log::Line(details)))
}
