//! P6: sales at the tills of one store, durable before they are answered, beside the commits of `SQLite` itself.

use anyhow::{Context, Result};
use serde_json::json;
use uuid::Uuid;

use super::chain::{Api, Chain, Provisioned, process, text};
use super::drive::{Done, drive};
use super::figure::{Figure, Goal, Measurement, Sample};
use super::http::request;
use super::process::Usage;
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
    /// Sales a second, median, p99, processor and context switches, as [`MEASUREMENT`] names them.
    figures: [&'static str; 5],
}

const TILLS: &[Tills] = &[
    Tills {
        count: 1,
        figures: ["sales, 1 till", "1 till, median", "1 till, p99", "1 till, CPU of the store", "1 till, switches"],
    },
    Tills {
        count: 8,
        figures: [
            "sales, 8 tills",
            "8 tills, median",
            "8 tills, p99",
            "8 tills, CPU of the store",
            "8 tills, switches",
        ],
    },
    Tills {
        count: 32,
        figures: [
            "sales, 32 tills",
            "32 tills, median",
            "32 tills, p99",
            "32 tills, CPU of the store",
            "32 tills, switches",
        ],
    },
];

pub const MEASUREMENT: Measurement = Measurement {
    id: "P6",
    title: "sale of 3 lines at the till, pushed to headquarters beside it",
    figures: &[
        Figure::new(TILLS[0].figures[0], "sales/s", LIMIT, Goal::Ratio(0.12)),
        Figure::shown(TILLS[0].figures[1], "ms"),
        Figure::shown(TILLS[0].figures[2], "ms"),
        Figure::shown(TILLS[0].figures[3], "ms/sale"),
        Figure::shown(TILLS[0].figures[4], "per sale"),
        Figure::new(TILLS[1].figures[0], "sales/s", LIMIT, Goal::Ratio(0.3)),
        Figure::shown(TILLS[1].figures[1], "ms"),
        Figure::most(TILLS[1].figures[2], "ms", 15.0),
        Figure::shown(TILLS[1].figures[3], "ms/sale"),
        Figure::shown(TILLS[1].figures[4], "per sale"),
        Figure::new(TILLS[2].figures[0], "sales/s", LIMIT, Goal::Ratio(0.4)),
        Figure::shown(TILLS[2].figures[1], "ms"),
        Figure::shown(TILLS[2].figures[2], "ms"),
        Figure::shown(TILLS[2].figures[3], "ms/sale"),
        Figure::shown(TILLS[2].figures[4], "per sale"),
    ],
    run: |bench| Box::pin(run(bench)),
};

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let mut chain = Chain::start(bench).await?;
    let products = chain.products(PRODUCTS).await?;
    let store = chain.provision().await?;
    let server = chain.open(&store).await?;
    let there = store.caught_up(&chain, &server).await?;
    let most = TILLS.iter().map(|tills| tills.count).max().unwrap_or_default();
    let shop = Shop::open(there, products, most).await?;
    shop.sell(&server, most, bench.sizes.warm_up()).await?;
    let mut samples = Vec::new();
    for tills in TILLS {
        let mut commits = vec![durable(bench, &store).await?];
        let (mut sold, mut used) = (Done::default(), Usage::default());
        for _ in 0..TURNS {
            let before = Usage::read(process(&server)?)?;
            sold.join(shop.sell(&server, tills.count, bench.sizes.load() / TURNS).await?);
            used.add(Usage::read(process(&server)?)?.since(before));
            commits.push(durable(bench, &store).await?);
        }
        let commits = commits.iter().sum::<f64>() / commits.len() as f64;
        let sales = sold.times.len().max(1) as f64;
        let [rate, median, p99, cpu, switches] = tills.figures;
        samples.extend([
            Sample::beside(rate, sold.per_second(), commits),
            Sample::new(median, sold.times.median()),
            Sample::new(p99, sold.times.percentile(99)),
            Sample::new(cpu, used.cpu.as_secs_f64() * 1000.0 / sales),
            Sample::new(switches, used.switches as f64 / sales),
        ]);
    }
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
