//! P11: everything at once: stores with open sockets that pull what moved, stores that push a backlog, people who edit.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

use super::chain::{Chain, Provisioned};
use super::envelopes::{Envelopes, store_with_drawer};
use super::figure::{Figure, Goal, Measurement, Sample};
use super::http::{Line, request};
use super::idle::Word;
use super::push::TABLES;
use super::sockets::Socket;
use super::statistics::{Times, per_second};
use super::{Bench, raw, sockets};

const RATE: &str = "pushed sales";
const EDIT: &str = "edit, p99";
const VERSIONS: &str = "versions, p99";
const STORES: &str = "stores with sockets";
const PULLS: &str = "pages that they pulled";
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
    title: "stores with open sockets that pull what moved, 20 that push a backlog, people who edit",
    figures: &[
        Figure::new(RATE, "sales/s", "the same rows by prepared statements of SQLite", Goal::Ratio(0.4)),
        Figure::most(EDIT, "ms", 100.0),
        Figure::most(VERSIONS, "ms", 10.0),
        Figure::shown(STORES, "stores"),
        Figure::shown(PULLS, "per s"),
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
    // Each has a socket and a connection for what it asks.
    let count = bench.sizes.idle.min(sockets::files()?.saturating_sub(sockets::OTHER_FILES) / 2);
    let chain = chain.restart(|path| sockets::write(path, count)).await?;
    // Made before anything is measured: the processor is that of headquarters.
    let most = usize::try_from(bench.sizes.load_millis)? * READY / (SALES * PUSHING);
    let ready: Vec<Vec<Vec<u8>>> = stores
        .iter()
        .map(|store| {
            let envelopes = Envelopes { store, products: &products, bad: None };
            (0..=most).map(|_| envelopes.request(SALES)).collect::<Result<_>>()
        })
        .collect::<Result<_>>()?;
    let idle = idle(&chain, &stores).await?;
    let over = CancellationToken::new();
    let (url, token) = (chain.hq.url.clone(), chain.admin.token.clone());
    let mut edits = JoinSet::new();
    for person in 0..PEOPLE {
        let change = json!({"price": 100 + person}).to_string();
        let requests = products.iter().map(|id| request("PATCH", &format!("/products/{id}"), &token, &change));
        edits.spawn(edit(url.clone(), requests.collect(), over.clone()));
    }
    let mut questions = JoinSet::new();
    for (number, store) in idle.into_iter().enumerate() {
        // Not all in the same moment.
        let first = PAUSE * u32::try_from(number)? / u32::try_from(count)?;
        questions.spawn(store.live(url.clone(), number, first, over.clone()));
    }
    let mut pushes = JoinSet::new();
    let begun = Instant::now();
    for (store, mut prepared) in stores.into_iter().zip(ready) {
        let (url, products, over) = (url.clone(), products.clone(), over.clone());
        pushes.spawn(async move {
            let envelopes = Envelopes { store: &store, products: &products, bad: None };
            let mut line = Line::open(&url).await?;
            let mut accepted = 0_usize;
            let mut next_one = prepared.pop();
            while !over.is_cancelled() {
                let request = match &next_one {
                    Some(request) => request,
                    None => next_one.insert(envelopes.request(SALES)?),
                };
                match line.ask(request).await?.status {
                    200 => {
                        accepted += 1;
                        next_one = prepared.pop();
                    }
                    // Headquarters has enough to do and ends the connection; a store waits and comes again.
                    503 => {
                        next(THOUGHT, &over).await;
                        line = Line::open(&url).await?;
                    }
                    other => bail!("a push was answered {other}"),
                }
            }
            anyhow::Ok(accepted)
        });
    }
    tokio::time::sleep(bench.sizes.load()).await;
    over.cancel();
    let accepted: usize = all(pushes).await?.into_iter().sum();
    let (sales, took) = (accepted * SALES, begun.elapsed());
    let mut edited = Times::default();
    all(edits).await?.into_iter().for_each(|times| edited.join(times));
    let (mut asked, mut pulls) = (Times::default(), 0);
    for (times, pages) in all(questions).await? {
        asked.join(times);
        pulls += pages;
    }
    let file = chain.dir.join("hq/tillkeep.db");
    chain.stop().await;
    let limit = raw::insert_again(&file, TABLES, &file.with_extension("raw"), accepted.max(1))?;
    Ok(vec![
        Sample::beside(RATE, per_second(sales, took), per_second(sales, limit)),
        Sample::new(EDIT, edited.percentile(99)),
        Sample::new(VERSIONS, asked.percentile(99)),
        Sample::new(STORES, count as f64),
        Sample::new(PULLS, per_second(pulls, took)),
    ])
}

/// What came of all tasks.
async fn all<T: 'static>(mut tasks: JoinSet<Result<T>>) -> Result<Vec<T>> {
    let mut done = Vec::new();
    while let Some(one) = tasks.join_next().await {
        done.push(one??);
    }
    Ok(done)
}

/// A store that pushes nothing.
struct Idle {
    token: String,
    word: Word,
    socket: Socket,
}

/// The stores that push nothing, each with an open socket and with everything that headquarters has by now.
async fn idle(chain: &Chain, pushing: &[Provisioned]) -> Result<Vec<Idle>> {
    let tokens = sockets::tokens(&chain.dir.join("hq"), |code| pushing.iter().all(|store| store.code != code))?;
    let mut all: Vec<Idle> = Vec::with_capacity(tokens.len());
    // Before they shake hands, so that headquarters knows for how many it spreads what follows a notification.
    let open = sockets::open(&chain.hq.url, &tokens).await?;
    for (token, socket) in tokens.into_iter().zip(open) {
        let machine = chain.admin.with(&token);
        let word = match all.first() {
            Some(first) => first.word.like(&machine).await?,
            None => Word::load(&machine).await?,
        };
        all.push(Idle { token, word, socket });
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

impl Idle {
    /// Asks at times, and when headquarters says that something moved, and pulls that. How long each question took, and how many
    /// pages it pulled.
    async fn live(
        mut self,
        url: String,
        number: usize,
        first: Duration,
        over: CancellationToken,
    ) -> Result<(Times, usize)> {
        let mut line = Line::open(&url).await?;
        let (mut times, mut pages) = (Times::default(), 0);
        let mut pause = first;
        while self.due(pause, number + times.len(), &over).await? {
            pause = PAUSE;
            let asked = request("GET", &self.word.versions(), &self.token, "");
            let begun = Instant::now();
            let answer = line.expect(&asked).await?;
            times.add(begun.elapsed());
            for entity_type in self.word.moved(&serde_json::from_slice(answer)?) {
                let mut more = true;
                while more {
                    let page = line.expect(&request("GET", &self.word.pull(&entity_type), &self.token, "")).await?;
                    let page: Value = serde_json::from_slice(page)?;
                    self.word.has(&entity_type, page["latest_version"].as_i64().unwrap_or_default(), &page);
                    more = page["has_more"] == true;
                    pages += 1;
                }
            }
        }
        Ok((times, pages))
    }

    /// Waits for `pause`, or until a notification and a moment of this store's own within the time over which all are to spread;
    /// false when all is over.
    async fn due(&mut self, pause: Duration, chance: usize, over: &CancellationToken) -> Result<bool> {
        // As good as chance: each store and each time another thousandth.
        let moment = self.word.spread * u32::try_from(chance * 619 % 1000)? / 1000;
        let mut until = pin!(tokio::time::sleep(pause));
        let mut is_notified = false;
        loop {
            tokio::select! {
                () = &mut until => return Ok(true),
                () = over.cancelled() => return Ok(false),
                // Pings of headquarters are answered meanwhile, and what else it says until then is followed together.
                message = self.socket.next() => {
                    let message = message.context("headquarters closed a socket")??;
                    if !is_notified && matches!(message, Message::Text(_)) {
                        is_notified = true;
                        until.set(tokio::time::sleep(moment));
                    }
                }
            }
        }
    }
}
