//! I6: receipts and sessions are numbered 1 to n for each register.

use std::collections::{BTreeMap, HashMap};

use sea_orm::DbErr;
use tillkeep_model::receipt::ReceiptNumber;
use uuid::Uuid;

use super::finding::Found;
use super::source::Source;
use crate::Side;
use crate::db::query;
use crate::document::flags::has_foreign_number;
use crate::document::{sale, session};
use crate::numbers::Given;
use crate::numbers::lost::{self, Lost};

type Numbers = BTreeMap<(Uuid, &'static str, String), BTreeMap<i64, Vec<Uuid>>>;

/// What is numbered, by store, table and register.
async fn read(source: &Source) -> Result<Numbers, DbErr> {
    let mut out = Numbers::new();
    let mut note = |store, table, register, number, id| {
        out.entry((store, table, register)).or_default().entry(number).or_default().push(id);
    };
    let codes = codes(source).await?;
    // A number that begins with another store's code is none of this store's series.
    let foreign = |store: Uuid, code: &str| codes.get(code).is_some_and(|owner| *owner != store);
    for row in query(&source.conn, "SELECT id, store_id, register_code, receipt_number FROM sales", []).await? {
        let receipt: String = row.try_get("", "receipt_number")?;
        let store: Uuid = row.try_get("", "store_id")?;
        // Another system that pushes to headquarters may number in its own way.
        if let Some(receipt) = ReceiptNumber::parse(&receipt).filter(|receipt| !foreign(store, &receipt.store_code)) {
            note(store, sale::TYPE, receipt.register_code, receipt.number, row.try_get("", "id")?);
        }
    }
    let sql = "SELECT id, store_id, register_code, session_number, flags FROM register_sessions";
    for row in query(&source.conn, sql, []).await? {
        if has_foreign_number(&row.try_get("", "flags")?) {
            continue;
        }
        let number: i32 = row.try_get("", "session_number")?;
        let register: String = row.try_get("", "register_code")?;
        let Given { letter, number } = Given::session(number.into());
        note(row.try_get("", "store_id")?, session::TYPE, register + &letter, number, row.try_get("", "id")?);
    }
    Ok(out)
}

/// The stores by their codes.
async fn codes(source: &Source) -> Result<HashMap<String, Uuid>, DbErr> {
    let rows = query(&source.conn, "SELECT code, id FROM stores WHERE deleted_at IS NULL", []).await?;
    rows.iter().map(|row| Ok((row.try_get("", "code")?, row.try_get("", "id")?))).collect()
}

/// A number that two documents have.
pub(super) async fn twice(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    for ((store, table, register), numbers) in read(source).await? {
        for (number, ids) in numbers.iter().filter(|(number, ids)| ids.len() > 1 && **number > 0) {
            for id in ids {
                found.add(store, table, id, format!("number {number} of register {register:?} was given twice"));
            }
        }
    }
    Ok(())
}

/// Numbers that no document has, but those that are known to be lost. A store that was restored lacks what headquarters has, so both are asked.
pub(super) async fn holes(store: &Source, hq: Option<&Source>, found: &mut Found) -> Result<(), DbErr> {
    if store.side != Side::Store {
        return Ok(());
    }
    let mut numbers = read(store).await?;
    if let Some(hq) = hq {
        for (key, there) in read(hq).await? {
            if let Some(here) = numbers.get_mut(&key) {
                for (number, ids) in there {
                    here.entry(number).or_default().extend(ids);
                }
            }
        }
    }
    let mut known_lost = lost::all(&store.conn, None).await?;
    if let Some(hq) = hq {
        known_lost.extend(lost::all(&hq.conn, Some(store.store)).await?);
    }
    let known_lost = Lost::new(known_lost);
    for ((store, table, register), numbers) in numbers {
        let last = numbers.keys().next_back().copied().unwrap_or_default();
        let kind = if table == sale::TYPE { "receipt" } else { "session" };
        let series = format!("{kind}:{register}");
        let missing =
            (1..=last).filter(|number| !numbers.contains_key(number) && known_lost.range(&series, *number).is_none());
        for number in missing.take(20) {
            let text = format!("register {register:?} has numbers up to {last}, and this one is missing");
            found.add(store, table, number, text);
        }
    }
    Ok(())
}
