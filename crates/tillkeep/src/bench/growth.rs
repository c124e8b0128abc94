//! P10: what work costs when the tables are large, beside the same work on small ones.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};

use super::chain::{Chain, Provisioned};
use super::figure::{Figure, Goal, Measurement, Sample};
use super::fill::{self, Copies};
use super::http::{Line, request};
use super::idle::Word;
use super::push::{Requests, push};
use super::statistics::Times;
use super::{Bench, goods, sockets};

const LIMIT: &str = "the same at 1000 rows";
/// A cost may rise to one and a half.
const GOAL: Goal = Goal::Ratio(0.667);
const SLOWEST: &str = "slowest list";
const DASHBOARD: &str = "dashboard with all stores";
const PUSH: &str = "push of 1000 sales";
/// Rows of each kind in the small tables.
const SMALL: usize = 1000;
/// Stores at small and at large size.
const FEW_STORES: usize = 10;
const PRODUCTS: usize = 200;

/// Something that is asked for.
struct Question {
    name: &'static str,
    /// `{deep}` is a page far back, `{version}` a version in the middle.
    path: &'static str,
    /// Whether it is asked for by a store.
    machine: bool,
}

const QUESTIONS: &[Question] = &[
    Question {
        name: "pull of a page",
        path: "/sync/pull?entity_type=products&since_version={version}&limit=500",
        machine: true,
    },
    Question { name: "products, first page", path: "/products?page=1&pageSize=50", machine: false },
    Question { name: "products, deep page", path: "/products?page={deep}&pageSize=50", machine: false },
    Question { name: "products, search", path: "/products?search=bread%20number%2099&pageSize=50", machine: false },
    Question { name: "sales, first page", path: "/sales?page=1&pageSize=50", machine: false },
    Question { name: "sales, deep page", path: "/sales?page={deep}&pageSize=50", machine: false },
    Question { name: "sales of one store", path: "/sales?storeId={store}&page=1&pageSize=50", machine: false },
];

pub const MEASUREMENT: Measurement = Measurement {
    id: "P10",
    title: "growth",
    figures: &[
        Figure::new(QUESTIONS[0].name, "per s", LIMIT, GOAL),
        Figure::new(QUESTIONS[1].name, "per s", LIMIT, GOAL),
        Figure::new(QUESTIONS[2].name, "per s", LIMIT, GOAL),
        Figure::new(QUESTIONS[3].name, "per s", LIMIT, GOAL),
        Figure::new(QUESTIONS[4].name, "per s", LIMIT, GOAL),
        Figure::new(QUESTIONS[5].name, "per s", LIMIT, GOAL),
        Figure::new(QUESTIONS[6].name, "per s", LIMIT, GOAL),
        Figure::new(PUSH, "per s", LIMIT, GOAL),
        Figure::most(SLOWEST, "ms", 50.0),
        Figure::most(DASHBOARD, "ms", 100.0),
    ],
    run: |bench| Box::pin(run(bench)),
};

/// Rows of pushed sales, each with one line, one payment, one movement and one line of the log.
const SALES: &[Copies] = &[
    Copies {
        table: "sales",
        row: "TRUE",
        but: &[
            fill::ID,
            ("receipt_number", "printf('S01-08-%08d', n.i)"),
            ("completed_at", "strftime('%Y-%m-%dT%H:%M:%f+00:00', t.completed_at, printf('-%d seconds', n.i))"),
        ],
    },
    Copies { table: "sale_items", row: "TRUE", but: &[fill::ID, fill::SALE] },
    Copies { table: "sale_payments", row: "TRUE", but: &[fill::ID, fill::SALE] },
    Copies {
        table: "stock_movements",
        row: "TRUE",
        but: &[fill::ID, ("source_id", fill::RANDOM), ("source_line_id", fill::RANDOM)],
    },
    Copies { table: "sync_log", row: "entity_type = 'sales'", but: &[fill::ID, ("entity_id", "hex(randomblob(16))")] },
];

/// What each question takes, in milliseconds.
struct Costs {
    questions: Vec<f64>,
    push: f64,
    dashboard: f64,
}

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let sizes = &bench.sizes;
    let batches = Requests { count: 3, sales: sizes.batch, bad: None };
    let mut chain = Chain::start(bench).await?;
    let products = chain.products(PRODUCTS).await?;
    let store = chain.provision().await?;
    // The rows that the others are copies of.
    push(&chain, &store, &products, Requests { count: 1, ..batches }).await?;
    Word::load(&chain.machine(&store)).await?;
    // What a store pulled is written when a user looks.
    chain.admin.get("/sync/dashboard").await?;
    let chain = chain.restart(|path| grow(path, SMALL, SMALL, FEW_STORES)).await?;
    let pushes = Pushes { store: &store, products: &products, requests: batches };
    let small = costs(&chain, &pushes, sizes.asked, SMALL).await?;
    let chain = chain.restart(|path| grow(path, sizes.products, sizes.sales, sizes.stores)).await?;
    let large = costs(&chain, &pushes, sizes.asked, sizes.products.min(sizes.sales)).await?;
    chain.stop().await;
    let rate = |time: f64| 1000.0 / time.max(1e-6);
    let asked = QUESTIONS.iter().zip(large.questions.iter().zip(&small.questions));
    let mut samples: Vec<Sample> =
        asked.map(|(question, (large, small))| Sample::beside(question.name, rate(*large), rate(*small))).collect();
    samples.push(Sample::beside(PUSH, rate(large.push), rate(small.push)));
    let lists = QUESTIONS.iter().zip(&large.questions).filter(|(question, _)| !question.machine);
    samples.push(Sample::new(SLOWEST, lists.map(|(_, time)| *time).fold(0.0, f64::max)));
    samples.push(Sample::new(DASHBOARD, large.dashboard));
    Ok(samples)
}

fn grow(path: &Path, products: usize, sales: usize, stores: usize) -> Result<()> {
    goods::write(path, products)?;
    for copies in SALES {
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
    let mut questions = Vec::new();
    for question in QUESTIONS {
        let token = if question.machine { &store.sync_token } else { &chain.admin.token };
        let mut took = Times::default();
        for number in 0..times {
            // Each another page, so that none is answered from memory.
            let path = question
                .path
                .replace("{deep}", &(rows / 50 * 3 / 4 + number % 5 + 1).to_string())
                .replace("{version}", &(rows / 2 + number * 7).to_string())
                .replace("{store}", &store.id.to_string());
            let request = request("GET", &path, token, "");
            let begun = Instant::now();
            line.expect(&request).await.with_context(|| question.name)?;
            took.add(begun.elapsed());
        }
        questions.push(took.median());
    }
    let dashboard = request("GET", "/sync/dashboard", &chain.admin.token, "");
    let mut took = Times::default();
    for _ in 0..times.min(5) {
        let begun = Instant::now();
        line.expect(&dashboard).await?;
        took.add(begun.elapsed());
    }
    let rate = push(chain, store, products, *requests).await?;
    Ok(Costs { questions, push: requests.sales as f64 * 1000.0 / rate.max(1e-6), dashboard: took.median() })
}
