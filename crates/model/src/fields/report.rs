//! Reports of drawers, as they are asked for.

use super::{ColumnValue, Field, id, text, word};
use crate::words::ReportKind;

/// Several Z reports, added up: of a register, or of the whole store.
pub static ZZ: [Field; 3] = [id("id").required(), id("registerId"), word("scope", &SCOPE).kept(ColumnValue::Otherwise)];

/// What a ZZ is of that names no register.
pub const SCOPE: [&str; 1] = ["store"];

/// A report on paper.
pub static PRINT: [Field; 5] =
    [id("id").required(), text("terminalId", 100), word("report", &REPORTS).required(), id("sessionId"), id("zzId")];

/// Which reports come out on paper.
pub const REPORTS: [&str; 3] = [ReportKind::X.word(), ReportKind::Z.word(), ReportKind::Zz.word()];
