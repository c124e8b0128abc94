//! The sales of a store, and how it stands when nothing of them could be sent.

use anyhow::{Context, Result};
use rusqlite::Connection;

use super::chain::Chain;
use super::figure::Sample;
use super::fill::Copies;
use super::growth_at_headquarters::SALES;
use super::growth_questions::{Asking, PRODUCTS, Question, SMALL, ask, rates};
use super::http::Line;
use super::sale::Shop;
use super::{Bench, start};

pub const SLOWEST: &str = "store: slowest list";
pub const STARTS: &str = "store: starts";
pub const START: &str = "store: start to ready";
/// More sales than a store keeps.
const MOST: usize = 200_000;

pub const QUESTIONS: &[Question] = &[
    Question::new("store: sales, first page", "/pos/sales?page=1&pageSize=50"),
    Question::new("store: sales, deep page", "/pos/sales?page={deep}&pageSize=50"),
    Question::new("store: sales, search", "/pos/sales?search={receipt}"),
    Question::new("store: sales, by status", "/pos/sales?status=voided"),
    Question::new("store: sales, by receipt", "/pos/sales?receiptNumber={receipt}"),
    Question::new("store: state, all of it waiting", "/sync/status"),
];

/// An entry of each sale that waits for a line.
const WAITING: Copies = Copies {
    table: "sync_outbox",
    row: "entity_type = 'sales'",
    but: &[("seq", "n.i + (SELECT MAX(m.seq) FROM sync_outbox m)"), ("entity_id", "randomblob(16)")],
};

pub async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let mut chain = Chain::start(bench).await?;
    let products = chain.products(PRODUCTS).await?;
    let store = chain.provision().await?;
    let mut server = chain.open(&store).await?;
    let there = store.caught_up(&chain, &server).await?;
    let token = there.token.clone();
    let shop = Shop::open(there, products, 1).await?;
    let url = chain.hq.url.clone();
    chain.stop().await;
    // The rows that the others are copies of; from now on nothing is sent.
    shop.sell(&server, 1, bench.sizes.warm_up()).await?;
    let path = store.dir.join("tillkeep.db");
    let (mut costs, mut starts) = (Vec::new(), Vec::new());
    let large = bench.sizes.sales.min(MOST);
    for rows in [SMALL, large] {
        for copies in SALES {
            copies.write(&path, rows)?;
        }
        WAITING.write(&path, rows)?;
        // What the copies left in the log of the database is nothing that a question waits for.
        Connection::open(&path)?
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .context("a checkpoint")?;
        let (again, start) = start::store_again(bench, &store, server, &url).await?;
        server = again;
        starts.push(start);
        let mut line = Line::open(&server.url).await?;
        let mut times = Vec::new();
        let asking = Asking { token: &token, times: bench.sizes.asked, rows, store: "" };
        for question in QUESTIONS {
            times.push(ask(&mut line, question, asking).await?);
        }
        costs.push(times);
    }
    server.stop().await;
    let names: Vec<_> = QUESTIONS.iter().map(|question| question.name).collect();
    let mut samples = rates(&names, &costs[1], &costs[0]);
    samples.push(Sample::new(SLOWEST, costs[1].iter().copied().fold(0.0, f64::max)));
    samples.extend(rates(&[STARTS], &starts[1..], &starts[..1]));
    samples.push(Sample::new(START, starts[1]));
    Ok(samples)
}
