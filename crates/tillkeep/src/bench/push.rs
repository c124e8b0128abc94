//! P2: sales that stores push, a thousand a request, beside the same rows by the database alone.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::task::JoinSet;

use super::chain::{Chain, Provisioned, process};
use super::envelopes::{BAD_EVERY, Bad, Envelopes, store_with_drawer};
use super::figure::{Figure, Goal, Measurement, Sample};
use super::http::Line;
use super::postgres::Database;
use super::process::memory;
use super::statistics::{mib, per_second};
use super::{Bench, raw, verify};

const RATE: &str = "sales, all good";
/// By who finds the bad ones.
const BAD: [(Bad, &str, &str); 3] = [
    (Bad::Unread, "sales, 1 % bad, found when read", "sales, 1 % bad, found when read, on PostgreSQL"),
    (Bad::Rule, "sales, 1 % bad, found by a rule", "sales, 1 % bad, found by a rule, on PostgreSQL"),
    (Bad::Effect, "sales, 1 % bad, found when applied", "sales, 1 % bad, found when applied, on PostgreSQL"),
];
const TWO: &str = "sales, two stores at once";
const ON_POSTGRES: &str = "sales, all good, on PostgreSQL";
const NUL: &str = "sales, a NUL in 1 % of the notes, on PostgreSQL";
/// The most so far: after one store, and after two at once.
const MEMORY: [&str; 2] = ["headquarters, most memory, one store", "headquarters, most memory, two stores at once"];
const RESTED: &str = "headquarters, memory after a rest";
/// What an accepted sale is at headquarters, parents first.
pub const TABLES: &[&str] = &["sales", "sale_items", "sale_payments", "chain_entries", "stock_movements", "sync_log"];
const PRODUCTS: usize = 200;

pub const MEASUREMENT: Measurement = Measurement {
    id: "P2",
    title: "push of sales to headquarters, 1000 a request",
    figures: &[
        Figure::new(RATE, "sales/s", "the same rows by prepared statements of SQLite", Goal::Ratio(0.5)),
        Figure::new(BAD[0].1, "sales/s", "all good", Goal::Ratio(0.5)),
        Figure::new(BAD[1].1, "sales/s", "all good", Goal::Ratio(0.5)),
        Figure::new(BAD[2].1, "sales/s", "all good", Goal::Ratio(0.5)),
        Figure::new(TWO, "sales/s", "one store", Goal::Shown),
        Figure::most(MEMORY[0], "MiB", 250.0),
        Figure::most(MEMORY[1], "MiB", 250.0),
        Figure::new(verify::RATE, "sales/s", "the same of the first thousand sales", Goal::Shown),
        Figure::shown(verify::MEMORY, "MiB"),
        Figure::shown(RESTED, "MiB"),
        Figure::new(ON_POSTGRES, "sales/s", "binary COPY of the same rows", Goal::Ratio(0.4)),
        Figure::new(BAD[0].2, "sales/s", "all good on PostgreSQL", Goal::Ratio(0.5)),
        Figure::new(BAD[1].2, "sales/s", "all good on PostgreSQL", Goal::Ratio(0.5)),
        Figure::new(BAD[2].2, "sales/s", "all good on PostgreSQL", Goal::Ratio(0.5)),
        Figure::new(NUL, "sales/s", "all good on PostgreSQL", Goal::Ratio(0.7)),
    ],
    run: |bench| Box::pin(run(bench)),
};

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let sizes = &bench.sizes;
    let mut chain = Chain::start(bench).await?;
    let products = chain.products(PRODUCTS).await?;
    let (one, other) = (store_with_drawer(&mut chain).await?, store_with_drawer(&mut chain).await?);
    // What is read for the first time, and pages that are new to the file, are not what a push costs.
    let first = Requests { count: 1, sales: sizes.batch, bad: None };
    let good = Requests { count: sizes.pushes, ..first };
    push(&chain, &one, &products, first).await?;
    let data = chain.dir.join("hq");
    let few = if bench.is_first_run() { verify::run(bench, &data).await? } else { None };
    let rate = push(&chain, &one, &products, good).await?;
    let most = || anyhow::Ok(mib(memory(process(&chain.hq)?, "VmHWM")?));
    let by_one = most()?;
    let limit = limit(&data.join("tillkeep.db"), first.count + good.count, sizes.batch)?;
    let mut samples = vec![Sample::beside(RATE, rate, limit), Sample::new(MEMORY[0], by_one)];
    for (bad, figure, _) in BAD {
        let with_bad = push(&chain, &one, &products, Requests { bad: Some(bad), ..good }).await?;
        samples.push(Sample::beside(figure, with_bad, rate));
    }
    samples.push(Sample::beside(
        TWO,
        together(&[one, other], &[chain.hq.url.as_str(); 2], &products, good).await?,
        rate,
    ));
    let worked = Instant::now();
    samples.push(Sample::new(MEMORY[1], most()?));
    if bench.is_first_run() {
        // By a process of its own: headquarters rests meanwhile.
        let many = verify::run(bench, &data).await?;
        samples.extend(verify::samples(few.as_ref(), many.as_ref()));
        bench.rest(worked).await;
        samples.push(Sample::new(RESTED, mib(memory(process(&chain.hq)?, "VmRSS")?)));
    }
    chain.stop().await;
    if let Some(server) = &bench.postgres {
        let database = server.database("hq").await?;
        let measured = on_postgres(bench, &database).await;
        database.drop().await?;
        samples.extend(measured?);
    }
    Ok(samples)
}

async fn on_postgres(bench: &Bench, database: &Database) -> Result<Vec<Sample>> {
    let sizes = &bench.sizes;
    let mut chain = Chain::start_with(bench, vec![("DATABASE_URL", database.url.clone())]).await?;
    let products = chain.products(PRODUCTS).await?;
    let store = store_with_drawer(&mut chain).await?;
    let first = Requests { count: 1, sales: sizes.batch, bad: None };
    let good = Requests { count: sizes.pushes, ..first };
    push(&chain, &store, &products, first).await?;
    database.analyze().await?;
    let rate = push(&chain, &store, &products, good).await?;
    let copied = database.copy_again(TABLES).await?;
    let mut samples =
        vec![Sample::beside(ON_POSTGRES, rate, per_second((first.count + good.count) * sizes.batch, copied))];
    for (bad, _, figure) in BAD {
        let with_bad = push(&chain, &store, &products, Requests { bad: Some(bad), ..good }).await?;
        samples.push(Sample::beside(figure, with_bad, rate));
    }
    let with_nul = push(&chain, &store, &products, Requests { bad: Some(Bad::Nul), ..good }).await?;
    samples.push(Sample::beside(NUL, with_nul, rate));
    chain.stop().await;
    Ok(samples)
}

/// Sales a second of `SQLite` alone, in as many transactions as requests.
fn limit(path: &Path, requests: usize, sales: usize) -> Result<f64> {
    let took = raw::insert_again(path, TABLES, &path.with_extension("raw"), requests)?;
    Ok(per_second(requests * sales, took))
}

/// How much is pushed.
#[derive(Clone, Copy)]
pub struct Requests {
    pub count: usize,
    /// Of each.
    pub sales: usize,
    pub bad: Option<Bad>,
}

/// Sales a second that headquarters has answered, one request after the other.
pub async fn push(chain: &Chain, store: &Provisioned, products: &[String], requests: Requests) -> Result<f64> {
    let Requests { count, sales, bad } = requests;
    let envelopes = Envelopes { store, products, bad };
    let mut line = Line::open(&chain.hq.url).await?;
    let mut took = Duration::ZERO;
    for _ in 0..count {
        let request = envelopes.request(sales)?;
        let begun = Instant::now();
        let answer = line.expect(&request).await?;
        took += begun.elapsed();
        check(answer, requests)?;
    }
    Ok(per_second(count * sales, took))
}

/// Sales a second of stores that push at once, each to its server.
pub async fn together(stores: &[Provisioned], urls: &[&str], products: &[String], each: Requests) -> Result<f64> {
    let mut pushes = JoinSet::new();
    let mut lines = Vec::new();
    for (store, url) in stores.iter().zip(urls) {
        let envelopes = Envelopes { store, products, bad: None };
        let requests: Vec<_> = (0..each.count).map(|_| envelopes.request(each.sales)).collect::<Result<_>>()?;
        lines.push((Line::open(url).await?, requests));
    }
    let begun = Instant::now();
    for (mut line, requests) in lines {
        pushes.spawn(async move {
            for request in requests {
                check(line.expect(&request).await?, each)?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = pushes.join_next().await {
        done??;
    }
    Ok(per_second(stores.len() * each.count * each.sales, begun.elapsed()))
}

/// Headquarters took what is good and nothing else.
fn check(answer: &[u8], requests: Requests) -> Result<()> {
    let answer: Value = serde_json::from_slice(answer)?;
    let results = answer["results"].as_array().context("an answer without results")?;
    let wrong: Vec<&Value> = results.iter().filter(|result| result["status"] != "ok").collect();
    let expected = requests.bad.map_or(0, |_| requests.sales / BAD_EVERY);
    if wrong.len() != expected || results.len() != requests.sales {
        let first = wrong.first().map(ToString::to_string).unwrap_or_default();
        bail!("{} of {} sales were refused, not {expected} ({:?}): {first}", wrong.len(), results.len(), requests.bad);
    }
    Ok(())
}
