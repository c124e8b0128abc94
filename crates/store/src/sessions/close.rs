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
use tillkeep_model::z::ZReport;
use tillkeep_model::{ErrorCode, JsonText};
use tillkeep_storage::entity::{register_session, tender};
use tillkeep_storage::sea_orm::ConnectionTrait;
use tillkeep_storage::{fault, parked_carts};
use uuid::Uuid;

use super::counts::{self, Beyond, Comparison, Count};
use super::drawer::{closed, find};
use super::ending::end;
use super::parked;
use super::totals::{Totals, tell};
use crate::act::{Acting, Log, Stopped};
use crate::approvals::{Approval, PresentedApprovals, Scope, ValidApprovals};
use crate::memory::Shop;
use crate::{Store, printers};

sent! {
    #[derive(Default)]
    pub(crate) struct Close as "SessionClose" by CLOSING_FIELDS {
        /// What is in the drawer now; what was counted before when it is left out.
        counts: Option<Vec<Count>>,
        note: Option<String>,
        accept_variance: Option<bool>,
        /// Carts stay parked that are parked at this till.
        accept_parked: Option<bool>,
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
        sent: body.counts,
        note: body.note,
        accepted: body.accept_variance.unwrap_or_default(),
        accepts_parked: body.accept_parked.unwrap_or_default(),
        shop,
    };
    let session = act.run(move |tx| Box::pin(request.close(tx))).await??;
    tell(&store, &session);
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
    sent: Option<Vec<Count>>,
    note: Option<String>,
    /// A difference beyond the limit is accepted.
    accepted: bool,
    /// So are carts that are parked.
    accepts_parked: bool,
    shop: Arc<Shop>,
}

/// The session as it is closed, or why it is not: that is committed too.
type Closed = Result<register_session::Model>;

/// What a drawer is closed with.
struct Figures {
    totals: ZReport,
    comparison: Comparison,
    beyond: Beyond,
}

impl Request {
    async fn close(self, tx: &mut Acting<'_>) -> std::result::Result<(Closed, Log), Stopped> {
        let session = find(&**tx, self.id).await?;
        if session.status == SessionStatus::Closed {
            return Err(if self.is_unasked() { Error::forbidden(MAY_CLOSE) } else { closed() }.into());
        }
        if !self.own && !self.is_unasked() && self.here != Some(session.register_id) {
            let text = "an approval is for closing the drawer of the till you signed in at; this one is another's";
            return Err(wrong_terminal(text).into());
        }
        let tenders = counts::tenders(&**tx).await?;
        let figures = self.figures(&**tx, &session, &tenders).await?;
        if !self.is_unasked() {
            counts::require_all(&figures.comparison, &tenders, &figures.totals)?;
            self.refuse_parked(&**tx, &session).await?;
        }
        let approval = match self.approval(&figures) {
            Ok(approval) => approval,
            Err(refusal) => return self.refuse(tx, refusal, &figures).await,
        };
        if let Some(approval) = approval {
            tx.consume(approval, self.id).await?;
        }
        let is_accepted = !figures.beyond.is_none() && (self.accepted || approval.is_some());
        let Figures { mut totals, comparison, .. } = figures;
        // Its figures were taken before it was used up.
        totals.controls.approvals += i64::from(approval.is_some());
        let mut session = self.counted(session, &comparison, tx);
        let report = end(&**tx, &mut session, totals, (self.user_id, tx.now())).await?;
        tx.update(&session).await?;
        if self.own || !self.shop.own()?.blind_close {
            // Else it would tell whoever counted: somebody who may know has it printed.
            printers::queue_z(tx, &self.shop, &session, report).await?;
        }
        fault::point("session.closed")?;
        let details = json!({"cashVariance": session.cash_variance, "varianceAccepted": is_accepted});
        Ok((Ok(session), Log::Line(details)))
    }

    /// The caller may not close it, and brought no approval.
    const fn is_unasked(&self) -> bool {
        !self.own && self.approvals.is_empty()
    }

    /// What was counted, beside what should be there. A drawer that is counted already need not be counted again.
    async fn figures(
        &self,
        conn: &impl ConnectionTrait,
        session: &register_session::Model,
        tenders: &[tender::Model],
    ) -> Result<Figures> {
        let is_counting = session.status == SessionStatus::Counting;
        let kept = is_counting.then(|| counts::kept(session)).flatten();
        let is_kept = self.sent.is_none();
        let counted = match self.sent.clone().or(kept) {
            Some(counts) => counts,
            None if self.is_unasked() => Vec::new(),
            None => {
                let text = "this drawer was not counted; send counts, or count it with POST /register-sessions/{id}/count; \
                            without a count it is closed by force alone";
                return Err(Error::new(ErrorCode::NotCounted, text).at("counts"));
            }
        };
        let totals = Totals::load(conn, session).await?;
        let compare = if is_kept { counts::compare_kept } else { counts::compare };
        let comparison = compare(&counted, tenders, &totals)?;
        let beyond = counts::beyond_limit(&comparison, tenders, self.shop.own()?);
        Ok(Figures { totals, comparison, beyond })
    }

    /// 409 for carts that would be left at this till, unless that is meant.
    async fn refuse_parked(&self, conn: &impl ConnectionTrait, session: &register_session::Model) -> Result<()> {
        let register = self.shop.register(session.register_id).filter(|_| !self.accepts_parked);
        let Some(register) = register else { return Ok(()) };
        parked::refuse(&parked_carts::open_at(conn, &register.terminal_id).await?)
    }

    /// The approval that the close needs, if it needs one.
    fn approval(&self, Figures { totals, comparison, beyond }: &Figures) -> Result<Option<&Approval>> {
        let settings = self.shop.own()?;
        if self.is_unasked() {
            return Err(Error::forbidden(MAY_CLOSE));
        }
        if self.own {
            let refused = counts::refuse_variance(comparison, beyond, totals.expected_cash, settings, self.accepted);
            return refused.map(|()| None);
        }
        lent(&self.approvals, self.id, beyond, !settings.blind_close).map(Some)
    }

    /// `session` with what was counted: what was so before stays what it is, and whose count it is.
    fn counted(
        &self,
        mut session: register_session::Model,
        comparison: &Comparison,
        tx: &Acting<'_>,
    ) -> register_session::Model {
        let rows = JsonText::new(&comparison.rows);
        if session.counts.as_ref() != Some(&rows) {
            counts::put_aside(&mut session);
            (session.counted_by, session.counted_at) = (Some(self.user_id), Some(tx.now()));
            session.counts = Some(rows);
        }
        session.counted_cash = comparison.cash;
        session.cash_variance = comparison.cash_variance;
        session.close_note.clone_from(&self.note);
        session
    }

    /// A close that was refused stays in the audit log, and the approvals that it brought are used up: else a drawer could be
    /// counted until the limit lets it pass, and what should be in it were known.
    async fn refuse(
        &self,
        tx: &mut Acting<'_>,
        refusal: Error,
        Figures { totals, comparison, beyond }: &Figures,
    ) -> std::result::Result<(Closed, Log), Stopped> {
        let mut approvers = Vec::new();
        for approval in self.approvals.all_of(&CLOSING) {
            tx.consume(approval, self.id).await?;
            approvers.push(approval.approver_id());
        }
        let details = json!({
            "refused": refusal.code().as_str(), "expectedCash": totals.expected_cash,
            "countedCash": comparison.cash, "cashVariance": comparison.cash_variance,
            "variances": beyond.variances(), "approvers": approvers,
        });
        Ok((Err(refusal), Log::Refused("session.close_refused", details)))
    }
}

/// The approval of this close; differences beyond the limit must have been approved as those differences. They are shown to
/// who may know them only.
fn lent<'a>(approvals: &'a ValidApprovals, session_id: Uuid, beyond: &Beyond, tell: bool) -> Result<&'a Approval> {
    let scope = Scope::Drawer { session_id, variance: beyond.cash, others: beyond.others.clone() };
    approvals.require(&CLOSING, &scope).map_err(|_| {
        let text = "no approval that came along is for closing this drawer with this count, and what came is used up; \
                    a user with registers.close or reports.z_report may close it at their own sign-in";
        let error = Error::new(ErrorCode::ApprovalRequired, text);
        let error = error.with("approvable", true).with("required", [CLOSING.code]);
        if tell { error.with("cashVariance", beyond.cash).with("variances", beyond.variances()) } else { error }
    })
}
