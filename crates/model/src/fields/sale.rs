//! Sales with their lines and payments: what a till writes, and any other program that pushes one. Wider than what this
//! release writes, since a text that is too long is cut off and never refused. `docs/sync.md`, rule U9.

use super::approval::TOKENS;
use super::{Book, ColumnValue, Field, LARGEST, Rule, amount, flag, id, instant, json, money, objects, text};

const REFERENCE: Field = text("reference", 200);
/// What no version takes yet.
const UNSUPPORTED: Field = json("", 8 << 10).kept(ColumnValue::Otherwise);

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
        text("cartDiscountReasonCode", 100),
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
        text("scannedCode", 100),
        text("note", 200),
        text("serial", 200),
        text("overrideReasonCode", 100),
        text("discountReasonCode", 100),
    ],
);

pub static PAYMENT: Book = Book::of_document(
    "sale_payments",
    &[
        text("tenderCode", 40),
        text("tenderKind", 40),
        REFERENCE,
        text("cardBrand", 40),
        text("cardLast4", 4),
        text("externalId", 200),
        text("status", 40),
    ],
);

/// What a till sends: the cart of a quote or of a sale.
pub static CART: [Field; 11] = [
    id("id"),
    text("terminalId", 100).kept(ColumnValue::Otherwise),
    id("customerId"),
    id("salesRepId"),
    // A till with a clock that runs ahead cannot have begun after the end.
    instant("startedAt").kept(ColumnValue::Otherwise),
    objects("lines", (1, 500), &CART_LINE).kept(ColumnValue::Otherwise),
    UNSUPPORTED.named("cartDiscount"),
    TOKENS.kept(ColumnValue::Otherwise),
    objects("payments", (0, 50), &CART_PAYMENT).kept(ColumnValue::Otherwise),
    text("lastReceipt", 100).kept(ColumnValue::Otherwise),
    amount("expectedTotal").kept(ColumnValue::Otherwise),
];

pub static CART_LINE: [Field; 9] = [
    text("lineId", 100).kept(ColumnValue::Otherwise),
    id("productId"),
    Field::new("quantity", Rule::Quantity { min: 1, max: LARGEST }),
    money("openPrice").kept(ColumnValue::Otherwise),
    flag("ageConfirmed"),
    money("unitPriceOverride").kept(ColumnValue::Otherwise),
    // Kept without the spaces around it. Shorter than headquarters takes it, so that a sale of 500 such lines fits into an
    // envelope.
    text("overrideReason", 200).kept(ColumnValue::Otherwise),
    UNSUPPORTED.named("labelAmount"),
    UNSUPPORTED.named("lineDiscount"),
];

pub static CART_PAYMENT: [Field; 3] = [id("tenderId"), amount("tenderedAmount"), REFERENCE];
