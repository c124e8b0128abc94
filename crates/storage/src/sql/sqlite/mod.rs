//! `SQLite` without a hop for each statement: a statement runs on the thread that asks for it, on a connection that this
//! thread has until its transaction ends.
//!
//! There is one [`Writer`] for a file, so that writers queue in the program and never fail with "busy", and a [`Pool`] of
//! connections that read. What is written by [`Writer::run`] runs on the writer's own thread and shares its commit with
//! what waits behind it; what is written by [`Writer::lend`] has the connection for itself, wherever it runs.

mod blocking;
mod checkpoints;
mod errors;
mod lease;
mod limits;
mod places;
mod pool;
mod session;
mod values;
mod writer;
mod written;

pub(crate) use lease::Lease;
pub(crate) use pool::Pool;
pub(crate) use values::Found;
pub(crate) use values::numbered;
pub(crate) use values::stored_as;
pub(crate) use writer::{Answer, Rank, Writer};
