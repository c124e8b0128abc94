//! Sales with their lines and payments: what a till writes, and any other program that pushes one. Wider than what this
//! release writes, since a text that is too long is cut off and never refused. `docs/sync.md`, rule U9.

use super::approval::TOKENS;
use super::parked::{MOST_REMOVED, REMOVED};
use super::{
    Book, ColumnValue, Field, LARGEST, Rule, amount, flag, id, instant, json, money, objects, share, text, whole, word,
};

const REFERENCE: Field = text("reference", 200);
/// Characters of a reason, of the code of one, and of what a scanner reads.
const REASON: usize = 200;
const REASON_CODE: usize = 40;
const SCANNED: usize = 100;
/// A [`CART_DISCOUNT`], which the handler compares with what is stored.
const DISCOUNT: Field = json("", 1 << 10).kept(ColumnValue::Otherwise);

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
        text("voidReasonCode", 100),
        json("buyer", 4 << 10),
        json("removed", 32 << 10),
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
        text("returnReasonCode", 100),
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

pub static CHAIN_ENTRY: Book = Book::of_document(
    "chain_entries",
    &[text("registerCode", 20), text("kind", 40), text("previousHash", 100), text("follows", 100), text("hash", 100)],
);

/// What a till sends: the cart of a quote or of a sale.
pub static CART: [Field; 14] = [
    id("id"),
    text("terminalId", 100).kept(ColumnValue::Otherwise),
    id("customerId"),
    id("salesRepId"),
    // A till with a clock that runs ahead cannot have begun after the end.
    instant("startedAt").kept(ColumnValue::Otherwise),
    // One at least, but of a payment on the account: the handler says so.
    objects("lines", (0, 500), &CART_LINE).kept(ColumnValue::Otherwise),
    DISCOUNT.named("cartDiscount"),
    json("settlement", 1 << 10).kept(ColumnValue::Otherwise),
    text("note", 200),
    TOKENS.kept(ColumnValue::Otherwise),
    objects("payments", (0, 50), &CART_PAYMENT).kept(ColumnValue::Otherwise),
    text("lastReceipt", 100).kept(ColumnValue::Otherwise),
    amount("expectedTotal").kept(ColumnValue::Otherwise),
    // A record for whoever looks into losses: no part of what was sold.
    objects("removed", (0, MOST_REMOVED), &REMOVED).kept(ColumnValue::Otherwise),
];

pub static CART_LINE: [Field; 14] = [
    text("lineId", 100).kept(ColumnValue::Otherwise),
    id("productId"),
    // A label or a pack says it.
    Field::new("quantity", Rule::Quantity { min: 1, max: LARGEST }).kept(ColumnValue::Otherwise),
    money("openPrice").kept(ColumnValue::Otherwise),
    flag("ageConfirmed"),
    money("unitPriceOverride").kept(ColumnValue::Otherwise),
    // Kept without the spaces around it. Shorter than headquarters takes it, so that a sale of 500 such lines fits into an
    // envelope.
    text("overrideReason", REASON).kept(ColumnValue::Otherwise),
    text("overrideReasonCode", REASON_CODE).kept(ColumnValue::Otherwise),
    text("code", SCANNED).kept(ColumnValue::Otherwise),
    money("labelAmount").kept(ColumnValue::Otherwise),
    DISCOUNT.named("lineDiscount"),
    text("name", 60).kept(ColumnValue::Otherwise),
    text("note", 60),
    text("serial", 60),
];

/// What somebody at the till takes off a line, or off the cart.
pub static CART_DISCOUNT: [Field; 5] = [
    word("type", &["percent", "amount"]).required().kept(ColumnValue::Otherwise),
    share("bps").kept(ColumnValue::Otherwise),
    money("amount").kept(ColumnValue::Otherwise),
    text("reason", REASON).kept(ColumnValue::Otherwise),
    text("reasonCode", REASON_CODE).kept(ColumnValue::Otherwise),
];

/// What a customer pays of what is owed.
pub static SETTLEMENT: [Field; 2] =
    [whole("amount", 1, LARGEST).required().kept(ColumnValue::Otherwise), flag("prepay").kept(ColumnValue::Otherwise)];

/// Undoing a sale in its drawer.
pub static VOID: [Field; 4] = [
    text("terminalId", 100).kept(ColumnValue::Otherwise),
    text("reason", REASON).kept(ColumnValue::Otherwise),
    text("reasonCode", REASON_CODE).kept(ColumnValue::Otherwise),
    TOKENS.kept(ColumnValue::Otherwise),
];

/// A cart that is only asked about, of any store.
pub static PREVIEW: [Field; 5] = [
    id("storeId"),
    instant("at").kept(ColumnValue::Otherwise),
    id("customerId"),
    objects("lines", (1, 500), &PREVIEW_LINE).kept(ColumnValue::Otherwise),
    DISCOUNT.named("cartDiscount"),
];

pub static PREVIEW_LINE: [Field; 3] = [
    id("productId"),
    Field::new("quantity", Rule::Quantity { min: 1, max: LARGEST }).required(),
    DISCOUNT.named("lineDiscount"),
];

pub static PREVIEW_DISCOUNT: [Field; 3] = [
    word("type", &["percent", "amount"]).required().kept(ColumnValue::Otherwise),
    share("bps").kept(ColumnValue::Otherwise),
    money("amount").kept(ColumnValue::Otherwise),
];

pub static CART_PAYMENT: [Field; 6] = [
    id("tenderId"),
    amount("tenderedAmount"),
    REFERENCE,
    text("cardBrand", 40),
    text("cardLast4", 4),
    text("externalId", 200),
];
