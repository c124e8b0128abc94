//! P11: everything at once: idle stores, stores that push a backlog, people who edit.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::chain::{Chain, Provisioned};
use super::envelopes::{Envelopes, store_with_drawer};
use super::figure::{Figure, Goal, Measurement, Sample};
use super::http::{Line, request};
use super::idle::Word;
use super::statistics::{Times, per_second};
use super::{Bench, sockets};

const RATE: &str = "pushed sales";
const EDIT: &str = "edit, p99";
const VERSIONS: &str = "versions, p99";
/// Entries of one request, as a store sends them.
const SALES: usize = 200;
const PUSHING: usize = 20;
/// Sales that are made before, for each millisecond: as many as are to be taken.
const READY: usize = 3;
/// How long an idle store waits between two questions: a sixth of the real pause, so that few seconds say something.
const PAUSE: Duration = Duration::from_secs(5);
/// People who edit, and how long each thinks between two edits.
const PEOPLE: usize = 4;
const THOUGHT: Duration = Duration::from_millis(50);
const PRODUCTS: usize = 200;

pub const MEASUREMENT: Measurement = Measurement {
    id: "P11",
    title: "idle stores that pull what moved, 20 that push a backlog, people who edit",
    figures: &[
        Figure::new(RATE, "sales/s", "", Goal::Least(3000.0)),
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
        stores.push(store_with_drawer(&mut chain).await?);
    }
    let chain = chain.restart(|path| sockets::write(path, bench.sizes.idle)).await?;
    let idle = idle(&chain, &stores).await?;
    // Made before anything is measured: the processor is that of headquarters.
    let most = usize::try_from(bench.sizes.load_millis)? * READY / (SALES * PUSHING);
    let ready: Vec<Vec<Vec<u8>>> = stores
        .iter()
        .map(|store| {
            let envelopes = Envelopes { store, products: &products, bad: None };
            (0..=most).map(|_| envelopes.request(SALES)).collect::<Result<_>>()
        })
        .collect::<Result<_>>()?;
    let over = CancellationToken::new();
    let (url, token) = (chain.hq.url.clone(), chain.admin.token.clone());
    let mut edits = JoinSet::new();
    for person in 0..PEOPLE {
        let change = json!({"price": 100 + person}).to_string();
        let requests = products.iter().map(|id| request("PATCH", &format!("/products/{id}"), &token, &change));
        edits.spawn(edit(url.clone(), requests.collect(), over.clone()));
    }
    let mut questions = JoinSet::new();
    for (number, (token, word)) in idle.into_iter().enumerate() {
        // Not all in the same moment.
        let first = PAUSE * u32::try_from(number)? / u32::try_from(bench.sizes.idle)?;
        questions.spawn(ask(url.clone(), token, word, first, over.clone()));
    }
    let mut pushes = JoinSet::new();
    let begun = Instant::now();
    for (store, mut ready) in stores.into_iter().zip(ready) {
        let (url, products, over) = (url.clone(), products.clone(), over.clone());
        pushes.spawn(async move {
            let envelopes = Envelopes { store: &store, products: &products, bad: None };
            let mut line = Line::open(&url).await?;
            let mut sales = 0;
            let mut next_one = ready.pop();
            while !over.is_cancelled() {
                let request = match &next_one {
                    Some(request) => request,
                    None => next_one.insert(envelopes.request(SALES)?),
                };
                match line.ask(request).await?.status {
                    200 => {
                        sales += SALES;
                        next_one = ready.pop();
                    }
                    // Headquarters has enough to do and ends the connection; a store waits and comes again.
                    503 => {
                        next(THOUGHT, &over).await;
                        line = Line::open(&url).await?;
                    }
                    other => bail!("a push was answered {other}"),
                }
            }
            anyhow::Ok(sales)
        });
    }
    tokio::time::sleep(bench.sizes.load()).await;
    over.cancel();
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

/// The stores that push nothing, each with its token and with everything that headquarters has by now.
async fn idle(chain: &Chain, pushing: &[Provisioned]) -> Result<Vec<(String, Word)>> {
    let tokens = sockets::tokens(&chain.dir.join("hq"), |code| pushing.iter().all(|store| store.code != code))?;
    let mut all: Vec<(String, Word)> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let machine = chain.admin.with(&token);
        let word = match all.first() {
            Some((_, first)) => first.like(&machine).await?,
            None => Word::load(&machine).await?,
        };
        all.push((token, word));
    }
    Ok(all)
}

/// Time to do the next thing after `pause`; false when all is over.
async fn next(pause: Duration, over: &CancellationToken) -> bool {
    over.run_until_cancelled(tokio::time::sleep(pause)).await.is_some()
}

/// A person who makes one edit after the other.
async fn edit(url: String, requests: Vec<Vec<u8>>, over: CancellationToken) -> Result<Times> {
    let mut line = Line::open(&url).await?;
    let mut times = Times::default();
    for request in requests.iter().cycle() {
        if !next(THOUGHT, &over).await {
            break;
        }
        let begun = Instant::now();
        line.expect(request).await?;
        times.add(begun.elapsed());
    }
    Ok(times)
}

/// An idle store: it asks, and pulls what moved. How long each question took.
async fn ask(url: String, token: String, mut word: Word, first: Duration, over: CancellationToken) -> Result<Times> {
    let mut line = Line::open(&url).await?;
    let mut times = Times::default();
    let mut pause = first;
    while next(pause, &over).await {
        pause = PAUSE;
        let asked = request("GET", &word.versions(), &token, "");
        let begun = Instant::now();
        let answer = line.expect(&asked).await?;
        times.add(begun.elapsed());
        for entity_type in word.moved(&serde_json::from_slice(answer)?) {
            let mut more = true;
            while more {
                let page = line.expect(&request("GET", &word.pull(&entity_type), &token, "")).await?;
                let page: Value = serde_json::from_slice(page)?;
                word.has(&entity_type, page["latest_version"].as_i64().unwrap_or_default(), &page);
                more = page["has_more"] == true;
            }
        }
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
