//! P3: what an idle store asks each cycle, beside an empty handler that looks at the same token.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use uuid::Uuid;

use super::chain::{Chain, Provisioned, process, text};
use super::drive::{Done, drive};
use super::figure::{Figure, Goal, Measurement, Sample};
use super::http::request;
use super::process::Usage;
use super::{Bench, Sizes, empty};
use crate::child::Child;

const RATE: &str = "versions";
const CPU: &str = "versions, CPU of headquarters";
/// Connections that ask at once.
const STORES: usize = 8;
/// In turn, so that whatever else the machine does falls on both.
const TURNS: u32 = 4;

pub const MEASUREMENT: Measurement = Measurement {
    id: "P3",
    title: "idle cycle of a store",
    figures: &[
        Figure::of(RATE, "requests/s", "empty handler behind the same token check", Goal::Ratio(0.8)),
        Figure::told(CPU, "µs/request"),
    ],
    run: |bench| Box::pin(run(bench)),
};

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let mut chain = Chain::start(bench).await?;
    chain.products(10).await?;
    let mut stores = Vec::new();
    for _ in 0..STORES {
        let store = chain.provision().await?;
        let path = question(&chain, &store).await?;
        stores.push((store, path));
    }
    let beside = chain.dir.join("empty");
    std::fs::create_dir_all(&beside)?;
    std::fs::copy(chain.dir.join("hq/token.key"), beside.join("token.key"))?;
    let empty = Child::start(&std::env::current_exe()?, empty::COMMAND, &beside, &[], "the empty handler").await?;
    let (mut asked, mut nothing, mut used) = (Done::default(), Done::default(), Usage::default());
    for _ in 0..TURNS {
        nothing.join(ask(&empty.url, &stores, &bench.sizes).await?);
        let before = Usage::of(process(&chain.hq)?)?;
        asked.join(ask(&chain.hq.url, &stores, &bench.sizes).await?);
        used.add(Usage::of(process(&chain.hq)?)?.since(before));
    }
    empty.stop().await;
    chain.stop().await;
    let each = used.cpu.as_secs_f64() * 1e6 / asked.times.len().max(1) as f64;
    Ok(vec![Sample::beside(RATE, asked.per_second(), nothing.per_second()), Sample::new(CPU, each)])
}

async fn ask(url: &str, stores: &[(Provisioned, String)], sizes: &Sizes) -> Result<Done> {
    let clients = stores.iter().map(|(store, path)| {
        let request = request("GET", path, &store.sync_token, "");
        move || request.clone()
    });
    drive(url, clients.collect(), sizes.load() / TURNS).await
}

/// What a store that has everything asks: its word on each type, with the tag of each, and on its outbox.
async fn question(chain: &Chain, store: &Provisioned) -> Result<String> {
    let machine = chain.machine(store);
    let instance = Uuid::now_v7();
    let hello = json!({"nodeEpoch": Uuid::now_v7(), "instance": instance});
    let greeted = machine.call("POST", "/sync/handshake", Some(hello)).await?;
    let epoch = text(&greeted, "epoch")?;
    let mut have = Vec::new();
    for (entity_type, version) in greeted["versions"].as_object().context("versions")? {
        let since = version.as_i64().unwrap_or_default() - 1;
        let path = format!("/sync/pull?entity_type={entity_type}&since_version={}&epoch={epoch}", since.max(0));
        let page: Value = machine.call("GET", &path, None).await?;
        let tag = page["tag"].as_str().map(|tag| format!(":{tag}")).unwrap_or_default();
        have.push(format!("{entity_type}:{version}{tag}"));
    }
    let nonce = greeted["nonce"].as_str().map(|nonce| format!("&nonce={nonce}")).unwrap_or_default();
    let have = have.join(",");
    Ok(format!("/sync/versions?epoch={epoch}&have={have}&pending=0&dead=0&instance={instance}{nonce}"))
}
