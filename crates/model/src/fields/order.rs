//! Orders to suppliers. One that is pushed with a text beyond its limit is refused.

use super::{Book, json, text};

pub static ORDER: Book = Book::of_document(
    "purchase_orders",
    &[
        text("poNumber", 100),
        text("origin", 40),
        text("status", 40),
        text("orderDate", 10),
        text("expectedDate", 10),
        text("currencyCode", 3),
        text("sentVia", 40),
        text("rejectedReason", 500),
        text("cancelledReason", 500),
        text("conflictNote", 500),
        text("notes", 4000),
        json("receipts", 256 << 10),
        text("lastSupplierDocument", 200),
    ],
);

pub static ITEM: Book =
    Book::of_document("purchase_order_items", &[text("description", 500), text("supplierSku", 100)]);
