//! What a signing device has said to entries of this store's chains: they wait for it after their commit, never before.

use std::collections::{BTreeMap, HashSet};

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder};
use tillkeep_model::Instant;
use tillkeep_model::words::SignatureState;
use uuid::Uuid;

use super::heads;
use crate::db::{execute, query};
use crate::entity::chain_signature::{Column, Entity, Model};
use crate::entity::{chain_entry, sale_chain};
use crate::many::select_in;
use crate::settings;

/// Entries that are read at once.
const PAGE: i64 = 100;

/// An entry without its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsigned {
    pub entry_id: Uuid,
    pub hash: String,
}

/// What came of asking the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub entry_id: Uuid,
    /// The signature, or why there is none.
    pub said: Result<String, String>,
}

/// How many entries have no signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Open {
    pub waiting: i64,
    pub could_not_sign: i64,
}

/// Up to which number each chain has been noted here.
const NOTED: &str = "chains_to_sign";

/// Notes the entries of this database that came since the last time. The first time that is none: what is there already is of before
/// the device.
pub async fn collect(conn: &impl ConnectionTrait, store: Uuid, now: Instant) -> Result<(), DbErr> {
    let kept = settings::get(conn, NOTED).await?;
    let is_first = kept.is_none();
    let mut noted: BTreeMap<Uuid, i64> = kept.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let heads = sale_chain::Entity::find().all(conn).await?;
    let is_new = |head: &sale_chain::Model| noted.get(&head.chain_id).copied().unwrap_or_default() < head.number;
    let new: Vec<sale_chain::Model> = heads.into_iter().filter(is_new).collect();
    if new.is_empty() && !is_first {
        return Ok(());
    }
    // What came back of an older database was signed there.
    let own = if is_first { HashSet::new() } else { heads::own(conn, store).await? };
    for head in new {
        let before = noted.insert(head.chain_id, head.number).unwrap_or_default();
        if !own.contains(&head.chain_id) {
            continue;
        }
        let sql = "INSERT INTO chain_signatures (entry_id, created_at, state, attempts) \
                   SELECT id, $1, $2, 0 FROM chain_entries WHERE chain_id = $3 AND number > $4 AND number <= $5 \
                   ON CONFLICT (entry_id) DO NOTHING";
        let state = SignatureState::Waiting.word();
        let values = [now.into(), state.into(), head.chain_id.into(), before.into(), head.number.into()];
        execute(conn, sql, values).await?;
    }
    let text = serde_json::to_string(&noted).map_err(|error| DbErr::Json(error.to_string()))?;
    settings::set(conn, NOTED, &text).await
}

/// The oldest entries in `state`, in the order in which they came.
pub async fn unsigned(conn: &impl ConnectionTrait, state: SignatureState) -> Result<Vec<Unsigned>, DbErr> {
    let sql = "SELECT s.entry_id, e.hash FROM chain_signatures s JOIN chain_entries e ON e.id = s.entry_id \
               WHERE s.state = $1 ORDER BY s.created_at, e.chain_id, e.number LIMIT $2";
    let rows = query(conn, sql, [state.word().into(), PAGE.into()]).await?;
    rows.iter()
        .map(|row| Ok(Unsigned { entry_id: row.try_get("", "entry_id")?, hash: row.try_get("", "hash")? }))
        .collect()
}

/// Keeps what the device called `signer` said. What is signed stays as it is.
pub async fn keep(conn: &impl ConnectionTrait, signer: &str, outcome: &Outcome, now: Instant) -> Result<(), DbErr> {
    let (state, signature, error) = match &outcome.said {
        Ok(signature) => (SignatureState::Signed, Some(signature.as_str()), None),
        Err(error) => (SignatureState::CouldNotSign, None, Some(error.as_str())),
    };
    let sql = "UPDATE chain_signatures SET state = $2, signer = $3, signature = $4, error = $5, signed_at = $6, \
               attempts = attempts + 1 WHERE entry_id = $1 AND state <> $7";
    let values = [
        outcome.entry_id.into(),
        state.word().into(),
        signer.into(),
        signature.into(),
        error.into(),
        signature.map(|_| now).into(),
        SignatureState::Signed.word().into(),
    ];
    execute(conn, sql, values).await?;
    Ok(())
}

/// How many entries wait, and how many the device did not sign.
pub async fn open(conn: &impl ConnectionTrait) -> Result<Open, DbErr> {
    let mut open = Open::default();
    let sql = "SELECT state, COUNT(*) AS entries FROM chain_signatures WHERE state IN ($1, $2) GROUP BY state";
    let words = [SignatureState::Waiting.word().into(), SignatureState::CouldNotSign.word().into()];
    for row in query(conn, sql, words).await? {
        let (state, entries): (String, i64) = (row.try_get("", "state")?, row.try_get("", "entries")?);
        if state == SignatureState::Waiting.word() {
            open.waiting = entries;
        } else {
            open.could_not_sign = entries;
        }
    }
    Ok(open)
}

/// The signatures of a document's entries, in their order.
pub async fn of_sale(conn: &impl ConnectionTrait, sale: Uuid) -> Result<Vec<Model>, DbErr> {
    let entries = chain_entry::Entity::find().filter(chain_entry::Column::SaleId.eq(sale)).all(conn).await?;
    let rows = Entity::find().order_by_asc(Column::CreatedAt);
    select_in(conn, rows, Column::EntryId, entries.into_iter().map(|entry| entry.id)).await
}
