//! Changes of stock by hand. One is written once, by the store, which fixes what its stock made of it.

use super::{Book, By, ColumnValue, Field, Rule, change, id, money, text, word};
use crate::adjustment::{WORDS, WORDS_BY_HAND};

const fn by_hand(field: Field) -> Field {
    field.by(By::Store).fixed()
}

const fn made(field: Field) -> Field {
    field.by(By::Maker)
}

const PRODUCT: Field = by_hand(id("productId")).required();
const CHANGE: Field = by_hand(change("quantityChange"));
const UNIT_COST: Field = by_hand(money("unitCost"));
const NOTE: Field = by_hand(text("note", 500));

const fn level(name: &'static str) -> Field {
    Field::new(name, Rule::Quantity { min: i64::MIN, max: i64::MAX })
}

pub static BOOK: Book = Book {
    table: "inventory_adjustments",
    fields: &[
        PRODUCT,
        CHANGE,
        by_hand(word("reason", &WORDS)).required(),
        UNIT_COST,
        NOTE,
        made(level("quantityBefore")),
        made(level("quantityAfter")),
        made(money("averageCostAfter")),
        made(text("referenceType", 50)),
        made(id("referenceId")),
        made(id("referenceLineId")),
        made(id("userId")),
        made(text("userName", 100)),
        made(text("businessDate", 10)),
        made(Field::new("occurredAt", Rule::Instant)),
    ],
    server: &["id", "store_id", "created_at", "updated_at", "synced", "received_at", "last_envelope_at", "flags"],
};

/// An adjustment as it is asked for: by a change, or by what is there after it. Documents give the other reasons.
pub static REQUEST: [Field; 7] = [
    id("id").required(),
    PRODUCT,
    CHANGE.kept(ColumnValue::IfSent),
    change("newQuantity").kept(ColumnValue::Otherwise),
    word("reason", &WORDS_BY_HAND).required(),
    UNIT_COST,
    NOTE,
];
