//! The newest entry of each chain, as headquarters and a store keep it, and as they compare it in a handshake.

use std::collections::{BTreeSet, HashMap, HashSet};

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tillkeep_model::chain;
use tillkeep_model::wire::ChainHead;
use uuid::Uuid;

use crate::db::query;
use crate::entity::sale_chain::{Column, Entity};
use crate::entity::{chain_entry, register, sale_chain};
use crate::many::{execute_rows, select_in};
use crate::settings;

/// Chains that a handshake names: the newest ones.
const MOST: u64 = 500;

/// Keeps these entries as the newest ones of their chains, where they are newer than what is kept.
pub(crate) async fn raise(
    conn: &impl ConnectionTrait,
    entries: impl IntoIterator<Item = sale_chain::Model>,
) -> Result<(), DbErr> {
    let sql = "INSERT INTO sale_chains (chain_id, store_id, register_code, number, hash, running_total, follows, \
               updated_at) VALUES $rows ON CONFLICT (chain_id) DO UPDATE SET number = excluded.number, \
               hash = excluded.hash, running_total = excluded.running_total, updated_at = excluded.updated_at \
               WHERE sale_chains.number < excluded.number AND sale_chains.store_id = excluded.store_id";
    let rows = entries.into_iter().map(|head| {
        [
            head.chain_id.into(),
            head.store_id.into(),
            head.register_code.into(),
            head.number.into(),
            head.hash.into(),
            head.running_total.into(),
            head.follows.into(),
            head.updated_at.into(),
        ]
    });
    execute_rows(conn, sql, &[], "(?, ?, ?, ?, ?, ?, ?, ?)", rows).await?;
    Ok(())
}

/// The newest entries of the chains of a store, as a handshake says them.
pub async fn of_store(conn: &impl ConnectionTrait, store: Uuid) -> Result<Vec<ChainHead>, DbErr> {
    let rows = Entity::find().filter(Column::StoreId.eq(store)).order_by_desc(Column::UpdatedAt).limit(MOST);
    let head = |head: sale_chain::Model| ChainHead {
        chain_id: head.chain_id,
        register_code: head.register_code,
        number: head.number,
        hash: head.hash,
        running_total: head.running_total,
        at: head.updated_at,
    };
    Ok(rows.all(conn).await?.into_iter().map(head).collect())
}

/// At a store: what headquarters has of its chains. Those that another database of this store has begun are noted, so that the chains
/// of this one name them; the registers are answered of which a chain of this one is not as headquarters has it.
pub async fn compare(conn: &impl ConnectionTrait, store: Uuid, at_hq: &[ChainHead]) -> Result<BTreeSet<String>, DbErr> {
    if at_hq.is_empty() {
        return Ok(BTreeSet::new());
    }
    let own = own(conn, store).await?;
    let (mine, others): (Vec<_>, Vec<_>) = at_hq.iter().partition(|head| own.contains(&head.chain_id));
    let others = others.into_iter().map(|head| sale_chain::Model {
        chain_id: head.chain_id,
        store_id: store,
        register_code: head.register_code.clone(),
        number: head.number,
        hash: head.hash.clone(),
        running_total: head.running_total,
        follows: None,
        updated_at: head.at,
    });
    raise(conn, others.collect::<Vec<_>>()).await?;
    let numbers: HashSet<i64> = mine.iter().map(|head| head.number).collect();
    let rows =
        chain_entry::Entity::find().filter(chain_entry::Column::ChainId.is_in(mine.iter().map(|head| head.chain_id)));
    let rows = select_in(conn, rows, chain_entry::Column::Number, numbers).await?;
    let here: HashMap<(Uuid, i64), String> =
        rows.into_iter().map(|entry| ((entry.chain_id, entry.number), entry.hash)).collect();
    let is_other = |head: &&&ChainHead| here.get(&(head.chain_id, head.number)) != Some(&head.hash);
    Ok(mine.iter().filter(is_other).map(|head| head.register_code.clone()).collect())
}

/// The chains of which every entry must be at this store: those of its database, unless documents came back to it. Then a copy of it may
/// have gone on under its name, and what that made came too.
pub(crate) async fn complete(conn: &impl ConnectionTrait, store: Uuid) -> Result<HashSet<Uuid>, DbErr> {
    if settings::get(conn, "own_documents_due").await?.is_some() {
        return Ok(HashSet::new());
    }
    own(conn, store).await
}

/// The chains that this database of a store has begun, or would begin: those of its registers and their letters.
pub(crate) async fn own(conn: &impl ConnectionTrait, store: Uuid) -> Result<HashSet<Uuid>, DbErr> {
    let epoch = settings::get(conn, settings::EPOCH).await?.unwrap_or_default();
    let mut registers: HashSet<Uuid> =
        register::Entity::find().all(conn).await?.into_iter().map(|register| register.id).collect();
    for row in query(conn, "SELECT DISTINCT register_id FROM register_sessions", []).await? {
        registers.insert(row.try_get("", "register_id")?);
    }
    let of = |register: Uuid| letters().map(move |letter| (register, letter));
    Ok(registers
        .into_iter()
        .flat_map(of)
        .map(|(register, letter)| chain::id(store, &epoch, register, &letter))
        .collect())
}

/// At a store: the newest entry of the chain of a register that this database goes on with.
pub async fn of_register(
    conn: &impl ConnectionTrait,
    store: Uuid,
    register: Uuid,
    register_code: &str,
) -> Result<Option<sale_chain::Model>, DbErr> {
    let epoch = settings::get(conn, settings::EPOCH).await?.unwrap_or_default();
    let of = |letter: String| chain::id(store, &epoch, register, &letter);
    let own: HashSet<Uuid> = letters().map(of).collect();
    let heads = Entity::find().filter(Column::StoreId.eq(store)).filter(Column::RegisterCode.eq(register_code));
    let heads = heads.order_by_desc(Column::UpdatedAt).order_by_desc(Column::ChainId).all(conn).await?;
    // Without one of its own it is the last that headquarters named, which the next document follows.
    let newest = heads.iter().find(|head| own.contains(&head.chain_id)).or_else(|| heads.first());
    Ok(newest.cloned())
}

/// Of the series of receipts.
fn letters() -> impl Iterator<Item = String> {
    ('A'..='Z').map(String::from).chain([String::new()])
}
