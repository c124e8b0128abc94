//! The schema: the steps that make it, in one text for both databases and both servers, and the tables that they leave.

mod m0001_schema;
mod m0002_synchronisation;
mod m0003_edges;
mod m0004_people;
mod newest;
#[cfg(feature = "next-release")]
mod next_release;
mod runner;
mod statements;
mod step;
mod steps;
mod table;

use sea_orm::{DbBackend, DbErr, Statement};

use crate::Side;
pub use newest::{columns_of_index, tables};
pub use runner::{check, refuse_other, run, side_of};
pub use step::{Change, Schema, Step};
pub use steps::STEPS;
pub use table::{Column, Index, Key, NewTable, On, Table};

/// What `steps` tell a database.
pub fn script(steps: &[Step], side: Side, backend: DbBackend) -> Result<Vec<Statement>, DbErr> {
    let mut schema = Schema::default();
    let mut all = vec![backend.build(&runner::record(backend, side))];
    for change in steps.iter().flat_map(|step| step.changes) {
        all.extend(change.statements(&schema, side, backend)?);
        schema.take(change);
    }
    Ok(all)
}
