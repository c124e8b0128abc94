//! One migration tree for both databases and both servers; each step in a transaction.

mod m0001_schema;
mod table;

use sea_orm::{DatabaseConnection, DbErr};
use sea_orm_migration::{MigrationName, MigrationTrait, MigratorTrait, SchemaManager};

use crate::Side;
pub use table::{Column, Table};

/// The tables as the newest migration leaves them, for the test that holds entities against them.
pub fn tables() -> impl Iterator<Item = &'static Table> {
    m0001_schema::TABLES.iter()
}

/// The columns of a unique index of headquarters, by the name that the database gives when it refuses a row.
pub fn columns_of_index(name: &str) -> Option<Vec<String>> {
    tables().filter(|table| table.is_on(Side::Hq)).find_map(|table| table.columns_of_index(name))
}

/// Brings the schema up to date.
pub async fn run(conn: &DatabaseConnection, side: Side) -> Result<(), DbErr> {
    match side {
        Side::Hq => Hq::up(conn, None).await,
        Side::Store => Store::up(conn, None).await,
    }
}

struct Hq;
impl MigratorTrait for Hq {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        steps(Side::Hq)
    }
}

struct Store;
impl MigratorTrait for Store {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        steps(Side::Store)
    }
}

fn steps(side: Side) -> Vec<Box<dyn MigrationTrait>> {
    vec![Box::new(CreateTables { name: "m0001_schema", side, tables: m0001_schema::TABLES })]
}

/// A step that adds tables.
struct CreateTables {
    name: &'static str,
    side: Side,
    tables: &'static [Table],
}

impl MigrationName for CreateTables {
    fn name(&self) -> &str {
        self.name
    }
}

#[async_trait::async_trait]
impl MigrationTrait for CreateTables {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in self.tables.iter().filter(|table| table.is_on(self.side)) {
            table.create(manager, self.side).await?;
            if table.append_only {
                table.refuse_changes(manager).await?;
            }
        }
        Ok(())
    }

    async fn down(&self, _: &SchemaManager) -> Result<(), DbErr> {
        Err(DbErr::Migration("there is no way back: restore the backup made before the upgrade".to_owned()))
    }
}
