//! Changes of a table as statements of either database.

use sea_orm::sea_query::{Alias, ColumnDef, Expr, Index as Indexes, Table as Tables, UpdateStatement};
use sea_orm::{ConditionalStatement, DbBackend, Statement, StatementBuilder};

use super::table::{Column, Index, Table};
use crate::Side;

/// Statements about one table, in their order.
pub(super) struct Statements<'a> {
    backend: DbBackend,
    side: Side,
    table: &'a Table,
    /// Indexes that are gone already: two columns that are dropped may be in one.
    gone: Vec<&'a str>,
    pub all: Vec<Statement>,
}

impl<'a> Statements<'a> {
    pub(super) fn new(backend: DbBackend, side: Side, table: &'a Table) -> Self {
        Self { backend, side, table, gone: Vec::new(), all: Vec::new() }
    }

    fn push(&mut self, statement: &impl StatementBuilder) {
        self.all.push(self.backend.build(statement));
    }

    fn text(&mut self, sql: String) {
        self.all.push(Statement::from_string(self.backend, sql));
    }

    fn name(&self) -> Alias {
        Alias::new(self.table.name)
    }

    pub(super) fn create_table(&mut self) {
        let mut create = Tables::create();
        create.table(self.name());
        let mut key = Indexes::create();
        for column in self.table.columns() {
            create.col(definition(self.backend, self.side, column));
        }
        for column in self.table.key() {
            key.col(Alias::new(column));
        }
        self.push(create.primary_key(&mut key));
        let table = self.table;
        table.indexes(self.side).for_each(|index| self.create_index(index));
        if self.table.append_only {
            self.refuse_changes();
        }
    }

    pub(super) fn add_column(&mut self, column: Column) {
        let mut alter = Tables::alter();
        alter.table(self.name()).add_column(definition(self.backend, self.side, column));
        self.push(&alter);
    }

    pub(super) fn create_index(&mut self, index: &Index) {
        if !index.on.has(self.side) {
            return;
        }
        if self.backend == DbBackend::Postgres && !index.nulls_first.is_empty() {
            self.create_index_with_nulls_first(index);
            return;
        }
        let mut create = Indexes::create();
        create.name(&index.name).table(self.name());
        for column in &index.columns {
            create.col(Alias::new(*column));
        }
        if index.unique {
            create.unique();
        }
        if let Some(filter) = &index.filter {
            create.and_where(Expr::cust(filter.clone()));
        }
        self.push(&create);
    }

    /// As text: the builder of statements has no words for it.
    fn create_index_with_nulls_first(&mut self, index: &Index) {
        let column = |name: &&str| {
            let place = if index.nulls_first.contains(name) { " NULLS FIRST" } else { "" };
            format!("\"{name}\"{place}")
        };
        let columns: Vec<String> = index.columns.iter().map(column).collect();
        let filter = index.filter.as_ref().map(|filter| format!(" WHERE {filter}")).unwrap_or_default();
        let unique = if index.unique { "UNIQUE " } else { "" };
        let (name, table) = (&index.name, self.table.name);
        self.text(format!("CREATE {unique}INDEX \"{name}\" ON \"{table}\" ({}){filter}", columns.join(", ")));
    }

    pub(super) fn fill(&mut self, update: &UpdateStatement) {
        self.push(update);
    }

    pub(super) fn drop_index(&mut self, index: &Index) {
        if index.on.has(self.side) {
            let mut drop = Indexes::drop();
            drop.name(&index.name);
            self.push(&drop);
        }
    }

    /// `SQLite` drops no column that is part of an index.
    pub(super) fn drop_column(&mut self, column: &str) {
        let table = self.table;
        for index in table.indexes(self.side).filter(|index| index.columns.contains(&column)) {
            if !self.gone.contains(&index.name.as_str()) {
                self.gone.push(&index.name);
                self.drop_index(index);
            }
        }
        let mut alter = Tables::alter();
        alter.table(self.name()).drop_column(Alias::new(column));
        self.push(&alter);
    }

    pub(super) fn drop_table(&mut self) {
        let mut drop = Tables::drop();
        drop.table(self.name());
        self.push(&drop);
        if self.table.append_only && self.backend == DbBackend::Postgres {
            self.text(format!("DROP FUNCTION {}_is_append_only()", self.table.name));
        }
    }

    /// Makes the database itself refuse to change or delete rows. Triggers are what the two databases have least in
    /// common.
    fn refuse_changes(&mut self) {
        let name = self.table.name;
        if self.backend == DbBackend::Postgres {
            self.text(format!(
                "CREATE FUNCTION {name}_is_append_only() RETURNS trigger LANGUAGE plpgsql AS \
                 'BEGIN RAISE EXCEPTION ''{name} is append-only''; END'"
            ));
            self.text(format!(
                "CREATE TRIGGER {name}_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {name} \
                 FOR EACH STATEMENT EXECUTE FUNCTION {name}_is_append_only()"
            ));
            return;
        }
        for statement in ["UPDATE", "DELETE"] {
            self.text(format!(
                "CREATE TRIGGER {name}_refuses_{statement} BEFORE {statement} ON {name} \
                 BEGIN SELECT RAISE(ABORT, '{name} is append-only'); END"
            ));
        }
    }
}

/// How a column stands in a statement.
pub(crate) fn definition(backend: DbBackend, side: Side, column: Column) -> ColumnDef {
    let mut definition = ColumnDef::new(Alias::new(column.name));
    match column.kind {
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
    if !column.nullable {
        definition.not_null();
    }
    if let Some(default) = column.default {
        let is_text = matches!(column.kind, "text" | "json");
        definition.default(if is_text { Expr::value(default) } else { Expr::custom_keyword(Alias::new(default)) });
    }
    // Beside its column and not as a constraint of the table: SQLite adds and drops it with the column alone.
    if let Some(parent) = column.references.filter(|_| column.references_everywhere || side == Side::Hq) {
        definition.extra(format!("REFERENCES {parent} (id) ON DELETE RESTRICT"));
    }
    definition
}
