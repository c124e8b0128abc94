//! Statements, and their way to either database: connections, lists and rows of any length, what an error means.

mod arrays;
pub(crate) mod bulk;
pub(crate) mod connection;
pub mod count;
pub mod db;
pub(crate) mod errors;
pub mod many;
pub mod memory;
pub(crate) mod opening;
pub mod orm;
pub mod raw;
pub(crate) mod row;
pub mod search;
pub(crate) mod sqlite;
