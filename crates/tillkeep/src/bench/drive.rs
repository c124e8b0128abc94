//! Requests from several connections at once, each with one under way, for a while.

use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::task::JoinSet;

use super::http::Line;
use super::statistics::{Times, per_second};

/// What came of it.
#[derive(Default)]
pub struct Done {
    pub times: Times,
    pub took: Duration,
}

impl Done {
    pub fn per_second(&self) -> f64 {
        per_second(self.times.len(), self.took)
    }

    pub fn join(&mut self, other: Self) {
        self.times.join(other.times);
        self.took += other.took;
    }
}

/// Each of `clients` makes its requests for the connection that it has, until `time` is over. What was sent is answered.
pub async fn drive<F>(url: &str, clients: Vec<F>, time: Duration) -> Result<Done>
where
    F: FnMut() -> Vec<u8> + Send + 'static,
{
    let mut lines = Vec::new();
    for client in clients {
        lines.push((Line::open(url).await?, client));
    }
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for (mut line, mut next) in lines {
        tasks.spawn(async move {
            let mut times = Times::default();
            while begun.elapsed() < time {
                let request = next();
                let sent = Instant::now();
                line.expect(&request).await?;
                times.add(sent.elapsed());
            }
            anyhow::Ok(times)
        });
    }
    let mut times = Times::default();
    while let Some(client) = tasks.join_next().await {
        times.join(client??);
    }
    Ok(Done { times, took: begun.elapsed() })
}
