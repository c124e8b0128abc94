//! The schema: the steps that make it, in one text for both databases and both servers, and the tables that they leave.

mod m0001_schema;
mod m0002_synchronisation;
mod m0003_edges;
mod m0004_people;
mod m0005_prices;
mod m0006_refunds;
mod m0007_drawers;
mod m0008_lists;
mod m0009_alerts;
mod newest;
#[cfg(feature = "next-release")]
mod next_release;
mod side;
mod statements;
mod step;
mod steps;
mod table;

pub use newest::{columns_of_index, tables};
pub use side::Side;
pub(crate) use statements::definition;
pub use step::{Change, Schema, Step};
pub use steps::STEPS;
pub(crate) use table::columns;
pub use table::{Column, Index, Key, NewTable, On, Table};
