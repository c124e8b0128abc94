//! Departments.

use super::{Book, any_i32, flag_on, id, label, share, text};

pub static BOOK: Book = Book {
    table: "departments",
    fields: &[
        label("code", 20).required(),
        label("name", 100).required(),
        id("parentId"),
        id("defaultTaxGroupId"),
        share("maxDiscountBps"),
        any_i32("sortOrder"),
        text("color", 20),
        flag_on("isActive"),
    ],
    server: &["id", "created_at", "updated_at", "deleted_at", "sync_version"],
};
