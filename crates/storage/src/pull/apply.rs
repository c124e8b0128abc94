//! What a store does with the rows it pulled: rows and cursor land in one transaction. `docs/sync.md`, "Down: from
//! HQ to stores".

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use sea_orm::DbErr;
use sea_orm::sea_query::{Alias, Expr, ExprTrait};
use serde_json::value::RawValue;
use tillkeep_model::{Instant, wire};
use uuid::Uuid;

use super::catalogue;
pub use super::cursors::{Cursor, cursor, cursors, set_cursor};
use super::received::Received;
use crate::db::{execute, query};
use crate::document::flags;
use crate::many::execute_in;
use crate::registry::{Child, SyncType};
use crate::rows::Row;
use crate::{Tx, fault};

/// Version of a row that a reload has not seen again yet.
const UNSEEN: i64 = -1;

/// A document with its lines of one kind.
type Lines = (Uuid, Vec<Box<dyn Row>>);

/// Starts `entity` over: what HQ does not send again goes when the reload ends. Rule D9.
pub async fn begin_reload(tx: &Tx, entity: &SyncType) -> Result<(), DbErr> {
    fault::point("apply.begin_reload")?;
    let table = entity.table.name();
    let columns = entity.table.columns();
    if columns.contains(&"sync_version") {
        let guarded = columns.contains(&"synced");
        let mine = if guarded { format!("WHERE synced {}", flags::but_left_here(&columns)) } else { String::new() };
        execute(tx, &format!("UPDATE {table} SET sync_version = {UNSEEN} {mine}"), []).await?;
    }
    if entity.is_staged() {
        // It is of before.
        forget_staged(tx, entity).await?;
    }
    catalogue::reloads(tx, entity).await?;
    set_cursor(tx, entity, Cursor { reloading: true, ..Cursor::default() }, None).await
}

/// Forgets what lies aside of a type.
pub(super) async fn forget_staged(tx: &Tx, entity: &SyncType) -> Result<(), DbErr> {
    for table in ["staged_rows", "staged_cursors"] {
        execute(tx, &format!("DELETE FROM {table} WHERE entity_type = $1"), [entity.name.into()]).await?;
    }
    Ok(())
}

/// A page that is read: writing it is all that is left to do in the transaction.
pub struct Page {
    /// What came with the rows.
    pub answer: wire::PullAnswer,
    pub(crate) rows: Vec<Box<dyn Row>>,
    /// For each kind of lines that the type has.
    children: Vec<Vec<Lines>>,
}

impl Page {
    /// Rows that cannot be read are an error that names the field: a store must not step over a row.
    pub fn read(entity: &SyncType, mut answer: wire::PullAnswer) -> Result<Self, DbErr> {
        let texts = std::mem::take(&mut answer.rows);
        let mut rows = Vec::with_capacity(texts.len());
        let mut children: Vec<Vec<Lines>> = entity.children.iter().map(|_| Vec::new()).collect();
        for raw in &texts {
            let mut row = decode(entity, raw)?;
            for derived in entity.derived {
                let from = row.text(derived.from);
                row.set(derived.column, from.as_deref().map(derived.by).into());
            }
            row.set("synced", true.into());
            for (child, into) in entity.children.iter().zip(&mut children) {
                let id = row.uuid("id").unwrap_or_default();
                into.extend(decode_children(child, raw, id)?.map(|lines| (id, lines)));
            }
            rows.push(row);
        }
        Ok(Self { answer, rows, children })
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Refuses a page that does not go on from `cursor`: a user began a reload since it was asked for, and taken now it would
    /// pass for the end of that.
    pub(crate) fn must_fit(&self, entity: &SyncType, cursor: Cursor) -> Result<(), DbErr> {
        let since = self.answer.since_version;
        if since == cursor.version {
            return Ok(());
        }
        let text = format!("a page of {} from {since} does not fit the cursor {}", entity.name, cursor.version);
        Err(DbErr::Custom(text))
    }
}

/// Applies one page and moves the cursor; how many rows it had.
pub async fn page(tx: &Tx, entity: &SyncType, store_id: Uuid, page: Page, now: Instant) -> Result<usize, DbErr> {
    fault::point("apply.page")?;
    let cursor = cursor(tx, entity).await?;
    page.must_fit(entity, cursor)?;
    let Page { answer, rows, children } = page;
    let (count, due) = (rows.len(), &entity.arrival);
    if entity.replace_all {
        replace_whole(tx, entity, rows).await?;
    } else {
        let mut received = Received::new(tx, store_id, now, rows);
        received.take(due.before).await?;
        let rows = std::mem::take(&mut received.rows);
        received.are_new = upsert(tx, entity, rows, cursor.reloading).await?;
        received.take(due.written).await?;
        if cursor.reloading {
            keep(tx, entity, &answer.left_out).await?;
        }
        for (child, mut documents) in entity.children.iter().zip(children) {
            // Rule D6 again: the lines are part of the document.
            let busy = unsent(tx, entity).await?;
            documents.retain(|(document, _)| !busy.contains(document));
            replace_children(tx, child, documents).await?;
        }
        if cursor.reloading && !answer.has_more {
            end_reload(tx, entity).await?;
            received.take(due.reloaded).await?;
        }
        if count > 0 || !answer.has_more {
            received.take(due.after).await?;
        }
        if !answer.has_more {
            received.take(due.complete).await?;
        }
    }
    fault::point("apply.rows")?;
    set_cursor(tx, entity, cursor.after(&answer), Some(now)).await?;
    fault::point("apply.cursor")?;
    Ok(count)
}

pub(crate) fn decode(entity: &SyncType, raw: &RawValue) -> Result<Box<dyn Row>, DbErr> {
    let row = entity.table.decode(&camel_case(raw.get())?);
    row.map_err(|error| DbErr::Json(format!("a pulled row of {}: {error}", entity.name)))
}

/// The row in the spelling that is read.
fn camel_case(text: &str) -> Result<Cow<'_, str>, DbErr> {
    if !may_be_snake_case(text) {
        return Ok(text.into());
    }
    let mut map: serde_json::Map<_, _> = serde_json::from_str(text).map_err(|error| DbErr::Json(error.to_string()))?;
    wire::normalise_keys(&mut map);
    Ok(serde_json::Value::Object(map).to_string().into())
}

/// Whether a row may be in the other spelling: every such row has one of these keys, and most others are not parsed twice. They are
/// looked for by their line, which hardly another row has, so that it is gone through once.
fn may_be_snake_case(text: &str) -> bool {
    text.match_indices('_').any(|(at, _)| {
        let (before, behind) = text.split_at(at);
        behind.starts_with("_id\"")
            || (before.ends_with("\"sync") && behind.starts_with("_version\""))
            || (before.ends_with("\"created") && behind.starts_with("_at\""))
    })
}

/// `None` when the answer does not speak of them.
pub(crate) fn decode_children(child: &Child, raw: &RawValue, parent: Uuid) -> Result<Option<Vec<Box<dyn Row>>>, DbErr> {
    let text = camel_case(raw.get())?;
    let keys: HashMap<&str, &RawValue> = serde_json::from_str(&text).map_err(|error| DbErr::Json(error.to_string()))?;
    let Some(list) = keys.get(child.key) else { return Ok(None) };
    let list: Vec<&RawValue> = serde_json::from_str(list.get()).map_err(|error| DbErr::Json(error.to_string()))?;
    list.into_iter()
        .map(|raw| {
            let mut row = child
                .table
                .decode(&camel_case(raw.get())?)
                .map_err(|error| DbErr::Json(format!("{}: {error}", child.key)))?;
            row.set(child.parent, parent.into());
            Ok(row)
        })
        .collect::<Result<_, _>>()
        .map(Some)
}

/// The lines of documents become those that HQ has.
async fn replace_children(tx: &Tx, child: &Child, documents: Vec<Lines>) -> Result<(), DbErr> {
    let sql = format!("DELETE FROM {} WHERE {} IN ($list)", child.table.name(), child.parent);
    execute_in(tx, &sql, &[], documents.iter().map(|(document, _)| *document)).await?;
    let rows = documents.into_iter().flat_map(|(_, lines)| lines).collect();
    let columns = child.table.columns();
    let update: Vec<_> = columns.iter().copied().filter(|column| *column != "id").collect();
    child.table.upsert(tx, rows, &["id"], &update, None).await?;
    Ok(())
}

/// Insert or update on conflict of the type's key; a row with unsent local work is left alone (rule D6).
///
/// In a reload what a store pushes comes back too: HQ had all of it, and a store that was set back has less. Whether none of
/// the rows was here; a reload, where they all are, does not look.
async fn upsert(tx: &Tx, entity: &SyncType, rows: Vec<Box<dyn Row>>, reloading: bool) -> Result<bool, DbErr> {
    let columns = entity.table.columns();
    let kept: &[&str] = if reloading && entity.is_pushed() { &[] } else { entity.store_owned };
    let update: Vec<&str> = columns
        .iter()
        .copied()
        .filter(|column| *column != "id" && !entity.key.contains(column))
        .filter(|column| !kept.contains(column))
        .collect();
    let table = entity.table.name();
    let guarded = columns.contains(&"synced");
    let guard = guarded.then(|| Expr::col((Alias::new(table), Alias::new("synced"))).eq(true));
    if reloading {
        entity.table.upsert(tx, rows, entity.key, &update, guard).await?;
        return Ok(false);
    }
    Ok(entity.table.add(tx, rows, entity.key, &update, guard).await?.all_are_new)
}

/// What HQ has and cannot read is not sent and yet not gone: in a reload what is here of it stays. Rule D13.
async fn keep(tx: &Tx, entity: &SyncType, left_out: &[Uuid]) -> Result<(), DbErr> {
    let table = entity.table.name();
    let sql = format!("UPDATE {table} SET sync_version = 0 WHERE sync_version = {UNSEEN} AND id IN ($list)");
    execute_in(tx, &sql, &[], left_out.iter().copied()).await?;
    Ok(())
}

/// The rows that HQ has not taken yet.
async fn unsent(tx: &Tx, entity: &SyncType) -> Result<HashSet<Uuid>, DbErr> {
    let sql = format!("SELECT id FROM {} WHERE NOT synced", entity.table.name());
    query(tx, &sql, []).await?.iter().map(|row| row.try_get("", "id")).collect()
}

/// Rule D4: what HQ does not have any more is gone, a permission taken away included.
async fn replace_whole(tx: &Tx, entity: &SyncType, rows: Vec<Box<dyn Row>>) -> Result<(), DbErr> {
    execute(tx, &format!("DELETE FROM {}", entity.table.name()), []).await?;
    entity.table.upsert(tx, rows, entity.key, &[], None).await?;
    Ok(())
}

async fn end_reload(tx: &Tx, entity: &SyncType) -> Result<(), DbErr> {
    fault::point("apply.end_reload")?;
    catalogue::reloads(tx, entity).await?;
    let table = entity.table.name();
    if entity.store_may_create {
        // HQ has no row for what it never priced: the store's own row stays and follows the default price again.
        let sql = format!(
            "UPDATE {table} SET sync_version = 0, has_price_override = FALSE, \
             price = COALESCE((SELECT p.price FROM products p WHERE p.id = {table}.product_id), price) \
             WHERE sync_version = {UNSEEN}"
        );
        execute(tx, &sql, []).await?;
        return Ok(());
    }
    // Work may have begun on a row since the reload did.
    let mine = if entity.table.columns().contains(&"synced") { "AND synced" } else { "" };
    for child in entity.children {
        let sql = format!(
            "DELETE FROM {} WHERE {} IN (SELECT id FROM {table} WHERE sync_version = {UNSEEN} {mine})",
            child.table.name(),
            child.parent
        );
        execute(tx, &sql, []).await?;
    }
    execute(tx, &format!("DELETE FROM {table} WHERE sync_version = {UNSEEN} {mine}"), []).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_spelled_in_the_other_way_when_it_has_a_key_that_says_so() {
        for (text, may) in [
            (r#"{"id":"7","syncVersion":3,"productType":"non_stock","sku":"A_1"}"#, false),
            (r#"{"note":"sync_version, created_at and _id."}"#, false),
            (r#"{"syncVersion":3,"x_sync_version":1,"_created_at":""}"#, false),
            (r#"{"a_b":1,"sync_version":3}"#, true),
            (r#"{"created_at":""}"#, true),
            (r#"{"tax_group_id":""}"#, true),
            (r#"{"é_é":"ä_","store_id":""}"#, true),
        ] {
            assert_eq!(may_be_snake_case(text), may, "{text}");
        }
    }
}
