//! Drawers. As with sales, what is too long in one that is pushed is cut off.

use super::approval::TOKENS;
use super::{Book, Field, flag, id, json, money, objects, text};

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
        json("counts", 64 << 10),
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
pub static COUNT: [Field; 2] = [id("tenderId"), money("amount")];

/// A drawer that is closed.
pub static CLOSING: [Field; 4] = [objects("counts", (0, 50), &COUNT), NOTE, flag("acceptVariance"), TOKENS];
