//! Why an act came to nothing.

use tillkeep_http::error::Error;
use tillkeep_model::ErrorCode;
use tillkeep_storage::DbErr;

/// Why nothing of an act happened.
pub enum Stopped {
    /// What it makes is there already.
    Repeated,
    Refused(Error),
    Failed(DbErr),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<DbErr> for Stopped {
    fn from(error: DbErr) -> Self {
        Self::Failed(error)
    }
}

impl From<Stopped> for Error {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Repeated => Self::new(ErrorCode::IdReused, "this id is taken; send another one").at("id"),
            Stopped::Refused(error) => error,
            Stopped::Failed(error) => error.into(),
        }
    }
}
