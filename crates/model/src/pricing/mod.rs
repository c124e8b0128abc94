//! What a cart costs and how it is paid. `tests/data/vectors.json` of this crate holds worked examples of every rule.
//!
//! A cart goes through these files in this order: [`choose_price`] finds the unit price of each line, [`price_cart`]
//! makes list amounts, specials, discounts, taxes and sums of it, [`StoreLimits`] says what of it needs a permission, and
//! [`settle`] turns what the customer hands over into payment rows. [`share`] is the way back: what of a stored line a refund gives.
//!
//! Three things hold everywhere. Rounding is half away from zero and happens only where a rule says so, so a cart with
//! all quantities negated gives exactly the negated amounts. Nothing is calculated in floating point. And nothing here
//! panics: amounts beyond the range of [`crate::Money`], which no validated input reaches, are cut to it.

mod cart;
mod cash_rounding;
mod deal;
mod discount;
mod fraction;
mod invoice;
mod limit;
mod line;
mod payment;
mod price;
mod refund;
mod savings;
mod share;
mod special;
mod tax;
mod tender;

pub use cart::{PricedCart, PricedLine, TaxTotal, price_cart};
pub use cash_rounding::{CashRounding, RoundingMode};
pub use deal::{Deal, GroupDeal, SpecialType, UnitDeal};
pub use discount::Discount;
pub use limit::{Asked, Deed, Need, StoreLimits};
pub use line::{CartLine, CartTerms};
pub use payment::{PaymentError, PaymentRow, PaymentTerms, Settlement, settle};
pub use price::{PriceSource, choose_price};
pub use refund::{
    Exchanged, LineShare, Paid, PaidSale, Part, StoredLine, exchange, refund_rounding, settle_account, settle_exchange,
    share, to_original_tenders,
};
pub use special::{Saving, Special};
pub use tax::{TaxAmount, TaxRate, TaxRounding, TaxedLine, tax_line};
pub use tender::{TenderKind, TenderRule, TenderTerms, Tendered};
