//! What a manager says of the safe.

use super::approval::TOKENS;
use super::{ColumnValue, Field, amount, id, label, word};
use crate::words::SafeMovementKind;

/// A movement of the safe. A correction says what it changes, or what was counted.
pub static MOVEMENT: [Field; 8] = [
    id("id").required(),
    word("type", SafeMovementKind::WORDS).required().kept(ColumnValue::Otherwise),
    amount("amount").kept(ColumnValue::IfSent),
    amount("newBalance").kept(ColumnValue::IfSent),
    label("slipNumber", 60),
    label("reason", 200),
    id("sessionId").kept(ColumnValue::Otherwise),
    TOKENS.kept(ColumnValue::Otherwise),
];
