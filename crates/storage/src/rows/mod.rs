//! Rows of a table whose type is not known here: read, written, compared and described, and whose their columns are.

pub mod owners;
mod row;
pub mod row_schema;
mod table;
mod unread;

pub use row::Row;
pub use table::{Of, SyncTable};
pub use unread::{Reading, Unread};
