//! What a till sends: the cart of a quote or of a sale.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value as Json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Check;
use tillkeep_http::sent;
use tillkeep_http::sent::Sent;
use tillkeep_model::fields::sale::{CART, CART_LINE, CART_PAYMENT};
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::schema::uuid;
use tillkeep_model::{ErrorCode, Instant, Money, Qty};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;
use utoipa::{__dev::ComposeSchema, PartialSchema, ToSchema};
use uuid::Uuid;

use super::printed;

sent! {
    #[derive(Clone, Debug)]
    #[expect(clippy::struct_field_names, reason = "the names on the wire")]
    pub(crate) struct Cart as "Cart" by CART {
        /// Made by the client, so that a repeated request is one sale; a quote may leave it out.
        pub id: Option<Uuid>,
        pub terminal_id: Option<String>,
        pub customer_id: Option<Uuid>,
        pub sales_rep_id: Option<Uuid>,
        pub started_at: Option<Instant>,
        pub lines: Vec<Line>,
        cart_discount: Option<Json>,
        /// Tokens of `POST /pos/approvals`.
        approvals: Option<Vec<String>>,
        pub payments: Option<Vec<Payment>>,
        /// The receipt number that the till printed last, which a sale is numbered above.
        last_receipt: Option<String>,
        /// What the customer was quoted; another result is refused instead of taken.
        pub expected_total: Option<Money>,
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
    #[derive(Clone, Debug)]
    #[expect(clippy::struct_field_names, reason = "the names on the wire")]
    pub(crate) struct Line as "CartLine" by CART_LINE {
        /// The till's own name for the line, said back in the quote.
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
        line_discount: Option<Json>,
    }
}

sent! {
    #[derive(Clone, Debug)]
    pub(crate) struct Payment as "CartPayment" by CART_PAYMENT {
        pub tender_id: Uuid,
        /// Nothing: exactly what is left to pay.
        pub tendered_amount: Option<Money>,
        pub reference: Option<String>,
    }
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
    pub(crate) fn check(&self, now: Instant) -> Result<()> {
        self.refuse_unsupported()?;
        self.printed()?;
        let mut check = Check::default();
        self.check_at("", now, &mut check);
        for (index, line) in self.lines.iter().enumerate() {
            let field = line_field(index, "overrideReason");
            match (line.unit_price_override, line.reason()) {
                (Some(_), None) => {
                    check.that(false, &field, "is required: say why the price is another one");
                }
                (None, Some(_)) => {
                    let text = "is for a changed price; send unitPriceOverride with it, or leave it out";
                    check.that(false, &field, text);
                }
                _ => {}
            }
        }
        check.finish()
    }

    /// Fields of the contract that nothing here acts on: ignoring a discount would charge too much without a word.
    fn refuse_unsupported(&self) -> Result<()> {
        let of_line = |(index, line): (usize, &Line)| {
            let named = [("lineDiscount", line.line_discount.clone()), ("labelAmount", line.label_amount.clone())];
            named.map(|(name, value)| (line_field(index, name), value))
        };
        let of_cart = [("cartDiscount".to_owned(), self.cart_discount.clone())];
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
