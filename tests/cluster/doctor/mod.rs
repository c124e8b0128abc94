//! `tillkeep doctor`: each check at the worst that it may find. What takes `PostgreSQL` is in `on_postgres.rs`, of that program.

mod damaged;
mod planted;
mod running;
pub mod said;
