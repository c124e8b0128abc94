//! A table as a line of text per group of columns, and how it becomes the schema of either database.
//!
//! A column is `name type`, with `!` for a part of the primary key, `?` for nullable, `>table` for a reference that
//! HQ enforces and `>>table` for one that both servers enforce (a child and its own parent).

use sea_orm::sea_query::{Alias, ColumnDef, ForeignKey, ForeignKeyAction, Index, Table as SeaTable};
use sea_orm::{ConnectionTrait, DbBackend, DbErr};
use sea_orm_migration::SchemaManager;

use crate::Side as Server;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Both,
    Hq,
    Store,
}

#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub name: &'static str,
    pub on: On,
    pub columns: &'static str,
    /// Unique at HQ among rows that are not deleted, a plain index at a store, where rows arrive one at a time. A
    /// part with `?` may be null and then counts as a value of its own; `*` says the table has no deleted rows.
    pub natural_keys: &'static [&'static str],
    /// Unique everywhere: what an upsert names as its conflict.
    pub conflict_keys: &'static [&'static str],
    /// Columns, and ` WHERE …` for an index of some rows only.
    pub indexes: &'static [&'static str],
    /// Rows are added and never changed or deleted.
    pub append_only: bool,
}

/// One column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: &'static str,
    pub nullable: bool,
    pub key: bool,
    pub references: Option<&'static str>,
    pub references_everywhere: bool,
}

impl Table {
    pub const EMPTY: Self = Self {
        name: "",
        on: On::Both,
        columns: "",
        natural_keys: &[],
        conflict_keys: &[],
        indexes: &[],
        append_only: false,
    };

    pub fn is_on(&self, side: Server) -> bool {
        match self.on {
            On::Both => true,
            On::Hq => side == Server::Hq,
            On::Store => side == Server::Store,
        }
    }

    pub fn columns(&self) -> impl Iterator<Item = Column> {
        self.columns.split(',').map(|text| {
            let mut words = text.split_whitespace();
            let name = words.next().unwrap_or_default();
            let kind = words.next().unwrap_or_default();
            let reference = words.next();
            Column {
                name,
                kind: kind.trim_end_matches(['!', '?']),
                nullable: kind.ends_with('?'),
                key: kind.ends_with('!'),
                references: reference.map(|text| text.trim_start_matches('>')),
                references_everywhere: reference.is_some_and(|text| text.starts_with(">>")),
            }
        })
    }

    pub(super) async fn create(&self, manager: &SchemaManager<'_>, side: Server) -> Result<(), DbErr> {
        let mut create = SeaTable::create();
        create.table(Alias::new(self.name));
        let mut key = Index::create();
        for column in self.columns() {
            create.col(column.definition(manager.get_database_backend()));
            if column.key {
                key.col(Alias::new(column.name));
            }
            if let Some(parent) = column.references
                && (column.references_everywhere || side == Server::Hq)
            {
                create.foreign_key(
                    ForeignKey::create()
                        .from(Alias::new(self.name), Alias::new(column.name))
                        .to(Alias::new(parent), Alias::new("id"))
                        .on_delete(ForeignKeyAction::Restrict),
                );
            }
        }
        manager.create_table(create.primary_key(&mut key).to_owned()).await?;
        let conn = manager.get_connection();
        for sql in self.index_statements(side) {
            conn.execute_unprepared(&sql).await?;
        }
        Ok(())
    }

    /// Makes the database itself refuse to change or delete rows. Triggers are what the two databases have least in
    /// common.
    pub(super) async fn refuse_changes(&self, manager: &SchemaManager<'_>) -> Result<(), DbErr> {
        let (name, conn) = (self.name, manager.get_connection());
        if conn.get_database_backend() == DbBackend::Postgres {
            let sql = format!(
                "CREATE FUNCTION {name}_is_append_only() RETURNS trigger LANGUAGE plpgsql AS \
                 'BEGIN RAISE EXCEPTION ''{name} is append-only''; END'; \
                 CREATE TRIGGER {name}_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {name} \
                 FOR EACH STATEMENT EXECUTE FUNCTION {name}_is_append_only()"
            );
            conn.execute_unprepared(&sql).await?;
            return Ok(());
        }
        for deed in ["UPDATE", "DELETE"] {
            let sql = format!(
                "CREATE TRIGGER {name}_refuses_{deed} BEFORE {deed} ON {name} \
                 BEGIN SELECT RAISE(ABORT, '{name} is append-only'); END"
            );
            conn.execute_unprepared(&sql).await?;
        }
        Ok(())
    }

    pub(super) fn columns_of_index(&self, name: &str) -> Option<Vec<String>> {
        let sought = format!(" INDEX {name} ON ");
        let statement = self.index_statements(Server::Hq).into_iter().find(|sql| sql.contains(&sought))?;
        let list = statement.split_once('(')?.1.split(')').next()?.to_owned();
        Some(list.split(", ").map(str::to_owned).collect())
    }

    /// The indexes, in text that both databases read.
    fn index_statements(&self, side: Server) -> Vec<String> {
        let mut out = Vec::new();
        let mut add = |unique: bool, columns: &str, filter: &str| {
            let name = format!("ix_{}_{}", self.name, out.len() + 1);
            let unique = if unique { "UNIQUE " } else { "" };
            out.push(format!("CREATE {unique}INDEX {name} ON {} ({columns}){filter}", self.name));
        };
        if self.columns().any(|column| column.name == "sync_version") {
            let scope = self.columns().find(|column| column.name == "store_id" && !column.nullable);
            add(false, if scope.is_some() { "store_id, sync_version" } else { "sync_version" }, "");
            if scope.is_some() {
                add(false, "sync_version", "");
            }
        }
        for key in self.conflict_keys {
            add(true, key, "");
        }
        for key in self.natural_keys {
            let columns = key.replace(['?', '*'], "");
            let alive = if key.contains('*') { "" } else { " WHERE deleted_at IS NULL" };
            match (side, key.rsplit_once(", ").and_then(|(rest, last)| Some((rest, last.strip_suffix('?')?)))) {
                (Server::Store, _) => add(false, &columns, ""),
                (Server::Hq, None) => add(true, &columns, alive),
                // A null is never equal to a null, so "everywhere" needs an index of its own.
                (Server::Hq, Some((rest, optional))) => {
                    add(true, &columns, &format!("{alive} AND {optional} IS NOT NULL"));
                    add(true, rest, &format!("{alive} AND {optional} IS NULL"));
                }
            }
        }
        for index in self.indexes {
            let (columns, filter) = index.split_at(index.find(" WHERE ").unwrap_or(index.len()));
            add(false, columns, filter);
        }
        out
    }
}

impl Column {
    fn definition(&self, backend: DbBackend) -> ColumnDef {
        let mut definition = ColumnDef::new(Alias::new(self.name));
        match self.kind {
            "uuid" => definition.uuid(),
            "money" | "qty" | "big" => definition.big_integer(),
            "bps" | "ppm" | "int" => definition.integer(),
            "small" => definition.small_integer(),
            "bool" => definition.boolean(),
            "ts" => definition.timestamp_with_time_zone(),
            // JSON is kept as text: read whole, never queried inside the database. Text sorts and compares byte by byte,
            // as SQLite has it, whatever the collation of the database is.
            _ if backend == DbBackend::Postgres => definition.text().extra("COLLATE \"C\""),
            _ => definition.text(),
        };
        if !self.nullable {
            definition.not_null();
        }
        definition
    }
}
