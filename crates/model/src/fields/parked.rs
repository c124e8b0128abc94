//! Carts that wait: what a till sends to park one, to go on with it and to drop it, and what was taken off one before it was
//! paid.

use super::{ColumnValue, Field, LARGEST, Rule, flag, id, instant, json, money, text};

const TERMINAL: Field = text("terminalId", 100).kept(ColumnValue::Otherwise);
const REASON: Field = text("reason", 200).kept(ColumnValue::Otherwise);
const REASON_CODE: Field = text("reasonCode", 40).kept(ColumnValue::Otherwise);

/// Lines taken off one cart, at the most.
pub const MOST_REMOVED: usize = 500;

/// A cart that is put aside. Of the cart itself: [`super::sale::CART`].
pub static PARK: [Field; 6] = [
    // That of the row, unless the cart was parked before.
    id("id").required().kept(ColumnValue::Otherwise),
    text("label", 100).kept(ColumnValue::Otherwise),
    json("cart", 1 << 20).required().kept(ColumnValue::Otherwise),
    flag("abandoned").kept(ColumnValue::Otherwise),
    REASON,
    REASON_CODE,
];

pub static RESUME: [Field; 1] = [TERMINAL];

pub static ABANDON: [Field; 3] = [TERMINAL, REASON, REASON_CODE];

/// A line that was taken off a cart.
pub static REMOVED: [Field; 4] = [
    id("productId").required().kept(ColumnValue::Otherwise),
    Field::new("quantity", Rule::Quantity { min: 1, max: LARGEST }).required().kept(ColumnValue::Otherwise),
    money("unitPrice").required().kept(ColumnValue::Otherwise),
    instant("at").kept(ColumnValue::Otherwise),
];
