//! What asks a server or a command to end.

use std::time::Duration;

use anyhow::Result;
use tillkeep_http::server::Ending;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancelled by SIGTERM or SIGINT.
pub fn stop_on_signal() -> Result<CancellationToken> {
    Ok(end_on_signal(Duration::ZERO)?.stop)
}

/// SIGTERM or SIGINT ask to leave; the stop comes after this time, or with the next signal.
pub fn end_on_signal(leave: Duration) -> Result<Ending> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let ending = Ending::default();
    let Ending { leaving, stop } = ending.clone();
    tokio::spawn(async move {
        let mut asked = async || {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        };
        asked().await;
        leaving.cancel();
        tokio::select! {
            () = tokio::time::sleep(leave) => {}
            () = asked() => {}
        }
        tracing::info!("stopping");
        stop.cancel();
    });
    Ok(ending)
}
