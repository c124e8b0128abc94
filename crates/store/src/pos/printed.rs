//! The last receipt number that a till has printed, which it says: a store that is below it has lost numbers. `docs/sync.md`,
//! rule D14.

use std::sync::Arc;

use tillkeep_http::error::{Error, Result};
use tillkeep_model::AlarmCode;
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_storage::numbers::{Given, Series, series_name};
use tillkeep_storage::{DbErr, series};
use uuid::Uuid;

use crate::Store;
use crate::act::Acting;

/// The field with it, of a sale, a quote and the question for the bootstrap.
const FIELD: &str = "lastReceipt";

/// What a till says it has printed last, or 422.
pub(super) fn read(text: Option<&str>) -> Result<Option<ReceiptNumber>> {
    let Some(text) = text else { return Ok(None) };
    let refused = || {
        let text = "must be the receipt number that this till printed last, such as S01-02-000123; leave it out before the first";
        Error::field(FIELD, text)
    };
    ReceiptNumber::parse_printed(text).map(Some).ok_or_else(refused)
}

/// What a till has printed, at the sale that it makes now.
pub(super) struct Printed {
    pub store: Arc<Store>,
    pub last: ReceiptNumber,
}

/// The number of a receipt of `register_code`, above what its till has printed where that is known.
pub(super) async fn number(
    tx: &mut Acting<'_>,
    series: &Series,
    (store_id, store_code, register_code): (Uuid, &str, &str),
    printed: Option<Printed>,
) -> std::result::Result<Given, DbErr> {
    let Some(Printed { store, last }) = printed else { return tx.number(series).await };
    let is_own = last.store_code == store_code;
    let (given, follows) = if is_own && last.register_code == format!("{register_code}{}", series.letter()) {
        tx.number_above(series, store_id, last.number).await?
    } else {
        // Of another register, or of an earlier letter: its series is not raised for it.
        let name = series_name("receipt", &last.register_code, "");
        let is_known = is_own && series::last(&**tx, &name).await? >= last.number;
        (tx.number(series).await?, is_known)
    };
    if follows {
        store.end_alarm(AlarmCode::TillAhead, register_code);
    } else {
        store.raise_alarm(AlarmCode::TillAhead, register_code);
    }
    Ok(given)
}
