//! Sales representatives.

use super::{Book, Initial, email, flag_on, id, label, phone, share, word};

pub static BOOK: Book = Book {
    table: "sales_reps",
    fields: &[
        label("code", 20).required(),
        label("name", 100).required(),
        id("userId"),
        id("storeId"),
        email("email"),
        phone("phone"),
        share("commissionBps").not_in_use(),
        word("commissionBasis", &["net_sales", "profit"]).initially(Initial::Text("net_sales")).not_in_use(),
        flag_on("isActive"),
    ],
    server: &["id", "created_at", "updated_at", "deleted_at", "sync_version"],
};
