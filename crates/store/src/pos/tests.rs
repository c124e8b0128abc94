//! How the database of a store finds something, for tests.

use tillkeep_storage::raw::sea_orm::{DbBackend, sea_query::SelectStatement};
use tillkeep_storage::{Db, Side, raw};

/// The plan of `select` on an empty database, line by line.
#[expect(clippy::disallowed_methods, reason = "how the database finds it, not what")]
pub(super) async fn plan(select: &SelectStatement) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a directory");
    let db = Db::open_file(&dir.path().join("tillkeep.db"), Side::Store).await.expect("a database");
    let statement = DbBackend::Sqlite.build(select);
    let values = statement.values.map(|values| values.0).unwrap_or_default();
    let rows = raw::query(db.reader(), &format!("EXPLAIN QUERY PLAN {}", statement.sql), values).await.expect("a plan");
    rows.iter().map(|row| row.try_get("", "detail").expect("a line")).collect()
}
