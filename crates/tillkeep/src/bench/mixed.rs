//! P11: everything at once: idle stores, stores that push a backlog, people who edit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;
use tokio::task::JoinSet;

use super::Bench;
use super::chain::Chain;
use super::envelopes::Envelopes;
use super::figure::{Figure, Goal, Measurement, Sample};
use super::http::{Line, request};
use super::statistics::{Times, per_second};

const RATE: &str = "pushed sales";
const EDIT: &str = "edit, p99";
const VERSIONS: &str = "versions, p99";
/// Entries of one request, as a store sends them.
const SALES: usize = 200;
const PUSHING: usize = 20;
/// Idle stores, and how long each waits between two questions: a sixth of the real pause, so that few seconds say something.
const IDLE: usize = 500;
const PAUSE: Duration = Duration::from_secs(5);
/// People who edit, and how long each thinks between two edits.
const PEOPLE: usize = 4;
const THOUGHT: Duration = Duration::from_millis(50);
const PRODUCTS: usize = 200;

pub const MEASUREMENT: Measurement = Measurement {
    id: "P11",
    title: "500 idle stores, 20 that push a backlog, people who edit",
    figures: &[
        Figure::of(RATE, "sales/s", "", Goal::Least(3000.0)),
        Figure::most(EDIT, "ms", 100.0),
        Figure::most(VERSIONS, "ms", 10.0),
    ],
    run: |bench| Box::pin(run(bench)),
};

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let mut chain = Chain::start(bench).await?;
    let products = Arc::new(chain.products(PRODUCTS).await?);
    let mut stores = Vec::new();
    for _ in 0..PUSHING {
        stores.push(chain.provision().await?);
    }
    let over = Arc::new(AtomicBool::new(false));
    let (url, token) = (chain.hq.url.clone(), chain.admin.token.clone());
    let mut edits = JoinSet::new();
    for person in 0..PEOPLE {
        let requests: Vec<_> = products
            .iter()
            .map(|id| request("PATCH", &format!("/products/{id}"), &token, &json!({"price": 100 + person}).to_string()))
            .collect();
        edits.spawn(repeat(url.clone(), requests, [THOUGHT, THOUGHT], over.clone()));
    }
    let mut questions = JoinSet::new();
    for number in 0..IDLE {
        let token = &stores[number % stores.len()].sync_token;
        let request = request("GET", "/sync/versions?pending=0&dead=0", token, "");
        // Not all in the same moment.
        let first = PAUSE * u32::try_from(number)? / u32::try_from(IDLE)?;
        questions.spawn(repeat(url.clone(), vec![request], [first, PAUSE], over.clone()));
    }
    let mut pushes = JoinSet::new();
    let begun = Instant::now();
    for store in stores {
        let (url, products, over) = (url.clone(), products.clone(), over.clone());
        pushes.spawn(async move {
            let envelopes = Envelopes { store: store.id, products: &products, bad_every: None };
            let mut line = Line::open(&url).await?;
            let mut sales = 0;
            while !over.load(Ordering::Relaxed) {
                line.expect(&envelopes.request(&store.sync_token, SALES)).await?;
                sales += SALES;
            }
            anyhow::Ok(sales)
        });
    }
    tokio::time::sleep(bench.sizes.load()).await;
    over.store(true, Ordering::Relaxed);
    let mut sales = 0;
    while let Some(store) = pushes.join_next().await {
        sales += store??;
    }
    let took = begun.elapsed();
    let (mut edits, mut questions) = (gather(edits).await?, gather(questions).await?);
    chain.stop().await;
    Ok(vec![
        Sample::new(RATE, per_second(sales, took)),
        Sample::new(EDIT, edits.percentile(99)),
        Sample::new(VERSIONS, questions.percentile(99)),
    ])
}

/// One after the other of `requests`, with a pause before the first one and one before each other, until it is over.
async fn repeat(url: String, requests: Vec<Vec<u8>>, pauses: [Duration; 2], over: Arc<AtomicBool>) -> Result<Times> {
    let mut line = Line::open(&url).await?;
    let mut times = Times::default();
    let [mut wait, pause] = pauses;
    for request in requests.iter().cycle() {
        tokio::time::sleep(wait).await;
        if over.load(Ordering::Relaxed) {
            break;
        }
        let begun = Instant::now();
        line.expect(request).await?;
        times.add(begun.elapsed());
        wait = pause;
    }
    Ok(times)
}

async fn gather(mut tasks: JoinSet<Result<Times>>) -> Result<Times> {
    let mut all = Times::default();
    while let Some(times) = tasks.join_next().await {
        all.join(times??);
    }
    Ok(all)
}
