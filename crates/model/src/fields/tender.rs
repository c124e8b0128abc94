//! Tenders: what customers pay with.

use serde_json::{Map, Value as Json};

use crate::pricing::TenderKind;

use super::{Book, Initial, any_i32, flag, flag_on, label, money, word};

/// Cash lies in a drawer, and change is given of it.
fn is_cash(sent: &Map<String, Json>) -> Json {
    (sent.get("kind").and_then(Json::as_str) == Some(TenderKind::Cash.word())).into()
}

pub static BOOK: Book = Book {
    table: "tenders",
    fields: &[
        label("code", 20).required(),
        label("name", 100).required(),
        word("kind", TenderKind::WORDS).required(),
        flag("opensDrawer").initially(Initial::Follows(is_cash)),
        flag_on("countsInClose"),
        flag("allowsChange").initially(Initial::Follows(is_cash)),
        flag("requiresReference"),
        flag_on("isRefundable"),
        flag_on("isVoidable"),
        flag("requiresCustomer"),
        money("minAmount"),
        money("maxAmount"),
        any_i32("sortOrder"),
        flag_on("isActive"),
    ],
    server: &["id", "created_at", "updated_at", "deleted_at", "sync_version"],
};
