//! A chain for a test: headquarters, stores, the proxy between them, and the calls a person would make.

mod chain;
mod client;
pub mod database;
pub mod printer;
mod process;
mod proxy;
pub mod secrets;
pub mod verdict;
mod work;

use std::time::{Duration, Instant};

pub use chain::{ADMIN, TestCluster, TestStore, id};
pub use client::{Client, Reply, metric};
pub use database::Rows;
pub use process::{Process, Program};
pub use proxy::{Fault, Proxy};
pub use work::Shift;

/// Waits until `look` finds something; fails the test with `what` after a minute and a half, which
/// nothing takes that happens at all.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(90), "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
