//! `POST /pos/parked-carts/{id}/resume`: one till goes on with a cart. It gets the id under which the cart is sold, the same one
//! however often it asks, until that sale is there or the cart is parked again.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::sent::Sent;
use tillkeep_http::{Answer, Caller, Id, sent};
use tillkeep_model::ErrorCode;
use tillkeep_model::fields::parked::RESUME;
use tillkeep_model::permission::code::PosParkCart;
use tillkeep_model::words::ParkedState;
use tillkeep_storage::entity::parked_cart::Model;
use tillkeep_storage::fault;
use utoipa::ToSchema;
use uuid::Uuid;

use super::changes::{self, Change};
use super::view::ParkedCart;
use super::{TABLE, elsewhere, find, refuse_sold, worth};
use crate::Store;
use crate::act::{Acting, Log, Stopped};
use crate::pos::cart::Cart;
use crate::pos::quote::Quote;
use crate::terminal::acting_at;

sent! {
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Resume as "CartToResume" by RESUME {
        /// The till that goes on with it; that of the sign-in when it is left out.
        terminal_id: Option<String>,
    }
}

/// A cart to go on with.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ResumedCart)]
pub(crate) struct Resumed {
    parked_cart: ParkedCart,
    /// As it was parked, with the id of its sale.
    #[schema(value_type = Object)]
    cart: Json,
    /// What it costs now, without what is refused now.
    quote: Quote,
    /// What is other than when it was parked. What is gone or refused must come off the cart before it is sold.
    changes: Vec<Change>,
    /// What was taken off it before, for the sale to say: up to 50 lines, and how many and how much there were in all.
    #[schema(value_type = Option<Object>)]
    removed: Option<Json>,
}

pub(super) async fn resume(
    caller: Caller<PosParkCart>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
    OptionalBody(asked): OptionalBody<Resume>,
) -> Result<Answer<Resumed>> {
    asked.check_fields(caller.now())?;
    let terminal = acting_at(&caller, asked.terminal_id.as_deref())?;
    let terminal = terminal.ok_or_else(|| Error::field("terminalId", "is required: which till goes on with it?"))?;
    let by = By { user_id: caller.user_id, terminal: terminal.to_owned() };
    let act = store.act(&caller, "cart.resume").about(TABLE, &id);
    let row = act.run(move |tx| Box::pin(by.resume(tx, id))).await?;
    // It is this till's from here on, whatever becomes of the answer.
    let mut sent = row.cart.0.clone();
    sent["terminalId"] = json!(terminal);
    sent["id"] = json!(row.sale_id);
    let cart = Cart::deserialize(&sent)?;
    let worth = worth::what_is_left(&caller, &store, &cart, terminal).await?;
    let now = serde_json::to_value(&worth.quote)?;
    let mut changes = worth.refused;
    changes.extend(changes::between(&cart, &worth.places, &row.priced.0, &now));
    let removed = row.removed.as_ref().map(|removed| removed.0.clone());
    Ok(Answer(Resumed { parked_cart: row.into(), cart: sent, quote: worth.quote, changes, removed }))
}

/// Who goes on with it, and where.
struct By {
    user_id: Uuid,
    terminal: String,
}

impl By {
    async fn resume(self, tx: &mut Acting<'_>, id: Uuid) -> std::result::Result<(Model, Log), Stopped> {
        let mut row = find(&**tx, id).await?;
        if row.state == ParkedState::Abandoned {
            let text = "this cart was dropped; what was in it is said by GET /pos/parked-carts/{id}";
            return Err(Error::new(ErrorCode::Conflict, text).with("abandonedAt", row.abandoned_at).into());
        }
        if row.state == ParkedState::Resumed {
            refuse_sold(&**tx, row.sale_id).await?;
            if row.resumed_at_terminal.as_ref() != Some(&self.terminal) {
                return Err(elsewhere(&row).into());
            }
            return Ok((row, Log::Unchanged));
        }
        row.state = ParkedState::Resumed.into();
        (row.updated_at, row.resumed_at) = (tx.now(), Some(tx.now()));
        (row.resumed_by, row.resumed_at_terminal) = (Some(self.user_id), Some(self.terminal));
        row.sale_id = Some(Uuid::now_v7());
        tx.update(&row).await?;
        fault::point("parked.resumed")?;
        let details = json!({
            "label": row.label, "terminalId": row.resumed_at_terminal, "parkedAt": row.terminal_id,
            "totalAtPark": row.total_at_park, "saleId": row.sale_id,
        });
        Ok((row, Log::Line(details)))
    }
}
