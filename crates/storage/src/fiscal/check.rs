//! Whether the chains of one database are what was written: every hash against its document, every entry against the one before.

use std::collections::{HashMap, HashSet};

use sea_orm::{ConnectionTrait, DbErr, EntityTrait};
use tillkeep_model::Money;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::ChainKind;
use uuid::Uuid;

use super::content::{Rows, fits, is_known};
use super::documents::{Documents, PAGE, page};
use super::heads;
use super::next::after;
use crate::db::query;
use crate::entity::{chain_entry, sale_chain};
use crate::envelope::limits::CUT;
use crate::kept_ids::KeptIds;
use crate::settings;

/// What is wrong with an entry of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The hash is not that of the document.
    Hash,
    Twice,
    NotChained,
    /// Entries before it are not there, where all of them must be.
    Missing,
    RunningTotal,
    /// The newest entry is not the one that was noted.
    Head,
    /// A sale is voided, and no entry says so.
    NoVoid,
}

impl Fault {
    const fn text(self) -> &'static str {
        match self {
            Self::Hash => "the hash is not that of its document: one of the two was changed",
            Self::Twice => "another entry has the same number",
            Self::NotChained => "it does not follow from the entry before it: one of the two was replaced",
            Self::Missing => "entries before it are missing",
            Self::RunningTotal => "the running total is not that of the entry before and its document",
            Self::Head => {
                "the newest entry of the chain is not the one that was noted: its end was cut off or replaced"
            }
            Self::NoVoid => "its sale is voided, and no entry of the chain says so",
        }
    }
}

/// Something that is wrong with a chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("chain {chain}, number {number}: {}", .fault.text())]
pub struct Break {
    pub store: Uuid,
    pub chain: Uuid,
    pub number: i64,
    /// The sales that may be what is wrong.
    pub sales: Vec<Uuid>,
    pub fault: Fault,
    /// Not of a chain that another database of this store has begun: of one of those there may be two copies, of which headquarters
    /// knows more.
    pub is_own: bool,
}

impl Break {
    /// What is wrong, without where.
    #[must_use]
    pub const fn text(&self) -> &'static str {
        self.fault.text()
    }

    /// Whether headquarters flags the sales when it gets them.
    pub(crate) const fn is_flagged(&self) -> bool {
        matches!(self.fault, Fault::Hash | Fault::Twice | Fault::NotChained)
    }
}

/// What the chains of a database were found to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    pub chains: u64,
    pub entries: u64,
    /// Entries of a form that this program does not know, which are not judged.
    pub unknown: u64,
    /// Documents from before there were chains, and of releases without them.
    pub without_entry: i64,
    pub breaks: Vec<Break>,
}

/// Reads every entry; no more than a page of them is in memory.
pub async fn check(conn: &impl ConnectionTrait) -> Result<Checked, DbErr> {
    check_by(conn, PAGE).await
}

/// As [`check`], by pages of so many entries.
pub(crate) async fn check_by(conn: &impl ConnectionTrait, most: u64) -> Result<Checked, DbErr> {
    let store: Option<Uuid> = settings::get(conn, "store_id").await?.and_then(|id| id.parse().ok());
    let own = match store {
        Some(store) => heads::complete(conn, store).await?,
        None => HashSet::new(),
    };
    let heads = sale_chain::Entity::find().all(conn).await?;
    let heads = heads.into_iter().map(|head| (head.chain_id, head)).collect();
    let mut walk = Walk {
        at_store: store.is_some(),
        own: own.clone(),
        heads,
        checked: Checked::default(),
        before: None,
        now: None,
    };
    let mut kept: HashMap<Uuid, KeptIds> = HashMap::new();
    let mut place = (Uuid::nil(), i64::MIN, Uuid::nil());
    loop {
        let entries = page(conn, place, most).await?;
        let Some(last) = entries.last() else { break };
        place = (last.chain_id, last.number, last.id);
        let documents = Documents::of(conn, &entries).await?;
        for entry in entries {
            if store.is_none() && !kept.contains_key(&entry.store_id) {
                kept.insert(entry.store_id, KeptIds::of_store(conn, entry.store_id).await?);
            }
            walk.entry(entry, &documents, &kept);
        }
    }
    walk.end_of_chain();
    walk.lost_heads();
    let mut checked = walk.checked;
    let without = without_void(conn).await?;
    let is_own = |chain: Uuid| store.is_none() || own.contains(&chain);
    checked.breaks.extend(without.into_iter().map(|broken| Break { is_own: is_own(broken.chain), ..broken }));
    checked.without_entry = without_entry(conn).await?;
    Ok(checked)
}

/// Documents without an entry.
async fn without_entry(conn: &impl ConnectionTrait) -> Result<i64, DbErr> {
    let sql = "SELECT COUNT(*) AS documents FROM sales s \
               WHERE NOT EXISTS (SELECT 1 FROM chain_entries e WHERE e.sale_id = s.id)";
    query(conn, sql, []).await?.first().map_or(Ok(0), |row| row.try_get("", "documents"))
}

/// Sales that are in a chain, and voided without an entry of that.
async fn without_void(conn: &impl ConnectionTrait) -> Result<Vec<Break>, DbErr> {
    let sql = "SELECT s.id, s.store_id, e.chain_id, e.number FROM sales s JOIN chain_entries e ON e.sale_id = s.id \
               WHERE s.status = $1 AND e.kind <> $2 \
               AND NOT EXISTS (SELECT 1 FROM chain_entries v WHERE v.sale_id = s.id AND v.kind = $2)";
    let words = [SaleStatus::Voided.word().into(), ChainKind::Void.word().into()];
    let row = |row: &crate::db::Row| {
        Ok(Break {
            store: row.try_get("", "store_id")?,
            chain: row.try_get("", "chain_id")?,
            number: row.try_get("", "number")?,
            sales: vec![row.try_get("", "id")?],
            fault: Fault::NoVoid,
            is_own: true,
        })
    };
    query(conn, sql, words).await?.iter().map(row).collect()
}

/// An entry, as far as the next one is compared with it.
struct Seen {
    entry: chain_entry::Model,
    total: Money,
}

struct Walk {
    at_store: bool,
    /// The chains that this database has begun itself: of them every entry is here.
    own: HashSet<Uuid>,
    heads: HashMap<Uuid, sale_chain::Model>,
    checked: Checked,
    /// The entries of the number before, and of this number: more than one is too many.
    before: Option<Vec<Seen>>,
    now: Option<Vec<Seen>>,
}

impl Walk {
    fn entry(&mut self, entry: chain_entry::Model, documents: &Documents, kept: &HashMap<Uuid, KeptIds>) {
        let place = self.now.as_ref().and_then(|now| now.first()).map(|seen| (seen.entry.chain_id, seen.entry.number));
        match place {
            Some((chain, _)) if chain != entry.chain_id => self.end_of_chain(),
            Some((_, number)) if number != entry.number => self.end_of_number(),
            _ => {}
        }
        self.checked.entries += 1;
        let rows = documents.rows(entry.sale_id);
        let total = rows.as_ref().map_or(Money::ZERO, |rows| rows.sale.total_amount);
        if is_known(entry.version) {
            let sent = |id| kept.get(&entry.store_id).map_or(id, |kept| kept.sent(id));
            // Of what was cut off the hash says nothing, and the flag of that does.
            let is_cut = |rows: &Rows<'_>| rows.sale.flags.0.to_string().contains(CUT);
            let fits = rows.is_some_and(|rows| is_cut(&rows) || fits(&entry, &rows, &sent));
            if !fits {
                self.found(&entry, vec![entry.sale_id], Fault::Hash);
            }
        } else {
            self.checked.unknown += 1;
        }
        self.now.get_or_insert_default().push(Seen { entry, total });
    }

    fn found(&mut self, entry: &chain_entry::Model, sales: Vec<Uuid>, fault: Fault) {
        let (store, chain, number) = (entry.store_id, entry.chain_id, entry.number);
        let is_own = !self.at_store || self.own.contains(&chain);
        self.checked.breaks.push(Break { store, chain, number, sales, fault, is_own });
    }

    fn end_of_number(&mut self) {
        let Some(now) = self.now.take() else { return };
        let before = self.before.take();
        let is_twice = now.len() > 1;
        for seen in now.iter().filter(|seen| is_known(seen.entry.version)) {
            if is_twice {
                self.found(&seen.entry, vec![seen.entry.sale_id], Fault::Twice);
            }
            self.compare(seen, before.as_deref());
        }
        self.before = Some(now);
    }

    /// An entry with those of the number before it.
    fn compare(&mut self, seen: &Seen, before: Option<&[Seen]>) {
        let Seen { entry, total } = seen;
        let last = before.and_then(|before| before.first()).map_or(0, |seen| seen.entry.number);
        if entry.number != last + 1 {
            if entry.number < 1 {
                self.found(entry, vec![entry.sale_id], Fault::NotChained);
            } else if self.own.contains(&entry.chain_id) {
                self.found(entry, vec![entry.sale_id], Fault::Missing);
            }
            return;
        }
        let before = before.unwrap_or_default();
        let fitting = before.iter().find(|seen| seen.entry.hash == entry.previous_hash);
        let former = match fitting {
            Some(seen) => seen.entry.running_total,
            None if before.is_empty() && entry.previous_hash.is_empty() => Money::ZERO,
            None => {
                let known = before.iter().filter(|seen| is_known(seen.entry.version));
                let sales = known.map(|seen| seen.entry.sale_id).chain([entry.sale_id]).collect();
                self.found(entry, sales, Fault::NotChained);
                return;
            }
        };
        if entry.running_total != after(former, &entry.kind, *total) {
            self.found(entry, vec![entry.sale_id], Fault::RunningTotal);
        }
    }

    fn end_of_chain(&mut self) {
        self.end_of_number();
        let Some(last) = self.before.take() else { return };
        let Some(entry) = last.first().map(|seen| seen.entry.clone()) else { return };
        self.checked.chains += 1;
        let head = self.heads.remove(&entry.chain_id);
        // What headquarters said of an older database may be newer than what is here of it.
        let may_lack = self.at_store && !self.own.contains(&entry.chain_id);
        let is_noted = |head: sale_chain::Model| {
            (may_lack && head.number > entry.number)
                || (head.number == entry.number && last.iter().any(|seen| seen.entry.hash == head.hash))
        };
        if !head.map_or(may_lack, is_noted) {
            self.found(&entry, vec![entry.sale_id], Fault::Head);
        }
    }

    /// Chains of which the newest entry is noted and none is here.
    fn lost_heads(&mut self) {
        let lost = self.heads.values().filter(|head| !self.at_store || self.own.contains(&head.chain_id));
        let breaks = lost.map(|head| Break {
            store: head.store_id,
            chain: head.chain_id,
            number: head.number,
            sales: Vec::new(),
            fault: Fault::Head,
            is_own: true,
        });
        self.checked.breaks.extend(breaks);
    }
}
