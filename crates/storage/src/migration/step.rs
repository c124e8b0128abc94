//! What a step does to the schema, and the schema that steps leave behind.

use sea_orm::sea_query::UpdateStatement;
use sea_orm::{DbBackend, DbErr, Statement};

use super::statements::Statements;
use super::table::{Column, Key, NewTable, On, Table, columns};
use crate::Side;

/// Changes that are made in one transaction. A step of a release is never edited.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub name: &'static str,
    pub changes: &'static [Change],
    /// The last step of the release before, when headquarters of that release may go on working beside this one on
    /// `PostgreSQL`: nothing is taken away that it uses, and nothing asked for that it does not write.
    pub beside: Option<&'static str>,
}

/// One change; the first word is the table.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    CreateTable(NewTable),
    /// Columns as in [`NewTable::columns`]. One that may not be null needs a default, for the rows that are there.
    AddColumns(&'static str, &'static str),
    AddIndex(&'static str, Key),
    /// Gives rows their values. A column that stores have already changes there too when the statement sets
    /// `sync_version` to 0: headquarters then gives the rows new versions.
    Fill(&'static str, fn() -> UpdateStatement),
    /// As [`Change::Fill`], at headquarters alone: stores get the rows with their new versions.
    FillAtHq(&'static str, fn() -> UpdateStatement),
    DropIndex(&'static str, Key),
    /// A plain index that both servers have stays at headquarters alone.
    DropIndexAtStores(&'static str, &'static str),
    /// Columns by name, separated by `, `, with the indexes that they are part of.
    DropColumns(&'static str, &'static str),
    DropTable(&'static str),
}

/// The tables as the changes so far leave them, parents first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    tables: Vec<Table>,
}

impl Schema {
    /// What `steps` leave behind.
    pub fn after(steps: &[Step]) -> Self {
        let mut schema = Self::default();
        for change in steps.iter().flat_map(|step| step.changes) {
            schema.take(change);
        }
        schema
    }

    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// What makes all of it at once.
    pub fn statements(&self, side: Side, backend: DbBackend) -> Vec<Statement> {
        let made = |table: &Table| {
            let mut to = Statements::new(backend, side, table);
            to.create_table();
            to.all
        };
        self.tables.iter().filter(|table| table.is_on(side)).flat_map(made).collect()
    }

    /// Notes a change.
    pub(crate) fn take(&mut self, change: &Change) {
        let mut on = |name: &str, change: &mut dyn FnMut(&mut Table)| {
            self.tables.iter_mut().filter(|table| table.name == name).for_each(change);
        };
        match *change {
            Change::CreateTable(new) => self.tables.push(Table::from(&new)),
            Change::AddColumns(name, text) => on(name, &mut |table| table.columns.extend(columns(text))),
            Change::AddIndex(name, key) => on(name, &mut |table| table.indexes.extend(key.indexes(name))),
            Change::Fill(..) | Change::FillAtHq(..) => {}
            Change::DropIndex(name, key) => on(name, &mut |table| {
                let gone = key.indexes(name);
                table.indexes.retain(|index| !gone.contains(index));
            }),
            Change::DropIndexAtStores(name, columns) => on(name, &mut |table| {
                let gone = Key::Plain(columns).indexes(name);
                table.indexes.iter_mut().filter(|index| gone.contains(index)).for_each(|index| index.on = On::Hq);
            }),
            Change::DropColumns(name, names) => on(name, &mut |table| {
                let gone: Vec<&str> = names.split(", ").collect();
                table.indexes.retain(|index| !index.columns.iter().any(|column| gone.contains(column)));
                table.columns.retain(|column: &Column| !gone.contains(&column.name));
            }),
            Change::DropTable(name) => self.tables.retain(|table| table.name != name),
        }
    }
}

impl Change {
    /// The table that is changed.
    fn table(&self) -> &'static str {
        match *self {
            Self::CreateTable(new) => new.name,
            Self::AddColumns(name, _)
            | Self::AddIndex(name, _)
            | Self::Fill(name, _)
            | Self::FillAtHq(name, _)
            | Self::DropIndex(name, _)
            | Self::DropIndexAtStores(name, _)
            | Self::DropColumns(name, _)
            | Self::DropTable(name) => name,
        }
    }

    /// The statements that make this change, none when the table is on the other side.
    pub(crate) fn statements(&self, schema: &Schema, side: Side, backend: DbBackend) -> Result<Vec<Statement>, DbErr> {
        let name = self.table();
        let made;
        let table = match self {
            Self::CreateTable(new) => {
                made = Table::from(new);
                &made
            }
            _ => {
                schema.table(name).ok_or_else(|| DbErr::Custom(format!("no step before has made the table {name}")))?
            }
        };
        let mut to = Statements::new(backend, side, table);
        if !table.is_on(side) {
            return Ok(to.all);
        }
        match *self {
            Self::CreateTable(_) => to.create_table(),
            Self::AddColumns(_, text) => columns(text).for_each(|column| to.add_column(column)),
            Self::AddIndex(_, key) => key.indexes(name).iter().for_each(|index| to.create_index(index)),
            Self::Fill(_, fill) => to.fill(&fill()),
            Self::FillAtHq(_, fill) if side == Side::Hq => to.fill(&fill()),
            Self::DropIndex(_, key) => key.indexes(name).iter().for_each(|index| to.drop_index(index)),
            Self::DropIndexAtStores(_, columns) if side == Side::Store => {
                Key::Plain(columns).indexes(name).iter().for_each(|index| to.drop_index(index));
            }
            Self::DropIndexAtStores(..) | Self::FillAtHq(..) => {}
            Self::DropColumns(_, names) => names.split(", ").for_each(|column| to.drop_column(column)),
            Self::DropTable(_) => to.drop_table(),
        }
        Ok(to.all)
    }
}
