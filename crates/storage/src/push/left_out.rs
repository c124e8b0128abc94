//! What a store said of columns that are not its to write: it is left out, and flagged where the store meant to say it.
//! `docs/sync.md`, rule U11.

use sea_orm::Value;
use tillkeep_model::fields::{Book, Initial};
use tillkeep_model::wire::camel;

use crate::envelope::{Columns, Incoming, Keys};
use crate::rows::Row;
use crate::rows::owners::{ALL_OF_IT, SERVER_COLUMNS, owns};

/// How the flag begins; the name of the field follows.
pub(crate) const LEFT_OUT: &str = "left_out:";

/// Values that were sent and that the sender may not write, of a row before it is merged.
pub(super) struct LeftOut(Vec<(&'static str, Value)>);

impl LeftOut {
    /// Of the columns that the envelope says to be about; when it does not say so, of those of a row that is `new`, but for
    /// what begins as the column does anyway: a store sends its whole row, and most of that is no news.
    pub(super) fn of(
        (columns, book): (&Columns, Option<&Book>),
        sent: &dyn Row,
        (keys, owned): (&Keys, &[&str]),
        incoming: &Incoming<'_>,
        new: bool,
    ) -> Self {
        if owned == ALL_OF_IT || !(new || incoming.names_columns()) {
            return Self(Vec::new());
        }
        // What the column begins with, in a row of which nothing is said, or in one that a person made.
        let is_default = |column: &str, value: &Value| {
            let initial = book.and_then(|book| book.field(column)).map(|field| field.initial);
            *value == value.as_null()
                || columns.beginning(column).as_ref() == Some(value)
                || matches!((initial, value), (Some(Initial::Flag(flag)), Value::Bool(Some(it))) if flag == *it)
                || matches!((initial, value), (Some(Initial::Text(text)), Value::String(Some(it))) if text == it)
        };
        let meant = |column: &&'static str| incoming.names(column).unwrap_or(new);
        let not_theirs = columns.sent(keys).filter(|column| !owns(owned, column) && !is_own(column));
        let values = not_theirs.filter(meant).filter_map(|column| Some((column, sent.get(column)?)));
        Self(values.filter(|(column, value)| !new || !is_default(column, value)).collect())
    }

    /// The flags of those of which the row became something else; of a line in `list`.
    pub(super) fn flags(self, row: &dyn Row, list: Option<&str>, but: &[&str]) -> impl Iterator<Item = String> + use<> {
        let is_lost =
            |(column, value): &(&'static str, Value)| !but.contains(column) && row.get(column).as_ref() != Some(value);
        let columns: Vec<_> = self.0.into_iter().filter(is_lost).map(|(column, _)| camel(column)).collect();
        let list = list.map_or_else(String::new, |list| format!("{list}."));
        columns.into_iter().map(move |column| format!("{LEFT_OUT}{list}{column}"))
    }
}

/// What each server keeps for itself: that another one has something else there is no news. A delete is one.
fn is_own(column: &str) -> bool {
    column != "deleted_at" && SERVER_COLUMNS.contains(&column)
}
