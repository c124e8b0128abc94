//! The rows of a whole database in one form for both databases: what is kept of a release, and what a migrated database is
//! judged by.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};
use tillkeep_model::Instant;
use tillkeep_storage::Side;
use tillkeep_storage::migration::{Column, Schema};
use tillkeep_storage::raw::sea_orm::sea_query::{Alias, Expr, Order, Query};
use tillkeep_storage::raw::sea_orm::{ConnectionTrait, Statement, Value};
use tillkeep_storage::raw::{Row, query};
use uuid::Uuid;

/// Rows by table, in the order of the primary key.
pub type Rows = BTreeMap<String, Vec<Map<String, Json>>>;

/// Every row of the tables of `schema` at `side`.
pub async fn read(conn: &impl ConnectionTrait, schema: &Schema, side: Side) -> Rows {
    let mut all = Rows::new();
    for table in schema.tables().iter().filter(|table| table.is_on(side)) {
        let mut select = Query::select();
        select.columns(table.columns().map(|column| Alias::new(column.name))).from(Alias::new(table.name));
        for column in table.key() {
            select.order_by(Alias::new(column), Order::Asc);
        }
        let Statement { sql, values, .. } = conn.get_database_backend().build(&select);
        let rows = query(conn, &sql, values.map(|values| values.0).unwrap_or_default())
            .await
            .unwrap_or_else(|error| panic!("{}: {error}", table.name));
        let row = |row: &Row| table.columns().map(|column| (column.name.to_owned(), shown(row, column))).collect();
        all.insert(table.name.to_owned(), rows.iter().map(row).collect());
    }
    all
}

/// Writes `rows`, parents first.
pub async fn write(conn: &impl ConnectionTrait, schema: &Schema, rows: &Rows) {
    for table in schema.tables() {
        for chunk in rows.get(table.name).map_or(&[][..], Vec::as_slice).chunks(100) {
            let mut insert = Query::insert();
            insert.into_table(Alias::new(table.name)).columns(table.columns().map(|column| Alias::new(column.name)));
            for row in chunk {
                insert.values_panic(table.columns().map(|column| Expr::value(kept(row, column))));
            }
            conn.execute(&insert).await.unwrap_or_else(|error| panic!("{}: {error}", table.name));
        }
    }
}

fn shown(row: &Row, column: Column) -> Json {
    macro_rules! of {
        ($kind:ty) => {
            json!(
                row.try_get::<Option<$kind>>("", column.name)
                    .unwrap_or_else(|error| panic!("{}: {error}", column.name))
            )
        };
    }
    match column.kind {
        "uuid" => of!(Uuid),
        "ts" => of!(Instant),
        "bool" => of!(bool),
        "small" => of!(i16),
        "bps" | "ppm" | "int" => of!(i32),
        "money" | "qty" | "big" => of!(i64),
        "text" | "json" => of!(String),
        other => panic!("{}: no form for the kind {other}", column.name),
    }
}

fn kept(row: &Map<String, Json>, column: Column) -> Value {
    let json = row.get(column.name).unwrap_or_else(|| panic!("{} is not in {row:?}", column.name));
    macro_rules! of {
        ($kind:ty) => {
            serde_json::from_value::<Option<$kind>>(json.clone())
                .unwrap_or_else(|error| panic!("{}: {error}", column.name))
                .into()
        };
    }
    match column.kind {
        "uuid" => of!(Uuid),
        "ts" => of!(Instant),
        "bool" => of!(bool),
        "small" => of!(i16),
        "bps" | "ppm" | "int" => of!(i32),
        "money" | "qty" | "big" => of!(i64),
        _ => of!(String),
    }
}
