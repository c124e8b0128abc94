//! The numbers that headquarters gives customers. Stores give their own, which begin with their codes.

use tillkeep_http::error::{Error, Result};
use tillkeep_storage::{Tx, series};

/// What the numbers of headquarters begin with.
pub(crate) const HQ: &str = "HQ";
const SERIES: &str = "customer";

/// The next number that headquarters gives a customer.
pub(crate) async fn next_number(tx: &Tx) -> Result<String> {
    Ok(number(series::next(tx, SERIES).await?))
}

/// The next `count` of them, one after the other.
pub(crate) async fn next_numbers(tx: &Tx, count: usize) -> Result<Vec<String>> {
    let count = i64::try_from(count).map_err(Error::internal)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let last = series::take(tx, SERIES, count).await?;
    Ok((last - count + 1..=last).map(number).collect())
}

fn number(number: i64) -> String {
    format!("{HQ}-{number:06}")
}
