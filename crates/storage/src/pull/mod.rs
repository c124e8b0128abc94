//! What a store pulls: rows above its cursor with their head, from one snapshot. `docs/sync.md`, rule D2.

pub mod apply;
pub mod catalogue;
mod cursors;
pub(crate) mod received;
pub mod staged;
pub mod unreadable;

use std::collections::HashMap;

use sea_orm::{ConnectionTrait, DbErr};
use uuid::Uuid;

use crate::db::query;
use crate::registry::{Scope, SyncType};
use crate::rows::{Reading, Row, Texts, Unread};
use crate::{Transaction, fault, staff};

/// Rows that are read for one page, however many are asked for.
pub const ROWS: u64 = 500;
/// As [`ROWS`], of documents with lines.
pub(crate) const DOCUMENTS: u64 = 16;
/// Bytes of the rows of one page, unless one row has more: what a line of 64 kbit/s carries in half a minute, were it not
/// compressed.
const BYTES: usize = 256 << 10;

/// One page of a pull: rows as JSON texts, by rising version.
pub struct Page {
    pub rows: Vec<String>,
    /// The highest version among the rows, or the cursor when there are none.
    pub latest: i64,
    pub has_more: bool,
    /// Rows of it that cannot be read: they are not among `rows`, and the cursor goes on past them.
    pub left_out: Vec<Unread>,
}

impl Page {
    /// What is wrong with it if no store may take it: what comes whole would be less than it is (rule D4), and what has
    /// no id or version can neither be named nor stepped over.
    pub fn flaw(&self, entity: &SyncType) -> Option<&Unread> {
        self.left_out.iter().find(|row| entity.replace_all || row.id.is_none() || row.version.is_none())
    }
}

/// Makes what verifies the PIN of a row's person what the store that pulls it can use.
pub type Fit<'a> = &'a (dyn Fn(&mut dyn Row) + Sync);

/// The page of `entity` above `since` that concerns `store`, with at most `limit` rows, and as many as fit into a page.
pub async fn page(
    conn: &Transaction,
    entity: &SyncType,
    store: Uuid,
    since: i64,
    limit: u64,
    fit: Fit<'_>,
) -> Result<Page, DbErr> {
    fault::point("pull.page")?;
    if entity.replace_all {
        let (rows, left_out) = parted(entity.table.every(conn).await?);
        let rows = texts(&rows, &mut HashMap::new(), entity)?;
        return Ok(Page { rows, latest: head(conn, entity, store).await?, has_more: false, left_out });
    }
    let filter: &[&str] = match entity.scope {
        Scope::Everyone => &[],
        Scope::Store => &["store_id"],
        Scope::Parties => &["from_store_id", "to_store_id"],
    };
    if entity.children.is_empty() && entity.withheld.is_empty() {
        let limit = usize::try_from(limit.min(ROWS)).unwrap_or(usize::MAX);
        let found = entity.table.texts_above(conn, (since, limit), BYTES, filter, store).await?;
        let Texts { rows, left_out, latest, has_more, .. } = found;
        return Ok(Page { rows, latest, has_more, left_out });
    }
    // A document may have thousands of lines: of so few, all are in memory before it is known what fits into a page.
    let limit = limit.min(if entity.children.is_empty() { ROWS } else { DOCUMENTS });
    let mut rows = entity.table.above(conn, since, limit + 1, filter, store).await?;
    let read = rows.len();
    rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let mut has_more = read > rows.len();
    let mut latest = rows.last().and_then(version).unwrap_or(since);
    let (mut rows, mut left_out) = parted(rows);
    withhold(conn, entity, store, &mut rows, fit).await?;
    let mut children = children(conn, entity, &mut rows, &mut left_out).await?;
    let texts = fitting(texts(&rows, &mut children, entity)?);
    if texts.len() < rows.len() {
        rows.truncate(texts.len());
        latest = rows.last().and_then(|row| row.integer("sync_version")).unwrap_or(since);
        // What lies behind the last one that fits is for the next page.
        left_out.retain(|row| row.version.is_none_or(|version| version <= latest));
        has_more = true;
    }
    Ok(Page { rows: texts, latest, has_more, left_out })
}

/// The first of these rows, as many as fit into a page: one at the least.
pub(crate) fn fitting(mut texts: Vec<String>) -> Vec<String> {
    let mut bytes = 0;
    let fit = texts.iter().take_while(|text| {
        bytes += text.len();
        bytes <= BYTES
    });
    let fit = fit.count().max(1);
    texts.truncate(fit);
    texts
}

fn version(row: &Reading) -> Option<i64> {
    row.as_ref().map_or_else(|unread| unread.version, |row| row.integer("sync_version"))
}

/// What can be read, and what cannot.
pub(crate) fn parted(read: Vec<Reading>) -> (Vec<Box<dyn Row>>, Vec<Unread>) {
    let (mut rows, mut unread) = (Vec::with_capacity(read.len()), Vec::new());
    for row in read {
        match row {
            Ok(row) => rows.push(row),
            Err(row) => unread.push(row),
        }
    }
    (rows, unread)
}

/// Which of the rows `ids` still cannot be read, alone or for one of their lines.
pub async fn unread(conn: &Transaction, entity: &SyncType, ids: &[Uuid]) -> Result<Vec<Unread>, DbErr> {
    if entity.replace_all {
        return Ok(parted(entity.table.every(conn).await?).1);
    }
    let (mut rows, mut unread) = parted(entity.table.read_having(conn, "id", ids, false).await?);
    children(conn, entity, &mut rows, &mut unread).await?;
    Ok(unread)
}

/// How many rows of `entity` there are of headquarters, but for those that a reload at a store has not seen again.
pub async fn count(conn: &impl ConnectionTrait, entity: &SyncType) -> Result<i64, DbErr> {
    let sql = format!("SELECT COUNT(*) AS number FROM {} WHERE sync_version > 0", entity.table.name());
    let rows = query(conn, &sql, []).await?;
    rows.first().map_or(Ok(0), |row| row.try_get("", "number"))
}

/// The head of `entity` for `store`: the version of its newest change.
pub async fn head(conn: &Transaction, entity: &SyncType, store: Uuid) -> Result<i64, DbErr> {
    let sql = "SELECT value FROM sync_counters WHERE entity_type = $1 AND scope = $2";
    let scope = crate::registry::counter_scope(entity, store);
    let row = query(conn, sql, [entity.name.into(), scope.into()]).await?;
    row.first().map_or(Ok(0), |row| row.try_get("", "value"))
}

/// Nulls the columns that only the stores of a row's people may see, the PIN verifiers, and fits those that stay.
async fn withhold(
    conn: &Transaction,
    entity: &SyncType,
    store: Uuid,
    rows: &mut [Box<dyn Row>],
    fit: Fit<'_>,
) -> Result<(), DbErr> {
    if entity.withheld.is_empty() || rows.is_empty() {
        return Ok(());
    }
    let staff = staff::of_store(conn, store).await?;
    for row in rows {
        if row.uuid("id").is_some_and(|id| staff.contains(&id)) {
            fit(&mut **row);
            continue;
        }
        for column in entity.withheld {
            row.set(column, None::<String>.into());
        }
    }
    Ok(())
}

pub(crate) type Children = HashMap<Uuid, Vec<(&'static str, Vec<String>)>>;

/// The lines of `rows`. A document of which a line cannot be read is no row any more and goes to `left_out`: without that
/// line it would be another document.
pub(crate) async fn children(
    conn: &Transaction,
    entity: &SyncType,
    rows: &mut Vec<Box<dyn Row>>,
    left_out: &mut Vec<Unread>,
) -> Result<Children, DbErr> {
    let mut out = Children::new();
    let parents: Vec<Uuid> = rows.iter().filter_map(|row| row.uuid("id")).collect();
    for child in entity.children {
        let mut by_parent: HashMap<Uuid, Vec<Box<dyn Row>>> = HashMap::new();
        let (lines, unread) = parted(child.table.read_having(conn, child.parent, &parents, false).await?);
        for line in unread {
            let place = rows.iter().position(|row| row.uuid("id").is_some_and(|id| Some(id) == line.parent));
            // Its document may have another such line.
            if let Some(document) = place.map(|place| rows.remove(place)) {
                let version = document.integer("sync_version");
                left_out.push(Unread { id: line.parent, version, ..line });
            }
        }
        for row in lines {
            by_parent.entry(row.uuid(child.parent).unwrap_or_default()).or_default().push(row);
        }
        for parent in &parents {
            let mut rows = by_parent.remove(parent).unwrap_or_default();
            rows.sort_by_key(|row| row.integer("line_no"));
            let texts =
                rows.iter().map(|row| row.to_json()).collect::<Result<_, _>>().map_err(|error| json_error(&error))?;
            out.entry(*parent).or_default().push((child.key, texts));
        }
    }
    Ok(out)
}

pub(crate) fn texts(rows: &[Box<dyn Row>], children: &mut Children, entity: &SyncType) -> Result<Vec<String>, DbErr> {
    let mut text = |row: &dyn Row| {
        let mut text = row.to_json().map_err(|error| json_error(&error))?;
        if !entity.children.is_empty()
            && let Some(lists) = row.uuid("id").and_then(|id| children.remove(&id))
        {
            text.pop();
            for (key, rows) in lists {
                text.extend([",\"", key, "\":[", &rows.join(","), "]"]);
            }
            text.push('}');
        }
        Ok(text)
    };
    rows.iter().map(|row| text(&**row)).collect()
}

fn json_error(error: &serde_json::Error) -> DbErr {
    DbErr::Json(error.to_string())
}
