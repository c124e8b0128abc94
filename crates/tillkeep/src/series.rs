//! `tillkeep hq set-series` and `tillkeep store set-series`: the last number of a series, set by hand after a stranger
//! who had a store's token, or a fault, drove it where it is not wanted. `docs/operations.md`.

use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::json;
use tillkeep_hq::{Hq, Settings};
use tillkeep_http::Clock;
use tillkeep_storage::entity::store;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tillkeep_storage::series::OUTBOX;
use tillkeep_storage::{Db, Tx, audit, known_numbers, numbers, outbox, series};

use crate::output::say;

/// Numbers that fit every column and every text.
const HIGHEST: i64 = 999_999_999;
/// Kinds of series: some with a register after a colon, some with a letter, some alone.
const KINDS: [&str; 5] = ["receipt", "session", "customer", "transfer", "po"];

#[derive(Args)]
#[group(id = "of_series")]
pub struct SetSeries {
    /// `outbox`, `receipt:01`, `session:01` (of register 01), `customer`, `transfer` or `po`; of a series with a letter
    /// `receipt:01A`, `customer:A`.
    #[arg(long, value_parser = known)]
    series: String,
    /// The last number that counts; the next one is one more.
    #[arg(long, value_parser = clap::value_parser!(i64).range(0..=HIGHEST))]
    last: i64,
}

fn known(name: &str) -> Result<String, String> {
    let (kind, part) = name.split_once(':').unwrap_or((name, ""));
    let of_register = ["receipt", "session"].contains(&kind);
    let plain = part.len() <= 40 && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if name == OUTBOX || (KINDS.contains(&kind) && plain && of_register <= !part.is_empty()) {
        return Ok(name.to_owned());
    }
    Err("is not outbox, receipt:REGISTER, session:REGISTER, customer, transfer or po".to_owned())
}

/// Sets the series of the store with this code, beside the running servers or without them.
pub async fn at_headquarters(settings: &Settings, code: &str, SetSeries { series, last }: &SetSeries) -> Result<()> {
    let db = Hq::database(settings).await.context("the database cannot be opened")?;
    let tx = db.begin().await?;
    let found = store::Entity::find().filter(store::Column::Code.eq(code)).one(&tx).await?;
    let Some(store) = found else { bail!("there is no store {code}") };
    let before = known_numbers::of_store(&tx, store.id, Some(&[series])).await?.into_values().next();
    known_numbers::set(&tx, store.id, series, *last).await?;
    note(&tx, json!({"storeId": store.id, "series": series, "before": before, "last": last})).await?;
    tx.commit().await?;
    db.close().await?;
    say!("{series} of {code} counts from {last}. A store that has gone further is set right there.");
    Ok(())
}

/// Sets a series of this store.
pub async fn at_store(db: Db, file: &Path, SetSeries { series: name, last }: &SetSeries) -> Result<()> {
    let tx = db.begin().await?;
    let before = series::all(&tx).await?.remove(name);
    if name == OUTBOX {
        let highest = outbox::highest(&tx).await?;
        if *last < highest {
            bail!("the outbox has entries up to {highest}; set it to that or more");
        }
    }
    note(&tx, json!({"series": name, "before": before, "last": last})).await?;
    series::set(&tx, name, *last).await?;
    // The file first: what it has beyond the database is taken for lost numbers at the next start.
    numbers::set(file, name, *last).context("the file of the last numbers")?;
    tx.commit().await?;
    db.close().await?;
    say!("{name} goes on after {last}.");
    Ok(())
}

async fn note(tx: &Tx, details: serde_json::Value) -> Result<()> {
    let mut details = details;
    details["by"] = "command line".into();
    let entry = audit::Entry {
        action: "series.set",
        entity_type: Some("number_series"),
        entity_id: details["series"].as_str().map(str::to_owned),
        details,
        ..audit::Entry::default()
    };
    audit::record(tx, entry, Clock::default().now()).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_named_as_the_store_names_them() {
        for name in ["outbox", "receipt:01", "receipt:01A", "session:02", "customer", "customer:A", "transfer", "po"] {
            assert_eq!(known(name).as_deref(), Ok(name));
        }
        for name in ["", "receipt", "session:", "receipts:01", "outbox:1", "receipt:0 1", "outbox_time"] {
            assert!(known(name).is_err(), "{name}");
        }
    }
}
