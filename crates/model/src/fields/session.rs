//! Drawers. As with sales, what is too long in one that is pushed is cut off.

use super::approval::TOKENS;
use super::{Book, ColumnValue, Field, LARGEST, flag, id, json, money, objects, text, whole, word};
use crate::words::CashMovementKind;

/// What a user notes at a drawer.
const NOTE: Field = text("note", 2000);
/// A list of coins and notes.
const DENOMINATIONS: Field = json("denominations", 8 << 10);

pub static SESSION: Book = Book::of_document(
    "register_sessions",
    &[
        text("registerCode", 20),
        text("status", 40),
        text("businessDate", 10),
        DENOMINATIONS.named("openingDenominations"),
        json("counts", 128 << 10),
        json("earlierCounts", 256 << 10),
        json("owners", 64 << 10),
        text("closeReasonCode", 100),
        json("safeMovements", 64 << 10),
        NOTE.named("closeNote"),
        json("cashMovements", 256 << 10),
        json("totals", 256 << 10),
        text("firstReceiptNumber", 50),
        text("lastReceiptNumber", 50),
    ],
);

/// A drawer that is opened.
pub static OPENING: [Field; 5] = [money("openingFloat"), DENOMINATIONS, NOTE, id("openedForUserId"), TOKENS];

/// What was counted of one tender.
pub static COUNT: [Field; 3] = [id("tenderId"), money("amount"), DENOMINATIONS];

const COUNTS: Field = objects("counts", (0, 50), &COUNT);

/// A drawer that is counted, or sells on after that.
pub static COUNTING: [Field; 2] = [COUNTS, flag("reopen")];

/// A drawer that is closed.
pub static CLOSING: [Field; 5] = [COUNTS, NOTE, flag("acceptVariance"), flag("acceptParked"), TOKENS];

const REASON: Field = text("reason", 200).kept(ColumnValue::Otherwise);
const REASON_CODE: Field = text("reasonCode", 40).kept(ColumnValue::Otherwise);

/// A drawer that is closed without a count.
pub static FORCING: [Field; 2] = [REASON, REASON_CODE];

/// A drawer that another user takes over.
pub static REASSIGNING: [Field; 1] = [id("userId").required()];

/// What cash may be put into a drawer or taken out of it for. A drawer that is opened for no sale has a route of its own.
pub const MOVES: [&str; 4] = [
    CashMovementKind::PaidIn.word(),
    CashMovementKind::PaidOut.word(),
    CashMovementKind::Drop.word(),
    CashMovementKind::FloatAdd.word(),
];

/// Cash that is put into a drawer or taken out.
pub static MOVEMENT: [Field; 6] = [
    id("id").required(),
    word("type", &MOVES).required().kept(ColumnValue::Otherwise),
    whole("amount", 1, LARGEST).required(),
    REASON,
    REASON_CODE,
    TOKENS.kept(ColumnValue::Otherwise),
];

/// A drawer that is opened for no sale.
pub static NO_SALE: [Field; 4] = [id("id").required(), REASON, REASON_CODE, TOKENS.kept(ColumnValue::Otherwise)];
