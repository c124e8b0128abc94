//! `POST /register-sessions/{id}/close`: the figures are taken in the transaction that ends the selling, so that no
//! sale slips in after them.

use std::sync::Arc;
use utoipa::ToSchema;

use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use tillkeep_http::auth::device::wrong_terminal;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::resource::Check;
use tillkeep_http::{Answer, Caller, Id};
use tillkeep_model::permission::code::{PosSell, RegistersClose, ReportsZReport};
use tillkeep_model::{ErrorCode, Instant, JsonText, Money};
use tillkeep_storage::entity::register_session;
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use tillkeep_storage::{Tx, audit, fault, outbox};
use uuid::Uuid;

use super::counts::{self, Count};
use super::totals::{Totals, running_total};
use super::{MAY_CLOSE, shown};
use crate::Store;
use crate::approvals::{Granted, Purse, Scope, Wallet};

/// What is approved.
const CLOSING: &str = "registers.close";

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = SessionClose)]
pub struct Close {
    #[schema(max_items = 50)]
    counts: Option<Vec<Count>>,
    #[schema(max_length = 500)]
    note: Option<String>,
    accept_variance: Option<bool>,
    /// Tokens of `POST /pos/approvals`.
    #[serde(default)]
    approvals: Vec<String>,
}

pub async fn close(
    caller: Caller<(RegistersClose, ReportsZReport, PosSell)>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
    OptionalBody(body): OptionalBody<Close>,
) -> Result<Answer<register_session::Model>> {
    let sent = body.counts.unwrap_or_default();
    counts::check(&sent)?;
    let mut check = Check::default();
    Wallet::check(&body.approvals, &mut check);
    check.optional(body.note.as_deref(), "note", 500).finish()?;
    let now = caller.now();
    let shop = store.shop().await?;
    let settings = shop.own()?;
    let own = caller.may(&MAY_CLOSE);
    let purse = Wallet::read(caller.db().reader(), &body.approvals).await?.judged(&caller, store.id).await?;
    let tx = caller.db().begin().await?;
    let session = register_session::Entity::find_by_id(id).one(&tx).await?;
    let mut session = session.ok_or_else(|| Error::not_found("register session"))?;
    let unasked = !own && purse.is_empty();
    if session.status == "closed" {
        return Err(if unasked { Error::forbidden(&MAY_CLOSE) } else { super::closed() });
    }
    let here = caller.terminal_id.as_deref().and_then(|terminal| shop.at_terminal(terminal));
    if !own && !unasked && here.is_none_or(|register| register.id != session.register_id) {
        let text = "an approval is for closing the drawer of the till you signed in at; this one is another's";
        return Err(wrong_terminal(text));
    }
    let totals = Totals::of(&tx, &session).await?;
    let comparison = counts::compare(&sent, &shop.tenders, &totals)?;
    let accepted = body.accept_variance.unwrap_or_default();
    let beyond = counts::beyond_limit(&comparison, settings);
    let judged = if unasked {
        Err(Error::forbidden(&MAY_CLOSE))
    } else if own {
        counts::refuse_variance(&comparison, &totals, settings, accepted).map(|()| None)
    } else if comparison.cash.is_none() {
        // What nobody counted nobody approved.
        let text = "a drawer that somebody else approves to close is counted first; send the cash in counts";
        return Err(Error::field("counts", text));
    } else {
        lent(&purse, id, beyond, !settings.blind_close).map(Some)
    };
    let granted = match judged {
        Ok(granted) => granted,
        Err(refusal) => {
            let details = json!({
                "refused": refusal.code().as_str(), "expectedCash": totals.expected_cash,
                "countedCash": comparison.cash, "cashVariance": comparison.cash_variance,
            });
            let entry = audit::Entry { details, ..caller.audit("session.close_refused") };
            refused(tx, &purse, id, entry, now).await?;
            return Err(refusal);
        }
    };
    if let Some(granted) = granted {
        granted.spend(&tx, id, now).await?;
    }

    session.running_total = Some(running_total(&tx, &session.register_code).await? + totals.total_amount);
    "closed".clone_into(&mut session.status);
    session.closed_by = Some(caller.user_id);
    session.closed_at = Some(now);
    session.close_note = body.note;
    session.updated_at = now;
    session.synced = false;
    if !comparison.rows.is_empty() {
        session.counted_by = Some(caller.user_id);
        session.counted_at = Some(now);
        session.counts = Some(JsonText::of(&comparison.rows));
    }
    session.expected_cash = Some(totals.expected_cash);
    session.counted_cash = comparison.cash;
    session.cash_variance = comparison.cash_variance;
    session.first_receipt_number.clone_from(&totals.first_receipt_number);
    session.last_receipt_number.clone_from(&totals.last_receipt_number);
    session.sale_count = Some(totals.documents);
    session.totals = Some(JsonText::of(&totals));
    register_session::Entity::update(session.clone().into_active_model().reset_all()).exec(&tx).await?;
    let entry = audit::Entry {
        entity_type: Some("register_sessions"),
        entity_id: Some(id.to_string()),
        approver_id: granted.map(Granted::approver_id),
        details: json!({
            "cashVariance": session.cash_variance, "varianceAccepted": accepted || (granted.is_some() && beyond.is_some()),
        }),
        ..caller.audit("session.close")
    };
    audit::record(&tx, entry, now).await?;
    outbox::enqueue(&tx, &super::entry(&session, "update"), now).await?;
    fault::point("session.closed")?;
    store.commit(tx).await?;
    Ok(Answer(shown(session, own || !settings.blind_close)))
}

/// The approval of this close; a difference beyond the limit must have been approved as that difference. It is told to
/// who may know it only.
fn lent(purse: &Purse, session_id: Uuid, variance: Option<Money>, tell: bool) -> Result<&Granted> {
    purse.fill(CLOSING, &Scope::Drawer { session_id, variance }).map_err(|_| {
        let text = "no approval that came along is for closing this drawer with this count, and what came is used up; \
                    somebody with registers.close or reports.z_report may close it at their own sign-in";
        let error = Error::new(ErrorCode::ApprovalRequired, text);
        let error = error.with("approvable", true).with("required", [CLOSING]);
        if tell { error.with("cashVariance", variance) } else { error }
    })
}

/// A close that was refused stays in the audit log, and the approvals that it brought are used up: else a drawer could be
/// counted until the limit lets it pass, and what should be in it were known.
async fn refused(mut tx: Tx, purse: &Purse, session_id: Uuid, entry: audit::Entry, now: Instant) -> Result<()> {
    tx.set_aside();
    let mut approver_id = None;
    for granted in purse.of(CLOSING) {
        granted.spend(&tx, session_id, now).await?;
        approver_id = Some(granted.approver_id());
    }
    let entry = audit::Entry {
        entity_type: Some("register_sessions"),
        entity_id: Some(session_id.to_string()),
        approver_id,
        ..entry
    };
    audit::record(&tx, entry, now).await?;
    tx.commit().await?;
    Ok(())
}
