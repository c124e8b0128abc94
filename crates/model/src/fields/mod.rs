//! The rule book of what people write: each field of a customer, a product, a store … with its limits, its default and
//! who may write it. Both servers, the push, the description and the pages read it. Bodies that make documents are lists of fields
//! beside the book of their rows (`tillkeep_http::sent`).
//!
//! What concerns several fields at once, or other rows, stays in the room of its kind. How to add a field:
//! `CONTRIBUTING.md`.

pub mod adjustment;
pub mod approval;
mod book;
pub mod customer;
pub mod department;
pub mod device;
mod field;
mod kinds;
pub mod order;
pub mod paper;
pub mod parked;
mod problem;
pub mod product;
pub mod reason;
pub mod refund;
pub mod register;
pub mod report;
pub mod safe;
pub mod sale;
pub mod sales_rep;
pub mod session;
pub mod shape;
pub mod special;
pub mod store;
pub mod store_price;
pub mod sync;
pub mod tax;
pub mod tender;
pub mod transfer;
pub mod user;
mod value;

pub use book::Book;
pub use field::{By, ColumnValue, Field, Initial, Rule, Side};
pub use kinds::{
    LARGEST, amount, any_i32, change, country, email, flag, flag_on, id, instant, json, label, money, object, objects,
    phone, quantity, shaped, share, text, whole, word,
};
pub use problem::Problem;
pub use shape::Shape;
pub use value::Value;

#[cfg(test)]
mod tests;
