//! `POST /register-sessions/{id}/force-close`: a drawer that nobody counts is closed all the same. What was in it is unknown, which
//! is not nothing.

use std::sync::Arc;

use axum::extract::State;
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::sent::Sent;
use tillkeep_http::{Answer, Body, Caller, Id, sent};
use tillkeep_model::ErrorCode;
use tillkeep_model::fields::session::{FORCING, SESSION};
use tillkeep_model::permission::code::RegistersClose;
use tillkeep_model::reason::ReasonKind;
use tillkeep_model::state::SessionStatus;
use tillkeep_storage::entity::register_session::Model;
use tillkeep_storage::fault;
use uuid::Uuid;

use super::drawer::find;
use super::ending::end;
use super::totals::{Totals, tell};
use crate::act::{Acting, Log, Stopped};
use crate::memory::Shop;
use crate::reasons::{self, Reason};
use crate::{Store, printers};

sent! {
    pub(crate) struct Forcing as "SessionForceClose" by FORCING {
        reason: Option<String>,
        /// Of a reason of the kind `force_close`, in place of a text.
        reason_code: Option<String>,
    }
}

pub(crate) async fn close(
    caller: Caller<RegistersClose>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
    Body(body): Body<Forcing>,
) -> Result<Answer<Model>> {
    body.check_fields(caller.now())?;
    let shop = store.shop().await?;
    let (code, text) = (body.reason_code.as_deref(), body.reason.as_deref());
    let reason = reasons::required(&shop, ReasonKind::ForceClose, code, text)?;
    let user_id = caller.user_id;
    let act = store.act(&caller, "session.force_close").about(SESSION.table, &id);
    let session = act.run(move |tx| Box::pin(async move { force(tx, &shop, id, reason, user_id).await })).await?;
    tell(&store, &session);
    Ok(Answer(session))
}

async fn force(
    tx: &mut Acting<'_>,
    shop: &Shop,
    id: Uuid,
    reason: Reason,
    user_id: Uuid,
) -> std::result::Result<(Model, Log), Stopped> {
    let mut session = find(&**tx, id).await?;
    if session.status == SessionStatus::Closed {
        return Err(Error::new(ErrorCode::AlreadyClosed, "this drawer is closed already; nothing is left to do").into());
    }
    let report = Totals::load(&**tx, &session).await?;
    // A count that was begun stays as it is; nobody answers for it.
    (session.counted_cash, session.cash_variance) = (None, None);
    session.forced = true;
    (session.close_note, session.close_reason_code) = (Some(reason.text), reason.code);
    let report = end(&**tx, &mut session, report, (user_id, tx.now())).await?;
    tx.update(&session).await?;
    printers::queue_z(tx, shop, &session, report).await?;
    fault::point("session.forced")?;
    let details = json!({
        "reason": session.close_note, "reasonCode": session.close_reason_code, "expectedCash": session.expected_cash,
    });
    Ok((session, Log::Line(details)))
}
