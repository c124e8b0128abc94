//! I11: the end of the audit log that each of the two gave the other one in a handshake is still in it. Each row hashes the one
//! before, so that whoever cuts the newest ones off leaves a log that is whole: only the other server knows that there was more.

use std::collections::BTreeMap;

use sea_orm::DbErr;
use uuid::Uuid;

use super::finding::{Found, Options};
use super::source::Source;
use crate::audit::heads;
use crate::many::find_in;
use crate::{nodes, settings};

pub(super) async fn known(
    store: &Source,
    hq: Option<&Source>,
    options: &Options,
    found: &mut Found,
) -> Result<(), DbErr> {
    let Some(hq) = hq else { return Ok(()) };
    if !in_touch(store, hq).await? {
        return Ok(());
    }
    let heard = heads::of_database(&hq.conn, store.store, &store.epoch).await?;
    if let Some(row) = missing(store, &heard).await? {
        found.add(
            store.store,
            "audit_log",
            row,
            "headquarters heard of this row, and the store does not have it as it was",
        );
    }
    let heard = heads::kept(&store.conn).await?.filter(|heard| heard.epoch == hq.epoch);
    // Headquarters was read before the store, which may have heard of rows that it wrote since.
    let heard = heard.filter(|heard| options.moving_since.is_none_or(|since| heard.at < since));
    let heard: BTreeMap<i64, String> = heard.map(|heard| (heard.head.seq, heard.head.hash)).into_iter().collect();
    if let Some(row) = missing(hq, &heard).await? {
        let text = format!("store {} heard of this row, and headquarters does not have it as it was", store.store);
        found.add(Uuid::nil(), "audit_log", row, text);
    }
    Ok(())
}

/// Whether both are as they were in their last handshake. One of the two that was put back to a copy does not have what was said
/// since, and presents a ticket that is not good: the next handshake finds that out (rule D8).
pub(super) async fn in_touch(store: &Source, hq: &Source) -> Result<bool, DbErr> {
    let ticket = settings::get(&store.conn, settings::TICKET).await?.unwrap_or_default();
    let node = nodes::find(&hq.conn, store.store).await?.unwrap_or_default();
    Ok(!ticket.is_empty() && ticket == node.ticket)
}

/// The first of these rows that the audit log does not have with this hash.
async fn missing(source: &Source, wanted: &BTreeMap<i64, String>) -> Result<Option<i64>, DbErr> {
    let sql = "SELECT seq, hash FROM audit_log WHERE seq IN ($list)";
    let mut here: BTreeMap<i64, String> = BTreeMap::new();
    for row in find_in(&source.conn, sql, &[], wanted.keys().copied()).await? {
        here.insert(row.try_get("", "seq")?, row.try_get("", "hash")?);
    }
    // The end of an empty log is no row.
    let mut rows = wanted.iter().filter(|(seq, _)| **seq > 0);
    Ok(rows.find(|(seq, hash)| here.get(seq) != Some(hash)).map(|(seq, _)| *seq))
}
