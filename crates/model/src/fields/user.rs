//! Users, and the roles that say what they may do. PINs and assignments have routes of their own.

use super::{Book, email, flag_on, label, phone, shape, shaped, text};

pub static BOOK: Book = Book {
    table: "users",
    fields: &[
        label("username", 50).required(),
        shaped("displayName", 100, &shape::DISPLAY_NAME).required(),
        label("employeeCode", 40),
        email("email"),
        phone("phone"),
        flag_on("isActive"),
    ],
    server: &[
        "id",
        "created_at",
        "updated_at",
        "deleted_at",
        "sync_version",
        "username_folded",
        "pin_hash",
        "pin_lookup",
        "pin_changed_at",
        "must_change_pin",
        "sessions_valid_from",
        "last_login_at",
    ],
};

pub static ROLE: Book = Book {
    table: "roles",
    fields: &[
        shaped("code", 40, &shape::ROLE_CODE).required().fixed(),
        label("name", 100).required(),
        text("description", 500),
    ],
    server: &["id", "created_at", "updated_at", "deleted_at", "sync_version", "is_system"],
};
