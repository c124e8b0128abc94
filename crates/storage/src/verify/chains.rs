//! I15: the chains of documents are what was written, and headquarters has no newer end of one than its store. `docs/chain.md`.

use std::collections::{HashMap, HashSet};

use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, Value};
use uuid::Uuid;

use super::finding::{Found, Options};
use super::heads::in_touch;
use super::pages::{Pages, as_limit, documents};
use super::source::Source;
use crate::Side;
use crate::document::sale;
use crate::entity::sale_chain;
use crate::fiscal::{self, Break, Fault, heads};
use crate::many::{find_by_rows, find_in};

const ENTRIES: &str = "chain_entries";

/// Each database by itself. Headquarters takes what is broken and flags it: there the flags are what is asked for.
pub(super) async fn whole(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    let breaks = fiscal::check_by(&source.conn, as_limit(documents(source))).await?.breaks;
    let flagged = if source.side == Side::Hq { flagged(source).await? } else { HashSet::new() };
    // What became of an older database of this store, of which a copy may have gone on, is for headquarters to say.
    let is_here = |broken: &&Break| broken.is_own || broken.fault == Fault::Hash;
    let is_said = |broken: &Break| broken.is_flagged() && broken.sales.iter().all(|sale| flagged.contains(sale));
    for broken in breaks.iter().filter(is_here).filter(|broken| !is_said(broken)) {
        found.add(broken.store, ENTRIES, format!("{} {}", broken.chain, broken.number), broken.text());
    }
    let broken: HashSet<Uuid> = breaks.iter().filter(|broken| broken.is_flagged()).map(|broken| broken.chain).collect();
    let mut borne_out: HashSet<Uuid> = HashSet::new();
    let sql = "SELECT chain_id, sale_id FROM chain_entries WHERE sale_id IN ($list)";
    let ids: Vec<Uuid> = flagged.iter().copied().collect();
    for ids in ids.chunks(source.rows) {
        for row in find_in(&source.conn, sql, &[], ids.iter().copied()).await? {
            if broken.contains(&row.try_get::<Uuid>("", "chain_id")?) {
                borne_out.insert(row.try_get("", "sale_id")?);
            }
        }
    }
    for id in flagged.difference(&borne_out) {
        found.add(Uuid::nil(), sale::TYPE, id, "says that its chain is broken, and it is whole");
    }
    Ok(())
}

/// Sales that are flagged so: as many as headquarters has ever found in a broken chain.
async fn flagged(source: &Source) -> Result<HashSet<Uuid>, DbErr> {
    let sql = format!("SELECT id FROM sales WHERE flags LIKE '%\"{}\"%' AND $behind", fiscal::CHAIN_BROKEN);
    let mut flagged = HashSet::new();
    let mut pages = Pages::by_id(source, &sql, []);
    while let Some(rows) = pages.page().await? {
        for row in rows {
            flagged.insert(row.try_get("", "id")?);
        }
    }
    Ok(flagged)
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
    let (at_store, at_hq) = (entries_at(store, &noted).await?, entries_at(hq, &noted).await?);
    for head in noted {
        let entries = |of: &HashMap<Uuid, Vec<String>>| of.get(&head.chain_id).cloned().unwrap_or_default();
        let here = entries(&at_store);
        // Two copies of a store may have gone on under one number, of which headquarters has both when all was sent.
        let is_own = own.contains(&head.chain_id);
        let is_other = if here.is_empty() { is_own } else { (is_own || options.settled) && !here.contains(&head.hash) };
        if is_other && entries(&at_hq).len() <= 1 {
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

/// By chain, the hashes of the entries under the number of its head.
async fn entries_at(source: &Source, heads: &[sale_chain::Model]) -> Result<HashMap<Uuid, Vec<String>>, DbErr> {
    let sql = "WITH heads (chain, number) AS (VALUES $rows) SELECT e.chain_id, e.hash FROM heads h \
               CROSS JOIN chain_entries e WHERE e.chain_id = h.chain AND e.number = h.number";
    let rows: Vec<[Value; 2]> = heads.iter().map(|head| [head.chain_id.into(), head.number.into()]).collect();
    let mut entries: HashMap<Uuid, Vec<String>> = HashMap::new();
    for row in find_by_rows(&source.conn, sql, &[], "(?, ?)", rows).await? {
        entries.entry(row.try_get("", "chain_id")?).or_default().push(row.try_get("", "hash")?);
    }
    Ok(entries)
}
