//! Text that contains what somebody looks for.

use std::collections::BTreeSet;

use sea_orm::sea_query::{Expr, ExprTrait, Func, LikeExpr, SimpleExpr};
use sea_orm::{ColumnTrait, Condition};

/// The small sigma, and how it is written at the end of a word.
const SIGMA: char = '\u{3c3}';
const FINAL_SIGMA: char = '\u{3c2}';

/// Each letter as a small one, whatever stands beside it: what is kept and what is sought come to the same.
pub(crate) fn small(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(char::to_lowercase).map(|letter| if letter == FINAL_SIGMA { SIGMA } else { letter })
}

/// A text of small letters that has this one in it, which is of small letters too.
pub(crate) fn with(small: &str) -> LikeExpr {
    let escaped = small.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    LikeExpr::new(format!("%{escaped}%")).escape('\\')
}

/// One of `columns` contains `text`, case-insensitive. The databases know the small letters of ASCII alone, so those of
/// other letters that are sought are put in place by the query.
pub fn contains<C: ColumnTrait>(columns: impl IntoIterator<Item = C>, text: &str) -> Condition {
    let small: String = small(text).collect();
    let others: BTreeSet<char> = small.chars().filter(|letter| !letter.is_ascii()).collect();
    let mut any = Condition::any();
    for column in columns {
        let mut lower: SimpleExpr = Func::lower(Expr::col(column.as_column_ref())).into();
        for small in &others {
            let large: String = small.to_uppercase().collect();
            if large.chars().count() == 1 && large != small.to_string() {
                lower = Func::cust("REPLACE").arg(lower).arg(large).arg(small.to_string()).into();
            }
            if *small == SIGMA {
                lower = Func::cust("REPLACE").arg(lower).arg(FINAL_SIGMA.to_string()).arg(small.to_string()).into();
            }
        }
        any = any.add(lower.like(with(&small)));
    }
    any
}
