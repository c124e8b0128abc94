//! Refunds as they are answered.

use serde::Serialize;
use tillkeep_http::Created;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::{ErrorCode, Instant, Money};
use tillkeep_storage::entity::chain_signature;
use utoipa::ToSchema;
use uuid::Uuid;

use super::original::Original;
use crate::Store;
use crate::pos::sale_document::SaleDocument;
use crate::printers::{self, Print};

/// A refund with what the till should say of it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Refunded {
    #[serde(flatten)]
    document: SaleDocument,
    /// Whether headquarters was asked what was given back elsewhere, and answered. Nothing in the answer to a repeated request,
    /// and without a receipt.
    checked_at_hq: Option<bool>,
    warnings: Vec<RefundWarning>,
    /// Its paper, at a register that prints by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    print: Option<Print>,
}

/// Something that the cashier should know.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct RefundWarning {
    /// `not_at_headquarters`.
    code: &'static str,
    message: String,
}

impl RefundWarning {
    /// What there is to say of giving back of `original`.
    pub(crate) fn of(original: &Original) -> Vec<Self> {
        let message = || {
            let number = &original.document.sale.receipt_number;
            format!("headquarters does not have {number}, and will not: a user there settled it without applying it")
        };
        original.is_lost().then(|| Self { code: "not_at_headquarters", message: message() }).into_iter().collect()
    }
}

impl Refunded {
    pub(crate) const fn new(document: SaleDocument, checked_at_hq: Option<bool>, warnings: Vec<RefundWarning>) -> Self {
        Self { document, checked_at_hq, warnings, print: None }
    }

    /// The refund as it is stored. What there was to say of it was said when it was made.
    pub(crate) const fn repeated(document: SaleDocument) -> Created<Self> {
        Created { data: Self::new(document, None, Vec::new()), new: false }
    }

    /// With what is known of its paper.
    pub(crate) async fn printed(mut refunded: Created<Self>, store: &Store) -> Created<Self> {
        refunded.data.print = printers::print_of(store, &refunded.data.document.sale).await;
        refunded
    }
}

/// A sale with the refunds of it that are known.
#[derive(Serialize, ToSchema)]
pub(crate) struct SaleWithRefunds {
    #[serde(flatten)]
    document: SaleDocument,
    refunds: Vec<RefundOf>,
    /// What a signing device has said to its entries of the chain, where this store has one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    signatures: Vec<chain_signature::Model>,
}

/// A refund of a sale, in short.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RefundOf {
    id: Uuid,
    receipt_number: String,
    /// Below zero; nothing of a refund of another store.
    total_amount: Option<Money>,
    completed_at: Option<Instant>,
    /// Of a refund of another store.
    store_code: Option<String>,
}

impl SaleWithRefunds {
    /// A sale of this store.
    pub(crate) fn here(
        document: SaleDocument,
        refunds: Vec<SaleDocument>,
        signatures: Vec<chain_signature::Model>,
    ) -> Self {
        Self { document, refunds: refunds.into_iter().map(RefundOf::here).collect(), signatures }
    }

    /// A sale as headquarters has it.
    pub(crate) fn elsewhere(original: Original) -> Self {
        let Original { document, refunds, given_back, .. } = original;
        let mut all: Vec<RefundOf> = refunds.into_iter().map(RefundOf::here).collect();
        for given in given_back {
            // A claim is no refund yet.
            let Some(receipt_number) = given.receipt_number else { continue };
            if all.iter().all(|known| known.id != given.refund_id) {
                let (id, store_code) = (given.refund_id, Some(given.store_code));
                all.push(RefundOf { id, receipt_number, total_amount: None, completed_at: None, store_code });
            }
        }
        Self { document, refunds: all, signatures: Vec::new() }
    }
}

impl RefundOf {
    fn here(refund: SaleDocument) -> Self {
        let sale = refund.sale;
        Self {
            id: sale.id,
            receipt_number: sale.receipt_number,
            total_amount: Some(sale.total_amount),
            completed_at: Some(sale.completed_at),
            store_code: None,
        }
    }
}

/// Something changed since the customer was told: they must hear of it first. `total` is below zero.
pub(crate) fn refuse_other_total(expected: Option<Money>, total: Money) -> Result<()> {
    let Some(expected) = expected.filter(|expected| *expected != -total) else { return Ok(()) };
    let text = format!("{} minor units come back now, not {}; say so and ask again", -total.0, expected.0);
    let error = Error::new(ErrorCode::RefundAmountMismatch, text).at("expectedTotal");
    Err(error.with("expectedTotal", expected).with("totalAmount", -total))
}
