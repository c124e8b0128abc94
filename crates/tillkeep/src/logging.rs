//! Logs: text on a terminal, JSON otherwise, on the standard error; `RUST_LOG` chooses what.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

pub fn start() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info,sea_orm_migration=warn"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if std::io::stderr().is_terminal() {
        builder.with_target(false).init();
    } else {
        builder.json().flatten_event(true).init();
    }
}
