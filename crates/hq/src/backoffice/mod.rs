//! The routes that set up a chain. `docs/api.md` lists them; each row kind is a file.

pub mod departments;
pub mod rows;

use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;

/// 409 for a row that others still point to.
pub(crate) fn refuse_in_use(count: u64, by: &str) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    Err(Error::new(ErrorCode::InUse, format!("{count} {by} still use this row; move them first")))
}
