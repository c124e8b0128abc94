//! Logs: text on a terminal, JSON otherwise, on the standard error; `RUST_LOG` chooses what.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

pub fn start() {
    let mut filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    // It says something at every try to reach a broker that is away; headquarters says so once a minute.
    if !filter.to_string().contains("async_nats")
        && let Ok(directive) = "async_nats=off".parse()
    {
        filter = filter.add_directive(directive);
    }
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    if std::io::stderr().is_terminal() {
        builder.with_target(false).init();
    } else {
        builder.json().flatten_event(true).init();
    }
}
