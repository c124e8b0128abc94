//! The numbers that headquarters gives customers. Stores give their own, which begin with their codes.

use tillkeep_http::error::Result;
use tillkeep_storage::{Tx, series};

/// What the numbers of headquarters begin with.
pub(crate) const HQ: &str = "HQ";

/// The next number that headquarters gives a customer.
pub(crate) async fn next_number(tx: &Tx) -> Result<String> {
    Ok(format!("{HQ}-{:06}", series::next(tx, "customer").await?))
}
