//! I4: the average cost at a store is what its receipts and returns give, reckoned again from the first of them.

use std::collections::{BTreeMap, HashMap, HashSet};

use sea_orm::{DbErr, EntityName, Value};
use tillkeep_model::adjustment::Reason;
use tillkeep_model::words::SaleType;
use tillkeep_model::{Instant, Money, Qty};
use uuid::Uuid;

use super::finding::Found;
use super::pages::Pages;
use super::source::Source;
use crate::db::{Row, query};
use crate::document::movement::Kind;
use crate::entity::store_product;
use crate::many::find_in;
use crate::stock::moving_average;
use crate::{Side, settings};

/// Documents that may have moved an average, each with its lines: `$1` is a refund.
macro_rules! lines {
    ($of:literal, $further:literal) => {
        concat!(
            "(SELECT 'inventory_adjustments' AS kind, id AS document, id AS line, 0 AS place, reason, unit_cost AS cost, \
             average_cost_after AS said, created_at AS made FROM inventory_adjustments ",
            $of,
            " UNION ALL SELECT 'sales', s.id, i.id, i.line_no, NULL, i.unit_cost, i.average_cost_after, s.created_at \
             FROM sales s JOIN sale_items i ON i.sale_id = s.id WHERE s.sale_type = $1 ",
            $further,
            ") x JOIN stock_movements m ON m.source_line_id = x.line AND m.movement_type IN ($2, $3)"
        )
    };
}

/// What was moved by these documents, of which each has an entry.
const EVENTS: &str = concat!(
    "SELECT m.product_id, m.quantity_after, m.quantity_change, x.document, x.place, x.reason, x.cost, x.said, x.made FROM ",
    lines!("WHERE id IN ($list)", "AND s.id IN ($list)")
);

/// The products of documents without an entry: what came back from headquarters has none, and what was sent long ago.
const UNPLACED: &str = concat!(
    "SELECT DISTINCT m.product_id FROM ",
    lines!("", ""),
    " WHERE NOT EXISTS (SELECT 1 FROM sync_outbox e WHERE e.entity_type = x.kind AND e.entity_id = x.document \
     AND e.action = 'create') AND NOT EXISTS (SELECT 1 FROM sync_outbox_sent e WHERE e.entity_type = x.kind \
     AND e.entity_id = x.document AND e.action = 'create')"
);

/// What was made, in the order in which it was.
const ENTRIES: &str = "SELECT seq, entity_id, entity_type FROM (SELECT seq, entity_id, entity_type, action FROM sync_outbox \
     UNION ALL SELECT seq, entity_id, entity_type, action FROM sync_outbox_sent) e WHERE action = 'create' AND $behind";

/// The first entries of such documents.
const FIRST: &str = "SELECT entity_id, MIN(seq) AS seq FROM (SELECT entity_id, seq FROM sync_outbox \
     WHERE action = 'create' AND entity_type IN ('inventory_adjustments', 'sales') AND entity_id IN ($list) \
     UNION ALL SELECT entity_id, seq FROM sync_outbox_sent \
     WHERE action = 'create' AND entity_type IN ('inventory_adjustments', 'sales') AND entity_id IN ($list)) b \
     GROUP BY entity_id";

/// What the average is known to be; `None` when what came before is not known.
type Average = Option<Option<Money>>;

pub(super) async fn replayed(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    if source.side != Side::Store {
        return Ok(());
    }
    // A store that got its documents back took its averages from headquarters then: `yes` while that goes on.
    let back = settings::get(&source.conn, "own_documents_due").await?.unwrap_or_default();
    if back == "yes" {
        return Ok(());
    }
    let since = Instant::parse(&back);
    let table = store_product::Entity.table_name();
    let start: Average = if since.is_some() { None } else { Some(None) };
    let mut averages: HashMap<Uuid, Average> = HashMap::new();
    let mut apart: BTreeMap<Uuid, &str> = BTreeMap::new();
    let words = [SaleType::Refund.word(), Kind::Adjustment.as_str(), Kind::Refund.as_str()].map(Value::from);
    // Their place among the others is not known: what came before the first one that has one is not known either.
    for row in query(&source.conn, UNPLACED, words.clone()).await? {
        averages.insert(row.try_get("", "product_id")?, None);
    }
    let key = [("seq", Value::from(i64::MIN)), ("entity_id", Uuid::nil().into())];
    let mut pages = Pages::new(source, ENTRIES, [], &key);
    while let Some(rows) = pages.page().await? {
        for (_, event) in events(source, &rows, &words).await? {
            let average = averages.entry(event.product).or_insert(start);
            let is_known = event.placed && since.is_none_or(|since| event.made >= since);
            let next = if is_known { event.after(*average) } else { None };
            // What the store has said of it itself goes on from there.
            *average = match (event.said, next) {
                (Some(said), Some(next)) if next != Some(said) => {
                    apart.insert(
                        event.product,
                        "the average cost after a receipt is not what comes of the one before it",
                    );
                    Some(Some(said))
                }
                (Some(said), _) if is_known => Some(Some(said)),
                _ => next,
            };
        }
    }
    let sql = "SELECT product_id, average_cost FROM store_product_dynamic WHERE store_id = $1";
    for row in query(&source.conn, sql, [source.store.into()]).await? {
        let (product, kept): (Uuid, Option<Money>) = (row.try_get("", "product_id")?, row.try_get("", "average_cost")?);
        let average = averages.get(&product).copied().unwrap_or(start);
        if average.is_some_and(|average| average != kept) {
            apart.insert(product, "the average cost is not what its receipts and returns give");
        }
    }
    for (product, text) in apart {
        found.add(source.store, table, product, text);
    }
    Ok(())
}

/// The place of an event among the others: the number of its entry, then its line.
type Place = (i64, i32);

/// What was moved by the documents of which these are the first entries, in its order.
async fn events(source: &Source, entries: &[Row], words: &[Value]) -> Result<Vec<(Place, Event)>, DbErr> {
    let mut numbers: HashMap<Uuid, i64> = HashMap::new();
    for row in entries {
        if ["inventory_adjustments", "sales"].contains(&row.try_get::<String>("", "entity_type")?.as_str()) {
            numbers.entry(row.try_get("", "entity_id")?).or_insert(row.try_get("", "seq")?);
        }
    }
    let mut events = Vec::new();
    let mut documents: HashSet<Uuid> = HashSet::new();
    for row in find_in(&source.conn, EVENTS, words, numbers.keys().copied().collect::<Vec<_>>()).await? {
        let document: Uuid = row.try_get("", "document")?;
        documents.insert(document);
        events.push((document, row.try_get::<i32>("", "place")?, Event::read(&row)?));
    }
    let mut first: HashMap<Uuid, i64> = HashMap::new();
    for row in find_in(&source.conn, FIRST, &[], documents).await? {
        first.insert(row.try_get("", "entity_id")?, row.try_get("", "seq")?);
    }
    // One that was made again is where it was made first.
    events.retain(|(document, ..)| numbers.get(document) == first.get(document));
    let place = |document: &Uuid, line: i32| (numbers.get(document).copied().unwrap_or_default(), line);
    let mut events: Vec<(Place, Event)> =
        events.into_iter().map(|(document, line, event)| (place(&document, line), event)).collect();
    events.sort_by_key(|(place, _)| *place);
    Ok(events)
}

/// A movement that may have moved an average.
struct Event {
    product: Uuid,
    /// On hand before it.
    before: Qty,
    change: Qty,
    /// What a unit cost, of goods that came in at a cost.
    cost: Option<Money>,
    /// What the store has written down as the average after it.
    said: Option<Money>,
    /// When its document was made.
    made: Instant,
    /// Whether it is known what was on hand then.
    placed: bool,
}

impl Event {
    fn read(row: &Row) -> Result<Self, DbErr> {
        let reason: Option<String> = row.try_get("", "reason")?;
        // A return has none, and comes in at the cost at which it left.
        let priced = reason.is_none_or(|reason| Reason::find(&reason).is_some_and(|reason| reason.priced));
        let after: Option<Qty> = row.try_get("", "quantity_after")?;
        let change: Qty = row.try_get("", "quantity_change")?;
        Ok(Self {
            product: row.try_get("", "product_id")?,
            before: after.unwrap_or_default() - change,
            change,
            cost: row.try_get::<Option<Money>>("", "cost")?.filter(|_| priced && change > Qty::ZERO),
            said: row.try_get("", "said")?,
            made: row.try_get("", "made")?,
            placed: after.is_some(),
        })
    }

    /// The average after it.
    fn after(&self, before: Average) -> Average {
        match (self.cost, before) {
            (None, before) => before,
            (Some(cost), Some(before)) => Some(Some(moving_average(self.before, before, self.change, cost))),
            // Whatever goods that are not there were worth.
            (Some(cost), None) if self.before <= Qty::ZERO => Some(Some(cost)),
            (Some(_), None) => None,
        }
    }
}
