//! Registers: the tills of one store. They stay there. The code is part of every receipt number, so it never changes.

use super::{Book, By, Field, flag, flag_on, id, label, money, object, shape, shaped, text, whole, word};
use crate::words::PaperKind;

pub static BOOK: Book = Book {
    table: "registers",
    fields: &[
        shaped("code", 2, &shape::REGISTER_CODE).required().fixed().by(By::Store),
        label("name", 100).required().by(By::Store),
        label("terminalId", 100).required().by(By::Store),
        money("defaultFloat").by(By::Store),
        flag_on("isActive").by(By::Store),
        object("printer", &PRINTER).by(By::Store),
    ],
    server: &["id", "created_at", "updated_at", "last_seen_at"],
};

/// The printer of a register. Of the widths between these two a printer has [`PRINTER_WIDTHS`].
pub static PRINTER: [Field; 5] = [
    shaped("address", 260, &shape::PRINTER_ADDRESS).required(),
    whole("width", 32, 48).required(),
    word("codePage", CODE_PAGES).required(),
    flag("opensDrawer"),
    flag("automatic"),
];

/// Characters in a line: of paper of 58 mm, and of 80 mm in the two sizes that printers have.
pub const PRINTER_WIDTHS: [i64; 3] = [32, 42, 48];

/// Tables of letters, by the names that the manuals of printers have for them.
pub const CODE_PAGES: &[&str] = &[
    "PC437",
    "PC850",
    "PC852",
    "PC857",
    "PC858",
    "PC860",
    "PC863",
    "PC865",
    "PC866",
    "PC737",
    "WPC775",
    "ISO8859_2",
    "ISO8859_7",
    "ISO8859_15",
    "WPC1250",
    "WPC1251",
    "WPC1252",
    "WPC1253",
    "WPC1254",
    "WPC1257",
];

/// A paper of a sale, asked for.
pub static PRINT: [Field; 4] =
    [id("id").required(), text("terminalId", 100), word("kind", PaperKind::WORDS), word("to", &PRINT_TO).required()];

/// Where a paper comes out: at the printer of the register, or where the pages are looked at.
pub const PRINT_TO: [&str; 2] = ["printer", "browser"];
