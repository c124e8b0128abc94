//! What a till sends: the cart of a quote or of a sale.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_http::sent;
use tillkeep_http::sent::Sent;
use tillkeep_http::shelf::said_discount;
use tillkeep_model::fields::sale::{CART, CART_DISCOUNT, CART_LINE, CART_PAYMENT, SETTLEMENT};
use tillkeep_model::pricing::Discount;
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::schema::uuid;
use tillkeep_model::{Bps, Instant, Money, Qty};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{__dev::ComposeSchema, PartialSchema, ToSchema};
use uuid::Uuid;

use super::printed;
use super::removed::{self, Removed};

sent! {
    #[derive(Clone, Debug, Serialize)]
    #[expect(clippy::struct_field_names, reason = "the names on the wire")]
    pub(crate) struct Cart as "Cart" by CART {
        /// Made by the client, so that a repeated request is one sale; a quote may leave it out.
        pub id: Option<Uuid>,
        pub terminal_id: Option<String>,
        pub customer_id: Option<Uuid>,
        pub sales_rep_id: Option<Uuid>,
        pub started_at: Option<Instant>,
        #[serde(default)]
        pub lines: Vec<Line>,
        /// Off the whole cart; needs `pos.discount`.
        pub cart_discount: Option<DiscountEntry>,
        /// In place of lines: the customer pays what is owed. Of `POST /pos/sales`.
        pub settlement: Option<Settlement>,
        /// Printed and kept.
        pub note: Option<String>,
        /// Tokens of `POST /pos/approvals`.
        approvals: Option<Vec<String>>,
        pub payments: Option<Vec<Payment>>,
        /// The receipt number that the till printed last, which a sale is numbered above.
        last_receipt: Option<String>,
        /// What the customer was quoted; another result is refused instead of taken.
        pub expected_total: Option<Money>,
        /// What was taken off before it was paid. A record: it changes no money.
        removed: Option<Vec<Removed>>,
    }
}

/// A cart that is sold: it has an id.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct SoldCart(pub Cart);

impl ComposeSchema for SoldCart {
    fn compose(_: Vec<RefOr<Schema>>) -> RefOr<Schema> {
        let mut schema = Cart::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            object.properties.insert("id".to_owned(), uuid().into());
            object.required.push("id".to_owned());
        }
        schema
    }
}

impl ToSchema for SoldCart {
    fn name() -> Cow<'static, str> {
        "SoldCart".into()
    }
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Cart::schemas(schemas);
    }
}

sent! {
    #[derive(Clone, Debug, Serialize)]
    #[expect(clippy::struct_field_names, reason = "the names on the wire")]
    pub(crate) struct Line as "CartLine" by CART_LINE {
        /// The till's own name for the line, said back in the quote.
        pub line_id: Option<String>,
        pub product_id: Uuid,
        /// May be left out where the code says it.
        pub quantity: Option<Qty>,
        /// The price of a product that has none of its own.
        pub open_price: Option<Money>,
        pub age_confirmed: Option<bool>,
        /// Another price for this line alone; needs `pos.price.override`.
        pub unit_price_override: Option<Money>,
        pub override_reason: Option<String>,
        /// Of a reason of the kind `override`, in place of a text.
        pub override_reason_code: Option<String>,
        /// What was scanned: of a label or a pack it says quantity and amount.
        pub code: Option<String>,
        /// What the label says that the line costs.
        pub label_amount: Option<Money>,
        /// Off this line; needs `pos.discount`.
        pub line_discount: Option<DiscountEntry>,
        /// Of what is not in the catalogue: for a product that is named at the till.
        pub name: Option<String>,
        /// Printed and kept.
        pub note: Option<String>,
        pub serial: Option<String>,
    }
}

sent! {
    #[derive(Clone, Debug, Serialize)]
    pub(crate) struct Payment as "CartPayment" by CART_PAYMENT {
        pub tender_id: Uuid,
        /// Nothing: exactly what is left to pay.
        pub tendered_amount: Option<Money>,
        pub reference: Option<String>,
        pub card_brand: Option<String>,
        pub card_last4: Option<String>,
        /// Of the payment at the card terminal.
        pub external_id: Option<String>,
    }
}

sent! {
    #[derive(Clone, Debug, Serialize)]
    pub(crate) struct Settlement as "CartSettlement" by SETTLEMENT {
        /// What is paid of it.
        pub amount: Money,
        /// More than is owed is meant.
        pub prepay: Option<bool>,
    }
}

sent! {
    #[derive(Clone, Debug, Serialize)]
    pub(crate) struct DiscountEntry as "CartDiscount" by CART_DISCOUNT {
        /// `percent` with `bps`, or `amount` with `amount`.
        r#type: String,
        bps: Option<Bps>,
        amount: Option<Money>,
        pub reason: Option<String>,
        /// Of a reason of the kind `discount`, in place of a text.
        pub reason_code: Option<String>,
    }
}

impl DiscountEntry {
    /// What it takes off; the field that is wrong and why.
    pub(crate) fn discount(&self) -> std::result::Result<Discount, (&'static str, &'static str)> {
        said_discount(&self.r#type, self.bps, self.amount)
    }

    /// What was checked before.
    pub(crate) fn checked(&self) -> Option<Discount> {
        self.discount().ok()
    }
}

impl Line {
    /// Why the price was changed, if anything is said of it.
    pub(crate) fn reason(&self) -> Option<&str> {
        said(self.override_reason.as_deref())
    }

    pub(crate) fn code(&self) -> Option<&str> {
        said(self.code.as_deref())
    }

    pub(crate) fn name(&self) -> Option<&str> {
        said(self.name.as_deref())
    }
}

pub(crate) use crate::reasons::said;

/// The name of a field of line `index`, as errors say it.
pub(crate) fn line_field(index: usize, field: &str) -> String {
    format!("lines[{index}].{field}")
}

/// The name of a field of payment `index`, as errors say it.
pub(crate) fn payment_field(index: usize, field: &str) -> String {
    format!("payments[{index}].{field}")
}

impl Cart {
    pub(crate) fn payments(&self) -> &[Payment] {
        self.payments.as_deref().unwrap_or_default()
    }

    pub(crate) fn approvals(&self) -> &[String] {
        self.approvals.as_deref().unwrap_or_default()
    }

    pub(crate) fn removed(&self) -> &[Removed] {
        self.removed.as_deref().unwrap_or_default()
    }

    pub(crate) const fn says_last_receipt(&self) -> bool {
        self.last_receipt.is_some()
    }

    /// What the till has printed last, if it says so.
    pub(crate) fn printed(&self) -> Result<Option<ReceiptNumber>> {
        printed::read(self.last_receipt.as_deref())
    }

    /// A cart has lines, or it is of what is paid on an account.
    fn check_kind(&self, check: &mut Check) {
        if self.settlement.is_none() {
            let text = "must have 1 to 500 entries; a payment of what is owed has settlement in place of them";
            check.that(!self.lines.is_empty(), "lines", text);
            return;
        }
        let text = "is for what is sold; leave it out of a payment of what is owed";
        check.that(self.lines.is_empty(), "lines", text);
        check.that(self.cart_discount.is_none(), "cartDiscount", text);
        check.that(self.expected_total.is_none(), "expectedTotal", text);
        check.that(self.customer_id.is_some(), "customerId", "is required: who pays what is owed?");
    }

    /// As [`Cart::check`], of a cart out of which everything was taken.
    pub(crate) fn check_removed(&self) -> Result<()> {
        let mut check = Check::default();
        removed::check(self.removed(), &mut check);
        check.finish()
    }

    /// As [`Cart::check`], of a cart that is priced.
    pub(crate) fn check_goods(&self, now: Instant) -> Result<()> {
        if self.settlement.is_some() {
            return Err(Error::field("settlement", "has no price; send it to POST /pos/sales alone"));
        }
        self.check(now)
    }

    /// What can be said of a cart without looking anything up.
    pub(crate) fn check(&self, now: Instant) -> Result<()> {
        self.printed()?;
        let mut check = Check::default();
        self.check_at("", now, &mut check);
        self.check_kind(&mut check);
        for (index, line) in self.lines.iter().enumerate() {
            let has_reason = line.reason().is_some() || line.override_reason_code.is_some();
            if has_reason && line.unit_price_override.is_none() {
                let text = "is for a changed price; send unitPriceOverride with it, or leave it out";
                check.that(false, &line_field(index, "overrideReason"), text);
            }
            if line.label_amount.is_some() && line.code().is_none() {
                let text = "is read from the label: send its code with it, or leave it out";
                check.that(false, &line_field(index, "labelAmount"), text);
            }
            if let Some(Err((field, text))) = line.line_discount.as_ref().map(DiscountEntry::discount) {
                check.that(false, &line_field(index, &format!("lineDiscount.{field}")), text);
            }
        }
        if let Some(Err((field, text))) = self.cart_discount.as_ref().map(DiscountEntry::discount) {
            check.that(false, &format!("cartDiscount.{field}"), text);
        }
        removed::check(self.removed(), &mut check);
        for (index, payment) in self.payments().iter().enumerate() {
            let digits = payment.card_last4.as_deref().unwrap_or_default();
            if !digits.is_empty() && (digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit())) {
                check.that(false, &payment_field(index, "cardLast4"), "must be the last four digits of the card");
            }
        }
        check.finish()
    }
}
