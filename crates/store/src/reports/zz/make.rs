//! `POST /reports/zz`: one act takes the drawers and says their number to headquarters with each of them.

use std::sync::Arc;

use axum::extract::State;
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::sent::Sent;
use tillkeep_http::{Body, Caller, Created, sent};
use tillkeep_model::ErrorCode;
use tillkeep_model::fields::report::ZZ;
use tillkeep_model::permission::code::ReportsZzReport;
use tillkeep_model::state::SessionStatus;
use tillkeep_storage::entity::register_session::{Column, Entity};
use tillkeep_storage::entity::{register, zz_report};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tillkeep_storage::zz_reports;
use uuid::Uuid;

use super::range::{added_up, of_range, row};
use super::{Zz, rebuilt};
use crate::act::{Acting, Log, Stopped};
use crate::{Store, bounds};

/// Drawers that one ZZ takes, the oldest ones: each is an entry of the outbox. The next ZZ takes the next ones.
const MOST: u64 = 1000;

sent! {
    pub(crate) struct Asked as "ZzRequest" by ZZ {
        /// Made by the client for this report, and the same one when the request is sent again.
        id: Option<Uuid>,
        register_id: Option<Uuid>,
        /// `store` in place of a register.
        scope: Option<String>,
    }
}

pub(crate) async fn make(
    caller: Caller<ReportsZzReport>,
    State(store): State<Arc<Store>>,
    Body(asked): Body<Asked>,
) -> Result<Created<Zz>> {
    let id = bounds::document_id(asked.id)?;
    asked.check_fields(caller.now())?;
    let register_id = match (asked.register_id, asked.scope) {
        (Some(register), None) => Some(register),
        (None, Some(_)) => None,
        (None, None) => return Err(Error::field("registerId", "is required, or scope: store for all registers")),
        (Some(_), Some(_)) => return Err(Error::field("scope", "goes without registerId; leave one of them out")),
    };
    store.shop().await?.own()?;
    let act =
        store.act(&caller, "report.zz").creates(id, move |stored: &zz_report::Model| stored.register_id == register_id);
    if let Some(stored) = act.stored(caller.reader()).await? {
        return Ok(Created { data: Zz::of(stored)?, new: false });
    }
    rebuilt::run(&store).await?;
    let (store_id, user_id) = (store.id, caller.user_id);
    let request = Request { id, store_id, register_id, user_id };
    let Created { data, new } = act.run(move |tx| Box::pin(request.make(tx))).await?;
    Ok(Created { data: Zz::of(data)?, new })
}

struct Request {
    id: Uuid,
    store_id: Uuid,
    /// None for the whole store.
    register_id: Option<Uuid>,
    user_id: Uuid,
}

impl Request {
    async fn make(self, tx: &mut Acting<'_>) -> std::result::Result<(zz_report::Model, Log), Stopped> {
        if zz_reports::are_coming_back(&**tx).await? {
            let text = "drawers are on their way back from headquarters, and say which ZZ reports there are";
            return Err(Error::new(ErrorCode::StoreNotReady, text).retry_after(5).into());
        }
        let code = self.register_code(&**tx).await?;
        let register = code.as_deref();
        self.refuse_open(&**tx, register).await?;
        let mark = if register.is_some() { Column::ZzNumber } else { Column::StoreZzNumber };
        let due = of_range(self.store_id, register).filter(mark.is_null());
        let sessions = due.limit(MOST).all(&**tx).await?;
        if sessions.is_empty() {
            let text = "no drawer was closed since the last ZZ; close one with POST /register-sessions/{id}/close";
            return Err(Error::new(ErrorCode::NothingToReport, text).into());
        }
        let now = tx.now();
        let number = zz_reports::last_number(&**tx, register).await? + 1;
        let taken = zz_reports::taken_up_to(&**tx, register).await?;
        let report = added_up(&**tx, &sessions, taken.gaps_before(&sessions)).await?;
        let row = zz_report::Model {
            id: self.id,
            created_at: now,
            created_by: self.user_id,
            ..row(&sessions, (self.register_id, code.clone()), number, &report)
        };
        let count = sessions.len();
        for mut session in sessions {
            if code.is_some() {
                session.zz_number = Some(number);
            } else {
                session.store_zz_number = Some(number);
            }
            (session.updated_at, session.synced) = (now, false);
            tx.update(&session).await?;
        }
        tx.insert(&row).await?;
        let details = json!({
            "registerCode": row.register_code, "zzNumber": number, "drawers": count, "gaps": report.gaps.len(),
        });
        Ok((row, Log::Line(details)))
    }

    async fn register_code(&self, conn: &impl ConnectionTrait) -> Result<Option<String>> {
        let Some(id) = self.register_id else { return Ok(None) };
        let register = register::Entity::find_by_id(id).one(conn).await?;
        Ok(Some(register.ok_or_else(|| Error::not_found("register"))?.code))
    }

    /// 409 while a drawer of the range is open or counted: its Z belongs into it.
    async fn refuse_open(&self, conn: &impl ConnectionTrait, register: Option<&str>) -> Result<()> {
        let mut open = Entity::find().filter(Column::StoreId.eq(self.store_id));
        if let Some(code) = register {
            open = open.filter(Column::RegisterCode.eq(code));
        }
        let open = open.filter(Column::Status.ne(SessionStatus::Closed.word())).order_by_asc(Column::RegisterCode);
        let open = open.all(conn).await?;
        let Some(first) = open.first() else { return Ok(()) };
        let text = format!(
            "drawer {} of register {} is not closed; close it first, its Z belongs into this report",
            first.session_number, first.register_code
        );
        let ids: Vec<Uuid> = open.iter().map(|session| session.id).collect();
        Err(Error::new(ErrorCode::SessionOpen, text).with("sessionIds", ids))
    }
}
