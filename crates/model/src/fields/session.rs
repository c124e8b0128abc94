//! Drawers. As with sales, what is too long in one that is pushed is cut off.

use super::{Book, json, text};

pub static SESSION: Book = Book::of_document(
    "register_sessions",
    &[
        text("registerCode", 20),
        text("status", 40),
        text("businessDate", 10),
        json("openingDenominations", 8 << 10),
        json("counts", 64 << 10),
        text("closeNote", 2000),
        json("cashMovements", 256 << 10),
        json("totals", 256 << 10),
        text("firstReceiptNumber", 50),
        text("lastReceiptNumber", 50),
    ],
);
