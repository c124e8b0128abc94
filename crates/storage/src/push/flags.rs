//! What somebody should look at in a document that is stored all the same: HQ never refuses money. `docs/sync.md`, rule
//! U9; the words are in `docs/domain.md`. One query for each kind and batch.

use std::collections::{BTreeSet, HashMap, HashSet};

use sea_orm::{ColumnTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Value};
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::{Instant, JsonText};
use uuid::Uuid;

use super::apply::Prepared;
use super::{Sender, effects, foreign};
use crate::Tx;
use crate::db::{placeholders, query};
use crate::entity::customer;
use crate::registry::{self, Row, SyncType};

pub const UNKNOWN_SESSION: &str = "unknown_session";
pub const UNKNOWN_CUSTOMER: &str = "unknown_customer";

/// A date that lies further ahead than this is a mistake of somebody's clock.
const AHEAD_MS: i64 = 2 * 24 * 3600 * 1000;

/// The columns of a type that say when it happened.
fn times(entity: &str) -> &'static [&'static str] {
    match entity {
        "sales" => &["created_at", "started_at", "completed_at"],
        "register_sessions" => &["created_at", "opened_at", "closed_at"],
        "inventory_adjustments" => &["created_at", "occurred_at"],
        _ => &[],
    }
}

/// The number of a type that comes once for each register, and the flag of one that came twice.
fn number(entity: &str) -> Option<(&'static str, &'static str)> {
    match entity {
        "sales" => Some(("receipt_number", "duplicate_receipt_number")),
        "register_sessions" => Some(("session_number", "duplicate_session_number")),
        _ => None,
    }
}

/// The flags of each document, which is not stored yet; an earlier document with the number of one of them is flagged
/// on the spot.
pub(super) async fn of(
    tx: &mut Tx,
    entity: &SyncType,
    sender: &Sender,
    documents: &[Prepared],
    now: Instant,
) -> Result<Vec<Vec<&'static str>>, DbErr> {
    let mut all: Vec<Vec<&'static str>> =
        documents.iter().map(|document| effects::flags(entity.name, &*document.row, &document.children)).collect();
    for flags in
        documents.iter().zip(&mut all).filter_map(|(document, flags)| document.number.is_flagged().then_some(flags))
    {
        flags.push(foreign::FOREIGN_NUMBER);
    }
    if documents.is_empty() || times(entity.name).is_empty() {
        return Ok(all);
    }
    let printed = documents.iter().flat_map(|document| foreign::printed(&*document.row));
    let others = foreign::codes_of_others(tx, sender, printed).await?;
    let twice = twice(tx, entity, sender, documents).await?;
    let products = of_documents(documents, |document| {
        let lines = document.children.first().into_iter().flatten();
        let own = document.row.uuid("product_id").filter(|_| entity.name == "inventory_adjustments");
        lines.filter_map(|line| line.uuid("product_id")).chain(own).collect()
    });
    let known = ids(tx, "products", products.iter().flatten()).await?;
    let (customers, sessions) = if entity.name == "sales" {
        let named = |column| documents.iter().filter_map(move |document| document.row.uuid(column));
        (customers(tx, named("customer_id")).await?, sessions(tx, named("register_session_id")).await?)
    } else {
        Default::default()
    };
    let latest = now.plus_millis(AHEAD_MS);
    for (((document, products), duplicate), flags) in documents.iter().zip(products).zip(twice).zip(&mut all) {
        let row = &*document.row;
        flags.extend(duplicate);
        if foreign::printed(row).iter().any(|number| foreign::begins_with_one_of(&others, number)) {
            flags.push(foreign::FOREIGN_NUMBER);
        }
        if products.iter().any(|product| !known.contains(product)) {
            flags.push("unknown_product");
        }
        if entity.name == "sales" {
            flags.extend(row.uuid("customer_id").and_then(|id| match customers.get(&id) {
                None => Some(UNKNOWN_CUSTOMER),
                Some(true) => Some("deleted_customer"),
                Some(false) => None,
            }));
            let session = row.uuid("register_session_id").filter(|id| !id.is_nil());
            flags.extend(session.and_then(|id| match sessions.get(&id) {
                None => Some(UNKNOWN_SESSION),
                Some(session) if session.is_closed_to(row) => Some("closed_day"),
                Some(_) => None,
            }));
        }
        let late = times(entity.name).iter().any(|column| row.instant(column).is_some_and(|at| at > latest));
        let last_day = latest.to_string();
        let date = row.text("business_date").is_some_and(|date| Some(date.as_str()) > last_day.get(..10));
        if late || date {
            flags.push("future_date");
        }
    }
    Ok(all)
}

fn of_documents(documents: &[Prepared], ids: impl Fn(&Prepared) -> Vec<Uuid>) -> Vec<Vec<Uuid>> {
    documents.iter().map(ids).collect()
}

/// Those of `wanted` that `table` has.
async fn ids<'a>(tx: &Tx, table: &str, wanted: impl Iterator<Item = &'a Uuid>) -> Result<HashSet<Uuid>, DbErr> {
    let wanted: HashSet<Uuid> = wanted.copied().collect();
    let wanted: Vec<Value> = wanted.into_iter().map(Value::from).collect();
    let mut known = HashSet::new();
    for chunk in wanted.chunks(5000) {
        let sql = format!("SELECT id FROM {table} WHERE id IN ({})", placeholders(1, chunk.len()));
        for row in query(tx, &sql, chunk.iter().cloned()).await? {
            known.insert(row.try_get("", "id")?);
        }
    }
    Ok(known)
}

/// The customers that HQ has, and whether they are deleted.
///
/// They are locked, in one order: the sale moves their accounts, by which it is decided whether they may be deleted.
async fn customers(tx: &Tx, wanted: impl Iterator<Item = Uuid>) -> Result<HashMap<Uuid, bool>, DbErr> {
    use customer::Column;
    let wanted: BTreeSet<Uuid> = wanted.collect();
    let wanted: Vec<Uuid> = wanted.into_iter().collect();
    let mut found = HashMap::new();
    for chunk in wanted.chunks(5000) {
        let rows: Vec<(Uuid, Option<Instant>)> = customer::Entity::find()
            .select_only()
            .columns([Column::Id, Column::DeletedAt])
            .filter(Column::Id.is_in(chunk.iter().copied()))
            .order_by_asc(Column::Id)
            .lock_exclusive()
            .into_tuple()
            .all(&**tx)
            .await?;
        found.extend(rows.into_iter().map(|(id, deleted)| (id, deleted.is_some())));
    }
    Ok(found)
}

struct Session {
    closed: bool,
    /// The receipts of its Z report.
    receipts: Option<(ReceiptNumber, ReceiptNumber)>,
}

impl Session {
    /// Whether the Z report was printed without this sale. The news of a close overtakes sales that it counts: they are
    /// in its range.
    fn is_closed_to(&self, sale: &dyn Row) -> bool {
        let number = sale.text("receipt_number").and_then(|receipt| ReceiptNumber::parse(&receipt));
        self.closed
            && number.is_some_and(|receipt| {
                let counts = |(first, last): &(ReceiptNumber, ReceiptNumber)| {
                    (first.order()..=last.order()).contains(&receipt.order())
                };
                !self.receipts.as_ref().is_some_and(counts)
            })
    }
}

async fn sessions(tx: &Tx, wanted: impl Iterator<Item = Uuid>) -> Result<HashMap<Uuid, Session>, DbErr> {
    let wanted: HashSet<Uuid> = wanted.collect();
    let wanted: Vec<Value> = wanted.into_iter().map(Value::from).collect();
    let mut found = HashMap::new();
    for chunk in wanted.chunks(5000) {
        let sql = format!(
            "SELECT id, status, first_receipt_number, last_receipt_number FROM register_sessions WHERE id IN ({})",
            placeholders(1, chunk.len())
        );
        for row in query(tx, &sql, chunk.iter().cloned()).await? {
            let number = |column| -> Result<Option<ReceiptNumber>, DbErr> {
                let text: Option<String> = row.try_get("", column)?;
                Ok(text.and_then(|text| ReceiptNumber::parse(&text)))
            };
            let status: String = row.try_get("", "status")?;
            let receipts = number("first_receipt_number")?.zip(number("last_receipt_number")?);
            found.insert(row.try_get("", "id")?, Session { closed: status == "closed", receipts });
        }
    }
    Ok(found)
}

/// For each document the flag of a number that another one of its register has too; the other one is flagged as well,
/// since nobody knows which of them is right.
async fn twice(
    tx: &mut Tx,
    entity: &SyncType,
    sender: &Sender,
    documents: &[Prepared],
) -> Result<Vec<Option<&'static str>>, DbErr> {
    let Some((column, flag)) = number(entity.name) else { return Ok(vec![None; documents.len()]) };
    let key = |row: &dyn Row| {
        let number = row.text(column).or_else(|| row.integer(column).map(|number| number.to_string()))?;
        (!matches!(number.as_str(), "" | "0")).then(|| (row.text("register_code").unwrap_or_default(), number))
    };
    let mut holders: HashMap<(String, String), HashSet<Uuid>> = HashMap::new();
    let (mut registers, mut numbers) = (HashSet::new(), Vec::new());
    for row in documents.iter().map(|document| &*document.row) {
        if let (Some(key), Some(id), Some(number)) = (key(row), row.uuid("id"), row.get(column)) {
            registers.insert(key.0.clone());
            numbers.push(number);
            holders.entry(key).or_default().insert(id);
        }
    }
    let here: HashSet<Uuid> = holders.values().flatten().copied().collect();
    let registers: Vec<Value> = registers.into_iter().take(1000).map(Value::from).collect();
    let mut earlier = Vec::new();
    for chunk in numbers.chunks(5000) {
        let sql = format!(
            "SELECT id, register_code, CAST({column} AS TEXT) AS number FROM {} \
             WHERE store_id = $1 AND register_code IN ({}) AND {column} IN ({})",
            entity.table.name(),
            placeholders(2, registers.len()),
            placeholders(2 + registers.len(), chunk.len())
        );
        let values = std::iter::once(Value::from(sender.store_id)).chain(registers.iter().cloned());
        for row in query(tx, &sql, values.chain(chunk.iter().cloned())).await? {
            let (id, key): (Uuid, _) =
                (row.try_get("", "id")?, (row.try_get("", "register_code")?, row.try_get("", "number")?));
            if let Some(ids) = holders.get_mut(&key)
                && ids.insert(id)
            {
                earlier.push(id);
            }
        }
    }
    earlier.retain(|id| !here.contains(id));
    change(tx, entity, &earlier, |flags| {
        let new = !flags.iter().any(|known| known == flag);
        if new {
            flags.push(flag.to_owned());
        }
        new
    })
    .await?;
    let again = |document: &Prepared| {
        let others = holders.get(&key(&*document.row)?)?;
        (others.len() > 1).then_some(flag)
    };
    Ok(documents.iter().map(again).collect())
}

/// Changes the flags of stored documents where `edit` says that it did.
async fn change(
    tx: &Tx,
    entity: &SyncType,
    ids: &[Uuid],
    edit: impl Fn(&mut Vec<String>) -> bool,
) -> Result<(), DbErr> {
    if ids.is_empty() {
        return Ok(());
    }
    let mut rows = entity.table.having(tx, "id", ids, true).await?;
    rows.retain_mut(|row| {
        let mut flags: Vec<String> =
            row.text("flags").and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        edit(&mut flags) && row.set("flags", JsonText::of(&flags).into())
    });
    entity.table.upsert(tx, rows, &["id"], &["flags"], None).await?;
    Ok(())
}

/// Takes the flag of what was missing off the sales that came before it.
pub(super) async fn heal(tx: &Tx, entity: &SyncType, arrived: &[Uuid]) -> Result<(), DbErr> {
    let (column, flag) = match entity.name {
        "register_sessions" => ("register_session_id", UNKNOWN_SESSION),
        "customers" => ("customer_id", UNKNOWN_CUSTOMER),
        _ => return Ok(()),
    };
    let Some(sales) = registry::find("sales") else { return Ok(()) };
    let mut waiting = Vec::new();
    for chunk in arrived.chunks(1000) {
        let sql =
            format!("SELECT id FROM sales WHERE {column} IN ({}) AND flags <> '[]'", placeholders(1, chunk.len()));
        for row in query(tx, &sql, chunk.iter().map(|id| (*id).into())).await? {
            waiting.push(row.try_get("", "id")?);
        }
    }
    change(tx, sales, &waiting, |flags| {
        let before = flags.len();
        flags.retain(|known| known != flag);
        flags.len() < before
    })
    .await
}
