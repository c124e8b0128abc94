//! Migrations on both databases and both servers, and the entities held against what they made.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::{ColumnTrait, EntityName, EntityTrait, IdenStatic, Iterable};
use tillkeep_storage::migration::{self, Table};
use tillkeep_storage::registry::{self, Scope};
use tillkeep_storage::{Db, Purpose, Side, raw};

use crate::kit::fill::Extreme;
use crate::kit::{self, Shop, fill};

/// Column to nullability.
type Columns = BTreeMap<String, bool>;

// Calls `$check!(Entity)` for every entity: made of the files below `src/entity` by `build.rs`.
include!(concat!(env!("OUT_DIR"), "/every_entity.rs"));
pub(crate) use every_entity;

fn declared() -> BTreeMap<&'static str, Columns> {
    let mut out = BTreeMap::new();
    macro_rules! declare {
        ($entity:ty) => {
            out.insert(<$entity>::default().table_name(), columns::<$entity>());
        };
    }
    every_entity!(declare);
    out
}

fn columns<E: EntityTrait>() -> Columns {
    E::Column::iter().map(|column| (column.as_str().to_owned(), column.def().is_null())).collect()
}

async fn migrated(db: &Db) -> BTreeMap<String, Columns> {
    let postgres = "SELECT table_name AS t, column_name AS c, is_nullable = 'YES' AS n \
                    FROM information_schema.columns WHERE table_schema = 'public'";
    let sqlite = "SELECT m.name AS t, c.name AS c, c.\"notnull\" = 0 AS n FROM sqlite_schema m \
                  JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'";
    let sql = if is_postgres(db) { postgres } else { sqlite };
    let mut out: BTreeMap<String, Columns> = BTreeMap::new();
    for row in raw::query(db.reader(), sql, []).await.expect("the schema") {
        let text = |name| row.try_get::<String>("", name).expect("a name");
        out.entry(text("t")).or_default().insert(text("c"), row.try_get("", "n").expect("a flag"));
    }
    out.remove("schema_steps");
    out
}

fn is_postgres(db: &Db) -> bool {
    sea_orm::ConnectionTrait::get_database_backend(db.reader()) == sea_orm::DbBackend::Postgres
}

fn tables_of(side: Side) -> BTreeSet<&'static str> {
    migration::tables().filter(|table| table.is_on(side)).map(|table| table.name).collect()
}

fn compare(side: Side, migrated: &BTreeMap<String, Columns>) {
    let declared = declared();
    let found: BTreeSet<&str> = migrated.keys().map(String::as_str).collect();
    assert_eq!(found, tables_of(side), "the tables of {side:?}");
    for (table, columns) in migrated {
        let entity = declared.get(table.as_str()).unwrap_or_else(|| {
            panic!("{table} has no entity: add its file to a folder of src/entity and its module to the `mod.rs` there")
        });
        for (column, nullable) in columns {
            match entity.get(column) {
                None => panic!("{table}.{column} is not in the entity: add the field"),
                Some(optional) => assert_eq!(
                    optional, nullable,
                    "{table}.{column}: Option in the entity ({optional}) and `?` in the migration ({nullable}) differ"
                ),
            }
        }
        for column in entity.keys() {
            assert!(columns.contains_key(column), "{table}.{column} is not in the schema: add a migration");
        }
    }
}

#[tokio::test]
async fn the_entities_are_what_the_migrations_make_at_headquarters() {
    for hq in kit::both().await {
        compare(Side::Hq, &migrated(&hq.db).await);
    }
}

#[tokio::test]
async fn the_entities_are_what_the_migrations_make_at_a_store() {
    let shop = Shop::open(fill::id_of("stores", 0)).await;
    compare(Side::Store, &migrated(&shop.db).await);
}

#[tokio::test]
async fn migrating_again_changes_nothing() {
    let shop = Shop::open(fill::id_of("stores", 0)).await;
    let mut open = vec![(shop.db.clone(), shop.url())];
    let hqs: Vec<_> = kit::both().await.collect();
    open.extend(hqs.iter().map(|hq| (hq.db.clone(), hq.url())));
    for (db, url) in open {
        let before = schema_text(&db).await;
        assert!(before.len() > 50, "{url} has a schema");
        let again = Db::open_with(&url, db.side(), kit::PRIVATE).await.expect("an existing database opens");
        assert_eq!(schema_text(&again).await, before, "{url}");
        again.close().await.expect("a close");
    }
}

#[tokio::test]
async fn a_database_may_lie_in_a_directory_of_any_name() {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    for name in ["a b", "100%", "%20", "what?", "x#y", "\u{e9}"] {
        let folder = directory.path().join(name);
        std::fs::create_dir(&folder).expect("a directory");
        let db = Db::open_file(&folder.join("store.db"), Side::Store).await.expect("a new database");
        db.close().await.expect("a close");
        assert!(folder.join("store.db").exists(), "{name}");
    }
}

/// Everything that the database says about its schema, the applied migrations included.
async fn schema_text(db: &Db) -> Vec<String> {
    let postgres = "SELECT indexdef AS s FROM pg_indexes WHERE schemaname = 'public' UNION ALL \
                    SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint \
                    WHERE connamespace = 'public'::regnamespace UNION ALL \
                    SELECT name || ' ' || made_at FROM schema_steps ORDER BY 1";
    let sqlite = "SELECT sql AS s FROM sqlite_schema WHERE sql IS NOT NULL UNION ALL \
                  SELECT name || ' ' || made_at FROM schema_steps ORDER BY 1";
    let rows = raw::query(db.reader(), if is_postgres(db) { postgres } else { sqlite }, []).await.expect("the schema");
    rows.iter().map(|row| row.try_get("", "s").expect("a text")).collect()
}

#[tokio::test]
async fn every_column_of_every_table_keeps_what_is_written_to_it() {
    every_column_keeps(None).await;
}

#[tokio::test]
async fn every_column_of_every_table_keeps_the_least_and_the_most_of_its_type_and_nothing() {
    for which in [Extreme::Least, Extreme::Most, Extreme::Nothing] {
        every_column_keeps(Some(which)).await;
    }
}

/// Writes a row of each table, and reads it back.
async fn every_column_keeps(extreme: Option<Extreme>) {
    let shop = Shop::open(fill::id_of("stores", 0)).await;
    let hqs: Vec<_> = kit::both().await.collect();
    for db in hqs.iter().map(|hq| &hq.db).chain([&shop.db]) {
        eprintln!("{extreme:?} on {:?} {:?}", db.side(), sea_orm::ConnectionTrait::get_database_backend(db.reader()));
        let tx = db.begin().await.expect("a transaction");
        // Parents first: the order of the migration. Nothing is committed.
        let mut order: Vec<&str> = Vec::new();
        order.extend(migration::tables().filter(|table| table.is_on(db.side())).map(|table| table.name));
        for name in order {
            macro_rules! check {
                ($entity:ty) => {
                    if <$entity>::default().table_name() == name {
                        let written = match extreme {
                            None => fill::model::<$entity>(1),
                            Some(which) => fill::extreme_model::<$entity>(1, which),
                        };
                        let read = fill::round_trip::<$entity>(&tx, written.clone()).await;
                        assert_eq!(read, written, "{name}");
                    }
                };
            }
            every_entity!(check);
        }
    }
}

#[tokio::test]
async fn a_store_enforces_no_reference_between_pulled_tables_and_no_natural_key() {
    let shop = Shop::open(fill::id_of("stores", 0)).await;
    let references: Vec<&Table> = migration::tables()
        .filter(|table| table.columns().any(|column| column.references.is_some_and(|_| !column.references_everywhere)))
        .collect();
    assert!(!references.is_empty());
    let foreign = "SELECT m.name AS t, f.\"table\" AS p FROM sqlite_schema m JOIN pragma_foreign_key_list(m.name) f \
                   WHERE m.type = 'table'";
    for row in raw::query(shop.db.reader(), foreign, []).await.expect("the schema") {
        let (child, parent): (String, String) = (row.try_get("", "t").expect("t"), row.try_get("", "p").expect("p"));
        assert!(
            matches!(
                (child.as_str(), parent.as_str()),
                ("sale_items" | "sale_payments" | "chain_entries", "sales") | ("transfer_items", "transfers")
            ),
            "{child} refers to {parent}: rows arrive one type at a time (D5)"
        );
    }
    let unique = "SELECT m.name AS t FROM sqlite_schema m JOIN pragma_index_list(m.name) i \
                  WHERE m.type = 'table' AND i.\"unique\" = 1 AND i.origin <> 'pk'";
    let rows = raw::query(shop.db.reader(), unique, []).await.expect("the schema");
    let tables: BTreeSet<String> = rows.iter().map(|row| row.try_get("", "t").expect("t")).collect();
    let expected = ["account_charges", "approvals", "devices", "registers", "stock_movements", "store_product_dynamic"];
    assert!(tables.iter().all(|table| expected.contains(&table.as_str())), "{tables:?}");
}

#[tokio::test]
async fn a_closed_embedded_database_is_one_file() {
    let directory = tempfile::TempDir::new().expect("a temporary directory");
    let db = Db::open_file(&directory.path().join("hq.db"), Side::Hq).await.expect("a new database");
    db.with_pool(Purpose::Sync).snapshot().await.expect("a reader").rollback().await.expect("its end");
    assert!(directory.path().join("hq.db-wal").exists(), "the log of a database in use");
    db.close().await.expect("closed");
    let files =
        std::fs::read_dir(directory.path()).expect("a directory").map(|entry| entry.expect("a file").file_name());
    assert_eq!(files.collect::<Vec<_>>(), ["hq.db"]);
}

#[tokio::test]
async fn a_store_keeps_no_index_that_headquarters_alone_asks_by() {
    let shop = Shop::open(fill::id_of("stores", 0)).await;
    let of_versions = |texts: Vec<String>| {
        texts.into_iter().filter(|text| text.contains("INDEX") && text.contains("sync_version")).count()
    };
    assert_eq!(of_versions(schema_text(&shop.db).await), 0);
    for hq in kit::both().await {
        // One of each type that has versions, and one more of each that is asked for by store.
        let versioned = || registry::pulled().filter(|entity| !entity.replace_all);
        let by_store = versioned().filter(|entity| entity.scope != Scope::Everyone);
        assert_eq!(of_versions(schema_text(&hq.db).await), versioned().count() + by_store.count());
    }
    let declared = migration::tables().flat_map(|table| table.indexes(Side::Store));
    let left: Vec<_> = declared.filter(|index| index.columns.contains(&"sync_version")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// `SQLite` keeps no figures of how many rows share a value, and would take such an index in place of that of one sale or one day.
#[test]
fn no_index_of_all_sales_begins_with_what_most_of_them_share() {
    let sales = migration::tables().find(|table| table.name == "sales").expect("the table");
    for index in sales.indexes(Side::Hq) {
        let is_shared = ["status", "sale_type", "currency_code"].contains(&index.columns[0]);
        assert!(!is_shared || index.filter.is_some(), "{index:?}");
    }
}
