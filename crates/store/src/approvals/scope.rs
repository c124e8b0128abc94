//! What an approval is good for, as a hash: another cart, another drawer, another amount is another approval.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_http::sent::Said;
use tillkeep_model::approvable::{About, Approvable};
use tillkeep_model::fields::Rule;
use tillkeep_model::{Instant, Money};
use utoipa::ToSchema;
use uuid::Uuid;

/// What a till says of the action that is to be approved.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ApprovalContext)]
pub(crate) struct Context {
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

/// Looked at by [`Scope::new`], which knows for what it is.
impl Said for Context {
    fn check(&self, _: &Rule, _: &str, _: Instant, _: &mut Check) {}
}

/// One action, exactly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Scope {
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
    /// What an approval is asked for; a field that is missing is named.
    pub(crate) fn new(approvable: &Approvable, context: &Context) -> Result<Self> {
        let missing = |field: &str| {
            Error::field(
                format!("context.{field}"),
                format!("an approval of {} is for one action; send this", approvable.code),
            )
        };
        match approvable.about {
            About::Sale => context.sale_id.map(Self::Sale).ok_or_else(|| missing("saleId")),
            About::Float => Ok(Self::Float {
                register_id: context.register_id.ok_or_else(|| missing("registerId"))?,
                amount: context.opening_float.ok_or_else(|| missing("openingFloat"))?,
            }),
            About::Drawer => Ok(Self::Drawer {
                session_id: context.session_id.ok_or_else(|| missing("sessionId"))?,
                variance: context.cash_variance,
            }),
            About::Cart | About::CartOrCredit => {
                let hash = context.cart_hash.as_deref().ok_or_else(|| missing("cartHash"))?;
                if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    return Err(Error::field("context.cartHash", "must be the cartHash of POST /pos/quote"));
                }
                let cart = hash.to_ascii_lowercase();
                Ok(match context.on_account_amount {
                    Some(amount) if approvable.about == About::CartOrCredit => Self::Credit { cart, amount },
                    _ => Self::Cart(cart),
                })
            }
        }
    }

    /// As it is kept.
    pub(crate) fn hash(&self) -> Result<String> {
        Ok(digest(&serde_json::to_vec(self)?))
    }
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
