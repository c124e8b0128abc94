//! The accept loop and what surrounds every request, over real sockets; and how this crate hangs together.

mod answers;
mod connections;
mod framing;
mod hanging_up;
mod kit;
mod log;
mod metrics;
mod pace;
mod pages;
mod tls;
