//! What stands on a paper, as values: `GET /pos/sales/{id}/receipt?format=json`.

use serde::{Deserialize, Serialize, Serializer};
use utoipa::ToSchema;

use crate::words::{PaperKind, SaleType, SignatureState};
use crate::{Instant, Money, Ppm, Qty};

/// A paper of one sale, refund or payment on an account. Amounts of a refund are below zero, as in its document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// What it is for: `sale`, `copy`, `gift` or `invoice`. A gift receipt has no amounts.
    #[serde(serialize_with = "paper_kind")]
    #[schema(value_type = String)]
    pub kind: PaperKind,
    /// What it is of: `sale`, `refund` or `settlement`.
    #[serde(serialize_with = "sale_type")]
    #[schema(value_type = String)]
    pub document: SaleType,
    pub number: String,
    /// What its barcode says; it finds the sale.
    pub barcode: String,
    /// Which copy it is, from 1; 0 for a copy that was not counted. Nothing for what is no copy.
    pub copy: Option<i32>,
    pub voided: Option<Voided>,
    /// Its words, and how amounts and dates are written.
    pub locale: String,
    pub currency_code: String,
    pub currency_exponent: i16,
    pub shop: Shop,
    pub at: Instant,
    /// As the clock of the store showed it: `2026-11-20T12:34:56`.
    pub local_time: String,
    pub business_date: String,
    pub register_code: String,
    pub cashier_name: String,
    pub customer_name: Option<String>,
    /// Whom an invoice names.
    pub buyer: Option<Buyer>,
    /// What a refund gives back.
    pub original: Option<Reference>,
    /// What was given back of a sale so far.
    pub refunds: Vec<Reference>,
    /// The other half of an exchange.
    pub other_half: Option<Other>,
    pub lines: Vec<Line>,
    /// Nothing on a gift receipt.
    pub totals: Option<Totals>,
    pub taxes: Vec<Tax>,
    pub tenders: Vec<Tender>,
    pub approvals: Vec<Approved>,
    /// What a signing device said of it, where there is one.
    pub signature: Option<Signature>,
    pub note: Option<String>,
}

/// The store that it is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceiptShop)]
pub struct Shop {
    pub name: String,
    pub legal_name: Option<String>,
    pub tax_number: Option<String>,
    pub address: Vec<String>,
    pub phone: Option<String>,
    pub header: Option<String>,
    pub footer: Option<String>,
}

/// That it was voided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceiptVoided)]
pub struct Voided {
    /// As the clock of the store showed it.
    pub local_time: String,
    pub reason: Option<String>,
}

/// Who bought, on an invoice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceiptBuyer)]
pub struct Buyer {
    pub name: String,
    pub address: Vec<String>,
    pub tax_number: Option<String>,
}

/// Another document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceiptReference)]
pub struct Reference {
    pub number: String,
    pub reason: Option<String>,
    /// What it came to; nothing on a gift receipt, and of an original.
    pub total: Option<Money>,
}

/// The other half of an exchange: what was given back, or what was sold for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceiptOtherHalf)]
pub struct Other {
    #[serde(serialize_with = "sale_type")]
    #[schema(value_type = String)]
    pub document: SaleType,
    pub number: String,
    /// Nothing on a gift receipt.
    pub total: Option<Money>,
}

/// What was sold or given back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceiptLine)]
pub struct Line {
    pub name: String,
    pub quantity: Qty,
    /// `pcs`, `kg` and others.
    pub unit: String,
    pub note: Option<String>,
    pub serial: Option<String>,
    /// A deposit or the like, of the line before it.
    pub is_charge: bool,
    /// Why it was given back, where that differs between lines.
    pub reason: Option<String>,
    /// Nothing on a gift receipt.
    pub price: Option<Price>,
}

/// What a line costs, as prices stand in the shop: with taxes where they include them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceiptPrice)]
pub struct Price {
    pub unit: Money,
    /// Unit price and quantity, before anything is taken off.
    pub list: Money,
    /// What is taken off it.
    pub savings: Vec<Saving>,
    /// What is left, before the line's part of what is taken off the whole sale.
    pub amount: Money,
    /// The letters of its taxes in the table of taxes.
    pub tax_mark: String,
}

/// What a special or a person took off a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceiptSaving)]
pub struct Saving {
    /// In words: the special, or the discount with its reason.
    pub text: String,
    /// What it takes off: above zero in a sale, below in a refund.
    pub amount: Money,
}

/// `subtotal + taxAdded` is the total; the total and the rounding are what was paid.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceiptTotals)]
pub struct Totals {
    /// The lines, before anything is taken off.
    pub list: Money,
    /// What specials and discounts take off.
    pub saved: Money,
    /// What a person took off the whole sale; it is part of `saved`.
    pub cart_discount: Option<Saving>,
    pub subtotal: Money,
    /// Taxes that prices do not include; below zero what an exempt buyer does not pay of those that they do.
    pub tax_added: Money,
    pub total: Money,
    pub cash_rounding: Money,
    pub due: Money,
    /// Change to the customer.
    pub change: Money,
    pub tax_exempt: bool,
    /// What was paid on the account, of a settlement.
    pub settled: Option<Money>,
}

/// One row of the table of taxes. A rate that some prices include and others do not has two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceiptTax)]
pub struct Tax {
    /// The letter of its rate.
    pub mark: String,
    pub name: String,
    pub rate_ppm: Ppm,
    /// Whether the prices include it.
    pub included: bool,
    pub base: Money,
    pub tax: Money,
}

/// How it was paid, or given back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceiptTender)]
pub struct Tender {
    pub name: String,
    /// `cash`, `card`, `on_account` and others.
    pub kind: String,
    pub amount: Money,
    /// What was handed over, where that is more.
    pub tendered: Option<Money>,
    pub card_brand: Option<String>,
    pub card_last4: Option<String>,
    pub reference: Option<String>,
}

/// What a second person approved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceiptApproval)]
pub struct Approved {
    pub permission: String,
    pub by: String,
    /// In words.
    pub text: String,
}

/// What a signing device said of the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReceiptSignature)]
pub struct Signature {
    /// `waiting`, `signed` or `could_not_sign`.
    #[serde(serialize_with = "signature_state")]
    #[schema(value_type = String)]
    pub state: SignatureState,
    pub signer: Option<String>,
    pub value: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn paper_kind<S: Serializer>(kind: &PaperKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.word())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn sale_type<S: Serializer>(kind: &SaleType, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.word())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn signature_state<S: Serializer>(state: &SignatureState, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(state.word())
}
