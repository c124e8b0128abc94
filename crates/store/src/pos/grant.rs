//! `POST /pos/approvals`: a PIN is typed in, and the till gets a token for one action.

use std::sync::Arc;

use axum::extract::State;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde_json::{Value as Json, json};
use tillkeep_http::auth::throttle::{self, Attempt, Claimant};
use tillkeep_http::auth::{Origin, user_of_pin};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::sent::Sent;
use tillkeep_http::{Body, Caller, Created, files, sent};
use tillkeep_model::approvable::{self, Approvable};
use tillkeep_model::fields::approval::REQUEST;
use tillkeep_model::permission::code::PosSell;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::audit;
use tillkeep_storage::entity::approval;
use tillkeep_storage::sea_orm::{EntityTrait, IntoActiveModel};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Store;
use crate::act::{Act, Log};
use crate::approvals::{Context, Scope, digest, may_approve};

/// What the audit log calls an approval that was not given.
const REFUSED: &str = "approval.refused";
/// Milliseconds from the PIN to the action.
const GOOD_FOR_MS: i64 = 120_000;
/// What a token begins with, so that one in the wrong place is known for what it is.
const PREFIX: &str = "apr_";

sent! {
    pub(super) struct Asked as "ApprovalRequest" by REQUEST {
        permission: String,
        /// Of the person who approves.
        pin: String,
        reason: String,
        context: Context,
    }
}

/// An approval with its token, which is shown once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Approval)]
pub(super) struct Approved {
    approval_id: Uuid,
    token: String,
    approver: Approver,
    expires_at: Instant,
}

#[derive(Serialize, ToSchema)]
pub(super) struct Approver {
    id: Uuid,
    name: String,
}

pub(super) async fn grant(
    caller: Caller<PosSell>,
    State(store): State<Arc<Store>>,
    from: Origin,
    Body(asked): Body<Asked>,
) -> Result<Created<Approved>> {
    let approvable = known(&asked.permission)?;
    let permission = approvable.code;
    asked.check_fields(caller.now())?;
    let scope = Scope::new(approvable, &asked.context)?;
    let Some(terminal_id) = caller.terminal_id.clone() else {
        let text = "an approval is for one terminal; sign in there with POST /auth/pin-login";
        return Err(Error::new(ErrorCode::Conflict, text));
    };
    from.stands_at(caller.auth(), &terminal_id)?;
    let refused = |why: &str| audit::Entry {
        details: json!({"permission": permission, "reason": asked.reason, "refused": why}),
        ..caller.audit(REFUSED)
    };
    // Guesses count at the terminal, as they do at a sign-in.
    let claimant = Claimant::at(from, Some(store.id), Some(terminal_id.clone()));
    let found = user_of_pin(caller.auth(), store.id, &claimant, &asked.pin, refused("wrong PIN")).await;
    let (attempt, user) = found.map_err(of_another_person)?;
    let approver = caller.auth().access_of(user.id).await?;
    let approver = approver.filter(|person| may_approve(&store.auth, person, approvable, store.id));
    let Some(approver) = approver else {
        let act = store.act(&caller, REFUSED).asked_of(user.id);
        let error = refuse(act, attempt, permission, refused("lacks the permission").details).await?;
        throttle::judged(&store.auth);
        return Err(error);
    };
    let id = Uuid::now_v7();
    let act = store.act(&caller, "approval.granted").about("approvals", &id).asked_of(user.id);
    let token = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(files::random::<32>()));
    let row = approval::Model {
        id,
        created_at: act.now(),
        permission: permission.to_owned(),
        approver_user_id: user.id,
        requester_user_id: caller.user_id,
        terminal_id,
        reason: asked.reason.trim().to_owned(),
        context_hash: scope.hash()?,
        token_hash: digest(token.as_bytes()),
        expires_at: act.now().plus_millis(GOOD_FOR_MS),
        used_at: None,
        used_by_id: None,
    };
    let expires_at = row.expires_at;
    let details = json!({"permission": permission, "reason": row.reason, "for": scope});
    keep(act, attempt, row, details).await?;
    throttle::judged(&store.auth);
    Ok(Created::new(Approved {
        approval_id: id,
        token,
        approver: Approver { id: user.id, name: approver.user.display_name.clone() },
        expires_at,
    }))
}

fn known(permission: &str) -> Result<&'static Approvable> {
    Approvable::find(permission).ok_or_else(|| {
        let codes = approvable::ALL.map(|known| known.code).join(", ");
        Error::field("permission", format!("must be one of {codes}"))
    })
}

/// What a till is answered to a PIN that was not taken. The requester is signed in: only the PIN of the other person is
/// wrong.
fn of_another_person(error: Error) -> Error {
    match error.code() {
        ErrorCode::InvalidCredentials => Error::new(ErrorCode::WrongPin, "no user here has this PIN"),
        ErrorCode::TooManyAttempts => error.as_code(ErrorCode::PinLocked),
        _ => error,
    }
}

#[expect(clippy::disallowed_methods, reason = "approvals stay at their store")]
async fn keep(act: Act<'_>, attempt: Attempt, row: approval::Model, details: Json) -> Result<()> {
    let kept = act.run(move |tx| {
        Box::pin(async move {
            attempt.succeeded(tx, row.created_at).await?;
            approval::Entity::insert(row.into_active_model()).exec_without_returning(&**tx).await?;
            Ok(((), Log::Line(details)))
        })
    });
    kept.await
}

/// Notes that a user was asked who may not approve it; the answer to the till.
async fn refuse(act: Act<'_>, attempt: Attempt, permission: &str, details: Json) -> Result<Error> {
    let now = act.now();
    let noted = act.run(move |tx| {
        Box::pin(async move {
            attempt.succeeded(tx, now).await?;
            Ok(((), Log::Refused(REFUSED, details)))
        })
    });
    noted.await?;
    let text = format!("this person may not approve {permission} in this store; ask a user who may");
    Ok(Error::new(ErrorCode::ApproverLacksPermission, text).with("required", [permission]))
}
