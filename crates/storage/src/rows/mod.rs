//! Rows of a table of a type that is not known here: read, written, compared and described, and who owns their columns.

pub mod owners;
mod row;
pub mod row_schema;
mod table;
mod texts;
mod unread;

pub use row::Row;
pub use table::{Of, SyncTable};
pub use texts::Texts;
pub use unread::{Reading, Unread};
