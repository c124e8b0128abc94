//! The summary of several Zs: of a register since its last ZZ, or of a store.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::report::{RunningTotal, ZReport, figures};
use crate::Money;

/// One Z as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZRow {
    pub session_id: Uuid,
    /// The register without a letter.
    pub register_code: String,
    /// Of its series of numbers: empty until a database was restored.
    pub letter: String,
    /// Within the letter.
    pub number: i64,
    pub business_date: String,
    /// Whose drawer it was.
    pub cashier: String,
    pub report: ZReport,
}

figures! {
    /// One drawer in a ZZ.
    ZzRow as ZzRow {
        session_id: Uuid,
        register_code: String,
        /// With its letter: `12`, `A3`.
        session_number: String,
        business_date: String,
        cashier: String,
        net_amount: Money,
        tax_amount: Money,
        total_amount: Money,
        /// Null of a drawer that nobody counted.
        variance: Option<Money>,
    }

    /// Numbers of sessions that no Z has: both, and those between them.
    Gap as ZzGap {
        register_code: String,
        letter: String,
        from: i64,
        to: i64,
    }

    /// Several drawers: a row of each, and the sum of each figure. What was counted, and how much it differs, is null in the sums
    /// when one of the drawers was not counted.
    ZzReport as ZzReport {
        rows: Vec<ZzRow>,
        sums: ZReport,
        /// Of a store the running totals of its registers together.
        running_total: RunningTotal,
        gaps: Vec<Gap>,
    }
}

/// The ZZ of `rows`, in whatever order they come. They need not be of one register.
#[must_use]
pub fn zz(rows: &[ZRow]) -> ZzReport {
    let mut sorted: Vec<&ZRow> = rows.iter().collect();
    sorted.sort_by(|one, other| place(one).cmp(&place(other)));
    let mut sums: Option<ZReport> = None;
    for of_register in sorted.chunk_by(|one, other| one.register_code == other.register_code) {
        let Some(register) = sum(of_register) else { continue };
        match &mut sums {
            Some(sums) => sums.add_register(&register),
            None => sums = Some(register),
        }
    }
    let sums = sums.unwrap_or_else(|| ZReport { version: ZReport::VERSION, ..ZReport::default() });
    let running_total = sums.running_total.clone();
    ZzReport { rows: sorted.iter().map(|row| line(row)).collect(), sums, running_total, gaps: gaps(&sorted) }
}

/// A series with a letter begins where the one before was left off.
fn place(row: &ZRow) -> (&str, usize, &str, i64) {
    (&row.register_code, row.letter.len(), &row.letter, row.number)
}

fn sum(rows: &[&ZRow]) -> Option<ZReport> {
    let (first, others) = rows.split_first()?;
    let mut sum = first.report.clone();
    for row in others {
        sum.add(&row.report);
    }
    Some(sum)
}

fn line(row: &ZRow) -> ZzRow {
    let report = &row.report;
    ZzRow {
        session_id: row.session_id,
        register_code: row.register_code.clone(),
        session_number: format!("{}{}", row.letter, row.number),
        business_date: row.business_date.clone(),
        cashier: row.cashier.clone(),
        net_amount: report.net_amount,
        tax_amount: report.tax_amount,
        total_amount: report.total_amount,
        variance: report.cash.variance,
    }
}

/// What is missing between the numbers of each letter of each register.
fn gaps(rows: &[&ZRow]) -> Vec<Gap> {
    let mut series: BTreeMap<(&str, usize, &str), BTreeSet<i64>> = BTreeMap::new();
    for row in rows {
        let (register, length, letter, number) = place(row);
        series.entry((register, length, letter)).or_default().insert(number);
    }
    let mut gaps = Vec::new();
    for ((register, _, letter), numbers) in series {
        let next = numbers.iter().skip(1);
        for (before, after) in numbers.iter().zip(next).filter(|(before, after)| *after - *before > 1) {
            let (register_code, letter) = (register.to_owned(), letter.to_owned());
            gaps.push(Gap { register_code, letter, from: before + 1, to: after - 1 });
        }
    }
    gaps
}
