//! `POST /register-sessions/{id}/close`: the figures are taken in the transaction that ends the selling, so that no
//! sale slips in after them.

use std::sync::Arc;
use utoipa::ToSchema;

use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::resource::Check;
use tillkeep_http::{Answer, Caller, Id};
use tillkeep_model::permission::code::{PosSell, RegistersClose, ReportsZReport};
use tillkeep_model::{JsonText, Money};
use tillkeep_storage::entity::register_session;
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use tillkeep_storage::{audit, fault};
use uuid::Uuid;

use super::counts::{self, Count};
use super::totals::{Totals, running_total};
use crate::Store;
use crate::approvals::{Granted, Purse, Scope, Wallet};
use crate::pos::tenders;

/// Who closes without asking anybody; whoever else sells at a till needs an approval.
const MAY_CLOSE: [&str; 2] = ["registers.close", "reports.z_report"];

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
    let settings = store.own_row(caller.db().reader()).await?;
    let tenders = tenders::all(caller.db().reader()).await?;
    let own = caller.may(&MAY_CLOSE);
    let purse = Wallet::read(caller.db().reader(), &body.approvals).await?.judged(&caller, store.id).await?;
    let tx = caller.db().begin().await?;
    let session = register_session::Entity::find_by_id(id).one(&tx).await?;
    let mut session = session.ok_or_else(|| Error::not_found("register session"))?;
    if !own && purse.is_empty() {
        return Err(Error::forbidden(&MAY_CLOSE));
    }
    if session.status == "closed" {
        return Err(super::closed());
    }
    let totals = Totals::of(&tx, &session).await?;
    let comparison = counts::compare(&sent, &tenders, &totals)?;
    let accepted = body.accept_variance.unwrap_or_default();
    counts::refuse_variance(&comparison, &totals, &settings, accepted)?;
    let granted = if own { None } else { Some(lent(&purse, id, counts::beyond_limit(&comparison, &settings))?) };
    if granted.is_some() && comparison.cash.is_none() {
        // What nobody counted nobody approved.
        let text = "a drawer that somebody else approves to close is counted first; send the cash in counts";
        return Err(Error::field("counts", text));
    }
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
        details: json!({"cashVariance": session.cash_variance, "varianceAccepted": accepted}),
        ..caller.audit("session.close")
    };
    audit::record(&tx, entry, now).await?;
    super::enqueue(&tx, &session, "update", now).await?;
    fault::point("session.closed")?;
    store.commit(tx).await?;
    Ok(Answer(session))
}

/// The approval of this close; a difference beyond the limit must have been approved as that difference.
fn lent(purse: &Purse, session_id: Uuid, variance: Option<Money>) -> Result<&Granted> {
    let granted = purse.fill("registers.close", &Scope::Drawer { session_id, variance });
    granted.map_err(|error| error.with("cashVariance", variance))
}
