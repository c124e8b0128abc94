//! The documents that stores push. Their amounts and quantities have bounds of their own where they are reckoned with; here
//! is how much room their texts and lists may take, which holds for every sender.

use super::{Book, Field, order, sale, session, transfer};

/// A document, of which only texts and lists have rules: programs write it, not people.
pub(super) const fn document(table: &'static str, fields: &'static [Field]) -> Book {
    Book { table, fields, server: &[] }
}

/// All of them, with their lines.
pub static ALL: [&Book; 9] = [
    &sale::SALE,
    &sale::ITEM,
    &sale::PAYMENT,
    &session::SESSION,
    &session::ADJUSTMENT,
    &order::ORDER,
    &order::ITEM,
    &transfer::TRANSFER,
    &transfer::ITEM,
];
