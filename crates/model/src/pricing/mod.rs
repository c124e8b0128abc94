//! What a cart costs and how it is paid. `tests/data/vectors.json` of this crate holds worked examples of every rule.
//!
//! A cart goes through these files in this order: [`choose_price`] finds the unit price of each line, [`price_cart`]
//! makes list amounts, taxes and sums of it, and [`settle`] turns what the customer hands over into payment rows.
//!
//! Three things hold everywhere. Rounding is half away from zero and happens only where a rule says so, so a cart with
//! all quantities negated gives exactly the negated amounts. Nothing is calculated in floating point. And nothing here
//! panics: amounts beyond the range of [`crate::Money`], which no validated input reaches, are cut to it.

mod cart;
mod cash_rounding;
mod fraction;
mod invoice;
mod payment;
mod price;
mod tax;
mod tender;

pub use cart::{CartLine, PricedCart, PricedLine, TaxTotal, price_cart};
pub use cash_rounding::{CashRounding, RoundingMode};
pub use payment::{PaymentError, PaymentRow, Settlement, settle};
pub use price::{PriceSource, choose_price};
pub use tax::{TaxAmount, TaxRate, TaxRounding, TaxedLine, tax_line};
pub use tender::{TenderKind, TenderRule, TenderTerms, Tendered};
