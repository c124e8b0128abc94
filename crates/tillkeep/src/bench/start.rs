//! P9: how soon a server works after its start, and how large the program is.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::Bench;
use super::chain::{Chain, Provisioned, process};
use super::figure::{Figure, Measurement, Sample};
use super::http::Line;
use super::process::memory;
use super::statistics::{Times, mib};
use crate::child::Child;

const HQ: &str = "headquarters, start to ready";
const STORE: &str = "store, start to ready";
const MEMORY: &str = "headquarters at rest, memory";
const SIZE: &str = "size of the program";

pub const MEASUREMENT: Measurement = Measurement {
    id: "P9",
    title: "start and size",
    figures: &[
        Figure::most(HQ, "ms", 100.0),
        Figure::most(STORE, "ms", 100.0),
        Figure::shown(MEMORY, "MiB"),
        Figure::most(SIZE, "MiB", 40.0),
    ],
    run: |bench| Box::pin(run(bench)),
};

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let mut chain = Chain::start(bench).await?;
    chain.products(10).await?;
    let store = chain.provision().await?;
    let server = chain.open(&store).await?;
    store.caught_up(&chain, &server).await?;
    server.stop().await;
    let (mut hq, mut shop) = (Times::default(), Times::default());
    for _ in 0..bench.sizes.starts {
        let (server, time) = store_ready(bench, &store, &chain.hq.url).await?;
        server.stop().await;
        shop.add(time);
        let (again, time) = hq_ready(chain).await?;
        chain = again;
        hq.add(time);
    }
    let memory = memory(process(&chain.hq)?, "VmRSS")?;
    chain.stop().await;
    let size = std::fs::metadata(&bench.program)?.len();
    Ok(vec![
        Sample::new(HQ, hq.median()),
        Sample::new(STORE, shop.median()),
        Sample::new(MEMORY, mib(memory)),
        Sample::new(SIZE, mib(size)),
    ])
}

/// Headquarters after so many starts, and the middle of the times that they took, in milliseconds.
pub async fn hq_again(mut chain: Chain, starts: usize) -> Result<(Chain, f64)> {
    let mut times = Times::default();
    for _ in 0..starts {
        let (again, time) = hq_ready(chain).await?;
        chain = again;
        times.add(time);
    }
    Ok((chain, times.median()))
}

/// As [`hq_again`], for a store that runs and knows headquarters at `url`.
pub async fn store_again(bench: &Bench, store: &Provisioned, mut server: Child, url: &str) -> Result<(Child, f64)> {
    let mut times = Times::default();
    for _ in 0..bench.sizes.starts {
        server.stop().await;
        let (again, time) = store_ready(bench, store, url).await?;
        server = again;
        times.add(time);
    }
    Ok((server, times.median()))
}

async fn hq_ready(chain: Chain) -> Result<(Chain, Duration)> {
    let mut begun = Instant::now();
    let chain = chain
        .restart(|_| {
            begun = Instant::now();
            Ok(())
        })
        .await?;
    ready(&chain.hq).await?;
    Ok((chain, begun.elapsed()))
}

async fn store_ready(bench: &Bench, store: &Provisioned, url: &str) -> Result<(Child, Duration)> {
    let begun = Instant::now();
    let server = store.open(&bench.program, url).await?;
    ready(&server).await?;
    Ok((server, begun.elapsed()))
}

/// The first answer that says that the server can work.
async fn ready(server: &Child) -> Result<()> {
    let mut line = Line::open(&server.url).await?;
    line.expect(b"GET /ready HTTP/1.1\r\nhost: bench\r\n\r\n").await?;
    Ok(())
}
