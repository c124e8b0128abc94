//! The lists of headquarters, a push and its dashboard, at two sizes.

use std::path::Path;

use anyhow::Result;

use super::chain::{Chain, Provisioned, process};
use super::envelopes::store_with_drawer;
use super::figure::Sample;
use super::fill::{self, Copies};
use super::growth_questions::{Asking, PRODUCTS, Question, SMALL, ask, rates};
use super::http::Line;
use super::idle::Word;
use super::process::memory;
use super::push::{Requests, push};
use super::statistics::mib;
use super::{Bench, goods, sockets, start};

pub const SLOWEST: &str = "slowest list";
pub const SUMS: &str = "sales, what all come to";
pub const DASHBOARD: &str = "dashboard with all stores";
pub const PUSH: &str = "push of 1000 sales";
pub const MEMORY: &str = "headquarters, memory after all of it";
pub const STARTS: &str = "headquarters: starts";
pub const START: &str = "headquarters: start to ready";
/// Stores at small and at large size.
const FEW_STORES: usize = 10;

pub const QUESTIONS: &[Question] = &[
    Question {
        name: "pull of a page",
        path: "/sync/pull?entity_type=products&since_version={version}&limit=500",
        machine: true,
    },
    Question::new("products, first page", "/products?page=1&pageSize=50"),
    Question::new("products, deep page", "/products?page={deep}&pageSize=50"),
    Question::new("products, search", "/products?search=bread%20number%2099&pageSize=50"),
    Question::new("sales, first page", "/sales?page=1&pageSize=50"),
    Question::new("sales, deep page", "/sales?page={deep}&pageSize=50"),
    Question::new("sales of one store", "/sales?storeId={store}&page=1&pageSize=50"),
    Question::new("sales, by receipt", "/sales?receiptNumber={receipt}"),
    Question::new("sales, by status", "/sales?status=voided"),
    Question::new("sales, by total", "/sales?sort=-totalAmount"),
    Question::new("sales, a day of all stores", "/sales?businessDateFrom={day}&businessDateTo={day}"),
    Question::new("sales, paid with a tender", "/sales?tenderCode=CARD"),
    Question::new("sales, a day of one store", "/sales?storeId={store}&businessDateFrom={day}&businessDateTo={day}"),
    Question::new("completeness of a day", "/sync/completeness?storeId={store}&date={day}"),
];

/// Rows of pushed sales, each with one line, one payment, one movement and one line of the log.
pub const SALES: &[Copies] = &[
    Copies {
        table: "sales",
        row: "TRUE",
        but: &[
            fill::ID,
            ("receipt_number", "printf('S01-08-%08d', n.i)"),
            ("receipt_end", "printf('%s-80-10s', n.i)"),
            ("completed_at", "strftime('%Y-%m-%dT%H:%M:%f+00:00', t.completed_at, printf('-%d seconds', n.i))"),
            ("created_at", "strftime('%Y-%m-%dT%H:%M:%f+00:00', t.created_at, printf('-%d seconds', n.i))"),
            ("business_date", "date('2026-01-01', printf('-%d days', n.i / 300))"),
            ("status", "iif(n.i % 97 = 0, 'voided', 'completed')"),
            ("total_amount", "t.total_amount + n.i * 7919 % 10007"),
        ],
    },
    Copies { table: "sale_items", row: "TRUE", but: &[fill::ID, fill::SALE] },
    Copies { table: "sale_payments", row: "TRUE", but: &[fill::ID, fill::SALE] },
];
/// What headquarters has of them beside that.
const TAKEN: &[Copies] = &[
    Copies {
        table: "stock_movements",
        row: "TRUE",
        but: &[fill::ID, ("source_id", fill::RANDOM), ("source_line_id", fill::RANDOM)],
    },
    Copies { table: "sync_log", row: "entity_type = 'sales'", but: &[fill::ID, ("entity_id", "hex(randomblob(16))")] },
];

/// What each question takes, and the rest, in milliseconds.
struct Costs {
    questions: Vec<f64>,
    push: f64,
    sums: f64,
    dashboard: f64,
}

pub async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let sizes = &bench.sizes;
    let batches = Requests { count: 3, sales: sizes.batch, bad: None };
    let mut chain = Chain::start(bench).await?;
    let products = chain.products(PRODUCTS).await?;
    let store = store_with_drawer(&mut chain).await?;
    // The rows that the others are copies of.
    push(&chain, &store, &products, Requests { count: 1, ..batches }).await?;
    Word::load(&chain.machine(&store)).await?;
    // What a store pulled is written when a user looks.
    chain.admin.get("/sync/dashboard").await?;
    let chain = chain.restart(|path| grow(path, SMALL, SMALL, FEW_STORES)).await?;
    let (chain, quick_start) = start::hq_again(chain, sizes.starts).await?;
    let pushes = Pushes { store: &store, products: &products, requests: batches };
    let small = costs(&chain, &pushes, sizes.asked, SMALL).await?;
    let chain = chain.restart(|path| grow(path, sizes.products, sizes.sales, sizes.stores)).await?;
    let (chain, start) = start::hq_again(chain, sizes.starts).await?;
    let large = costs(&chain, &pushes, sizes.asked, sizes.products.min(sizes.sales)).await?;
    let resident = memory(process(&chain.hq)?, "VmRSS")?;
    chain.stop().await;
    let names: Vec<_> = QUESTIONS.iter().map(|question| question.name).collect();
    let mut samples = rates(&names, &large.questions, &small.questions);
    samples.extend(rates(&[PUSH, STARTS], &[large.push, start], &[small.push, quick_start]));
    let lists = QUESTIONS.iter().zip(&large.questions).filter(|(question, _)| !question.machine);
    samples.push(Sample::new(SLOWEST, lists.map(|(_, time)| *time).fold(0.0, f64::max)));
    samples.push(Sample::new(SUMS, large.sums));
    samples.push(Sample::new(DASHBOARD, large.dashboard));
    samples.push(Sample::new(MEMORY, mib(resident)));
    samples.push(Sample::new(START, start));
    Ok(samples)
}

fn grow(path: &Path, products: usize, sales: usize, stores: usize) -> Result<()> {
    goods::write(path, products)?;
    for copies in SALES.iter().chain(TAKEN) {
        copies.write(path, sales)?;
    }
    sockets::write(path, stores)?;
    ["sync_status", "store_nodes"].into_iter().try_for_each(|table| fill::of_every_store(path, table))
}

/// What is pushed at each size.
struct Pushes<'a> {
    store: &'a Provisioned,
    products: &'a [String],
    requests: Requests,
}

async fn costs(chain: &Chain, pushes: &Pushes<'_>, times: usize, rows: usize) -> Result<Costs> {
    let Pushes { store, products, requests } = pushes;
    let mut line = Line::open(&chain.hq.url).await?;
    let id = store.id.to_string();
    let asking = Asking { token: &chain.admin.token, times, rows, store: &id };
    let machine = Asking { token: &store.sync_token, ..asking };
    let few = Asking { times: times.min(5), ..asking };
    let mut questions = Vec::new();
    for question in QUESTIONS {
        questions.push(ask(&mut line, question, if question.machine { machine } else { asking }).await?);
    }
    let sums = ask(&mut line, &Question::new(SUMS, "/sales?sums=true"), few).await?;
    let dashboard = ask(&mut line, &Question::new(DASHBOARD, "/sync/dashboard"), few).await?;
    let rate = push(chain, store, products, *requests).await?;
    Ok(Costs { questions, push: requests.sales as f64 * 1000.0 / rate.max(1e-6), sums, dashboard })
}

#[cfg(test)]
mod tests {
    use super::super::growth_questions::{A_DAY, LAST_DAY};
    use super::*;

    #[test]
    fn the_days_that_are_asked_for_are_those_of_the_copies() {
        let date = SALES[0].but.iter().find(|(column, _)| *column == "business_date").expect("the column").1;
        assert_eq!(date, format!("date('{LAST_DAY}', printf('-%d days', n.i / {A_DAY}))"));
    }
}
