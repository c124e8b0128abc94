//! Looking into the databases of stopped servers, row by row.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tillkeep_storage::entity::refund_claim;
use tillkeep_storage::registry;
use tillkeep_storage::rows::SyncTable;
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::{Db, Opening, Side, raw};

/// Rows by id, as they travel.
pub type Rows = BTreeMap<String, Value>;

/// Every row of a table; only when no server has the database open.
pub async fn rows_of_table(url: &str, side: Side, table: &dyn SyncTable) -> Rows {
    let opening = Opening { accept_unsafe: true, ..Opening::default() };
    let db = Db::open_with(url, side, opening).await.expect("database");
    let conn = db.snapshot().await.expect("snapshot");
    let rows = table.all(&conn).await.expect("rows");
    let mut out = Rows::new();
    for row in rows {
        let value: Value = serde_json::from_str(&row.to_json().expect("json")).expect("json");
        let key = value.get("id").cloned().unwrap_or_else(|| json!([value["roleId"], value["permissionId"]]));
        out.insert(key.to_string(), value);
    }
    conn.rollback().await.expect("rollback");
    db.close().await.expect("close");
    out
}

/// The claims that a stopped headquarters holds.
pub async fn claims(url: &str) -> Vec<refund_claim::Model> {
    let opening = Opening { accept_unsafe: true, ..Opening::default() };
    let db = Db::open_with(url, Side::Hq, opening).await.expect("database");
    let claims = refund_claim::Entity::find().all(db.reader()).await.expect("the claims");
    db.close().await.expect("close");
    claims
}

/// Changes the database of a stopped server.
pub async fn execute(url: &str, side: Side, sql: &str) {
    let opening = Opening { accept_unsafe: true, ..Opening::default() };
    let db = Db::open_with(url, side, opening).await.expect("database");
    let tx = db.begin().await.expect("a transaction");
    raw::execute(&tx, sql, []).await.expect("a statement");
    tx.commit().await.expect("a commit");
    db.close().await.expect("close");
}

/// The type or the child table called `name`.
pub fn table(name: &str) -> &'static dyn SyncTable {
    let children = registry::ALL.iter().flat_map(|entity| entity.children).map(|child| child.table);
    registry::ALL.iter().map(|entity| entity.table).chain(children).find(|table| table.name() == name).expect(name)
}
