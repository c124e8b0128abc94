//! Sales with their lines and payments: what a till writes, and any other program that pushes one. Wider than what this
//! release writes, since a text that is too long is cut off and never refused. `docs/sync.md`, rule U9.

use super::{Book, json, text};

pub static SALE: Book = Book::of_document(
    "sales",
    &[
        text("receiptNumber", 50),
        text("registerCode", 20),
        text("saleType", 40),
        text("status", 40),
        text("businessDate", 10),
        text("cashierName", 200),
        text("customerName", 500),
        text("originalReceiptNumber", 50),
        text("currencyCode", 3),
        text("taxRounding", 40),
        json("taxLines", 64 << 10),
        text("cartDiscountType", 40),
        text("cartDiscountReason", 500),
        json("approvals", 64 << 10),
        text("voidReason", 500),
        text("note", 2000),
    ],
);

pub static ITEM: Book = Book::of_document(
    "sale_items",
    &[
        text("sku", 100),
        text("barcode", 100),
        text("productName", 500),
        text("unitOfMeasure", 40),
        text("priceSource", 40),
        json("specialDetails", 8 << 10),
        text("lineDiscountType", 40),
        text("discountReason", 500),
        json("taxDetails", 8 << 10),
        text("overrideReason", 500),
        text("returnReason", 500),
    ],
);

pub static PAYMENT: Book = Book::of_document(
    "sale_payments",
    &[
        text("tenderCode", 40),
        text("tenderKind", 40),
        text("reference", 200),
        text("cardBrand", 40),
        text("cardLast4", 4),
        text("externalId", 200),
        text("status", 40),
    ],
);
