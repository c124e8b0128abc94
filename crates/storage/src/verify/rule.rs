//! What a check of one statement is, and what it finds.

use sea_orm::{DbErr, Value};
use uuid::Uuid;

use super::finding::Found;
use super::source::Source;
use crate::Side;
use crate::db::{Row, query};

/// One statement, in the text of both databases. Its columns are `store`, `id` or `number` or `name`, and the figures
/// `wanted` and `found`; what is not there is not said.
pub(super) struct Rule {
    pub invariant: &'static str,
    pub side: Option<Side>,
    /// Holds only when nothing is under way.
    pub settled: bool,
    pub entity: &'static str,
    pub text: &'static str,
    pub sql: &'static str,
    /// The words of states and kinds in it, `$1` and on.
    pub words: &'static [&'static str],
}

pub(super) const ANY: Rule =
    Rule { invariant: "", side: None, settled: false, entity: "", text: "", sql: "", words: &[] };
pub(super) const STORE: Rule = Rule { side: Some(Side::Store), ..ANY };
pub(super) const HQ: Rule = Rule { side: Some(Side::Hq), ..ANY };

pub(super) async fn by(source: &Source, rule: &Rule, found: &mut Found) -> Result<(), DbErr> {
    let words = rule.words.iter().map(|word| Value::from(*word));
    note(source, &query(&source.conn, rule.sql, words).await?, rule.entity, rule.text, found);
    Ok(())
}

pub(super) async fn all(source: &Source, entity: &str, text: &str, sql: &str, found: &mut Found) -> Result<(), DbErr> {
    note(source, &query(&source.conn, sql, []).await?, entity, text, found);
    Ok(())
}

fn note(source: &Source, rows: &[Row], entity: &str, text: &str, found: &mut Found) {
    for row in rows {
        let figure = |name: &str| row.try_get::<i64>("", name).ok();
        let text = match (figure("wanted"), figure("found")) {
            (Some(wanted), Some(found)) => format!("{text}: {found}, not {wanted}"),
            (None, Some(found)) => format!("{text}: {found}"),
            _ => text.to_owned(),
        };
        let store = row.try_get::<Uuid>("", "store").unwrap_or(source.store);
        found.add(store, entity, name_of(row), text);
    }
}

pub(super) fn name_of(row: &Row) -> String {
    let id = row.try_get::<Uuid>("", "id").map(|id| id.to_string());
    id.or_else(|_| row.try_get::<i64>("", "number").map(|number| number.to_string()))
        .or_else(|_| row.try_get::<String>("", "name"))
        .unwrap_or_default()
}
