//! P2: sales that stores push, a thousand a request, beside the same rows by the database alone.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::task::JoinSet;

use super::chain::{Chain, Provisioned};
use super::envelopes::Envelopes;
use super::figure::{Figure, Goal, Measurement, Sample};
use super::http::Line;
use super::postgres::Database;
use super::statistics::per_second;
use super::{Bench, raw};

const RATE: &str = "sales, all good";
const BAD: &str = "sales, 1 % bad";
const TWO: &str = "sales, two stores at once";
const ON_POSTGRES: &str = "sales, all good, on PostgreSQL";
const BAD_ON_POSTGRES: &str = "sales, 1 % bad, on PostgreSQL";
/// What an accepted sale is at headquarters, parents first.
const TABLES: &[&str] = &["sales", "sale_items", "sale_payments", "stock_movements", "sync_log"];
pub const SALES: usize = 1000;
const BAD_EVERY: usize = 100;
const PRODUCTS: usize = 200;

pub const MEASUREMENT: Measurement = Measurement {
    id: "P2",
    title: "push of sales to headquarters, 1000 a request",
    figures: &[
        Figure::of(RATE, "sales/s", "the same rows by prepared statements of SQLite", Goal::Ratio(0.5)),
        Figure::of(BAD, "sales/s", "all good", Goal::Ratio(0.5)),
        Figure::of(TWO, "sales/s", "one store", Goal::Told),
        Figure::of(ON_POSTGRES, "sales/s", "binary COPY of the same rows", Goal::Ratio(0.4)),
        Figure::of(BAD_ON_POSTGRES, "sales/s", "all good on PostgreSQL", Goal::Ratio(0.5)),
    ],
    run: |bench| Box::pin(run(bench)),
};

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let requests = bench.sizes.pushes;
    let mut chain = Chain::start(bench).await?;
    let products = chain.products(PRODUCTS).await?;
    let (one, other) = (chain.provision().await?, chain.provision().await?);
    // What is read for the first time, and pages that are new to the file, are not what a push costs.
    push(&chain, &one, &products, None, 1).await?;
    let good = push(&chain, &one, &products, None, requests).await?;
    let limit = limit(&chain.dir.join("hq/tillkeep.db"), requests + 1)?;
    let bad = push(&chain, &one, &products, Some(BAD_EVERY), requests).await?;
    let two = together(&chain, &[one, other], &products, requests).await?;
    chain.stop().await;
    let mut samples =
        vec![Sample::beside(RATE, good, limit), Sample::beside(BAD, bad, good), Sample::beside(TWO, two, good)];
    if let Some(server) = &bench.postgres {
        let database = server.database("hq").await?;
        let measured = on_postgres(bench, &database).await;
        database.drop().await?;
        samples.extend(measured?);
    }
    Ok(samples)
}

async fn on_postgres(bench: &Bench, database: &Database) -> Result<[Sample; 2]> {
    let requests = bench.sizes.pushes;
    let mut chain = Chain::start_with(bench, vec![("DATABASE_URL", database.url.clone())]).await?;
    let products = chain.products(PRODUCTS).await?;
    let store = chain.provision().await?;
    push(&chain, &store, &products, None, 1).await?;
    let good = push(&chain, &store, &products, None, requests).await?;
    let copied = database.copy_again(TABLES).await?;
    let bad = push(&chain, &store, &products, Some(BAD_EVERY), requests).await?;
    chain.stop().await;
    let limit = per_second((requests + 1) * SALES, copied);
    Ok([Sample::beside(ON_POSTGRES, good, limit), Sample::beside(BAD_ON_POSTGRES, bad, good)])
}

/// Sales a second of `SQLite` alone, in as many transactions as requests.
fn limit(path: &Path, requests: usize) -> Result<f64> {
    let took = raw::insert_again(path, TABLES, &path.with_extension("raw"), requests)?;
    Ok(per_second(requests * SALES, took))
}

/// Sales a second that headquarters has answered, over so many requests one after the other.
pub async fn push(
    chain: &Chain,
    store: &Provisioned,
    products: &[String],
    bad_every: Option<usize>,
    requests: usize,
) -> Result<f64> {
    let envelopes = Envelopes { store: store.id, products, bad_every };
    let mut line = Line::open(&chain.hq.url).await?;
    let mut took = Duration::ZERO;
    for _ in 0..requests {
        let request = envelopes.request(&store.sync_token, SALES);
        let begun = Instant::now();
        let answer = line.expect(&request).await?;
        took += begun.elapsed();
        check(answer, bad_every)?;
    }
    Ok(per_second(requests * SALES, took))
}

async fn together(chain: &Chain, stores: &[Provisioned], products: &[String], requests: usize) -> Result<f64> {
    let mut pushes = JoinSet::new();
    let mut lines = Vec::new();
    for store in stores {
        let envelopes = Envelopes { store: store.id, products, bad_every: None };
        let requests: Vec<_> = (0..requests).map(|_| envelopes.request(&store.sync_token, SALES)).collect();
        lines.push((Line::open(&chain.hq.url).await?, requests));
    }
    let begun = Instant::now();
    for (mut line, requests) in lines {
        pushes.spawn(async move {
            for request in requests {
                check(line.expect(&request).await?, None)?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = pushes.join_next().await {
        done??;
    }
    Ok(per_second(stores.len() * requests * SALES, begun.elapsed()))
}

/// Headquarters took what is good and nothing else.
fn check(answer: &[u8], bad_every: Option<usize>) -> Result<()> {
    let answer: Value = serde_json::from_slice(answer)?;
    let results = answer["results"].as_array().context("an answer without results")?;
    let wrong: Vec<&Value> = results.iter().filter(|result| result["status"] != "ok").collect();
    let expected = bad_every.map_or(0, |every| SALES / every);
    if wrong.len() != expected || results.len() != SALES {
        let first = wrong.first().map(ToString::to_string).unwrap_or_default();
        bail!("{} of {} sales were refused, not {expected}: {first}", wrong.len(), results.len());
    }
    Ok(())
}
