//! What an approval is good for, as a hash: another cart, another drawer, another amount is another approval.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_http::sent::Said;
use tillkeep_model::approvable::{About, Approvable};
use tillkeep_model::fields::Rule;
use tillkeep_model::words::{CashMovementKind, Reported};
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
    /// Of the refusal of a refund.
    refund_hash: Option<String>,
    register_id: Option<Uuid>,
    opening_float: Option<Money>,
    session_id: Option<Uuid>,
    cash_variance: Option<Money>,
    /// What other tenders than cash differ by, as the refusal of a close names them.
    #[serde(default)]
    variances: Vec<Variance>,
    /// Cash that leaves a drawer, or a drawer that is opened for no sale, with `sessionId`; or a correction of the safe, with the
    /// `sessionId` of the drawer that it names.
    movement: Option<Movement>,
}

/// How much one tender differs by.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ApprovedVariance)]
pub(crate) struct Variance {
    pub tender_id: Uuid,
    pub variance: Money,
}

/// Cash that is to move.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ApprovedMovement)]
struct Movement {
    /// That of the request that brings the approval.
    id: Uuid,
    /// `paid_out`, `drop` or `no_sale`; of the safe `correction`, or `new_balance` for what was counted in it.
    #[serde(alias = "type")]
    kind: String,
    /// 0 for `no_sale`.
    amount: Money,
}

/// What of the safe is approved: what a correction changes, or what was counted. One is not the other.
pub(crate) const CORRECTION: &str = "correction";
pub(crate) const NEW_BALANCE: &str = "new_balance";
const SAFE: [&str; 2] = [CORRECTION, NEW_BALANCE];

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
    /// Money that is given back: what for, how much, to which tenders.
    Refund(String),
    Float {
        register_id: Uuid,
        amount: Money,
    },
    /// A drawer that is closed; with the variances that are beyond the limit: that of the cash, and those of other tenders.
    Drawer {
        session_id: Uuid,
        variance: Option<Money>,
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        others: BTreeMap<Uuid, Money>,
    },
    /// Cash that leaves a drawer, or a drawer that is opened for no sale.
    Movement {
        session_id: Uuid,
        id: Uuid,
        kind: String,
        amount: Money,
    },
    /// A correction of the safe: of so much, or to so much; of the drawer that was closed without a count, where it names one.
    Safe {
        id: Uuid,
        kind: &'static str,
        amount: Money,
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<Uuid>,
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
            About::Drawer if context.movement.is_some() => {
                Self::of_movement(context)?.ok_or_else(|| missing("movement"))
            }
            About::Drawer => Ok(Self::Drawer {
                session_id: context.session_id.ok_or_else(|| missing("sessionId"))?,
                variance: context.cash_variance,
                others: context.variances.iter().map(|other| (other.tender_id, other.variance)).collect(),
            }),
            About::Refund => Self::of_refund(context)?.ok_or_else(|| missing("refundHash")),
            About::CartOrRefund if context.refund_hash.is_some() && context.cart_hash.is_none() => {
                Self::of_refund(context)?.ok_or_else(|| missing("refundHash"))
            }
            About::Cart | About::CartOrRefund => {
                let hash = context.cart_hash.as_deref().ok_or_else(|| missing("cartHash"))?;
                let cart = known(hash, "context.cartHash", "must be the cartHash of POST /pos/quote")?;
                Ok(match context.on_account_amount {
                    Some(amount) if approvable.about == About::CartOrRefund => Self::Credit { cart, amount },
                    _ => Self::Cart(cart),
                })
            }
        }
    }

    fn of_movement(context: &Context) -> Result<Option<Self>> {
        let Some(Movement { id, kind, amount }) = &context.movement else { return Ok(None) };
        let (id, amount) = (*id, *amount);
        if let Some(kind) = SAFE.into_iter().find(|known| kind == known) {
            return Ok(Some(Self::Safe { id, kind, amount, session_id: context.session_id }));
        }
        let session_id = context.session_id.ok_or_else(|| {
            let text = format!("must be {} without sessionId: of the safe", SAFE.join(" or "));
            Error::field("context.movement.kind", text)
        })?;
        if let Reported::Other(_) = Reported::<CashMovementKind>::read(kind) {
            let text = format!("must be one of {}", CashMovementKind::WORDS.join(", "));
            return Err(Error::field("context.movement.kind", text));
        }
        Ok(Some(Self::Movement { session_id, id, kind: kind.clone(), amount }))
    }

    fn of_refund(context: &Context) -> Result<Option<Self>> {
        let text = "must be the refundHash of the refusal of the refund";
        let read = |hash: &str| known(hash, "context.refundHash", text).map(Self::Refund);
        context.refund_hash.as_deref().map(read).transpose()
    }

    /// As it is kept.
    pub(crate) fn hash(&self) -> Result<String> {
        Ok(digest(&serde_json::to_vec(self)?))
    }
}

/// A hash that a till was told, or 422.
fn known(hash: &str, field: &str, otherwise: &str) -> Result<String> {
    if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Error::field(field, otherwise));
    }
    Ok(hash.to_ascii_lowercase())
}

pub(crate) fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
