//! The command line of Tillkeep: one binary for headquarters, stores and the demo.

mod arguments;
mod audit;
mod audit_export;
mod audited;
mod backup;
mod bench;
mod certificate;
mod child;
mod cli;
mod configuration;
mod demo;
mod doctor;
mod export;
mod generate;
mod install;
mod keys;
mod lock;
mod logging;
mod machine;
mod modes;
mod output;
mod reaching;
mod rescue;
mod run;
mod sealed;
mod secret;
mod series;
mod sheets;
mod shop;
mod signals;
mod verify;

use std::process::ExitCode;

use clap::Parser;

use logging::Form;

/// Gives back what was used, within seconds and on a thread of its own: the system's allocator kept what a thousand half-sent
/// requests had taken, and took more with each next thousand. What is C allocates by it too, `SQLite` above all.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Bytes that are in use now.
fn allocated() -> Option<u64> {
    // Its figures are as old as the epoch.
    tikv_jemalloc_ctl::epoch::advance().ok()?;
    tikv_jemalloc_ctl::stats::allocated::read().ok()?.try_into().ok()
}

#[tokio::main]
async fn main() -> ExitCode {
    modes::keep_to_the_owner();
    let cli = cli::Cli::parse();
    let form = Form::new(cli.is_server());
    if let Err(error) = form.start() {
        Form::Text.tell(&error);
        return ExitCode::FAILURE;
    }
    // Does something in test builds only.
    let _faults = tillkeep_storage::fault::from_environment();
    tillkeep_http::metrics::ask_allocator(allocated);
    // One provider of cryptography for every TLS connection; a second call would be a bug, not a state.
    if rustls::crypto::aws_lc_rs::default_provider().install_default().is_err() {
        tracing::debug!("a TLS provider was installed before");
    }
    let ended = cli.run().await;
    let code = ended.unwrap_or_else(|error| {
        form.tell(&error);
        1
    });
    // Everything is closed by now. A task that waits while the runtime is taken down would panic.
    std::process::exit(code.into())
}

#[cfg(test)]
mod tests {
    use super::allocated;

    #[test]
    fn what_sqlite_takes_of_memory_is_the_allocators_and_is_given_back() {
        const TAKEN: u64 = 32 << 20;
        let before = allocated().expect("the allocator counts");
        let database = rusqlite::Connection::open_in_memory().expect("a database");
        let taken = format!("CREATE TABLE blobs (content); INSERT INTO blobs VALUES (zeroblob({TAKEN}))");
        database.execute_batch(&taken).expect("a large row");
        assert!(allocated().is_some_and(|now| now >= before + TAKEN), "another allocator has it");
        drop(database);
        assert!(allocated().is_some_and(|now| now < before + TAKEN / 2), "it is kept");
    }
}
