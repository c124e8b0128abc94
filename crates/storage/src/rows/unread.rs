//! Rows of the database that cannot be read: something in them is not what its column holds.

use std::fmt;

use sea_orm::{DbErr, QueryResult};
use uuid::Uuid;

use super::row::Row;
use crate::sql::errors;

/// A row, or what is known of one that cannot be read.
pub type Reading = Result<Box<dyn Row>, Unread>;

/// What is known of a row that cannot be read. Nothing that stands in it is here: that may be anything.
#[derive(Clone, Debug)]
pub struct Unread {
    pub table: String,
    pub id: Option<Uuid>,
    pub version: Option<i64>,
    /// The row that it belongs to, where that was asked for.
    pub parent: Option<Uuid>,
    /// What of it cannot be read, where the database says so.
    pub column: Option<String>,
}

impl Unread {
    /// `parent` is the column that names the row it belongs to.
    pub(crate) fn new(table: &str, row: &QueryResult, parent: Option<&str>, error: &DbErr) -> Self {
        let uuid = |column: &str| row.try_get::<Uuid>("", column).ok();
        Self {
            table: table.to_owned(),
            id: uuid("id"),
            version: row.try_get("", "sync_version").ok(),
            parent: parent.and_then(uuid),
            column: errors::unread_column(error),
        }
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a row of {} cannot be read", self.table)?;
        if let Some(id) = self.id {
            write!(f, ", {id}")?;
        }
        self.column.as_ref().map_or(Ok(()), |column| write!(f, ", its {column}"))
    }
}

impl From<Unread> for DbErr {
    fn from(unread: Unread) -> Self {
        Self::Json(unread.to_string())
    }
}
