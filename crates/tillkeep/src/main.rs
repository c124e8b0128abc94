//! The command line of Tillkeep: one binary for headquarters, stores and the demo.

mod arguments;
mod audit;
mod backup;
mod bench;
mod child;
mod cli;
mod configuration;
mod demo;
mod export;
mod keys;
mod lock;
mod logging;
mod output;
mod rescue;
mod run;
mod series;
mod shop;
mod verify;

use std::process::ExitCode;

use clap::Parser;

use logging::Form;

/// Gives back what was used, within seconds and on a thread of its own: the system's allocator kept what a thousand half-sent
/// requests had taken, and took more with each next thousand.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let form = Form::new(cli.is_server());
    if let Err(error) = form.start() {
        Form::Text.tell(&error);
        return ExitCode::FAILURE;
    }
    // Does something in test builds only.
    let _faults = tillkeep_storage::fault::from_environment();
    // One provider of cryptography for every TLS connection; a second call would be a bug, not a state.
    if rustls::crypto::aws_lc_rs::default_provider().install_default().is_err() {
        tracing::debug!("a TLS provider was installed before");
    }
    let ended = cli.run().await;
    if let Err(error) = &ended {
        form.tell(error);
    }
    // Everything is closed by now. A task that waits while the runtime is taken down would panic.
    std::process::exit(ended.is_err().into())
}
