//! The columns that a store pushes, as the book of their rows says.

use tillkeep_model::fields::Book;

use super::WriteContext;
use crate::rows::SyncTable;

/// Of a new row, and of one that HQ has.
pub(super) struct ByBook {
    new: Vec<&'static str>,
    known: Vec<&'static str>,
}

impl ByBook {
    pub(super) fn new(book: &Book, table: &dyn SyncTable) -> Self {
        let pushed = |new: bool| {
            let mut columns = table.columns();
            columns.retain(|column| book.field(column).is_some_and(|field| field.is_pushed(new)));
            columns
        };
        Self { new: pushed(true), known: pushed(false) }
    }

    pub(super) fn columns(&self, context: WriteContext<'_>) -> &[&'static str] {
        if context.new { &self.new } else { &self.known }
    }
}
