//! Registers: the tills of one store. They stay there. The code is part of every receipt number, so it never changes.

use super::{Book, By, flag_on, label, money, shape, shaped};

pub static BOOK: Book = Book {
    table: "registers",
    fields: &[
        shaped("code", 2, &shape::REGISTER_CODE).required().fixed().by(By::Store),
        label("name", 100).required().by(By::Store),
        label("terminalId", 100).required().by(By::Store),
        money("defaultFloat").by(By::Store),
        flag_on("isActive").by(By::Store),
    ],
    server: &["id", "created_at", "updated_at", "last_seen_at"],
};
