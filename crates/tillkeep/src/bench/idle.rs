//! P3: what an idle store asks each cycle, beside an empty handler of hyper alone that checks the same token.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use uuid::Uuid;

use super::chain::{Api, Chain, Provisioned, process, text};
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
        Figure::new(
            RATE,
            "requests/s",
            "an empty handler of hyper alone behind the same token check",
            Goal::Ratio(0.8),
        ),
        Figure::shown(CPU, "µs/request"),
    ],
    run: |bench| Box::pin(run(bench)),
};

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let mut chain = Chain::start(bench).await?;
    chain.products(10).await?;
    let mut provisioned = Vec::new();
    for _ in 0..STORES {
        provisioned.push(chain.provision().await?);
    }
    // Each new store is a change for those before it: they have everything only after the last one.
    let mut stores = Vec::new();
    for store in provisioned {
        let path = Word::load(&chain.machine(&store)).await?.versions();
        stores.push((store, path));
    }
    let beside = chain.dir.join("empty");
    std::fs::create_dir_all(&beside)?;
    std::fs::copy(chain.dir.join("hq/token.key"), beside.join("token.key"))?;
    let empty = Child::start(&std::env::current_exe()?, (empty::COMMAND, 0), &beside, &[], "the empty handler").await?;
    let (mut asked, mut nothing, mut used) = (Done::default(), Done::default(), Usage::default());
    for _ in 0..TURNS {
        nothing.join(ask(&empty.url, &stores, &bench.sizes).await?);
        let before = Usage::read(process(&chain.hq)?)?;
        asked.join(ask(&chain.hq.url, &stores, &bench.sizes).await?);
        used.add(Usage::read(process(&chain.hq)?)?.since(before));
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

/// The word of a store that has everything: its version of each type, with the tag, and its empty outbox.
#[derive(Clone)]
pub struct Word {
    pub epoch: String,
    /// Version and tag of each type.
    have: BTreeMap<String, (i64, Option<String>)>,
    instance: Uuid,
    nonce: Option<String>,
    /// Over how long the store is to spread what it does after a notification.
    pub spread: Duration,
}

/// As a store asks for a page of what moved.
const PAGE: u64 = 500;

impl Word {
    /// That of a new process of this store, which pulls the end of each type for its tag.
    pub async fn load(machine: &Api) -> Result<Self> {
        let (mut word, versions) = Self::greet(machine).await?;
        for (entity_type, version) in versions.as_object().context("versions")? {
            let version = version.as_i64().unwrap_or_default();
            word.have.insert(entity_type.clone(), ((version - 1).max(0), None));
            let page = machine.call("GET", &word.pull(entity_type), None).await?;
            word.has(entity_type, version, &page);
        }
        Ok(word)
    }

    /// That of another store that has the same.
    pub async fn like(&self, machine: &Api) -> Result<Self> {
        let (word, _) = Self::greet(machine).await?;
        Ok(Self { have: self.have.clone(), ..word })
    }

    async fn greet(machine: &Api) -> Result<(Self, Value)> {
        let instance = Uuid::now_v7();
        let hello = json!({"nodeEpoch": Uuid::now_v7(), "instance": instance});
        let mut greeted = machine.call("POST", "/sync/handshake", Some(hello)).await?;
        let (epoch, nonce) = (text(&greeted, "epoch")?, greeted["nonce"].as_str().map(str::to_owned));
        let spread = Duration::from_millis(greeted["notifyDelayMs"].as_u64().unwrap_or_default());
        Ok((Self { epoch, have: BTreeMap::new(), instance, nonce, spread }, greeted["versions"].take()))
    }

    /// The path of the question.
    pub fn versions(&self) -> String {
        let tagged = |tag: &Option<String>| tag.as_ref().map(|tag| format!(":{tag}")).unwrap_or_default();
        let have: Vec<String> =
            self.have.iter().map(|(name, (version, tag))| format!("{name}:{version}{}", tagged(tag))).collect();
        let nonce = self.nonce.as_ref().map(|nonce| format!("&nonce={nonce}")).unwrap_or_default();
        let (epoch, have, instance) = (&self.epoch, have.join(","), self.instance);
        format!("/sync/versions?epoch={epoch}&have={have}&pending=0&dead=0&instance={instance}{nonce}")
    }

    /// The path of the next page of a type.
    pub fn pull(&self, entity_type: &str) -> String {
        let (since, tag) = self.have.get(entity_type).cloned().unwrap_or_default();
        let tag = tag.map(|tag| format!("&since_tag={tag}")).unwrap_or_default();
        let epoch = &self.epoch;
        format!("/sync/pull?entity_type={entity_type}&since_version={since}&limit={PAGE}&epoch={epoch}{tag}")
    }

    /// The store has a type up to `version`, by the end of `page`.
    pub fn has(&mut self, entity_type: &str, version: i64, page: &Value) {
        self.have.insert(entity_type.to_owned(), (version, page["tag"].as_str().map(str::to_owned)));
    }

    /// The types of which the answer to the question says that there is more.
    pub fn moved(&self, answer: &Value) -> Vec<String> {
        let versions = answer["versions"].as_object();
        let newer = |name: &str, version: &Value| {
            self.have.get(name).is_some_and(|(had, _)| version.as_i64().is_some_and(|version| version > *had))
        };
        versions
            .into_iter()
            .flatten()
            .filter(|(name, version)| newer(name, version))
            .map(|(name, _)| name.clone())
            .collect()
    }
}
