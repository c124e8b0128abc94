//! Goods on the way between stores. A transfer that is pushed with a text beyond its limit is refused.

use super::{Book, json, text};

pub static TRANSFER: Book = Book::of_document(
    "transfers",
    &[
        text("transferNumber", 100),
        text("status", 40),
        text("rejectedReason", 500),
        text("cancelledReason", 500),
        text("note", 2000),
        text("carrier", 100),
        text("trackingNumber", 100),
        json("receipts", 256 << 10),
    ],
);

pub static ITEM: Book = Book::of_document("transfer_items", &[text("sku", 100), text("productName", 500)]);
