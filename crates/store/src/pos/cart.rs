//! What a till sends: the cart of a quote or of a sale.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value as Json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::schema::uuid;
use tillkeep_model::{ErrorCode, Instant, Money, Qty};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{__dev::ComposeSchema, PartialSchema, ToSchema};
use uuid::Uuid;

use super::printed;
use crate::approvals::PresentedApprovals;
use crate::bounds::{self, AMOUNT_TEXT, PRICE_TEXT};

/// Lines of one cart at the most.
const MAX_LINES: usize = 500;
/// Payments of one sale at the most.
const MAX_PAYMENTS: usize = 50;

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Cart {
    /// Made by the client, so that a repeated request is one sale; a quote may leave it out.
    pub id: Option<Uuid>,
    #[schema(max_length = 100)]
    pub terminal_id: Option<String>,
    pub customer_id: Option<Uuid>,
    pub sales_rep_id: Option<Uuid>,
    pub started_at: Option<Instant>,
    #[schema(min_items = 1, max_items = 500)]
    pub lines: Vec<Line>,
    #[serde(rename = "cartDiscount")]
    discount: Option<Json>,
    /// Tokens of `POST /pos/approvals`.
    #[schema(max_items = 10)]
    approvals: Option<Vec<String>>,
    #[schema(max_items = 50)]
    pub payments: Option<Vec<Payment>>,
    /// The receipt number that the till printed last, which a sale is numbered above.
    #[schema(max_length = 100)]
    last_receipt: Option<String>,
    /// What the customer was told; another result is refused instead of taken.
    pub expected_total: Option<Money>,
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

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = CartLine)]
#[expect(clippy::struct_field_names, reason = "the names on the wire")]
pub(crate) struct Line {
    /// The till's own name for the line, said back in the quote.
    #[schema(max_length = 100)]
    pub line_id: Option<String>,
    pub product_id: Uuid,
    pub quantity: Qty,
    /// The price of a product that has none of its own.
    pub open_price: Option<Money>,
    pub age_confirmed: Option<bool>,
    /// Another price for this line alone; needs `pos.price.override`.
    pub unit_price_override: Option<Money>,
    pub override_reason: Option<String>,
    label_amount: Option<Json>,
    #[serde(rename = "lineDiscount")]
    discount: Option<Json>,
}

#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = CartPayment)]
pub(crate) struct Payment {
    pub tender_id: Uuid,
    /// Nothing: exactly what is left to pay.
    pub tendered_amount: Option<Money>,
    #[schema(max_length = 100)]
    pub reference: Option<String>,
}

impl Line {
    /// Why the price was changed, if anything is said of it.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.override_reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty())
    }
}

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

    /// What the till has printed last, if it says so.
    pub(crate) fn printed(&self) -> Result<Option<ReceiptNumber>> {
        printed::read(self.last_receipt.as_deref())
    }

    /// What can be said of a cart without looking anything up.
    pub(crate) fn check(&self) -> Result<()> {
        self.refuse_unsupported()?;
        self.printed()?;
        let mut check = Check::default();
        check
            .that((1..=MAX_LINES).contains(&self.lines.len()), "lines", "must have 1 to 500 lines")
            .that(self.payments().len() <= MAX_PAYMENTS, "payments", "must have at most 50 payments")
            .finish()?;
        check.optional(self.terminal_id.as_deref(), "terminalId", 100).that(
            self.expected_total.is_none_or(bounds::is_amount),
            "expectedTotal",
            AMOUNT_TEXT,
        );
        PresentedApprovals::check(self.approvals(), &mut check);
        for (index, line) in self.lines.iter().enumerate() {
            let field = |name| line_field(index, name);
            let positive = line.quantity > Qty::ZERO && bounds::is_quantity(line.quantity);
            check
                .that(positive, &field("quantity"), "must be above 0 and at most 1000000000")
                .that(line.unit_price_override.is_none_or(bounds::is_price), &field("unitPriceOverride"), PRICE_TEXT)
                .optional(line.line_id.as_deref(), &field("lineId"), 100)
                .that(line.open_price.is_none_or(bounds::is_price), &field("openPrice"), PRICE_TEXT);
            match (line.unit_price_override, line.reason()) {
                (Some(_), reason) => {
                    check.text(reason.unwrap_or_default(), &field("overrideReason"), 200);
                }
                (None, reason) => {
                    let text = "is for a changed price; send unitPriceOverride with it, or leave it out";
                    check.that(reason.is_none(), &field("overrideReason"), text);
                }
            }
        }
        for (index, payment) in self.payments().iter().enumerate() {
            let field = |name| payment_field(index, name);
            check
                .that(payment.tendered_amount.is_none_or(bounds::is_amount), &field("tenderedAmount"), AMOUNT_TEXT)
                .optional(payment.reference.as_deref(), &field("reference"), 100);
        }
        check.finish()
    }

    /// Fields of the contract that nothing here acts on: ignoring a discount would charge too much without a word.
    fn refuse_unsupported(&self) -> Result<()> {
        let of_line = |(index, line): (usize, &Line)| {
            let named = [("lineDiscount", line.discount.clone()), ("labelAmount", line.label_amount.clone())];
            named.map(|(name, value)| (line_field(index, name), value))
        };
        let of_cart = [("cartDiscount".to_owned(), self.discount.clone())];
        let all = self.lines.iter().enumerate().flat_map(of_line).chain(of_cart);
        for (field, value) in all {
            if value.is_some_and(|value| says_something(&value)) {
                let text = format!("{field} is not supported by this version yet; leave it out");
                return Err(Error::new(ErrorCode::NotSupportedYet, text).at(field));
            }
        }
        Ok(())
    }
}

/// Tills send empty fields along; those ask for nothing.
fn says_something(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Array(list) => !list.is_empty(),
        Json::Object(map) => !map.is_empty(),
        Json::String(text) => !text.is_empty(),
        Json::Bool(_) | Json::Number(_) => true,
    }
}
