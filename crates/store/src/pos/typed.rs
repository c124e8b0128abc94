//! A price that somebody typed in, or a scanner did.

use tillkeep_http::error::{Error, FieldError, Result};
use tillkeep_storage::DbErr;
use tillkeep_storage::barcodes;
use tillkeep_storage::sea_orm::ConnectionTrait;

use super::cart::{Cart, line_field};

/// Refuses a price that is the number of a code here: a scanner that stood in the field for the price has typed it.
pub(super) async fn refuse_codes(conn: &impl ConnectionTrait, cart: &Cart) -> Result<()> {
    let typed: Vec<(usize, &str, i64)> = cart
        .lines
        .iter()
        .enumerate()
        .flat_map(|(index, line)| {
            let prices = [("openPrice", line.open_price), ("unitPriceOverride", line.unit_price_override)];
            prices.into_iter().filter_map(move |(field, price)| Some((index, field, price?.0)))
        })
        .collect();
    let codes = known(conn, &typed.iter().map(|(.., number)| *number).collect::<Vec<_>>()).await?;
    let wrong = typed.into_iter().filter(|(.., number)| codes.contains(number));
    let message = "is the code of a product: scan it into the field for products, and type the price";
    let wrong =
        wrong.map(|(index, field, _)| FieldError { field: line_field(index, field), message: message.to_owned() });
    let wrong: Vec<FieldError> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(Error::fields(wrong)) }
}

async fn known(conn: &impl ConnectionTrait, numbers: &[i64]) -> std::result::Result<Vec<i64>, DbErr> {
    if numbers.is_empty() { Ok(Vec::new()) } else { barcodes::among(conn, numbers).await }
}
