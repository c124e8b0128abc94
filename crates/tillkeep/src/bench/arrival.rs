//! P5: a change at headquarters on its way to a store that is connected.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

use super::Bench;
use super::chain::{Chain, Provisioned};
use super::figure::{Figure, Measurement, Sample};
use super::http::{Line, request};
use super::sale::Shop;
use super::statistics::Times;
use crate::child::Child;

const MEDIAN: &str = "change to store, median";
const P99: &str = "change to store, p99";
const BUSY_MEDIAN: &str = "beside 8 tills that sell, median";
const BUSY_P99: &str = "beside 8 tills that sell, p99";
const TILLS: usize = 8;
const PRODUCTS: usize = 10;
/// Between two looks at the store; the figures are as fine as that.
const PAUSE: Duration = Duration::from_millis(1);

pub const MEASUREMENT: Measurement = Measurement {
    id: "P5",
    title: "change committed at headquarters, visible at a connected store",
    figures: &[
        Figure::most(MEDIAN, "ms", 10.0),
        Figure::most(P99, "ms", 50.0),
        Figure::most(BUSY_MEDIAN, "ms", 10.0),
        Figure::most(BUSY_P99, "ms", 50.0),
    ],
    run: |bench| Box::pin(run(bench)),
};

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let mut chain = Chain::start(bench).await?;
    let products = chain.products(PRODUCTS).await?;
    let store = chain.provision().await?;
    let server = chain.open(&store).await?;
    let mut times = follow(&chain, &store, &server, &products, bench.sizes.changes).await?;
    let shop = Shop::open(store.caught_up(&chain, &server).await?, products.clone(), TILLS).await?;
    let mut busy = tokio::select! {
        followed = follow(&chain, &store, &server, &products, bench.sizes.changes) => followed?,
        stopped = sell_on(&shop, &server, bench.sizes.load()) => return stopped,
    };
    server.stop().await;
    chain.stop().await;
    Ok(vec![
        Sample::new(MEDIAN, times.median()),
        Sample::new(P99, times.percentile(99)),
        Sample::new(BUSY_MEDIAN, busy.median()),
        Sample::new(BUSY_P99, busy.percentile(99)),
    ])
}

/// Sells without an end, unless a sale fails.
async fn sell_on<T>(shop: &Shop, server: &Child, time: Duration) -> Result<T> {
    loop {
        shop.sell(server, TILLS, time).await?;
    }
}

/// How long each of so many changes at headquarters takes until it is at a store.
pub async fn follow(
    chain: &Chain,
    store: &Provisioned,
    server: &Child,
    products: &[String],
    changes: usize,
) -> Result<Times> {
    let there = store.caught_up(chain, server).await?;
    let (mut hq, mut shop) = (Line::open(&chain.hq.url).await?, Line::open(&server.url).await?);
    let mut times = Times::default();
    for (number, product) in products.iter().cycle().take(changes).enumerate() {
        let price = 50_000 + number;
        let path = format!("/products/{product}");
        let change = request("PATCH", &path, &chain.admin.token, &json!({"price": price}).to_string());
        let look = request("GET", &path, &there.token, "");
        hq.expect(&change).await?;
        let committed = Instant::now();
        loop {
            let seen: Value = serde_json::from_slice(shop.expect(&look).await?)?;
            if seen["data"]["price"] == price {
                break;
            }
            // Whoever asks without a pause takes the processor from what is on its way.
            tokio::time::sleep(PAUSE).await;
        }
        times.add(committed.elapsed());
    }
    Ok(times)
}
