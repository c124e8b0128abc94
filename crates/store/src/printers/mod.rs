//! The printers of the registers, and the papers that wait for them: what a sale does with them in its own transaction. Whoever
//! prints them stands above sales ([`crate::paper`]), so that no sale waits for a printer.

mod drawer;
mod queue;
mod report;
mod settings;

pub(crate) use drawer::queue_drawer;
pub(crate) use queue::{KEPT_MS, Print, print_of, queue};
pub(crate) use report::{again, count_z, kind, paper, paper_of, queue_z, tells, z_copies};
pub(crate) use settings::Printer;

use crate::act::record_of_row;
use tillkeep_storage::entity::print_job;

record_of_row!(print_job, "a paper");
