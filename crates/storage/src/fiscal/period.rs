//! The hashed bytes of a period, for whoever checks them without this program.

use sea_orm::DbErr;
use uuid::Uuid;

use super::content::{is_known, line};
use super::documents::{Documents, PAGE, page};
use crate::db::query;
use crate::kept_ids::KeptIds;
use crate::{Transaction, settings};

/// The part of a chain that is of a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    pub chain: Uuid,
    pub store: Uuid,
    pub register_code: String,
    /// From the first to the last entry of a document of the period; what lies between is all of it, so that no number is left out.
    pub first: i64,
    pub last: i64,
}

/// An entry of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hashed {
    pub number: i64,
    /// Of the entry before.
    pub previous: String,
    pub hash: String,
    /// What was hashed; nothing of a form that this program does not know.
    pub line: Option<String>,
}

/// The chains with documents of these business dates, both included, by store and register.
pub async fn chains(conn: &Transaction, from: &str, to: &str) -> Result<Vec<Chain>, DbErr> {
    let sql = "SELECT e.chain_id, e.store_id, e.register_code, MIN(e.number) AS first_number, MAX(e.number) AS last_number \
               FROM chain_entries e JOIN sales s ON s.id = e.sale_id \
               WHERE s.business_date >= $1 AND s.business_date <= $2 \
               GROUP BY e.chain_id, e.store_id, e.register_code ORDER BY e.store_id, e.register_code, e.chain_id";
    let chain = |row: &crate::db::Row| {
        Ok(Chain {
            chain: row.try_get("", "chain_id")?,
            store: row.try_get("", "store_id")?,
            register_code: row.try_get("", "register_code")?,
            first: row.try_get("", "first_number")?,
            last: row.try_get("", "last_number")?,
        })
    };
    query(conn, sql, [from.into(), to.into()]).await?.iter().map(chain).collect()
}

/// The entries of a part of a chain, a page at a time.
pub struct Entries<'a> {
    conn: &'a Transaction,
    last: i64,
    place: (Uuid, i64, Uuid),
    kept: KeptIds,
}

impl<'a> Entries<'a> {
    pub async fn begin(conn: &'a Transaction, chain: &Chain) -> Result<Self, DbErr> {
        // Only headquarters keeps rows under other ids.
        let is_store = settings::get(conn, "store_id").await?.is_some();
        let kept = if is_store { KeptIds::default() } else { KeptIds::of_store(conn, chain.store).await? };
        Ok(Self { conn, last: chain.last, place: (chain.chain, chain.first, Uuid::nil()), kept })
    }

    /// By their numbers; none at the end.
    pub async fn page(&mut self) -> Result<Vec<Hashed>, DbErr> {
        let mut entries = page(self.conn, self.place, PAGE).await?;
        entries.retain(|entry| entry.chain_id == self.place.0 && entry.number <= self.last);
        let Some(last) = entries.last() else { return Ok(Vec::new()) };
        self.place = (last.chain_id, last.number, last.id);
        let documents = Documents::of(self.conn, &entries).await?;
        let hashed = |entry: crate::entity::chain_entry::Model| {
            let rows = documents.rows(entry.sale_id).filter(|_| is_known(entry.version));
            let line = rows.map(|rows| line(&entry, &rows, &|id| self.kept.sent(id)));
            Hashed { number: entry.number, previous: entry.previous_hash, hash: entry.hash, line }
        };
        Ok(entries.into_iter().map(hashed).collect())
    }
}
