//! What a store charges for a product, and how much of it it keeps. The levels are the store's, by its documents.

use super::{Book, flag, money, quantity, text};

pub static BOOK: Book = Book {
    table: "store_product_dynamic",
    fields: &[
        money("price"),
        quantity("reorderPoint"),
        quantity("reorderQuantity"),
        text("binLocation", 40),
        flag("isStocked"),
    ],
    server: &[
        "id",
        "created_at",
        "updated_at",
        "deleted_at",
        "sync_version",
        "store_id",
        "product_id",
        "has_price_override",
        "cost",
        "max_quantity",
        "quantity",
        "average_cost",
        "last_sold_at",
        "last_received_at",
        "last_counted_at",
        "last_synced_at",
    ],
};
