//! The accept loop and what surrounds every request, over real sockets.

mod answers;
mod connections;
mod kit;
mod pace;
mod pages;
mod tls;
