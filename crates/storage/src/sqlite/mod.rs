//! `SQLite` without a hop for each statement: a statement runs on the thread that asks for it, on a connection that this
//! thread has until its transaction ends.
//!
//! There is one [`Writer`] for a file, so that writers queue in the program and never fail with "busy", and a [`Pool`] of
//! connections that read. What is written by [`Writer::run`] runs on the writer's own thread and shares its commit with
//! what waits behind it; what is written by [`Writer::lend`] has the connection for itself, wherever it runs.

mod checkpoints;
mod errors;
mod lease;
mod limits;
mod pool;
mod session;
mod values;
mod writer;

pub(crate) use lease::Lease;
pub(crate) use pool::Pool;
pub(crate) use values::Misfit;
pub(crate) use values::numbered;
pub use values::stored_as;
pub(crate) use writer::{Answer, Rank, Writer};

use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs what may block this thread for a while, so that the tasks which wait for this thread go on elsewhere.
fn blocking<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        // The writer's thread, or a runtime of one thread, which has nothing else to go on with.
        _ => work(),
    }
}
