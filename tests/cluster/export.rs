//! `tillkeep hq export`, as an operator runs it beside the servers of a chain.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use async_compression::tokio::bufread::ZstdDecoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::io::AsyncReadExt;
use uuid::Uuid;

use crate::kit::{Process, TestCluster};

const DAY_MS: i64 = 24 * 3600 * 1000;

/// Runs the command, so many days from now; whether it succeeded, and what it said.
fn export(chain: &TestCluster, month: &str, out: &Path, days: i64, more: &[(&str, &str)]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
    command.arg("hq").arg("--data-dir").arg(&chain.hq.dir).args(["export", "--month", month, "--out"]).arg(out);
    command.env_clear().env("CLOCK_OFFSET_MS", (days * DAY_MS).to_string()).envs(more.iter().copied());
    if chain.hq.database().starts_with("postgres") {
        command.env("DATABASE_URL", chain.hq.database());
    }
    let output = command.output().expect("the program runs");
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

/// The documents of a file by their ids, in the order in which they stand there.
async fn documents(file: &Path) -> Vec<Value> {
    let packed = fs::read(file).expect("the file");
    let mut text = String::new();
    ZstdDecoder::new(&packed[..]).read_to_string(&mut text).await.expect("zstd");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(dir).expect("the directory").map(|entry| entry.expect("an entry").path());
    entries
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, fs::read(path).expect("a file"))
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_month_that_is_over_is_exported_as_the_database_has_it_with_the_same_bytes_each_time() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut sites = Vec::new();
    for _ in 0..2 {
        let site = chain.store().await;
        let till = site.open_till().await;
        site.knows(&till, &product, None).await;
        let received = json!({"id": Uuid::now_v7(), "productId": product, "quantityChange": 500, "reason": "received", "unitCost": 480});
        till.post("/inventory/adjustments", received).await.data();
        sites.push((site, till));
    }
    let mut months = Vec::new();
    // The ids of the two stores rise side by side: in the order of the files they do not.
    for number in 0..127 {
        let (site, till) = &sites[usize::from(number % 3 == 0)];
        let sale = site.sell(till, &product, 2).await;
        months.push(sale["businessDate"].as_str().expect("a date")[..7].to_owned());
    }
    for (site, till) in &sites {
        site.drained(till).await;
    }
    months.dedup();
    let [month] = months.as_slice() else {
        // Midnight of the last day: what came before it is looked at in the next run.
        return;
    };
    let dir = tempfile::tempdir().expect("dir");
    let (first, second) = (dir.path().join("first"), dir.path().join("second"));

    let (done, said) = export(&chain, month, &first, 0, &[]);
    assert!(!done && said.contains(&format!("--month {month} is not closed")), "{said}");
    let (done, said) = export(&chain, "2026-13", &first, 0, &[]);
    assert!(!done && said.contains("--month") && said.contains("must be a month like 2026-08"), "{said}");
    assert!(!first.exists(), "nothing is made for what is refused");

    // Beside the running servers.
    for out in [&first, &second] {
        let (done, said) = export(&chain, month, out, 40, &[]);
        assert!(done && said.contains("2 register_sessions, 127 sales, 2 inventory_adjustments"), "{said}");
    }
    let here = first.join(month);
    assert_eq!(files(&here), files(&second.join(month)));
    let (done, said) = export(&chain, month, &first, 40, &[]);
    assert!(!done && said.contains("--out") && said.contains("is there already"), "{said}");

    let manifest: Value = serde_json::from_slice(&files(&here)["manifest.json"]).expect("JSON");
    assert_eq!((&manifest["format"], &manifest["month"]), (&json!(1), &json!(month)));
    assert!(manifest["epoch"].as_str().is_some_and(|epoch| epoch.parse::<Uuid>().is_ok()), "{manifest}");
    chain.hq.stop();
    let list = manifest["files"].as_array().expect("files");
    assert_eq!(files(&here).len(), list.len() + 1, "there is nothing else");
    for file in list {
        let name = file["name"].as_str().expect("a name");
        let content = &files(&here)[name];
        assert_eq!(file["bytes"], json!(content.len()));
        let digest = hex::encode(Sha256::digest(content));
        assert_eq!(file["sha256"], json!(digest), "{name}");
        let exported = documents(&here.join(name)).await;
        let order = |row: &Value| [&row["businessDate"], &row["storeId"], &row["id"]].map(ToString::to_string);
        assert!(exported.is_sorted_by_key(order), "{name} is in one order");
        assert_eq!(file["documents"], json!(exported.len()));
        let mut rows = chain.rows(file["type"].as_str().expect("a type")).await;
        assert_eq!(rows.len(), exported.len(), "{name}");
        for document in exported {
            let mut row = rows.remove(&document["id"].to_string()).expect("each document is in the database");
            for key in ["saleItems", "salePayments", "chainEntries"] {
                // The lines are looked at below.
                if let Some(lines) = document.get(key) {
                    row[key] = lines.clone();
                }
            }
            assert_eq!(document, row, "{name}");
        }
    }
    let file_of = |kind: &str| list.iter().find(|file| file["type"] == kind).expect("a file");
    let sales = documents(&here.join("sales.jsonl.zst")).await;
    for (key, table) in
        [("saleItems", "sale_items"), ("salePayments", "sale_payments"), ("chainEntries", "chain_entries")]
    {
        let mut rows = chain.rows(table).await;
        for line in sales.iter().flat_map(|sale| sale[key].as_array().expect("lines")) {
            assert_eq!(rows.remove(&line["id"].to_string()).as_ref(), Some(line), "{table}");
        }
        assert!(rows.is_empty(), "{table}");
        assert_eq!(file_of("sales")["lines"][key], json!(127));
    }
    let total: i64 = sales.iter().map(|sale| sale["totalAmount"].as_i64().expect("an amount")).sum();
    let currency = sales[0]["currencyCode"].as_str().expect("a currency");
    assert_eq!(file_of("sales")["amounts"][currency]["totalAmount"], json!(total.to_string()));
    assert_eq!(file_of("inventory_adjustments")["quantities"]["quantityChange"], json!("1000000"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_that_broke_off_is_not_taken_for_a_whole_one_and_does_not_keep_the_next_from_its_place() {
    let chain = TestCluster::new().await;
    let dir = tempfile::tempdir().expect("dir");
    let target = dir.path().join("2025-01");
    for broken in ["error", "kill"] {
        let (done, _) =
            export(&chain, "2025-01", dir.path(), 0, &[("FAILPOINTS", &format!("export.written=return({broken})"))]);
        assert!(!done && !target.exists(), "{broken}");
    }
    let (done, said) = export(&chain, "2025-01", dir.path(), 0, &[]);
    assert!(done && said.contains("0 sales"), "a month without documents is a month: {said}");
    assert!(target.join("manifest.json").exists());
}

/// Runs `tillkeep audit` on the database of a running server; whether it succeeded, and what it said.
fn audit(server: &Process, words: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
    command.arg("audit").args(words).env_clear();
    if server.database().starts_with("postgres") {
        command.args(["--database-url", &server.database()]);
    } else {
        command.arg("--data-dir").arg(&server.dir);
    }
    let output = command.output().expect("the program runs");
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_chain_of_a_register_is_verified_at_both_servers_which_export_the_same_bytes_of_it() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    let mut days = Vec::new();
    for _ in 0..3 {
        let sale = site.sell(&till, &product, 2).await;
        days.push(sale["businessDate"].as_str().expect("a date").to_owned());
    }
    site.drained(&till).await;
    let dir = tempfile::tempdir().expect("dir");
    let (first, last) = (&days[0], &days[2]);
    let mut exports = Vec::new();
    for (name, server) in [("store", &site.process), ("hq", &chain.hq)] {
        let (done, said) = audit(server, &["verify"]);
        assert!(done && said.contains("The audit log is whole"), "{said}");
        assert!(said.contains("The chains of documents are whole: 3 entries in 1 chains."), "{said}");
        let out = dir.path().join(name);
        let words = ["export", "--from", first, "--to", last, "--out", out.to_str().expect("a path")];
        let (done, said) = audit(server, &words);
        assert!(done && said.contains("3 hashed documents"), "{said}");
        exports.push(files(&out.join(format!("{first}_to_{last}"))));
        let (done, said) = audit(server, &["export", "--from", "2026-02-02", "--to", "2026-02-01", "--out", name]);
        assert!(!done && said.contains("--from 2026-02-02 is after --to 2026-02-01"), "{said}");
    }
    assert_eq!(exports[0], exports[1], "what is hashed is the same wherever it is written");
}
