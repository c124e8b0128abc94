//! P7: signing in with a PIN alone, with few people and with many: two slow hashes, however many there are.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;
use tillkeep_http::pins::Pins;

use super::Bench;
use super::chain::Chain;
use super::figure::{Figure, Goal, Measurement, Sample};
use super::fill::{self, Copies};
use super::http::{Line, request};
use super::statistics::{Times, millis};

const FEW: &str = "sign-ins, 10 people";
const MANY: &str = "sign-ins, many people";
const TIME: &str = "one sign-in, many people, median";
const PIN: &str = "481590";
/// People besides the one who signs in.
const PEOPLE: usize = 9;

pub const MEASUREMENT: Measurement = Measurement {
    id: "P7",
    title: "sign-in with a PIN",
    figures: &[
        Figure::of(FEW, "per s", "two Argon2id hashes", Goal::Told),
        Figure::of(MANY, "per s", "the same with 10 people", Goal::Ratio(0.8)),
        Figure::told(TIME, "ms"),
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
    let mut chain = Chain::start(bench).await?;
    let store = chain.provision().await?;
    let roles = chain.admin.get("/roles?pageSize=200").await?;
    let cashier = roles.as_array().and_then(|roles| roles.iter().find(|role| role["code"] == "cashier")).cloned();
    let role = cashier.unwrap_or_default()["id"].clone();
    let person = json!({
        "username": "cashier", "displayName": "Cashier", "pin": PIN,
        "assignments": [{"roleId": role, "storeId": store.id}],
    });
    chain.admin.post("/users", person).await?;
    let chain = grow(chain, PEOPLE).await?;
    let hashes = hashes(&chain.dir.join("hq"))?;
    let mut few = sign_in(&chain, bench, &store.id.to_string()).await?;
    let chain = grow(chain, bench.sizes.people - PEOPLE - 1).await?;
    let mut many = sign_in(&chain, bench, &store.id.to_string()).await?;
    chain.stop().await;
    let rate = |times: &mut Times| 1000.0 / times.median().max(1e-6);
    let (few, time, many) = (rate(&mut few), many.median(), rate(&mut many));
    Ok(vec![
        Sample::beside(FEW, few, 1000.0 / millis(hashes)),
        Sample::beside(MANY, many, few),
        Sample::new(TIME, time),
    ])
}

async fn grow(chain: Chain, more: usize) -> Result<Chain> {
    let write = |path: &Path| {
        OTHERS.write(path, more)?;
        fill::count_versions(path, OTHERS.table).map(|_| ())
    };
    chain.restart(write).await
}

async fn sign_in(chain: &Chain, bench: &Bench, store: &str) -> Result<Times> {
    let body = json!({"pin": PIN, "storeId": store, "terminalId": "bench"}).to_string();
    let request = request("POST", "/auth/pin-login", "", &body);
    let mut line = Line::open(&chain.hq.url).await?;
    let mut times = Times::default();
    for _ in 0..bench.sizes.sign_ins {
        let begun = Instant::now();
        line.expect(&request).await?;
        times.add(begun.elapsed());
    }
    Ok(times)
}

/// How long two slow hashes take here, with the key of this headquarters.
fn hashes(dir: &Path) -> Result<Duration> {
    const TIMES: usize = 15;
    let pins = Pins::open(&dir.join("pin.key"), 1)?;
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let begun = Instant::now();
        pins.hash_here(PIN)?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    Ok(times[TIMES / 2])
}
