//! What an approval is good for, as a hash: another cart, another drawer, another amount is another approval.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tillkeep_http::error::{Error, Result};
use tillkeep_model::{Money, Qty};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::pos::account::BEYOND_LIMIT;
use crate::pos::cart::{Cart, Line};

/// What a till says of the deed that is to be approved.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ApprovalContext)]
pub struct Context {
    /// Of `POST /pos/quote`.
    cart_hash: Option<String>,
    /// What goes on the customer's account beyond its limit, when that is to be approved.
    on_account_amount: Option<Money>,
    sale_id: Option<Uuid>,
    register_id: Option<Uuid>,
    opening_float: Option<Money>,
    session_id: Option<Uuid>,
    cash_variance: Option<Money>,
}

/// One deed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Scope {
    Cart(String),
    /// So much of a cart on its customer's account, beyond the limit. The cart alone does not say how it is paid.
    Credit {
        cart: String,
        amount: Money,
    },
    Sale(Uuid),
    Float {
        register_id: Uuid,
        amount: Money,
    },
    /// A drawer that is closed; with the variance when it is beyond the limit.
    Drawer {
        session_id: Uuid,
        variance: Option<Money>,
    },
}

impl Scope {
    /// What `permission` is asked for; a field that is missing is named.
    pub fn of(permission: &str, context: &Context) -> Result<Self> {
        let missing = |field: &str| {
            Error::field(format!("context.{field}"), format!("an approval of {permission} is for one deed; send this"))
        };
        match permission {
            "pos.void" | "pos.refund" => context.sale_id.map(Self::Sale).ok_or_else(|| missing("saleId")),
            "registers.open" => Ok(Self::Float {
                register_id: context.register_id.ok_or_else(|| missing("registerId"))?,
                amount: context.opening_float.ok_or_else(|| missing("openingFloat"))?,
            }),
            "registers.close" => Ok(Self::Drawer {
                session_id: context.session_id.ok_or_else(|| missing("sessionId"))?,
                variance: context.cash_variance,
            }),
            _ => {
                let hash = context.cart_hash.as_deref().ok_or_else(|| missing("cartHash"))?;
                if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    return Err(Error::field("context.cartHash", "must be the cartHash of POST /pos/quote"));
                }
                let cart = hash.to_ascii_lowercase();
                Ok(match context.on_account_amount {
                    Some(amount) if permission == BEYOND_LIMIT => Self::Credit { cart, amount },
                    _ => Self::Cart(cart),
                })
            }
        }
    }

    /// As it is kept.
    pub fn hash(&self) -> Result<String> {
        Ok(digest(&serde_json::to_vec(self)?))
    }
}

pub fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// What an approver saw of a cart: customer, products, quantities and prices in their order, and the terminal. Anything
/// else may still change.
pub fn cart_hash(cart: &Cart, terminal: Option<&str>) -> Result<String> {
    #[derive(Serialize)]
    struct Seen<'a> {
        terminal: Option<&'a str>,
        customer: Option<Uuid>,
        lines: Vec<(Uuid, Qty, Option<Money>, Option<Money>)>,
    }
    let line = |line: &Line| (line.product_id, line.quantity, line.unit_price_override, line.open_price);
    let seen = Seen { terminal, customer: cart.customer_id, lines: cart.lines.iter().map(line).collect() };
    Ok(digest(&serde_json::to_vec(&seen)?))
}
