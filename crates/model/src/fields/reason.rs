//! Why somebody did what is out of the ordinary: what tills offer to choose from.

use super::{Book, any_i32, flag, flag_on, label, word};
use crate::reason::ReasonKind;

pub static BOOK: Book = Book {
    table: "reasons",
    fields: &[
        label("code", 40).required(),
        label("name", 100).required(),
        word("kind", ReasonKind::WORDS).required(),
        flag("needsNote"),
        any_i32("sortOrder"),
        flag_on("isActive"),
    ],
    server: &["id", "created_at", "updated_at", "deleted_at", "sync_version"],
};
