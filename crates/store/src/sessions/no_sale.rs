//! `POST /registers/{id}/no-sale`: a drawer is opened for no sale, with a reason. It is counted, and moves no cash.

use std::sync::Arc;

use axum::extract::State;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::sent::Sent;
use tillkeep_http::{Body, Caller, Id, NoContent, sent};
use tillkeep_model::ErrorCode;
use tillkeep_model::fields::session::NO_SALE;
use tillkeep_model::permission::code::{PosRefund, PosSell, RegistersOpen};
use tillkeep_model::words::CashMovementKind;
use tillkeep_storage::entity::cash_movement::Model;
use tillkeep_storage::fault;
use uuid::Uuid;

use super::movements::{self, Booking};
use crate::terminal::Reach;
use crate::{Store, bounds};

const KIND: CashMovementKind = CashMovementKind::NoSale;

sent! {
    pub(crate) struct Asked as "NoSale" by NO_SALE {
        /// Made by the client for this opening, and the same one when the request is sent again.
        id: Option<Uuid>,
        reason: Option<String>,
        /// Of a reason of the kind `no_sale`, in place of a text.
        reason_code: Option<String>,
        /// Tokens of `POST /pos/approvals`.
        #[serde(default)]
        approvals: Vec<String>,
    }
}

pub(crate) async fn open(
    caller: Caller<(RegistersOpen, PosRefund, PosSell)>,
    State(store): State<Arc<Store>>,
    Id(register_id): Id,
    Body(asked): Body<Asked>,
) -> Result<NoContent> {
    let id = bounds::document_id(asked.id)?;
    asked.check_fields(caller.now())?;
    let (code, text) = (asked.reason_code.as_deref(), asked.reason.as_deref());
    let is_same = |stored: &Model| {
        stored.register_id == register_id && stored.kind == KIND && movements::is(stored, (code, text))
    };
    let act = store.act(&caller, "session.no_sale").creates(id, is_same);
    if act.stored(caller.reader()).await?.is_some() {
        return Ok(NoContent);
    }
    let shop = store.shop().await?;
    let register = shop.register(register_id).ok_or_else(|| Error::not_found("register"))?;
    let session_id = shop.open_at(register_id).map(|session| session.id).ok_or_else(|| {
        let text =
            format!("no drawer of register {} is open; open one with POST /registers/{{id}}/open", register.code);
        Error::new(ErrorCode::SessionClosed, text)
    })?;
    let reason = movements::reason(&shop, KIND, code, text)?;
    let row = Model { id, session_id, ..movements::new(KIND, reason, caller.user_id) };
    let approval = movements::approval(&caller, &store, KIND, &row, &asked.approvals).await?;
    let user_name = caller.name().to_owned();
    let booking = Booking { row, kind: KIND, user_name, approval, reach: Reach::new(&caller), shop };
    act.run(move |tx| Box::pin(booking.book(tx))).await?;
    fault::point("movement.committed")?;
    Ok(NoContent)
}
