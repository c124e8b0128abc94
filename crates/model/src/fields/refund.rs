//! What a till sends to give money back. Amounts are above zero, as people type them; the document has them below.

use super::approval::TOKENS;
use super::{ColumnValue, Field, LARGEST, Rule, flag, id, json, money, objects, text};

const RECEIPT: Field = text("lastReceipt", 100).kept(ColumnValue::Otherwise);
const EXPECTED: Field = money("expectedTotal").kept(ColumnValue::Otherwise);
const TERMINAL: Field = text("terminalId", 100).kept(ColumnValue::Otherwise);
const PAYMENTS: Field = objects("payments", (0, 50), &PAYMENT).kept(ColumnValue::Otherwise);
const QUANTITY: Field =
    Field::new("quantity", Rule::Quantity { min: 1, max: LARGEST }).required().kept(ColumnValue::Otherwise);
/// True when it is left out.
const RESTOCK: Field = flag("restock").kept(ColumnValue::Otherwise);
const REASON: Field = text("reason", 200).kept(ColumnValue::Otherwise);
const REASON_CODE: Field = text("reasonCode", 40).kept(ColumnValue::Otherwise);

/// Of a sale that was made.
pub static REFUND: [Field; 10] = [
    id("id").required(),
    TERMINAL,
    objects("items", (1, 500), &ITEM).required().kept(ColumnValue::Otherwise),
    PAYMENTS,
    REASON,
    REASON_CODE,
    EXPECTED,
    TOKENS.kept(ColumnValue::Otherwise),
    RECEIPT,
    text("note", 200),
];

pub static ITEM: [Field; 5] =
    [id("saleItemId").required().kept(ColumnValue::Otherwise), QUANTITY, RESTOCK, REASON, REASON_CODE];

/// Without a receipt.
pub static UNLINKED: [Field; 11] = [
    id("id").required(),
    TERMINAL,
    id("customerId"),
    objects("items", (1, 500), &UNLINKED_ITEM).required().kept(ColumnValue::Otherwise),
    PAYMENTS,
    REASON,
    REASON_CODE,
    EXPECTED,
    TOKENS.kept(ColumnValue::Otherwise),
    RECEIPT,
    text("note", 200),
];

pub static UNLINKED_ITEM: [Field; 6] =
    [id("productId").required(), QUANTITY, money("unitPrice").kept(ColumnValue::IfSent), RESTOCK, REASON, REASON_CODE];

pub static PAYMENT: [Field; 3] = [
    id("tenderId").required(),
    money("amount").kept(ColumnValue::Otherwise),
    text("reference", 200).kept(ColumnValue::Otherwise),
];

/// Goods that come back against others. Of the sale that is its other half: [`super::sale::CART`].
pub static EXCHANGE: [Field; 6] = [
    TERMINAL,
    json("refund", 1 << 20).required().kept(ColumnValue::Otherwise),
    json("sale", 1 << 20).required().kept(ColumnValue::Otherwise),
    objects("payments", (0, 50), &super::sale::CART_PAYMENT).kept(ColumnValue::Otherwise),
    TOKENS.kept(ColumnValue::Otherwise),
    RECEIPT,
];

/// What comes back in an exchange.
pub static EXCHANGE_REFUND: [Field; 7] = [
    id("id").required(),
    id("saleId").required().kept(ColumnValue::Otherwise),
    objects("items", (1, 500), &ITEM).required().kept(ColumnValue::Otherwise),
    REASON,
    REASON_CODE,
    EXPECTED,
    text("note", 200),
];
