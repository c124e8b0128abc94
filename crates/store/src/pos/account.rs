//! What a sale puts on the account of its customer or takes off it, and whether that may go there. `docs/domain.md`, "Payment".

use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_model::approvable::BEYOND_LIMIT;
use tillkeep_model::pricing::{Settlement, TenderKind};
use tillkeep_model::{ErrorCode, Money};
use tillkeep_storage::Tx;
use tillkeep_storage::accounts::{self, Account};
use tillkeep_storage::entity::customer;
use tillkeep_storage::sea_orm::ConnectionTrait;
use uuid::Uuid;

use super::cart::payment_field;
use crate::approvals::Scope;

/// The part of a sale that its customer owes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnAccount {
    customer: Uuid,
    amount: Money,
    /// Place of the first payment on account in the request.
    payment: usize,
}

/// A part that the limit does not leave room for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Excess {
    account: Account,
    on_account: OnAccount,
}

impl OnAccount {
    /// Of `settlement`, if any of it is; the tender asked for the customer.
    pub(crate) fn new(settlement: &Settlement, customer: Option<&customer::Model>) -> Option<Self> {
        let mut rows = settlement.payments.iter().filter(|row| row.kind == TenderKind::OnAccount).peekable();
        let payment = rows.peek()?.index.unwrap_or_default();
        Some(Self { customer: customer?.id, amount: rows.map(|row| row.amount).sum(), payment })
    }

    /// What `customer` pays of what is owed.
    pub(super) const fn paid_off(customer: Uuid, amount: Money) -> Self {
        Self { customer, amount: Money(-amount.0), payment: 0 }
    }

    /// What of it is too much as the account stands now.
    pub(crate) async fn excess(self, conn: &impl ConnectionTrait) -> Result<Option<Excess>> {
        let account = accounts::at_store(conn, self.customer).await?;
        let account = account.ok_or_else(|| Error::field("customerId", "is not here any more; choose another"))?;
        let too_much = self.amount > Money::ZERO && account.is_passed_by(self.amount);
        Ok(too_much.then_some(Excess { account, on_account: self }))
    }

    pub(crate) const fn amount(self) -> Money {
        self.amount
    }

    /// Charges the account, in the transaction of the sale.
    pub(crate) async fn charge(self, tx: &Tx, sale: Uuid) -> Result<()> {
        Ok(accounts::charge(tx, sale, self.customer, self.amount).await?)
    }
}

impl Excess {
    /// What an approval of it is bound to, for the cart with this hash.
    pub(crate) const fn scope(&self, cart: String) -> Scope {
        Scope::Credit { cart, amount: self.on_account.amount }
    }

    /// 403 for who may not sell beyond the limit.
    pub(crate) fn refusal(&self) -> Error {
        let available = self.account.available();
        let text = format!(
            "{} minor units may still go on this account, not {}; pay the rest otherwise, or have a user with \
             {} approve it",
            available.0, self.on_account.amount.0, BEYOND_LIMIT.code
        );
        Error::new(ErrorCode::CreditLimitExceeded, text)
            .at(payment_field(self.on_account.payment, "tenderedAmount"))
            .with("required", BEYOND_LIMIT.holders)
            .with("approvable", true)
            .with("available", available)
            .with("onAccountAmount", self.on_account.amount)
    }

    /// What the audit log says of a sale that went beyond the limit all the same.
    pub(crate) fn details(&self) -> Json {
        json!({
            "customerId": self.on_account.customer, "amount": self.on_account.amount,
            "creditLimit": self.account.limit, "used": self.account.used,
        })
    }
}

/// What must be owed for a payment of it to be taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owed {
    pub customer: Uuid,
    pub amount: Money,
    /// More than is owed is meant.
    pub prepay: bool,
}

impl Owed {
    /// 409 when less is owed, as far as this store knows: by the balance that it pulled, and by what it has sold since.
    pub(super) async fn require(&self, conn: &impl ConnectionTrait) -> Result<()> {
        if self.prepay {
            return Ok(());
        }
        let account = accounts::at_store(conn, self.customer).await?;
        let owed = account.map_or(Money::ZERO, |account| account.used.max(Money::ZERO));
        if self.amount <= owed {
            return Ok(());
        }
        let text = format!(
            "{} minor units are owed on this account, not {}; take that, or send prepay: true when more is meant",
            owed.0, self.amount.0
        );
        Err(Error::new(ErrorCode::NotOwed, text).at("settlement.amount").with("owed", owed))
    }
}
