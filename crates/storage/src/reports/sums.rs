//! Sums of amounts that stores wrote. What a store says is any number, and a database fails at a sum that none of its numbers
//! holds: so amounts are added up in two parts.

use sea_orm::DbErr;
use tillkeep_model::Money;

use crate::sql::row::Row;

/// The two parts are above and below so many units.
pub(super) const PART: i128 = 1_000_000_000;

/// The columns that add up `column` where `condition` holds; [`amount`] reads them.
pub(crate) fn summed(column: &str, condition: &str) -> String {
    summed_as(column, condition, column)
}

/// The same, to be read by another name.
pub(crate) fn summed_as(column: &str, condition: &str, read_as: &str) -> String {
    let part = |of: &str, name: &str| {
        format!("CAST(SUM(CASE WHEN {condition} THEN {of} ELSE 0 END) AS BIGINT) AS {read_as}_{name}")
    };
    format!("{}, {}", part(&format!("{column} / {PART}"), "above"), part(&format!("{column} % {PART}"), "below"))
}

/// How many rows there are of which `condition` holds.
pub(crate) fn counted(condition: &str) -> String {
    format!("CAST(SUM(CASE WHEN {condition} THEN 1 ELSE 0 END) AS BIGINT)")
}

/// The sum of `column`; what does not fit is the largest amount.
pub(crate) fn amount(row: &Row, column: &str) -> Result<Money, DbErr> {
    let part = |name: &str| row.try_get::<i64>("", &format!("{column}_{name}")).map(i128::from);
    Ok(Money::from_wide(part("above")? * PART + part("below")?))
}
