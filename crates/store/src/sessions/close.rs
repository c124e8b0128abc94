//! `POST /register-sessions/{id}/close`: the figures are taken in the transaction that ends the selling, so that no
//! sale slips in after them.

use std::sync::Arc;

use axum::extract::State;
use serde_json::json;
use tillkeep_http::auth::device::wrong_terminal;
use tillkeep_http::documents::drawers::{MAY_CLOSE, shown};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::resource::Check;
use tillkeep_http::sent::Sent;
use tillkeep_http::{Answer, Caller, Id, sent};
use tillkeep_model::approvable::CLOSING;
use tillkeep_model::fields::session::{CLOSING as CLOSING_FIELDS, SESSION};
use tillkeep_model::permission::code::{PosSell, RegistersClose, ReportsZReport};
use tillkeep_model::state::SessionStatus;
use tillkeep_model::{ErrorCode, Instant, JsonText, Money};
use tillkeep_storage::entity::register_session;
use tillkeep_storage::fault;
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use super::counts::{self, Comparison, Count};
use super::drawer::closed;
use super::totals::{Totals, running_total};
use crate::Store;
use crate::act::{Acting, Log, Stopped};
use crate::approvals::{Approval, PresentedApprovals, Scope, ValidApprovals};
use crate::memory::Shop;

sent! {
    #[derive(Default)]
    pub(crate) struct Close as "SessionClose" by CLOSING_FIELDS {
        counts: Option<Vec<Count>>,
        note: Option<String>,
        accept_variance: Option<bool>,
        /// Tokens of `POST /pos/approvals`.
        #[serde(default)]
        approvals: Vec<String>,
    }
}

pub(crate) async fn close(
    caller: Caller<(RegistersClose, ReportsZReport, PosSell)>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
    OptionalBody(body): OptionalBody<Close>,
) -> Result<Answer<register_session::Model>> {
    let mut check = Check::default();
    body.check_at("", caller.now(), &mut check);
    counts::check(body.counts.as_deref().unwrap_or_default(), &mut check);
    check.finish()?;
    let shop = store.shop().await?;
    let blind = shop.own()?.blind_close;
    let own = caller.may(MAY_CLOSE);
    let presented = PresentedApprovals::read(caller.reader(), &body.approvals).await?;
    let act = store.act(&caller, "session.close").about(SESSION.table, &id);
    let here =
        caller.terminal_id.as_deref().and_then(|terminal| shop.at_terminal(terminal)).map(|register| register.id);
    let request = Request {
        id,
        user_id: caller.user_id,
        own,
        here,
        approvals: presented.valid(&caller, store.id).await?,
        sent: body.counts.unwrap_or_default(),
        note: body.note,
        accepted: body.accept_variance.unwrap_or_default(),
        shop,
    };
    let session = act.run(move |tx| Box::pin(request.close(tx))).await??;
    Ok(Answer(shown(session, own || !blind)))
}

/// What the transaction needs.
struct Request {
    id: Uuid,
    user_id: Uuid,
    /// The caller may close drawers without anybody's approval.
    own: bool,
    /// The register where the caller signed in.
    here: Option<Uuid>,
    approvals: ValidApprovals,
    sent: Vec<Count>,
    note: Option<String>,
    /// A difference beyond the limit is accepted.
    accepted: bool,
    shop: Arc<Shop>,
}

/// The session as it is closed, or why it is not: that is committed too.
type Closed = Result<register_session::Model>;

impl Request {
    async fn close(self, tx: &mut Acting<'_>) -> std::result::Result<(Closed, Log), Stopped> {
        let session = register_session::Entity::find_by_id(self.id).one(&**tx).await?;
        let session = session.ok_or_else(|| Error::not_found("register session"))?;
        if session.status == SessionStatus::Closed {
            return Err(if self.is_unasked() { Error::forbidden(MAY_CLOSE) } else { closed() }.into());
        }
        if !self.own && !self.is_unasked() && self.here != Some(session.register_id) {
            let text = "an approval is for closing the drawer of the till you signed in at; this one is another's";
            return Err(wrong_terminal(text).into());
        }
        let totals = Totals::load(&**tx, &session).await?;
        let comparison = counts::compare(&self.sent, &self.shop.tenders, &totals)?;
        if !self.own && !self.is_unasked() && comparison.cash.is_none() {
            // What was not counted was not approved.
            let text = "a drawer that another user approves to close is counted first; send the cash in counts";
            return Err(Error::field("counts", text).into());
        }
        let beyond = counts::beyond_limit(&comparison, self.shop.own()?);
        let approval = match self.approval(&comparison, &totals, beyond) {
            Ok(approval) => approval,
            Err(refusal) => return self.refuse(tx, refusal, &comparison, &totals).await,
        };
        if let Some(approval) = approval {
            tx.consume(approval, self.id).await?;
        }
        let running_total = running_total(&**tx, &session.register_code).await? + totals.total_amount;
        let is_accepted = self.accepted || (approval.is_some() && beyond.is_some());
        let session = self.closed(session, &comparison, &totals, (running_total, tx.now()));
        tx.update(&session).await?;
        fault::point("session.closed")?;
        let details = json!({"cashVariance": session.cash_variance, "varianceAccepted": is_accepted});
        Ok((Ok(session), Log::Line(details)))
    }

    /// The caller may not close it, and brought no approval.
    const fn is_unasked(&self) -> bool {
        !self.own && self.approvals.is_empty()
    }

    /// The approval that the close needs, if it needs one.
    fn approval(&self, comparison: &Comparison, totals: &Totals, beyond: Option<Money>) -> Result<Option<&Approval>> {
        let settings = self.shop.own()?;
        if self.is_unasked() {
            return Err(Error::forbidden(MAY_CLOSE));
        }
        if self.own {
            return counts::refuse_variance(comparison, totals, settings, self.accepted).map(|()| None);
        }
        lent(&self.approvals, self.id, beyond, !settings.blind_close).map(Some)
    }

    /// `session` with its figures.
    fn closed(
        self,
        mut session: register_session::Model,
        comparison: &Comparison,
        totals: &Totals,
        (running_total, now): (Money, Instant),
    ) -> register_session::Model {
        session.running_total = Some(running_total);
        session.status = SessionStatus::Closed.into();
        session.closed_by = Some(self.user_id);
        session.closed_at = Some(now);
        session.close_note = self.note;
        session.updated_at = now;
        session.synced = false;
        if !comparison.rows.is_empty() {
            session.counted_by = Some(self.user_id);
            session.counted_at = Some(now);
            session.counts = Some(JsonText::new(&comparison.rows));
        }
        session.expected_cash = Some(totals.expected_cash);
        session.counted_cash = comparison.cash;
        session.cash_variance = comparison.cash_variance;
        session.first_receipt_number.clone_from(&totals.first_receipt_number);
        session.last_receipt_number.clone_from(&totals.last_receipt_number);
        session.sale_count = Some(totals.documents);
        session.totals = Some(JsonText::new(totals));
        session
    }

    /// A close that was refused stays in the audit log, and the approvals that it brought are used up: else a drawer could be
    /// counted until the limit lets it pass, and what should be in it were known.
    async fn refuse(
        &self,
        tx: &mut Acting<'_>,
        refusal: Error,
        comparison: &Comparison,
        totals: &Totals,
    ) -> std::result::Result<(Closed, Log), Stopped> {
        let mut approvers = Vec::new();
        for approval in self.approvals.all_of(&CLOSING) {
            tx.consume(approval, self.id).await?;
            approvers.push(approval.approver_id());
        }
        let details = json!({
            "refused": refusal.code().as_str(), "expectedCash": totals.expected_cash,
            "countedCash": comparison.cash, "cashVariance": comparison.cash_variance,
            "approvers": approvers,
        });
        Ok((Err(refusal), Log::Refused("session.close_refused", details)))
    }
}

/// The approval of this close; a difference beyond the limit must have been approved as that difference. It is shown to
/// who may know it only.
fn lent(approvals: &ValidApprovals, session_id: Uuid, variance: Option<Money>, tell: bool) -> Result<&Approval> {
    approvals.require(&CLOSING, &Scope::Drawer { session_id, variance }).map_err(|_| {
        let text = "no approval that came along is for closing this drawer with this count, and what came is used up; \
                    a user with registers.close or reports.z_report may close it at their own sign-in";
        let error = Error::new(ErrorCode::ApprovalRequired, text);
        let error = error.with("approvable", true).with("required", [CLOSING.code]);
        if tell { error.with("cashVariance", variance) } else { error }
    })
}
