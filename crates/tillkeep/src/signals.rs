//! What asks a server or a command to end.

use std::time::Duration;
use std::{fs, future};

use anyhow::{Result, bail};
use tillkeep_http::server::Ending;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// Cancelled by SIGTERM or SIGINT.
pub fn stop_on_signal() -> Result<CancellationToken> {
    Ok(end_on_signal(Duration::ZERO)?.stop)
}

/// For a command that must end in order, as one that asks at a terminal without showing what is typed: cancelled by SIGHUP and
/// SIGQUIT too.
pub fn stop_command_on_signal() -> Result<CancellationToken> {
    let stop = stop_on_signal()?;
    let mut quit = signal(SignalKind::quit())?;
    let mut hangup = if outlives_terminal() { None } else { Some(signal(SignalKind::hangup())?) };
    let asked = stop.clone();
    tokio::spawn(async move {
        let hung_up = async {
            if let Some(hangup) = &mut hangup {
                hangup.recv().await;
            } else {
                future::pending::<()>().await;
            }
        };
        tokio::select! {
            _ = quit.recv() => {}
            () = hung_up => {}
        }
        asked.cancel();
    });
    Ok(stop)
}

/// Whether it was begun by something like `nohup`, which has it ignore SIGHUP: it is not to be listened for then.
fn outlives_terminal() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    // The lowest bit is that of the first signal.
    ignored.is_some_and(|ignored| ignored & 1 != 0)
}

/// `work`, unless it is asked to stop before that is done.
pub async fn until<T>(stop: &CancellationToken, stopped: &str, work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::select! {
        done = work => done,
        () = stop.cancelled() => bail!("{stopped}"),
    }
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
