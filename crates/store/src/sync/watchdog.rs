//! Keeps the sender alive: one that panicked is started again, and one that has work and a line but gets nowhere is
//! replaced. `reliability`, promise P3 in `docs/sync.md`: whatever the network did, the outbox empties after it heals.

use std::sync::Arc;
use std::time::Duration;

use tillkeep_storage::{DbErr, outbox};
use tokio::task::JoinHandle;

use super::sender;
use crate::Store;

/// How long a sender may be without the end of a round, although HQ answers others.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// Runs the sender until the store stops.
pub async fn run(store: Arc<Store>, patience: Duration) {
    loop {
        store.sync.progressed(store.clock.uptime());
        let mut sender = Running(tokio::spawn(sender::run(store.clone())));
        loop {
            tokio::select! {
                ended = &mut sender.0 => match ended {
                    Ok(()) => return,
                    Err(error) => {
                        tracing::error!(%error, "the sender of the outbox died; it is started again");
                        tokio::time::sleep(Duration::from_secs(1).min(patience)).await;
                        break;
                    }
                },
                () = tokio::time::sleep(patience / 10) => match is_stuck(&store, patience).await {
                    Ok(false) => {}
                    Ok(true) => {
                        tracing::error!("the outbox has work and a line, and does not move; its sender is replaced");
                        break;
                    }
                    Err(error) => tracing::warn!(%error, "the outbox cannot be looked at"),
                },
            }
        }
    }
}

/// Runs a task until it ends by itself; one that panicked is started again.
pub async fn supervised<F>(name: &'static str, start: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    loop {
        let mut task = Running(tokio::spawn(start()));
        match (&mut task.0).await {
            Ok(()) => return,
            Err(error) => tracing::error!(%error, "{name} died; it is started again"),
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Ends with its owner.
struct Running(JoinHandle<()>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn is_stuck(store: &Store, patience: Duration) -> Result<bool, DbErr> {
    let now = store.clock.uptime();
    let (progress, cycle) = store.sync.signs_of_life();
    let has_line = cycle.is_some_and(|at| now.saturating_sub(at) < patience.max(store.settings.sync_interval * 2));
    if !has_line || now.saturating_sub(progress) < patience {
        return Ok(false);
    }
    Ok(!outbox::batch(store.reader(), 1, store.clock.now(), 0).await?.is_empty())
}
