//! Errors of `SQLite` in the form that the other database's driver has, so that one function tells what either means.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

use rusqlite::ffi;
use sea_orm::sqlx::Error;
use sea_orm::sqlx::error::{DatabaseError, ErrorKind};
use sea_orm::{ConnAcquireErr, DbErr, RuntimeErr};

/// What `SQLite` says: its extended code and a text.
#[derive(Debug)]
struct Failure {
    code: i32,
    message: String,
}

/// `error` of the library as one of a statement.
pub(super) fn failed(error: rusqlite::Error) -> DbErr {
    let failure = match error {
        rusqlite::Error::SqliteFailure(error, message) => {
            let message = message.unwrap_or_else(|| error.to_string());
            Failure { code: error.extended_code, message }
        }
        rusqlite::Error::SqlInputError { error, msg, sql, offset } => {
            Failure { code: error.extended_code, message: format!("{msg}, at {offset} of {sql}") }
        }
        other => return DbErr::Query(RuntimeErr::Internal(other.to_string())),
    };
    DbErr::Query(RuntimeErr::SqlxError(Error::Database(Box::new(failure)).into()))
}

/// The error of a column that holds something else than it should.
pub(super) fn misfit(column: &str, what: String) -> DbErr {
    let error = Error::ColumnDecode { index: column.to_owned(), source: what.into() };
    DbErr::Query(RuntimeErr::SqlxError(error.into()))
}

/// The transaction is no longer there; nothing of it happened.
pub(super) fn undone(why: &str) -> DbErr {
    DbErr::Conn(RuntimeErr::Internal(format!("the transaction was rolled back: {why}")))
}

/// No server can use the database any more.
pub(super) fn closed() -> DbErr {
    DbErr::Conn(RuntimeErr::Internal("the database is closed".to_owned()))
}

/// There are too many before this one.
pub(super) fn busy() -> DbErr {
    DbErr::ConnectionAcquire(ConnAcquireErr::Timeout)
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(code: {}) {}", self.code, self.message)
    }
}

impl StdError for Failure {}

impl DatabaseError for Failure {
    fn message(&self) -> &str {
        &self.message
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(self.code.to_string().into())
    }

    fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn StdError + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn StdError + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        match self.code {
            ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => ErrorKind::UniqueViolation,
            ffi::SQLITE_CONSTRAINT_FOREIGNKEY => ErrorKind::ForeignKeyViolation,
            ffi::SQLITE_CONSTRAINT_NOTNULL => ErrorKind::NotNullViolation,
            ffi::SQLITE_CONSTRAINT_CHECK => ErrorKind::CheckViolation,
            _ => ErrorKind::Other,
        }
    }
}
