//! `POST /register-sessions/{id}/count`: a drawer is counted, which stops its selling, as often as it takes; or sells on.

use std::sync::Arc;

use axum::extract::State;
use serde_json::json;
use tillkeep_http::documents::drawers::{MAY_CLOSE, shown};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_http::sent::Sent;
use tillkeep_http::{Answer, Body, Caller, Id, sent};
use tillkeep_model::fields::session::{COUNTING, SESSION};
use tillkeep_model::permission::code::{PosSell, RegistersClose};
use tillkeep_model::state::SessionStatus;
use tillkeep_model::{ErrorCode, JsonText};
use tillkeep_storage::entity::register_session::Model;
use tillkeep_storage::fault;
use uuid::Uuid;

use super::counts::{self, Count};
use super::drawer::{closed, find};
use super::totals::Totals;
use super::view::knows;
use crate::Store;
use crate::act::{Acting, Log, Stopped};

sent! {
    pub(crate) struct Counting as "SessionCount" by COUNTING {
        counts: Option<Vec<Count>>,
        /// True in place of counts: who counted goes back to selling.
        reopen: Option<bool>,
    }
}

pub(crate) async fn count(
    caller: Caller<(PosSell, RegistersClose)>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
    Body(body): Body<Counting>,
) -> Result<Answer<Model>> {
    let reopens = body.reopen.unwrap_or_default();
    let mut check = Check::default();
    body.check_at("", caller.now(), &mut check);
    counts::check(body.counts.as_deref().unwrap_or_default(), &mut check);
    check.that(body.counts.is_some() != reopens, "counts", "or reopen: true is required, not both").finish()?;
    let knows = knows(&caller, &store).await?;
    let (user_id, own) = (caller.user_id, caller.may(MAY_CLOSE));
    let act = store.act(&caller, if reopens { "session.reopen" } else { "session.count" });
    let request = Request { id, user_id, own };
    let counted = act.about(SESSION.table, &id).run(move |tx| {
        Box::pin(async move {
            match body.counts {
                Some(counts) => request.count(tx, &counts).await,
                None => request.reopen(tx).await,
            }
        })
    });
    Ok(Answer(shown(counted.await?, knows)))
}

/// What the transaction needs.
struct Request {
    id: Uuid,
    user_id: Uuid,
    /// The caller may close drawers without anybody's approval.
    own: bool,
}

type Done = std::result::Result<(Model, Log), Stopped>;

impl Request {
    async fn count(self, tx: &mut Acting<'_>, counts: &[Count]) -> Done {
        let mut session = find(&**tx, self.id).await?;
        if session.status == SessionStatus::Closed {
            return Err(closed().into());
        }
        let is_theirs = session.owner() == self.user_id || counts::has_counted(&session, self.user_id);
        if !is_theirs && !self.own {
            let text = "this drawer is another user's, who counts it, or a user with registers.close does";
            return Err(Error::new(ErrorCode::NotOwnSession, text).into());
        }
        let totals = Totals::load(&**tx, &session).await?;
        let tenders = counts::tenders(&**tx).await?;
        let comparison = counts::compare(counts, &tenders, &totals)?;
        counts::require_all(&comparison, &tenders, &totals)?;
        let rows = JsonText::new(&comparison.rows);
        let is_counting = session.status == SessionStatus::Counting;
        if is_counting && session.counted_by == Some(self.user_id) && session.counts.as_ref() == Some(&rows) {
            return Ok((session, Log::Unchanged));
        }
        counts::put_aside(&mut session);
        session.status = SessionStatus::Counting.into();
        (session.counts, session.counted_by, session.counted_at) = (Some(rows), Some(self.user_id), Some(tx.now()));
        (session.updated_at, session.synced) = (tx.now(), false);
        tx.update(&session).await?;
        fault::point("count.written")?;
        let earlier = counts::earlier_counters(&session).count();
        let details = json!({"counts": session.counts, "earlierCounts": earlier});
        Ok((session, Log::Line(details)))
    }

    /// What was counted stays with the drawer: who counts it again is seen to have counted before.
    async fn reopen(self, tx: &mut Acting<'_>) -> Done {
        let mut session = find(&**tx, self.id).await?;
        if session.status == SessionStatus::Closed {
            return Err(closed().into());
        }
        if session.status == SessionStatus::Open {
            return match counts::earlier_counters(&session).last() {
                Some(last) if last == self.user_id => Ok((session, Log::Unchanged)),
                _ => Err(Error::new(ErrorCode::NotCounted, "this drawer is open and was not counted; sell on").into()),
            };
        }
        if session.counted_by != Some(self.user_id) {
            let text =
                "another user counted this drawer, who alone goes back to selling; count it yourself to close it";
            return Err(Error::new(ErrorCode::NotOwnSession, text).into());
        }
        counts::put_aside(&mut session);
        session.status = SessionStatus::Open.into();
        (session.updated_at, session.synced) = (tx.now(), false);
        tx.update(&session).await?;
        fault::point("count.written")?;
        let details = json!({"earlierCounts": counts::earlier_counters(&session).count()});
        Ok((session, Log::Line(details)))
    }
}
