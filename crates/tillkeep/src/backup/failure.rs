//! Why a server has no backup.

use anyhow::Error;

/// Why there is no backup, in the words of the metric.
pub struct Failure {
    pub reason: &'static str,
    pub error: Error,
}

pub type Outcome<T> = std::result::Result<T, Failure>;

pub trait Because<T> {
    fn because(self, reason: &'static str) -> Outcome<T>;
}

impl<T, E: Into<Error>> Because<T> for std::result::Result<T, E> {
    fn because(self, reason: &'static str) -> Outcome<T> {
        self.map_err(|error| Failure { reason, error: error.into() })
    }
}
