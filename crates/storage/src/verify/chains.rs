//! I15: the chains of documents are what was written, and headquarters has no newer end of one than its store. `docs/chain.md`.

use std::collections::HashSet;

use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::finding::{Found, Options};
use super::heads::in_touch;
use super::source::Source;
use crate::Side;
use crate::db::query;
use crate::document::sale;
use crate::entity::{chain_entry, sale_chain};
use crate::fiscal::{self, Break, Fault, heads};
use crate::many::select_in;

const ENTRIES: &str = "chain_entries";

/// Each database by itself. Headquarters takes what is broken and flags it: there the flags are what is asked for.
pub(super) async fn whole(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    let breaks = fiscal::check(&source.conn).await?.breaks;
    let flagged = if source.side == Side::Hq { flagged(source).await? } else { HashSet::new() };
    // What became of an older database of this store, of which a copy may have gone on, is for headquarters to say.
    let is_here = |broken: &&Break| broken.is_own || broken.fault == Fault::Hash;
    let is_said = |broken: &Break| broken.is_flagged() && broken.sales.iter().all(|sale| flagged.contains(sale));
    for broken in breaks.iter().filter(is_here).filter(|broken| !is_said(broken)) {
        found.add(broken.store, ENTRIES, format!("{} {}", broken.chain, broken.number), broken.text());
    }
    let broken: HashSet<Uuid> = breaks.iter().filter(|broken| broken.is_flagged()).map(|broken| broken.chain).collect();
    let entries = chain_entry::Entity::find();
    let entries = select_in(&source.conn, entries, chain_entry::Column::SaleId, flagged.iter().copied()).await?;
    let borne_out: HashSet<Uuid> =
        entries.iter().filter(|entry| broken.contains(&entry.chain_id)).map(|entry| entry.sale_id).collect();
    for id in flagged.difference(&borne_out) {
        found.add(Uuid::nil(), sale::TYPE, id, "says that its chain is broken, and it is whole");
    }
    Ok(())
}

async fn flagged(source: &Source) -> Result<HashSet<Uuid>, DbErr> {
    let sql = format!("SELECT id FROM sales WHERE flags LIKE '%\"{}\"%'", fiscal::CHAIN_BROKEN);
    query(&source.conn, &sql, []).await?.iter().map(|row| row.try_get("", "id")).collect()
}

/// What headquarters noted as the newest entry of a chain is still at its store, as it was.
pub(super) async fn at_both(
    store: &Source,
    hq: Option<&Source>,
    options: &Options,
    found: &mut Found,
) -> Result<(), DbErr> {
    let Some(hq) = hq else { return Ok(()) };
    if !in_touch(store, hq).await? {
        return Ok(());
    }
    let own = heads::complete(&store.conn, store.store).await?;
    let noted = sale_chain::Entity::find().filter(sale_chain::Column::StoreId.eq(store.store)).all(&hq.conn).await?;
    for head in noted {
        let here = entries_at(store, &head).await?;
        // Two copies of a store may have gone on under one number, of which headquarters has both when all was sent.
        let is_own = own.contains(&head.chain_id);
        let is_other = if here.is_empty() { is_own } else { (is_own || options.settled) && !here.contains(&head.hash) };
        if is_other && entries_at(hq, &head).await?.len() <= 1 {
            let id = format!("{} {}", head.chain_id, head.number);
            found.add(
                store.store,
                "sale_chains",
                id,
                "headquarters noted this entry, and the store does not have it as it was",
            );
        }
    }
    Ok(())
}

/// The hashes of the entries under the number of `head`.
async fn entries_at(source: &Source, head: &sale_chain::Model) -> Result<Vec<String>, DbErr> {
    let rows = chain_entry::Entity::find()
        .filter(chain_entry::Column::ChainId.eq(head.chain_id))
        .filter(chain_entry::Column::Number.eq(head.number));
    Ok(rows.all(&source.conn).await?.into_iter().map(|entry| entry.hash).collect())
}
