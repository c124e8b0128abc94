//! The numbers of receipts, by series: a letter begins one of its own.

use std::collections::BTreeMap;

use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::z::{LostNumbers, Receipts, ZReport};
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::register_session;
use tillkeep_storage::numbers::lost::{self, Lost};
use tillkeep_storage::numbers::series_name;
use tillkeep_storage::reports::drawer;
use tillkeep_storage::sea_orm::ConnectionTrait;

pub(super) async fn add(
    conn: &impl ConnectionTrait,
    report: &mut ZReport,
    session: &register_session::Model,
    documents: &[drawer::Document],
) -> Result<(), DbErr> {
    // By number, not by text: the seventh digit comes some day.
    let read = |document: &drawer::Document| ReceiptNumber::parse(&document.receipt_number);
    let mut parsed: Vec<ReceiptNumber> = documents.iter().filter_map(read).collect();
    parsed.sort_by(|one, other| one.order().cmp(&other.order()));
    report.first_receipt_number = parsed.first().map(ToString::to_string);
    report.last_receipt_number = parsed.last().map(ToString::to_string);
    let mut series: BTreeMap<(usize, String), Vec<i64>> = BTreeMap::new();
    for receipt in parsed {
        series.entry((receipt.register_code.len(), receipt.register_code)).or_default().push(receipt.number);
    }
    let is_whole = |numbers: &Vec<i64>| numbers.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let lost = if series.values().all(is_whole) {
        Lost::default()
    } else {
        Lost::new(lost::all(conn, Some(session.store_id)).await?)
    };
    report.receipts = series.into_iter().filter_map(|((_, code), numbers)| of_series(code, &numbers, &lost)).collect();
    Ok(())
}

fn of_series(code: String, numbers: &[i64], lost: &Lost) -> Option<Receipts> {
    let (first, end) = (*numbers.first()?, *numbers.last()?);
    let count = i64::try_from(numbers.len()).unwrap_or(i64::MAX);
    let ranges = lost.ranges(&series_name("receipt", &code, ""));
    Some(Receipts { first, last: end, count, lost: named(numbers, ranges), series: code })
}

/// Of the numbers that are missing between `numbers` those of `ranges`: what came back since is not lost.
fn named(numbers: &[i64], ranges: &[(i64, i64)]) -> Vec<LostNumbers> {
    let mut known: Vec<(i64, i64)> = ranges.to_vec();
    known.sort_unstable();
    let mut named: Vec<LostNumbers> = Vec::new();
    for pair in numbers.windows(2) {
        let mut next = pair[0] + 1;
        for (first, last) in &known {
            let (from, to) = (next.max(*first), (pair[1] - 1).min(*last));
            if from <= to {
                named.push(LostNumbers { from, to });
                next = to + 1;
            }
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_lost_where_it_is_named_and_only_there() {
        let lost = |numbers: &[i64], ranges: &[(i64, i64)]| -> Vec<(i64, i64)> {
            named(numbers, ranges).into_iter().map(|lost| (lost.from, lost.to)).collect()
        };
        assert_eq!(lost(&[1, 2, 3], &[(2, 9)]), [], "they came back, or come after the last one");
        assert_eq!(lost(&[1, 5, 9], &[(1, 7), (7, 8)]), [(2, 4), (6, 7), (8, 8)]);
        assert_eq!(lost(&[1, 5], &[(3, 3)]), [(3, 3)], "2 and 4 are missing, and nobody knows why");
        assert_eq!(lost(&[1, 5], &[]), []);
    }
}
