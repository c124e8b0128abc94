//! The accept loop and what surrounds every request, over real sockets; and how this crate hangs together.

mod answers;
mod connections;
mod framing;
mod kit;
mod log;
mod pace;
mod pages;
mod rooms;
mod tls;
