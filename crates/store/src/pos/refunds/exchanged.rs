//! An exchange as it is asked for, as it is stored and as it is answered.

use serde::Serialize;
use tillkeep_http::Created;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_http::sent;
use tillkeep_http::sent::Sent;
use tillkeep_http::shelf::Warning;
use tillkeep_model::fields::refund::{EXCHANGE, EXCHANGE_REFUND};
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::{ErrorCode, Instant, Money, ids};
use tillkeep_storage::entity::sale_payment;
use tillkeep_storage::sea_orm::ConnectionTrait;
use utoipa::ToSchema;
use uuid::Uuid;

use super::replay::{self, By};
use super::shown::RefundWarning;
use super::typed::{Refund, RefundItem, RefundPayment};
use crate::Store;
use crate::act;
use crate::bounds::document_id;
use crate::pos::cart::{Cart, Payment};
use crate::pos::replay as sales;
use crate::pos::sale_document::SaleDocument;
use crate::printers::{self, Print};

sent! {
    #[derive(Clone, Debug)]
    pub(crate) struct Exchange as "Exchange" by EXCHANGE {
        terminal_id: Option<String>,
        refund: ExchangeRefund,
        /// With an id of its own; how it is paid stands beside it.
        sale: Cart,
        /// Of the difference: what the customer pays, or what is given back. Amounts are above zero.
        payments: Option<Vec<Payment>>,
        /// Tokens of `POST /pos/approvals`, for both halves.
        approvals: Option<Vec<String>>,
        /// The receipt number that the till printed last, which the refund is numbered above.
        last_receipt: Option<String>,
    }
}

sent! {
    #[derive(Clone, Debug)]
    pub(crate) struct ExchangeRefund as "ExchangeRefund" by EXCHANGE_REFUND {
        /// Made by the client, as that of the sale.
        id: Option<Uuid>,
        /// The sale of which goods come back.
        sale_id: Uuid,
        items: Vec<RefundItem>,
        /// Of all lines that say none of their own.
        reason: Option<String>,
        /// Of a reason of the kind `refund`, in place of a text.
        reason_code: Option<String>,
        /// What the customer was told that the goods which come back are worth.
        expected_total: Option<Money>,
        /// Printed and kept.
        note: Option<String>,
    }
}

/// What is asked for, with both halves as they are asked for alone.
pub(super) struct Asked {
    /// Of the refund, and of the sale.
    pub ids: (Uuid, Uuid),
    /// The sale of which goods come back.
    pub original: Uuid,
    pub refund: Refund,
    /// Without its payments: whose they are shows only when both halves are priced.
    pub cart: Cart,
    pub payments: Option<Vec<Payment>>,
    pub approvals: Vec<String>,
    pub terminal_id: Option<String>,
}

/// Both halves as they are stored.
pub(super) type Pair = (SaleDocument, SaleDocument);

impl Asked {
    pub(super) fn read(body: Exchange, now: Instant) -> Result<Self> {
        let ids = (in_refund(document_id(body.refund.id))?, in_sale(document_id(body.sale.id))?);
        let mut check = Check::default();
        body.check_at("", now, &mut check);
        let cart = &body.sale;
        let text = "stands beside refund and sale, for both of them; leave it out here";
        check.that(cart.payments.is_none(), "sale.payments", text);
        check.that(cart.approvals().is_empty(), "sale.approvals", text);
        check.that(cart.terminal_id.is_none(), "sale.terminalId", text);
        check.that(!cart.says_last_receipt(), "sale.lastReceipt", text);
        let text = "is no part of an exchange; send it to POST /pos/sales alone";
        check.that(cart.settlement.is_none(), "sale.settlement", text);
        check.that(ids.0 != ids.1, "sale.id", "must be another id than that of the refund");
        check.that(
            ids.0 != body.refund.sale_id,
            "refund.id",
            "must be another id than that of the sale of which it is",
        );
        check.finish()?;
        let mut paid = cart.clone();
        paid.payments.clone_from(&body.payments);
        in_sale(paid.check(now))?;
        let Exchange { terminal_id, refund, sale: cart, payments, approvals, last_receipt } = body;
        let original = refund.sale_id;
        let refund = Refund {
            id: Some(ids.0),
            terminal_id: terminal_id.clone(),
            items: refund.items,
            payments: None,
            reason: refund.reason,
            reason_code: refund.reason_code,
            expected_total: refund.expected_total,
            approvals: None,
            last_receipt,
            note: refund.note,
        };
        in_refund(refund.check(now))?;
        Ok(Self { ids, original, refund, cart, payments, approvals: approvals.unwrap_or_default(), terminal_id })
    }

    /// What both halves have in common: of other ids it is another exchange.
    pub(super) fn group(&self) -> Uuid {
        ids::named(&format!("exchange:{}:{}", self.ids.0, self.ids.1))
    }

    /// The cart as it is paid when the customer pays the difference.
    pub(super) fn paid_cart(&self) -> Cart {
        let mut cart = self.cart.clone();
        cart.payments.clone_from(&self.payments);
        cart
    }

    /// The payments as those of a refund, when the difference is given back; without any they follow from the sale.
    pub(super) fn paid_out(&self) -> Option<Vec<RefundPayment>> {
        let payments = self.payments.as_deref().filter(|payments| !payments.is_empty())?;
        let of = |payment: &Payment| RefundPayment {
            tender_id: payment.tender_id,
            amount: payment.tendered_amount,
            reference: payment.reference.clone(),
        };
        Some(payments.iter().map(of).collect())
    }

    /// Both halves when they are there and are what is asked for; 409 when only one is, or another one.
    pub(super) async fn stored(&self, conn: &impl ConnectionTrait, by: By) -> Result<Option<Pair>> {
        let refund: Option<SaleDocument> = act::find(conn, self.ids.0).await?;
        let sale: Option<SaleDocument> = act::find(conn, self.ids.1).await?;
        match (refund, sale) {
            (None, None) => Ok(None),
            (Some(refund), Some(sale)) if self.is_same(&refund, &sale, by) => Ok(Some((refund, sale))),
            (refund, _) => {
                let text = "this id belongs to another sale, refund or exchange; give both halves ids of their own";
                let field = if refund.is_some() { "refund.id" } else { "sale.id" };
                Err(Error::new(ErrorCode::IdReused, text).at(field))
            }
        }
    }

    fn is_same(&self, refund: &SaleDocument, sale: &SaleDocument, by: By) -> bool {
        let group = Some(self.group());
        let given: Vec<&sale_payment::Model> =
            refund.payments.iter().filter(|row| row.tender_kind != TenderKind::Exchange).collect();
        let (cart, are_same) = if given.is_empty() {
            (self.paid_cart(), true)
        } else {
            (self.cart.clone(), replay::are_same_payments(given, self.paid_out().as_deref()))
        };
        (refund.sale.exchange_group_id, sale.sale.exchange_group_id) == (group, group)
            && are_same
            && replay::is_same(refund, self.original, &self.refund, by)
            && sales::is_same(sale, &cart, Some(refund.sale.register_id))
    }
}

/// What stands beside both halves.
const BESIDE: [&str; 3] = ["terminalId", "payments", "lastReceipt"];

/// A field of the refund is one of the whole.
pub(super) fn in_refund<T>(result: Result<T>) -> Result<T> {
    result.map_err(|error| error.within("refund", &BESIDE))
}

/// A field of the sale is one of the whole.
pub(super) fn in_sale<T>(result: Result<T>) -> Result<T> {
    result.map_err(|error| error.within("sale", &BESIDE))
}

/// Both halves of an exchange, with what the till should say of them.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Exchanged {
    refund: SaleDocument,
    sale: SaleDocument,
    exchange_group_id: Uuid,
    /// Whether headquarters was asked what was given back elsewhere, and answered. Nothing in the answer to a repeated request.
    checked_at_hq: Option<bool>,
    /// Of the sale.
    warnings: Vec<Warning>,
    refund_warnings: Vec<RefundWarning>,
    /// The papers of both halves, at a register that prints by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    prints: Vec<Print>,
}

impl Exchanged {
    pub(super) fn new(
        (refund, sale): Pair,
        checked_at_hq: bool,
        warnings: Vec<Warning>,
        refund_warnings: Vec<RefundWarning>,
    ) -> Created<Self> {
        let exchange_group_id = refund.sale.exchange_group_id.unwrap_or_default();
        let checked_at_hq = Some(checked_at_hq);
        let prints = Vec::new();
        Created::new(Self { refund, sale, exchange_group_id, checked_at_hq, warnings, refund_warnings, prints })
    }

    /// As it is stored. What there was to say of it was said when it was made.
    pub(super) fn repeated((refund, sale): Pair) -> Created<Self> {
        let exchange_group_id = refund.sale.exchange_group_id.unwrap_or_default();
        let (warnings, refund_warnings, prints) = (Vec::new(), Vec::new(), Vec::new());
        let data = Self { refund, sale, exchange_group_id, checked_at_hq: None, warnings, refund_warnings, prints };
        Created { data, new: false }
    }

    pub(super) async fn find_prints(&mut self, store: &Store) {
        for half in [&self.refund, &self.sale] {
            self.prints.extend(printers::print_of(store, &half.sale).await);
        }
    }
}
