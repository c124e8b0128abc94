//! Rows with a value in every column, made from the migrations' own list of columns, so that a column not thought
//! of is in every test that copies rows.

use sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel, ModelTrait, Value};
use serde_json::{Map, Value as Json, json};
use tillkeep_model::{Instant, ids};
use tillkeep_storage::migration::{self, Table};
use tillkeep_storage::rows::{Row, SyncTable};
use uuid::Uuid;

use super::{Hq, at, entity};

/// The id of the row number `n` of `table`.
pub fn id_of(table: &str, n: i64) -> Uuid {
    ids::named(&format!("{table} {n}"))
}

pub fn table(name: &str) -> &'static Table {
    migration::tables().find(|table| table.name == name).unwrap_or_else(|| panic!("no migration makes {name}"))
}

/// A value for `column` of the row number `n`; references point to the rows with the same number.
fn value(table: &str, column: &migration::Column, n: i64) -> Value {
    let small = n * 7 + i64::try_from(column.name.len()).expect("a length");
    match (column.kind, column.name, column.references) {
        ("uuid", _, Some(parent)) => id_of(parent, n).into(),
        ("uuid", "id", _) => id_of(table, n).into(),
        ("uuid", name, _) => ids::named(&format!("{table}.{name} {n}")).into(),
        ("money" | "qty" | "big", ..) => (small + 5_000_000_000).into(),
        ("bps" | "ppm" | "int", ..) => i32::try_from(small).expect("a number").into(),
        ("small", ..) => i16::try_from(small).expect("a number").into(),
        ("bool", ..) => true.into(),
        ("ts", ..) => at(n).plus_millis(small).into(),
        ("json", name, _) => format!("[\"{name}\",{n}]").into(),
        ("text", name, _) => format!("{name} \u{e9}\u{20ac} {n}").into(),
        (kind, name, _) => panic!("{table}.{name}: no test value for the kind {kind}"),
    }
}

/// Fills every column through `set`, which says whether there is such a column.
fn every_column(table: &Table, n: i64, mut set: impl FnMut(&str, Value) -> bool) {
    for column in table.columns() {
        let filled = match (column.kind, column.name) {
            (_, "sync_version") => 0_i64.into(),
            // One row in three is a deleted one.
            (_, "deleted_at") => (n % 3 == 2).then(|| at(n)).into(),
            _ => value(table.name, &column, n),
        };
        assert!(
            set(column.name, filled),
            "{}.{} ({}) is in a migration: add it to the entity, with that type",
            table.name,
            column.name,
            column.kind
        );
    }
}

/// Which values of its type a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    Least,
    Most,
    /// Nothing where a column may have none, the least elsewhere.
    Nothing,
}

/// The extreme value of `column`; references point to the rows with the same number, and keys are its own.
fn extreme(table: &str, column: &migration::Column, n: i64, which: Extreme) -> Value {
    let most = which == Extreme::Most;
    let pick = |least: &'static str, greatest: &'static str| if most { greatest } else { least };
    let time = || Instant::parse(pick("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z")).expect("a time");
    if which == Extreme::Nothing && column.nullable {
        return value(table, column, n).as_null();
    }
    match column.kind {
        "uuid" => value(table, column, n),
        "money" | "qty" | "big" => if most { i64::MAX } else { i64::MIN }.into(),
        "bps" | "ppm" | "int" => if most { i32::MAX } else { i32::MIN }.into(),
        "small" => if most { i16::MAX } else { i16::MIN }.into(),
        "bool" => most.into(),
        "ts" => time().into(),
        "json" => pick("null", "{\"a\":[1,{}]}").into(),
        _ => pick("", "\u{10ffff}' \" % _ \\").into(),
    }
}

/// A row of which each column has an extreme value.
pub fn extreme_model<E>(n: i64, which: Extreme) -> E::Model
where
    E: EntityTrait,
    E::Model: Default + ModelTrait<Entity = E>,
{
    let (mut model, table) = (E::Model::default(), table(E::default().table_name()));
    for column in table.columns() {
        let Ok(name) = column.name.parse() else { panic!("{}.{} is in no entity", table.name, column.name) };
        let set = model.try_set(name, extreme(table.name, &column, n, which));
        set.unwrap_or_else(|error| panic!("{}.{}: {error}", table.name, column.name));
    }
    model
}

/// A filled row of any table, entity or not, as [`super::rows`] has it.
pub fn plain(table: &Table, n: i64) -> Map<String, Json> {
    let filled = |column: migration::Column| match column.name {
        "deleted_at" => (n % 3 == 2).then(|| at(n)).into(),
        _ => value(table.name, &column, n),
    };
    let json = |value: Value| match value {
        Value::ChronoDateTimeUtc(time) => json!(time.map(Instant::from)),
        Value::Uuid(id) => json!(id),
        other => sea_orm::sea_query::sea_value_to_json_value(&other),
    };
    table.columns().map(|column| (column.name.to_owned(), json(filled(column)))).collect()
}

/// A filled row of a synchronised table.
pub fn row(of: &dyn SyncTable, n: i64) -> Box<dyn Row> {
    let mut row = of.decode("{}").expect("a row without any key");
    every_column(table(of.name()), n, |column, value| row.set(column, value));
    row
}

/// A filled row of any table.
pub fn model<E>(n: i64) -> E::Model
where
    E: EntityTrait,
    E::Model: Default + ModelTrait<Entity = E>,
{
    let mut model = E::Model::default();
    every_column(table(E::default().table_name()), n, |column, value| match column.parse() {
        Ok(column) => model.try_set(column, value).is_ok(),
        Err(_) => false,
    });
    model
}

/// Writes `model` and reads it back.
pub async fn round_trip<E>(conn: &impl sea_orm::ConnectionTrait, model: E::Model) -> E::Model
where
    E: EntityTrait,
    E::Model: IntoActiveModel<E::ActiveModel>,
    E::ActiveModel: ActiveModelTrait,
{
    E::insert_many([model.into_active_model()]).exec_without_returning(conn).await.expect("an insert");
    E::find().one(conn).await.expect("a read").expect("the row")
}

/// Writes rows of a pulled type at headquarters; `store` is the one that the rows of a filtered type are of.
pub async fn at_hq(hq: &Hq, name: &str, numbers: std::ops::Range<i64>, store: Uuid, other: Uuid) {
    let entity = entity(name);
    let mut tx = hq.db.begin().await.expect("a transaction");
    let mut children = Vec::new();
    let mut rows = Vec::new();
    for n in numbers {
        let mut row = row(entity.table, n);
        if table(name).columns().any(|column| column.name == "store_id" && !column.nullable) {
            row.set("store_id", store.into());
        }
        if name == "transfers" {
            let (from, to) = if n % 2 == 0 { (store, other) } else { (other, store) };
            row.set("from_store_id", from.into());
            row.set("to_store_id", to.into());
        }
        if name == "store_product_dynamic" {
            row.set("product_id", id_of("products", n).into());
            row.set("id", ids::store_product(store, id_of("products", n)).into());
            // What a store counts itself is not HQ's to say.
            row.set("quantity", 0_i64.into());
            for column in entity.store_owned.iter().filter(|column| !matches!(**column, "id" | "quantity")) {
                let value = row.get(column).expect("a column").as_null();
                assert!(row.set(column, value), "{column} may be null");
            }
        }
        for child in entity.children {
            for line in 0..2 {
                let mut item = self::row(child.table, n * 2 + line);
                item.set(child.parent, id_of(name, n).into());
                children.push((child, item));
            }
        }
        rows.push(row);
    }
    let columns = entity.table.columns();
    entity.table.upsert(&tx, rows, entity.key, &columns, None).await.expect("rows");
    for (child, item) in children {
        let columns = child.table.columns();
        child.table.upsert(&tx, vec![item], &["id"], &columns, None).await.expect("lines");
    }
    tx.touch(entity);
    tx.commit().await.expect("a commit");
}
