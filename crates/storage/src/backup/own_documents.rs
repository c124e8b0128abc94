//! What a store gets back of its own: HQ's copies of its documents and levels, for an installation that lost its database.
//! `docs/sync.md`, rule D8.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use sea_orm::sea_query::{Alias, Expr, ExprTrait};
use sea_orm::{ColumnTrait, DbErr, EntityName, EntityTrait, QueryFilter};
use serde_json::value::RawValue;
use tillkeep_model::{Instant, Money, Qty};
use uuid::Uuid;

use crate::apply::{decode, decode_children};
use crate::db::{execute, query, rows_per_statement};
use crate::document::movement::{Kind, Movement};
use crate::document::{Pushed, Whole, lists, session};
use crate::entity::store_product;
use crate::kept_ids::KeptIds;
use crate::many::{execute_rows, select_in};
use crate::registry::{self, SyncType};
use crate::rows::{Row, Unread};
use crate::{Transaction, Tx, accounts, outbox, pull, safe, stock};

/// The types that a store gets back, in the order in which it takes them: the levels last, when their documents are there.
pub static TYPES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let restored = registry::pushed().filter(|(_, pushed)| pushed.restored.is_some());
    restored.map(|(entity, _)| entity.name).chain([levels()]).collect()
});

fn levels() -> &'static str {
    store_product::Entity.table_name()
}

/// How the terminal of a till begins that came back and has not been given its terminal again.
pub const UNKNOWN_TERMINAL: &str = "restored-";

/// The type called `name`, if a store gets it back.
pub fn find(name: &str) -> Option<&'static SyncType> {
    registry::find(name).filter(|_| TYPES.contains(&name))
}

/// One page: rows as JSON texts, by rising id.
pub struct Page {
    pub rows: Vec<String>,
    pub last_id: Option<Uuid>,
    pub has_more: bool,
    /// Rows of it that cannot be read and are not among `rows`.
    pub left_out: Vec<Unread>,
}

/// The rows of `store` above `after`, as many as fit into a page; documents that changed since `since`, levels all of them.
pub async fn page(
    conn: &Transaction,
    entity: &SyncType,
    store: Uuid,
    after: Uuid,
    since: Instant,
    limit: u64,
) -> Result<Page, DbErr> {
    let since = if entity.name == levels() { Instant::from_millis(0) } else { since };
    let most = if entity.children.is_empty() { pull::ROWS } else { pull::DOCUMENTS };
    let limit = Ord::min(limit, most);
    let mut rows = entity.table.own(conn, store, after, since, limit + 1).await?;
    let read = rows.len();
    rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let mut has_more = read > rows.len();
    let mut last_id = rows.last().and_then(|row| row.as_ref().map_or_else(|unread| unread.id, |row| row.uuid("id")));
    let (mut rows, mut left_out) = pull::parted(rows);
    let mut children = pull::children(conn, entity, &mut rows, &mut left_out).await?;
    let kept = KeptIds::of_store(conn, store).await?;
    let texts = pull::texts(&rows, &mut children, entity)?.into_iter().map(|text| kept.as_sent(text)).collect();
    let texts = pull::fitting(texts);
    if texts.len() < rows.len() {
        last_id = texts.len().checked_sub(1).and_then(|last| rows.get(last)?.uuid("id"));
        left_out.retain(|row| row.id <= last_id);
        has_more = true;
    }
    Ok(Page { rows: texts, last_id, has_more, left_out })
}

/// Queues the documents that came back from HQ, as far as they changed since `since`: an HQ that was restored after that may
/// lack them, and no entry is here that could be sent again. What HQ has it leaves aside.
pub async fn queue_again(tx: &Tx, since: Instant, now: Instant) -> Result<usize, DbErr> {
    let mut count = 0;
    for entity in TYPES.iter().filter_map(|name| find(name)).filter(|entity| entity.is_pushed()) {
        let table = entity.name;
        let none = |entries: &str| {
            format!("NOT EXISTS (SELECT 1 FROM {entries} e WHERE e.entity_type = '{table}' AND e.entity_id = d.id)")
        };
        let sql = format!(
            "SELECT id FROM {table} d WHERE d.updated_at >= $1 AND {} AND {} ORDER BY id",
            none("sync_outbox"),
            none("sync_outbox_sent")
        );
        let found = query(tx, &sql, [since.into()]).await?;
        let ids: Vec<Uuid> = found.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?;
        for chunk in ids.chunks(rows_per_statement(0)) {
            let (mut rows, mut left_out) = pull::parted(entity.table.read_having(tx, "id", chunk, false).await?);
            let mut children = pull::children(tx, entity, &mut rows, &mut left_out).await?;
            for row in left_out {
                tracing::error!(entity_type = table, id = ?row.id, "a document cannot be read, and is not sent again");
            }
            let texts = pull::texts(&rows, &mut children, entity)?;
            let documents = rows.iter().filter_map(|row| row.uuid("id")).zip(texts).collect();
            outbox::enqueue_documents(tx, entity, documents, now).await?;
        }
        count += ids.len();
    }
    if count > 0 {
        accounts::charge_again(tx).await?;
    }
    Ok(count)
}

/// Takes a page of documents at their store: what is missing, and what has no unsent work; of what has, lists that only grow get
/// what they lack. Their goods move once, however often the page comes.
pub async fn take(
    tx: &mut Tx,
    entity: &SyncType,
    store: Uuid,
    rows: &[Box<RawValue>],
    now: Instant,
) -> Result<usize, DbErr> {
    if entity.name == levels() {
        return take_levels(tx, entity, store, rows, now).await;
    }
    let Some((pushed, restored)) = entity.push.and_then(|pushed| Some((pushed, pushed.restored?))) else {
        return Ok(0);
    };
    let mut documents = Vec::with_capacity(rows.len());
    let mut lines: Vec<Vec<Box<dyn Row>>> = entity.children.iter().map(|_| Vec::new()).collect();
    let mut movements = Vec::new();
    for raw in rows {
        let mut row = decode(entity, raw)?;
        row.set("synced", true.into());
        row.set("received_at", None::<Instant>.into());
        row.set("last_envelope_at", None::<Instant>.into());
        let mut children = Vec::with_capacity(entity.children.len());
        for child in entity.children {
            children.push(decode_children(child, raw, row.uuid("id").unwrap_or_default())?.unwrap_or_default());
        }
        // The average cost comes with the level: here documents come by their ids, and not in the order of their effects.
        let moved = pushed.movements(&Whole::new(&*row, &children), None);
        movements.extend(moved.into_iter().map(|movement| Movement { unit_cost: None, ..movement }));
        for (into, from) in lines.iter_mut().zip(children) {
            into.extend(from);
        }
        documents.push(row);
    }
    let count = documents.len();
    if restored.registers {
        make_registers(tx, &documents, now).await?;
    }
    let ids: Vec<Uuid> = documents.iter().filter_map(|row| row.uuid("id")).collect();
    let here = unsent(tx, entity, &ids).await?;
    let unsent: Vec<Uuid> = here.iter().filter_map(|row| row.uuid("id")).collect();
    if entity.name == session::TYPE {
        safe::take_back(tx, rows).await?;
    }
    let table = entity.table.name();
    let but = |columns: Vec<&'static str>| columns.into_iter().filter(|column| *column != "id").collect::<Vec<_>>();
    let here = grown(pushed, here, &documents);
    entity.table.upsert(tx, here, &["id"], &but(entity.table.columns()), None).await?;
    let synced = Expr::col((Alias::new(table), Alias::new("synced"))).eq(true);
    entity.table.upsert(tx, documents, &["id"], &but(entity.table.columns()), Some(synced)).await?;
    for (child, mut rows) in entity.children.iter().zip(lines) {
        rows.retain(|row| row.uuid(child.parent).is_none_or(|parent| !unsent.contains(&parent)));
        child.table.upsert(tx, rows, &["id"], &but(child.table.columns()), None).await?;
    }
    if !movements.is_empty() {
        stock::apply(tx, store, movements, now).await?;
    }
    Ok(count)
}

/// The rows here that headquarters does not have as they are.
async fn unsent(tx: &Tx, entity: &SyncType, ids: &[Uuid]) -> Result<Vec<Box<dyn Row>>, DbErr> {
    let mut rows = entity.table.having(tx, "id", ids, true).await?;
    rows.retain(|row| row.get("synced") == Some(false.into()));
    Ok(rows)
}

/// Those of the rows `here` that get what headquarters has in their lists and they do not. They stay unsent: headquarters keeps
/// both too.
fn grown(pushed: &Pushed, here: Vec<Box<dyn Row>>, at_hq: &[Box<dyn Row>]) -> Vec<Box<dyn Row>> {
    let at_hq: HashMap<Uuid, &dyn Row> = at_hq.iter().filter_map(|row| Some((row.uuid("id")?, &**row))).collect();
    let mut grown = Vec::new();
    for mut row in here {
        let Some(other) = row.uuid("id").and_then(|id| at_hq.get(&id)) else { continue };
        for list in pushed.append_only_lists {
            let said = row.text(list);
            row.set(list, lists::union(other.text(list).as_deref(), said.as_deref()).into());
            if let Some(kept) = pushed.kept {
                kept(&mut *row, list, said.as_deref());
            }
        }
        grown.push(row);
    }
    grown
}

/// The tills are known to their store alone; the sessions name them. Their terminals are to be given by hand.
async fn make_registers(tx: &Tx, sessions: &[Box<dyn Row>], now: Instant) -> Result<(), DbErr> {
    let registers: HashMap<Uuid, String> =
        sessions.iter().filter_map(|row| Some((row.uuid("register_id")?, row.text("register_code")?))).collect();
    for (id, code) in registers {
        let sql = "INSERT INTO registers (id, code, name, terminal_id, is_active, created_at, updated_at) \
                   VALUES ($1, $2, $3, $4, TRUE, $5, $5) ON CONFLICT DO NOTHING";
        let name = format!("Register {code}");
        let terminal = format!("{UNKNOWN_TERMINAL}{code}");
        execute(tx, sql, [id.into(), code.into(), name.into(), terminal.into(), now.into()]).await?;
    }
    Ok(())
}

/// What HQ has on hand for this store, as far as the ledger here does not say it: older than the documents that came back.
async fn take_levels(
    tx: &mut Tx,
    entity: &SyncType,
    store: Uuid,
    rows: &[Box<RawValue>],
    now: Instant,
) -> Result<usize, DbErr> {
    let mut at_hq = HashMap::with_capacity(rows.len());
    for raw in rows {
        let row = decode(entity, raw)?;
        let Some(product_id) = row.uuid("product_id") else { continue };
        let average = row.integer("average_cost").map(Money);
        at_hq.insert(product_id, (Qty(row.integer("quantity").unwrap_or_default()), average));
    }
    let rows = store_product::Entity::find().filter(store_product::Column::StoreId.eq(store));
    let rows = select_in(tx, rows, store_product::Column::ProductId, at_hq.keys().copied()).await?;
    let here: HashMap<Uuid, Qty> = rows.into_iter().map(|row| (row.product_id, row.quantity)).collect();
    // HQ does not know what still waits in the outbox.
    let sql = "SELECT product_id, CAST(SUM(quantity_change) AS BIGINT) AS waiting FROM stock_movements WHERE source_id IN \
               (SELECT entity_id FROM sync_outbox WHERE action <> 'void') OR (movement_type = $1 \
               AND source_id IN (SELECT entity_id FROM sync_outbox WHERE action = 'void')) GROUP BY product_id";
    let mut waiting: HashMap<Uuid, Qty> = HashMap::new();
    for row in query(tx, sql, [Kind::SaleVoid.as_str().into()]).await? {
        waiting.insert(row.try_get("", "product_id")?, Qty(row.try_get("", "waiting")?));
    }
    let averages = at_hq.iter().filter_map(|(product_id, (_, average))| Some((*product_id, (*average)?))).collect();
    let mut movements = Vec::new();
    for (product_id, (quantity, _)) in at_hq {
        let known =
            here.get(&product_id).copied().unwrap_or_default() - waiting.get(&product_id).copied().unwrap_or_default();
        if quantity != known {
            let id = Uuid::now_v7();
            movements.push(Movement {
                kind: Kind::Restored,
                product_id,
                change: quantity - known,
                source_id: id,
                line_id: id,
                business_date: now.to_string().chars().take(10).collect(),
                at: now,
                received: false,
                unit_cost: None,
                tracked: Some(true),
                average_after: None,
            });
        }
    }
    let count = movements.len();
    if count > 0 {
        stock::apply(tx, store, movements, now).await?;
    }
    take_averages(tx, store, averages, now).await?;
    Ok(count)
}

/// What HQ has as the average cost is what this store last sent it, but where a change of it still waits in the outbox.
async fn take_averages(tx: &Tx, store: Uuid, mut at_hq: BTreeMap<Uuid, Money>, now: Instant) -> Result<(), DbErr> {
    let sql = "SELECT DISTINCT product_id FROM stock_movements WHERE movement_type IN ($1, $2) \
               AND source_id IN (SELECT entity_id FROM sync_outbox)";
    let kinds = [Kind::Adjustment, Kind::Refund];
    for row in query(tx, sql, kinds.map(|kind| kind.as_str().into())).await? {
        at_hq.remove(&row.try_get::<Uuid>("", "product_id")?);
    }
    let sql = "UPDATE store_product_dynamic SET average_cost = t.column2, updated_at = $2 FROM (VALUES $rows) AS t \
               WHERE store_product_dynamic.store_id = $1 AND store_product_dynamic.product_id = t.column1 \
               AND store_product_dynamic.average_cost IS DISTINCT FROM t.column2";
    let rows = at_hq.into_iter().map(|(product, average)| [product.into(), average.into()]);
    execute_rows(tx, sql, &[store.into(), now.into()], "(?, ?)", rows).await?;
    Ok(())
}
