//! Flags of documents that more than one floor knows: a push sets them, numbers, reports and the checker read them.

use tillkeep_model::JsonText;

/// The flag of a document or a customer with a number that began with another store's code.
pub const FOREIGN_NUMBER: &str = "foreign_number";

/// The flag of a row that HQ refused and that a user there settled without applying it: it is at its store alone, until it is
/// changed and sent again.
pub const NOT_AT_HQ: &str = "not_at_headquarters";

/// Whether flags, as they are kept, say that a number is not of the store that the document is of.
pub(crate) fn has_foreign_number(flags: &JsonText) -> bool {
    flags.0.as_array().is_some_and(|flags| flags.iter().any(|flag| flag == FOREIGN_NUMBER))
}

/// The column `flags` of a row that is at its store alone.
pub(crate) fn not_at_hq() -> String {
    format!("[\"{NOT_AT_HQ}\"]")
}

/// A reload leaves out the rows that this names: HQ never had them, so that it cannot have deleted them.
pub(crate) fn but_left_here(columns: &[&str]) -> String {
    if columns.contains(&"flags") { format!("AND flags <> '{}'", not_at_hq()) } else { String::new() }
}
