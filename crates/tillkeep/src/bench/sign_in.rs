//! P7: signing in at a store with a PIN alone, with few people and with many: three slow hashes, however many there are.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::json;
use tillkeep_http::pins::Pins;

use super::Bench;
use super::chain::{Chain, text};
use super::figure::{Figure, Goal, Measurement, Sample};
use super::fill::{self, Copies};
use super::http::{Line, request};
use super::statistics::{Times, millis};
use crate::child::Child;

const FEW: &str = "sign-ins, 10 people";
const MANY: &str = "sign-ins, many people";
const TIME: &str = "one sign-in, many people, median";
const PIN: &str = "481590";
const PEOPLE: usize = 10;

pub const MEASUREMENT: Measurement = Measurement {
    id: "P7",
    title: "sign-in with a PIN",
    figures: &[
        Figure::new(FEW, "per s", "three Argon2id hashes", Goal::Shown),
        Figure::new(MANY, "per s", "the same with 10 people", Goal::Ratio(0.8)),
        Figure::shown(TIME, "ms"),
    ],
    run: |bench| Box::pin(run(bench)),
};

/// Everybody looks like the one who signs in but for their name and PIN.
const OTHERS: Copies = Copies {
    table: "users",
    row: "username = 'cashier'",
    but: &[
        fill::ID,
        fill::VERSION,
        ("username", "'person-' || hex(randomblob(8))"),
        ("username_folded", "'person-' || lower(hex(randomblob(8)))"),
        ("pin_lookup", "lower(hex(randomblob(16)))"),
    ],
};

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    // Both at once, in turn: what else the machine does falls on both.
    let (mut small, mut large) =
        (MeasuredStore::open(bench, PEOPLE).await?, MeasuredStore::open(bench, bench.sizes.people).await?);
    let hashes = hashes(&small.dir).await?;
    for _ in 0..bench.sizes.sign_ins {
        small.sign_in().await?;
        large.sign_in().await?;
    }
    for server in [small.server, large.server] {
        server.stop().await;
    }
    small.chain.stop().await;
    large.chain.stop().await;
    let rate = |times: &mut Times| 1000.0 / times.median().max(1e-6);
    let (few, many) = (rate(&mut small.times), rate(&mut large.times));
    Ok(vec![
        Sample::beside(FEW, few, 1000.0 / millis(hashes)),
        Sample::beside(MANY, many, few),
        Sample::new(TIME, large.times.median()),
    ])
}

/// A store with people, of whom one signs in.
struct MeasuredStore {
    chain: Chain,
    server: Child,
    /// Of the store.
    dir: PathBuf,
    line: Line,
    request: Vec<u8>,
    times: Times,
}

impl MeasuredStore {
    async fn open(bench: &Bench, people: usize) -> Result<Self> {
        let mut chain = Chain::start(bench).await?;
        let store = chain.provision().await?;
        let roles = chain.admin.get("/roles?pageSize=200").await?;
        let cashier = roles.as_array().and_then(|roles| roles.iter().find(|role| role["code"] == "cashier"));
        let role = text(cashier.context("no role of cashiers")?, "id")?;
        let person = json!({
            "username": "cashier", "displayName": "Cashier",
            "assignments": [{"roleId": role, "storeId": store.id}],
        });
        let pin = text(&chain.admin.post("/users", person).await?, "generatedPin")?;
        let server = chain.open(&store).await?;
        let heads = chain.machine(&store).call("GET", "/sync/versions", None).await?;
        for (entity_type, version) in heads["versions"].as_object().context("versions")? {
            store.has(entity_type, version.as_i64().unwrap_or_default()).await?;
        }
        server.stop().await;
        // The administrator and the cashier are there.
        OTHERS.write(&store.dir.join("tillkeep.db"), people - 2)?;
        let server = chain.open(&store).await?;
        let body = json!({"pin": pin, "storeId": store.id, "terminalId": "bench"}).to_string();
        let line = Line::open(&server.url).await?;
        let request = request("POST", "/auth/pin-login", "", &body);
        let mut measured = Self { chain, server, dir: store.dir, line, request, times: Times::default() };
        measured.sign_in().await?;
        measured.times = Times::default();
        Ok(measured)
    }

    async fn sign_in(&mut self) -> Result<()> {
        let begun = Instant::now();
        self.line.expect(&self.request).await?;
        self.times.add(begun.elapsed());
        Ok(())
    }
}

/// How long three slow hashes take here, with the key of this store.
async fn hashes(dir: &Path) -> Result<Duration> {
    const TIMES: usize = 15;
    let pins = Pins::open(&dir.join("pin.key"), 1)?;
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let begun = Instant::now();
        pins.lookup(PIN).await?;
        pins.verify(PIN, None).await?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times[TIMES / 2])
}
