//! P6: sales at the tills of one store, durable before they are answered, beside the commits of `SQLite` itself.

use anyhow::{Context, Result};
use serde_json::json;
use uuid::Uuid;

use super::chain::{Api, Chain, Provisioned, process, text};
use super::drive::{Done, drive};
use super::figure::{Figure, Goal, Measurement, Sample};
use super::http::request;
use super::process::{Usage, written};
use super::statistics::kib;
use super::{Bench, raw};
use crate::child::Child;

const PRODUCTS: usize = 200;
const LINES: usize = 3;
/// In turn with the limit, so that whatever else the machine does falls on both.
const TURNS: u32 = 4;
const LIMIT: &str = "one-row FULL commits of SQLite";

/// So many tills, each with one sale under way.
struct Tills {
    count: usize,
    /// As [`MEASUREMENT`] names them.
    rate: &'static str,
    median: &'static str,
    p99: &'static str,
    cpu: &'static str,
    switches: &'static str,
    written: &'static str,
}

const ONE: Tills = Tills {
    count: 1,
    rate: "sales, 1 till",
    median: "1 till, median",
    p99: "1 till, p99",
    cpu: "1 till, CPU of the store",
    switches: "1 till, switches",
    written: "1 till, written to disk",
};
const EIGHT: Tills = Tills {
    count: 8,
    rate: "sales, 8 tills",
    median: "8 tills, median",
    p99: "8 tills, p99",
    cpu: "8 tills, CPU of the store",
    switches: "8 tills, switches",
    written: "8 tills, written to disk",
};
const MANY: Tills = Tills {
    count: 32,
    rate: "sales, 32 tills",
    median: "32 tills, median",
    p99: "32 tills, p99",
    cpu: "32 tills, CPU of the store",
    switches: "32 tills, switches",
    written: "32 tills, written to disk",
};
const TILLS: [&Tills; 3] = [&ONE, &EIGHT, &MANY];
/// Growth of the store's database once headquarters has everything.
const KEPT: &str = "stays in the database of the store";

pub const MEASUREMENT: Measurement = Measurement {
    id: "P6",
    title: "sale of 3 lines at the till, pushed to headquarters beside it",
    figures: &[
        share(&ONE),
        Figure::shown(ONE.median, "ms"),
        Figure::shown(ONE.p99, "ms"),
        Figure::most(ONE.cpu, "ms/sale", 1.2),
        Figure::shown(ONE.switches, "per sale"),
        Figure::shown(ONE.written, "KiB/sale"),
        share(&EIGHT),
        Figure::shown(EIGHT.median, "ms"),
        Figure::most(EIGHT.p99, "ms", 15.0),
        Figure::most(EIGHT.cpu, "ms/sale", 0.8),
        Figure::shown(EIGHT.switches, "per sale"),
        Figure::shown(EIGHT.written, "KiB/sale"),
        share(&MANY),
        Figure::shown(MANY.median, "ms"),
        Figure::shown(MANY.p99, "ms"),
        Figure::most(MANY.cpu, "ms/sale", 0.7),
        Figure::shown(MANY.switches, "per sale"),
        Figure::shown(MANY.written, "KiB/sale"),
        Figure::shown(KEPT, "KiB/sale"),
    ],
    run: |bench| Box::pin(run(bench)),
};

/// Of the commits that the disk takes, which differs from disk to disk: no goal.
const fn share(tills: &Tills) -> Figure {
    Figure::new(tills.rate, "sales/s", LIMIT, Goal::Shown)
}

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let mut chain = Chain::start(bench).await?;
    let products = chain.products(PRODUCTS).await?;
    let store = chain.provision().await?;
    let server = chain.open(&store).await?;
    let there = store.caught_up(&chain, &server).await?;
    let most = MANY.count;
    let shop = Shop::open(there, products, most).await?;
    shop.sell(&server, most, bench.sizes.warm_up()).await?;
    let (mut samples, mut all) = (Vec::new(), 0);
    let file = store.dir.join("tillkeep.db");
    store.has_sent_all().await?;
    let empty = raw::held(&file)?;
    for tills in TILLS {
        let mut commits = vec![durable(bench, &store).await?];
        let (mut sold, mut used) = (Done::default(), Usage::default());
        let before_all = written(process(&server)?);
        for _ in 0..TURNS {
            let before = Usage::read(process(&server)?)?;
            sold.join(shop.sell(&server, tills.count, bench.sizes.load() / TURNS).await?);
            used.add(Usage::read(process(&server)?)?.since(before));
            commits.push(durable(bench, &store).await?);
        }
        let wrote = written(process(&server)?).zip(before_all).map(|(after, before)| after.saturating_sub(before));
        all += sold.times.len();
        let commits = commits.iter().sum::<f64>() / commits.len() as f64;
        let sales = sold.times.len().max(1) as f64;
        samples.extend([
            Sample::beside(tills.rate, sold.per_second(), commits),
            Sample::new(tills.median, sold.times.median()),
            Sample::new(tills.p99, sold.times.percentile(99)),
            Sample::new(tills.cpu, used.cpu.as_secs_f64() * 1000.0 / sales),
            Sample::new(tills.switches, used.switches as f64 / sales),
        ]);
        samples.extend(wrote.map(|bytes| Sample::new(tills.written, kib(bytes) / sales)));
    }
    let kept = raw::held(&file)?.saturating_sub(empty);
    samples.push(Sample::new(KEPT, kib(kept) / all.max(1) as f64));
    server.stop().await;
    chain.stop().await;
    Ok(samples)
}

/// Durable commits of `SQLite` beside servers that have nothing more to do: all that was sold is at headquarters.
async fn durable(bench: &Bench, store: &Provisioned) -> Result<f64> {
    store.has_sent_all().await?;
    raw::commits(&store.dir, bench.sizes.commits())
}

/// A store with an open drawer at each till.
pub struct Shop {
    token: String,
    card: String,
    products: Vec<String>,
}

impl Shop {
    pub async fn open(there: Api, products: Vec<String>, tills: usize) -> Result<Self> {
        let tenders = there.get("/tenders").await?;
        let card = tenders.as_array().and_then(|list| list.iter().find(|tender| tender["code"] == "CARD"));
        let card = text(card.context("no tender for cards")?, "id")?;
        for till in 0..tills {
            let register = json!({"code": format!("{:02}", till + 1), "name": "Till", "terminalId": terminal(till)});
            let register = text(&there.post("/registers", register).await?, "id")?;
            there.post(&format!("/registers/{register}/open"), json!({})).await?;
        }
        Ok(Self { token: there.token, card, products })
    }

    /// Sells at so many tills for so long.
    pub async fn sell(&self, server: &Child, tills: usize, time: std::time::Duration) -> Result<Done> {
        let clients = (0..tills).map(|till| {
            let (token, card, products) = (self.token.clone(), self.card.clone(), self.products.clone());
            let mut number = till;
            move || {
                number += tills;
                request("POST", "/pos/sales", &token, &basket(&terminal(till), &card, &products, number))
            }
        });
        drive(&server.url, clients.collect(), time).await
    }
}

fn terminal(till: usize) -> String {
    format!("bench-{till}")
}

fn basket(terminal: &str, card: &str, products: &[String], number: usize) -> String {
    let lines = products.iter().cycle().skip(number * LINES % products.len()).take(LINES);
    let lines: Vec<String> = lines.map(|id| format!(r#"{{"productId":"{id}","quantity":1}}"#)).collect();
    format!(
        r#"{{"id":"{}","terminalId":"{terminal}","lines":[{}],"payments":[{{"tenderId":"{card}"}}]}}"#,
        Uuid::now_v7(),
        lines.join(",")
    )
}
