//! N1: two servers of one headquarters on one `PostgreSQL`, beside one: how much more they answer, what each request costs them and
//! the database, and how soon a change at one is at a store of the other.

use std::time::Duration;

use anyhow::Result;

use super::balancer::Balancer;
use super::chain::{Chain, Provisioned, process};
use super::drive::{Done, drive};
use super::envelopes::{Envelopes, store_with_drawer};
use super::figure::{Figure, Goal, Measurement, Sample};
use super::http::{Line, request};
use super::idle::Word;
use super::postgres::Database;
use super::process::{Standing, Usage};
use super::push::{Requests, together};
use super::sockets;
use super::{Bench, arrival};
use crate::child::Child;

/// What is asked: its rate by two, what it costs headquarters, and what it costs the database.
struct Asked {
    rate: &'static str,
    cpu: &'static str,
    database: &'static str,
}

const VERSIONS: Asked = Asked {
    rate: "versions, two servers",
    cpu: "versions, CPU of headquarters",
    database: "versions, time in the database",
};
const KEPT: Asked = Asked {
    rate: "pull of a kept page, two servers",
    cpu: "pull of a kept page, CPU of headquarters",
    database: "pull of a kept page, time in the database",
};
const READ: Asked = Asked {
    rate: "pull of own rows, two servers",
    cpu: "pull of own rows, CPU of headquarters",
    database: "pull of own rows, time in the database",
};
const PUSHED: Asked = Asked {
    rate: "sales of two stores, two servers",
    cpu: "sale, CPU of headquarters",
    database: "sale, time in the database",
};
const MEDIAN: &str = "change to a store of the other server, median";
const P99: &str = "change to a store of the other server, p99";
/// Stores that ask at once, the half of them each server where there are two.
const STORES: usize = 8;
const PRODUCTS: usize = 200;
/// Sales in a push, as a store sends that was without a line for a while.
const SALES: usize = 100;

const fn rate(asked: &Asked, unit: &'static str) -> Figure {
    Figure::new(asked.rate, unit, "one server", Goal::Shown)
}

pub const MEASUREMENT: Measurement = Measurement {
    id: "N1",
    title: "two servers of headquarters on one PostgreSQL (with --postgres; with --nats, a broker between them)",
    figures: &[
        rate(&VERSIONS, "requests/s"),
        Figure::shown(VERSIONS.cpu, "µs/request"),
        Figure::shown(VERSIONS.database, "µs/request"),
        rate(&KEPT, "requests/s"),
        Figure::shown(KEPT.cpu, "µs/request"),
        Figure::shown(KEPT.database, "µs/request"),
        rate(&READ, "requests/s"),
        Figure::shown(READ.cpu, "µs/request"),
        Figure::shown(READ.database, "µs/request"),
        rate(&PUSHED, "sales/s"),
        Figure::shown(PUSHED.cpu, "µs/sale"),
        Figure::shown(PUSHED.database, "µs/sale"),
        Figure::most(MEDIAN, "ms", 50.0),
        Figure::most(P99, "ms", 250.0),
        sockets::FIGURES[0],
        sockets::FIGURES[1],
        sockets::FIGURES[2],
        sockets::FIGURES[3],
        sockets::FIGURES[4],
        sockets::FIGURES[5],
    ],
    run: |bench| Box::pin(run(bench)),
};

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let Some(server) = &bench.postgres else { return Ok(Vec::new()) };
    let database = server.database("nodes").await?;
    let measured = measure(bench, &database).await;
    database.drop().await?;
    measured
}

/// Two servers, with the database behind them.
struct Two<'a> {
    chain: Chain,
    other: Child,
    database: &'a Database,
}

async fn measure(bench: &Bench, database: &Database) -> Result<Vec<Sample>> {
    let mut environment = vec![("DATABASE_URL", database.url.clone()), ("LEAVE_SECONDS", "0".to_owned())];
    environment.extend(bench.nats.clone().map(|url| ("NATS_URL", url)));
    let mut chain = Chain::start_with(bench, environment).await?;
    let products = chain.products(PRODUCTS).await?;
    let mut stores = Vec::new();
    for _ in 0..STORES {
        stores.push(store_with_drawer(&mut chain).await?);
    }
    // So that each store has rows of its own.
    for store in &stores {
        push(&chain.hq.url, store, &products, 1).await?;
    }
    let other = chain.beside().await?;
    let two = Two { chain, other, database };
    let mut samples = two.ask_all(bench, &stores).await?;
    samples.extend(two.sell(bench, &stores, &products).await?);
    samples.extend(two.follow(bench, &stores[0], &products).await?);
    samples.extend(two.hold(bench, &products[0]).await?);
    let Two { chain, other, .. } = two;
    other.stop().await;
    chain.stop().await;
    Ok(samples)
}

impl Two<'_> {
    fn used(&self) -> Result<Usage> {
        let mut used = Usage::read(process(&self.chain.hq)?)?;
        used.add(Usage::read(process(&self.other)?)?);
        Ok(used)
    }

    async fn ask_all(&self, bench: &Bench, stores: &[Provisioned]) -> Result<Vec<Sample>> {
        let mut words = Vec::new();
        for store in stores {
            words.push((store, Word::load(&self.chain.machine(store)).await?));
        }
        let mut samples = Vec::new();
        let page = |name: &str| format!("/sync/pull?entity_type={name}&since_version=0&limit=500");
        for asked in [&VERSIONS, &KEPT, &READ] {
            let requests: Vec<Vec<u8>> = words
                .iter()
                .map(|(store, word)| {
                    let path = match asked.rate {
                        of if of == VERSIONS.rate => word.versions(),
                        of if of == KEPT.rate => page("products"),
                        _ => page("store_product_dynamic"),
                    };
                    request("GET", &path, &store.sync_token, "")
                })
                .collect();
            samples.extend(self.ask(bench, asked, &requests).await?);
        }
        Ok(samples)
    }

    /// The same requests to one server, then one half of them to each.
    async fn ask(&self, bench: &Bench, asked: &Asked, requests: &[Vec<u8>]) -> Result<Vec<Sample>> {
        let time = bench.sizes.load() / 2;
        let clients = |some: &[Vec<u8>]| some.iter().cloned().map(|one| move || one.clone()).collect::<Vec<_>>();
        let (here, there) = requests.split_at(requests.len() / 2);
        // What is asked for the first time is not what it costs.
        self.both(clients(here), clients(there), bench.sizes.warm_up()).await?;
        let one = drive(&self.chain.hq.url, clients(requests), time).await?;
        let (before, busy) = (self.used()?, self.database.busy().await?);
        let both = self.both(clients(here), clients(there), time).await?;
        let (used, busy) = (self.used()?.since(before), self.database.busy().await?.saturating_sub(busy));
        let count = both.times.len();
        Ok(vec![
            Sample::beside(asked.rate, both.per_second(), one.per_second()),
            Sample::new(asked.cpu, each(used.cpu, count)),
            Sample::new(asked.database, each(busy, count)),
        ])
    }

    async fn both<F>(&self, here: Vec<F>, there: Vec<F>, time: Duration) -> Result<Done>
    where
        F: FnMut() -> Vec<u8> + Send + 'static,
    {
        let driven = tokio::try_join!(drive(&self.chain.hq.url, here, time), drive(&self.other.url, there, time))?;
        let took = driven.0.took.max(driven.1.took);
        let (mut both, other) = driven;
        both.join(other);
        Ok(Done { took, ..both })
    }

    /// Two stores push at once: both to one server, then each to its own.
    async fn sell(&self, bench: &Bench, stores: &[Provisioned], products: &[String]) -> Result<Vec<Sample>> {
        let (count, two) = (bench.sizes.pushes, &stores[..2]);
        let requests = Requests { count, sales: SALES, bad: None };
        let here = self.chain.hq.url.as_str();
        let one = together(two, &[here, here], products, requests).await?;
        let (before, busy) = (self.used()?, self.database.busy().await?);
        let both = together(two, &[here, &self.other.url], products, requests).await?;
        let (used, busy) = (self.used()?.since(before), self.database.busy().await?.saturating_sub(busy));
        let sales = two.len() * count * SALES;
        Ok(vec![
            Sample::beside(PUSHED.rate, both, one),
            Sample::new(PUSHED.cpu, each(used.cpu, sales)),
            Sample::new(PUSHED.database, each(busy, sales)),
        ])
    }

    /// Changes at one server, until they are at a store of the other.
    async fn follow(&self, bench: &Bench, store: &Provisioned, products: &[String]) -> Result<Vec<Sample>> {
        let server = self.chain.open_at(store, &self.other.url).await?;
        let mut times = arrival::follow(&self.chain, store, &server, products, bench.sizes.changes).await?;
        server.stop().await;
        Ok(vec![Sample::new(MEDIAN, times.median()), Sample::new(P99, times.percentile(99))])
    }

    /// Sockets of many stores through a balancer, and a change to all of them.
    async fn hold(&self, bench: &Bench, product: &str) -> Result<Vec<Sample>> {
        // Each is two files of the balancer.
        let most = sockets::files()?.saturating_sub(sockets::OTHER_FILES) / 2;
        let urls = [self.chain.hq.url.as_str(), &self.other.url];
        let Some(balancer) = Balancer::before(bench, &urls, most).await? else {
            eprintln!("N1: no sockets through a balancer, as there is no haproxy here");
            return Ok(Vec::new());
        };
        let count = bench.sizes.sockets.min(most);
        let rows = self.database.more_stores(count).await?;
        let tokens = sockets::signed(&self.chain.dir.join("hq"), rows)?;
        let look =
            || anyhow::Ok(Standing::read(process(&self.chain.hq)?)?.with(Standing::read(process(&self.other)?)?));
        let samples = sockets::hold(&balancer.url, &self.chain, &tokens, product, look).await;
        balancer.stop().await;
        samples
    }
}

fn each(time: Duration, count: usize) -> f64 {
    time.as_secs_f64() * 1e6 / count.max(1) as f64
}

/// One push of a store.
async fn push(url: &str, store: &Provisioned, products: &[String], sales: usize) -> Result<()> {
    let envelopes = Envelopes { store, products, bad: None };
    Line::open(url).await?.expect(&envelopes.request(sales)?).await?;
    Ok(())
}
