//! Tax rates, tax groups, and which rates a group has where.

use super::{Book, Initial, flag, flag_on, id, label, text, whole, word};

pub static RATE: Book = Book {
    table: "tax_rates",
    fields: &[
        label("code", 20).required(),
        label("name", 100).required(),
        text("receiptLabel", 10),
        whole("ratePpm", 0, 1_000_000).required(),
        text("authority", 100),
        flag_on("isActive"),
    ],
    server: &["id", "created_at", "updated_at", "deleted_at", "sync_version"],
};

pub static GROUP: Book = Book {
    table: "tax_groups",
    fields: &[
        label("code", 20).required(),
        label("name", 100).required(),
        word("priceMode", &["store_default", "inclusive", "exclusive"]).initially(Initial::Text("store_default")),
        flag("isDefault"),
        flag_on("isActive"),
    ],
    server: &["id", "created_at", "updated_at", "deleted_at", "sync_version"],
};

/// Written as a list, with its group.
pub static GROUP_RATE: Book = Book {
    table: "tax_group_rates",
    fields: &[id("taxRateId").required(), id("storeId"), whole("sequence", 1, 1000).required(), flag("isCompound")],
    server: &["id", "created_at", "updated_at", "deleted_at", "sync_version", "tax_group_id"],
};
