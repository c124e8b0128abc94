//! Changes of stock by hand. One is written once, by the store, which fixes what its stock made of it.

use super::{Book, By, Field, LARGEST, Rule, id, money, text, word};
use crate::adjustment::WORDS;

const fn by_hand(field: Field) -> Field {
    field.by(By::Store).fixed()
}

const fn made(field: Field) -> Field {
    field.by(By::Maker)
}

const fn level(name: &'static str) -> Field {
    Field::new(name, Rule::Quantity { min: i64::MIN, max: i64::MAX })
}

pub static BOOK: Book = Book {
    table: "inventory_adjustments",
    fields: &[
        by_hand(id("productId")).required(),
        by_hand(Field::new("quantityChange", Rule::Quantity { min: -LARGEST, max: LARGEST })),
        by_hand(word("reason", &WORDS)).required(),
        by_hand(money("unitCost")),
        by_hand(text("note", 500)),
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
