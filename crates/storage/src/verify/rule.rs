//! What a check of one statement is, and what it finds.

use sea_orm::DbErr;
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
}

pub(super) const ANY: Rule = Rule { invariant: "", side: None, settled: false, entity: "", text: "", sql: "" };
pub(super) const STORE: Rule = Rule { side: Some(Side::Store), ..ANY };
pub(super) const HQ: Rule = Rule { side: Some(Side::Hq), ..ANY };

pub(super) async fn all(source: &Source, entity: &str, text: &str, sql: &str, found: &mut Found) -> Result<(), DbErr> {
    for row in query(&source.conn, sql, []).await? {
        let figure = |name: &str| row.try_get::<i64>("", name).ok();
        let text = match (figure("wanted"), figure("found")) {
            (Some(wanted), Some(found)) => format!("{text}: {found}, not {wanted}"),
            (None, Some(found)) => format!("{text}: {found}"),
            _ => text.to_owned(),
        };
        let store = row.try_get::<Uuid>("", "store").unwrap_or(source.store);
        found.add(store, entity, name_of(&row), text);
    }
    Ok(())
}

pub(super) fn name_of(row: &Row) -> String {
    let id = row.try_get::<Uuid>("", "id").map(|id| id.to_string());
    id.or_else(|_| row.try_get::<i64>("", "number").map(|number| number.to_string()))
        .or_else(|_| row.try_get::<String>("", "name"))
        .unwrap_or_default()
}
