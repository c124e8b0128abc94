//! A parked cart as it is shown.

use serde::Serialize;
use serde_json::Value as Json;
use tillkeep_model::{Instant, Money};
use tillkeep_storage::entity::parked_cart::Model;
use utoipa::ToSchema;
use uuid::Uuid;

/// Whose it is, what it came to and how far it is.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ParkedCart {
    id: Uuid,
    label: Option<String>,
    /// Where it was parked.
    terminal_id: String,
    /// The drawer that was open there.
    session_id: Option<Uuid>,
    business_date: String,
    cashier_user_id: Uuid,
    customer_id: Option<Uuid>,
    /// Lines that were typed in.
    item_count: i32,
    total_at_park: Money,
    /// `parked`, `resumed` or `abandoned`.
    state: String,
    parked_at: Instant,
    resumed_at: Option<Instant>,
    resumed_by: Option<Uuid>,
    resumed_at_terminal: Option<String>,
    /// The id under which it is sold, once it is resumed.
    sale_id: Option<Uuid>,
    abandoned_at: Option<Instant>,
    abandoned_by: Option<Uuid>,
    abandon_reason: Option<String>,
    abandon_reason_code: Option<String>,
    /// What was taken off it: up to 50 lines, and how many and how much there were in all.
    #[schema(value_type = Option<Object>)]
    removed: Option<Json>,
}

/// The same with what is in it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WholeParkedCart {
    #[serde(flatten)]
    parked_cart: ParkedCart,
    /// As it was sent.
    #[schema(value_type = Object)]
    cart: Json,
    /// What it cost when it was parked, as `POST /pos/quote` says it.
    #[schema(value_type = Object)]
    priced: Json,
}

impl From<Model> for ParkedCart {
    fn from(row: Model) -> Self {
        Self {
            id: row.id,
            label: row.label,
            terminal_id: row.terminal_id,
            session_id: row.session_id,
            business_date: row.business_date,
            cashier_user_id: row.cashier_user_id,
            customer_id: row.customer_id,
            item_count: row.item_count,
            total_at_park: row.total_at_park,
            state: row.state,
            parked_at: row.parked_at,
            resumed_at: row.resumed_at,
            resumed_by: row.resumed_by,
            resumed_at_terminal: row.resumed_at_terminal,
            sale_id: row.sale_id,
            abandoned_at: row.abandoned_at,
            abandoned_by: row.abandoned_by,
            abandon_reason: row.abandon_reason,
            abandon_reason_code: row.abandon_reason_code,
            removed: row.removed.map(|removed| removed.0),
        }
    }
}

impl From<Model> for WholeParkedCart {
    fn from(row: Model) -> Self {
        let (cart, priced) = (row.cart.0.clone(), row.priced.0.clone());
        Self { parked_cart: row.into(), cart, priced }
    }
}
