//! P1: a new store loads the goods from headquarters, durably, and a second one after it.

use std::time::Instant;

use anyhow::Result;

use super::chain::{Chain, Provisioned, process};
use super::figure::{Figure, Goal, Measurement, Sample};
use super::postgres::Way;
use super::process::{Usage, memory};
use super::statistics::{mib, per_second};
use super::{Bench, goods, raw};
use crate::child::Child;

const RATE: &str = "first store";
const REPLICATED: [&str; 2] = ["first store, beside replication", "rows, beside replication"];
const COPIED: [&str; 2] = ["first store, beside COPY", "rows, beside COPY"];
const SECOND: &str = "second store";
const CPU: &str = "second store, CPU of headquarters";
const HQ_MEMORY: &str = "headquarters, most memory";
const STORE_MEMORY: &str = "store, most memory";
/// Two minutes after the last load, and sooner at smaller sizes: [`super::Sizes::rest`].
const RESTED: [&str; 2] = ["headquarters, memory after a rest", "second store, memory after a rest"];
const LIMIT: &str = "the same rows by prepared statements of SQLite";
/// What one product is in a store.
const TABLES: &[&str] = &["products", "product_barcodes", "store_product_dynamic"];
/// Rows of each table in one transaction of the raw limit.
const ROWS_OF_LIMIT: usize = 2000;

pub const MEASUREMENT: Measurement = Measurement {
    id: "P1",
    title: "initial load of a store: product, barcode and price row of each product",
    figures: &[
        Figure::new(RATE, "products/s", LIMIT, Goal::Ratio(0.85)),
        Figure::new(REPLICATED[0], "products/s", "logical replication of products by PostgreSQL", Goal::Shown),
        Figure::new(REPLICATED[1], "rows/s", "logical replication of the same three tables by PostgreSQL", Goal::Shown),
        Figure::new(COPIED[0], "products/s", "binary COPY of products, which has no wal_level = logical", Goal::Shown),
        Figure::new(COPIED[1], "rows/s", "binary COPY of the same three tables", Goal::Shown),
        Figure::new(SECOND, "products/s", LIMIT, Goal::Ratio(0.85)),
        Figure::most(CPU, "s", 0.2),
        Figure::most(HQ_MEMORY, "MiB", 120.0),
        Figure::most(STORE_MEMORY, "MiB", 100.0),
        Figure::shown(RESTED[0], "MiB"),
        Figure::shown(RESTED[1], "MiB"),
    ],
    run: |bench| Box::pin(run(bench)),
};

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let count = bench.sizes.products;
    let mut chain = Chain::start(bench).await?;
    chain.products(1).await?;
    let stores = [chain.provision().await?, chain.provision().await?];
    let mut head = 0;
    let chain = chain
        .restart(|path| {
            head = goods::write(path, count - 1)?;
            Ok(())
        })
        .await?;
    let (rate, first) = load(&chain, &stores[0], head, count).await?;
    let store_memory = memory(process(&first)?, "VmHWM")?;
    first.stop().await;
    let before = Usage::read(process(&chain.hq)?)?;
    let (second_rate, second) = load(&chain, &stores[1], head, count).await?;
    let used = Usage::read(process(&chain.hq)?)?.since(before);
    let mut rested = Vec::new();
    if bench.is_first_run() {
        bench.rest(Instant::now()).await;
        for (figure, server) in RESTED.into_iter().zip([&chain.hq, &second]) {
            rested.push(Sample::new(figure, mib(memory(process(server)?, "VmRSS")?)));
        }
    }
    second.stop().await;
    let hq_memory = memory(process(&chain.hq)?, "VmHWM")?;
    chain.stop().await;

    let loaded = stores[0].dir.join("tillkeep.db");
    let limit = raw::insert_again(&loaded, TABLES, &stores[0].dir.join("raw.db"), count.div_ceil(ROWS_OF_LIMIT))?;
    let limit = per_second(count, limit);
    let mut samples = vec![
        Sample::beside(RATE, rate, limit),
        Sample::beside(SECOND, second_rate, limit),
        Sample::new(CPU, used.cpu.as_secs_f64()),
        Sample::new(HQ_MEMORY, mib(hq_memory)),
        Sample::new(STORE_MEMORY, mib(store_memory)),
    ];
    samples.extend(rested);
    if let Some(server) = &bench.postgres {
        for (position, tables) in [&TABLES[..1], TABLES].into_iter().enumerate() {
            let (way, took) = server.replicate(&loaded, tables).await?;
            let figures = if way == Way::Replication { REPLICATED } else { COPIED };
            let (ours, theirs) = (rate * tables.len() as f64, per_second(count * tables.len(), took));
            samples.push(Sample::beside(figures[position], ours, theirs));
        }
    }
    Ok(samples)
}

/// Products a second from the start of a new store on, until its database has all of them; and its server.
async fn load(chain: &Chain, store: &Provisioned, head: i64, count: usize) -> Result<(f64, Child)> {
    let begun = Instant::now();
    let server = chain.open(store).await?;
    store.has("products", head).await?;
    Ok((per_second(count, begun.elapsed()), server))
}
