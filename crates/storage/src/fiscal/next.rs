//! The next entry of a register's chain, in the transaction of its document.

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::words::ChainKind;
use tillkeep_model::{Instant, Money, chain, ids};
use uuid::Uuid;

use super::content::{Rows, hash, line};
use crate::db::{execute, query};
use crate::entity::{chain_entry, sale_chain};
use crate::settings;

/// A register, and the letter of the series that its receipts are of.
#[derive(Clone, Debug)]
pub struct Register<'a> {
    pub store_id: Uuid,
    pub register_id: Uuid,
    /// Without the letter.
    pub register_code: &'a str,
    pub letter: &'a str,
}

/// The entry of a document that is stored in this transaction, as it is to be stored with it; its chain goes on from it.
pub async fn next(
    conn: &impl ConnectionTrait,
    register: &Register<'_>,
    kind: ChainKind,
    at: Instant,
    rows: &Rows<'_>,
) -> Result<chain_entry::Model, DbErr> {
    let (epoch, known) = heads(conn, register).await?;
    let chain_id = chain::id(register.store_id, &epoch, register.register_id, register.letter);
    let (own, others): (Vec<_>, Vec<_>) = known.into_iter().partition(|head| head.chain_id == chain_id);
    let own = own.into_iter().next().unwrap_or_default();
    let before = others.into_iter().max_by_key(|head| (head.updated_at, head.chain_id)).map(|head| head.hash);
    let follows = before.filter(|hash| own.follows.as_ref() != Some(hash));
    let line_no = if kind == ChainKind::Void { 2 } else { 1 };
    let mut entry = chain_entry::Model {
        id: ids::beside(rows.sale.id, ids::line(rows.sale.id, "chain_entry", line_no)),
        sale_id: rows.sale.id,
        store_id: register.store_id,
        line_no,
        chain_id,
        register_code: register.register_code.to_owned(),
        number: own.number + 1,
        kind: kind.word().to_owned(),
        version: chain::VERSION,
        at,
        previous_hash: own.hash,
        follows,
        hash: String::new(),
        running_total: after(own.running_total, kind.word(), rows.sale.total_amount),
    };
    entry.hash = hash(&line(&entry, rows, &|id| id));
    keep(conn, &entry, own.follows.as_deref()).await?;
    Ok(entry)
}

/// The running total after a document of this total: what is voided is taken out again.
pub(super) fn after(before: Money, kind: &str, total: Money) -> Money {
    let change = if kind == ChainKind::Void.word() { total.0.saturating_neg() } else { total.0 };
    Money(before.0.saturating_add(change))
}

/// The identity of this database, and the newest entries of all chains of a register; one statement.
async fn heads(
    conn: &impl ConnectionTrait,
    register: &Register<'_>,
) -> Result<(String, Vec<sale_chain::Model>), DbErr> {
    let sql = "SELECT s.value AS epoch, c.chain_id, c.number, c.hash, c.running_total, c.follows, c.updated_at \
               FROM sync_state s LEFT JOIN sale_chains c ON c.store_id = $2 AND c.register_code = $3 WHERE s.key = $1";
    let values = [settings::EPOCH.into(), register.store_id.into(), register.register_code.into()];
    let (mut epoch, mut heads) = (None, Vec::new());
    for row in query(conn, sql, values).await? {
        epoch = Some(row.try_get::<String>("", "epoch")?);
        let Some(chain_id) = row.try_get::<Option<Uuid>>("", "chain_id")? else { continue };
        heads.push(sale_chain::Model {
            chain_id,
            store_id: register.store_id,
            register_code: register.register_code.to_owned(),
            number: row.try_get("", "number")?,
            hash: row.try_get("", "hash")?,
            running_total: row.try_get("", "running_total")?,
            follows: row.try_get("", "follows")?,
            updated_at: row.try_get("", "updated_at")?,
        });
    }
    let epoch = match epoch {
        Some(epoch) => epoch,
        // A database that was never asked for its identity has no chain.
        None => settings::get_or_set(conn, settings::EPOCH, || Uuid::new_v4().to_string()).await?,
    };
    Ok((epoch, heads))
}

async fn keep(conn: &impl ConnectionTrait, entry: &chain_entry::Model, followed: Option<&str>) -> Result<(), DbErr> {
    let sql = "INSERT INTO sale_chains (chain_id, store_id, register_code, number, hash, running_total, follows, \
               updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (chain_id) DO UPDATE SET \
               number = excluded.number, hash = excluded.hash, running_total = excluded.running_total, \
               follows = excluded.follows, updated_at = excluded.updated_at";
    let values = [
        entry.chain_id.into(),
        entry.store_id.into(),
        entry.register_code.as_str().into(),
        entry.number.into(),
        entry.hash.as_str().into(),
        entry.running_total.into(),
        // What was named last: it is named once.
        entry.follows.as_deref().or(followed).into(),
        entry.at.into(),
    ];
    execute(conn, sql, values).await?;
    Ok(())
}
