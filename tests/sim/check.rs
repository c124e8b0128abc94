//! What must hold, while it goes on and at the end. The names are those of the promises and invariants.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value as Json;
use tillkeep_hq::Hq;
use tillkeep_hq::testing::Databases as _;
use tillkeep_model::wire::camel;
use tillkeep_storage::entity::{customer, register_session};
use tillkeep_storage::raw::{execute, query};
use tillkeep_storage::registry::{self, Scope, SyncType};
use tillkeep_storage::rows::Row;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Value};
use tillkeep_storage::{Db, versions};
use tillkeep_store::Store;
use uuid::Uuid;

use crate::shop::Shop;
use crate::world::World;
use crate::{back, drawers, specials, taxes};

/// What a store had when it was looked at last.
#[derive(Default)]
pub struct Seen {
    cursors: BTreeMap<String, i64>,
    good_cycles: u64,
    /// The highest number that headquarters has ever taken: up to there an entry may come back to be sent again.
    sent_up_to: i64,
    /// What waits, and since which good cycle.
    waiting: BTreeMap<i64, u64>,
    /// The version of what a store has in memory, in which its taxes were good.
    taxes_in: Option<u64>,
    /// What headquarters was told to be moved in drawers and safe.
    moved: BTreeSet<String>,
}

/// Good cycles after which an entry has gone, however unlucky its requests were.
const PATIENCE: u64 = 10;

#[derive(Default)]
pub struct Verdict {
    pub broken: Vec<String>,
    pub lost: usize,
    pub doubled: usize,
}

async fn rows(db: &Db, sql: &str, values: Vec<Value>) -> Vec<tillkeep_storage::raw::Row> {
    query(db.reader(), sql, values).await.expect("a query")
}

async fn number(db: &Db, sql: &str) -> i64 {
    rows(db, sql, Vec::new()).await[0].try_get_by_index(0).expect("a number")
}

/// Entries that nothing but the line holds up: not refused, nor behind a refused one of the same entity.
pub async fn waiting(store: &Store) -> Vec<i64> {
    let sql = "SELECT o.seq AS seq FROM sync_outbox o WHERE NOT EXISTS (SELECT 1 FROM sync_outbox r \
               WHERE r.entity_id = o.entity_id AND r.attempts > 0 AND r.seq <= o.seq)";
    let rows = rows(store.test_db(), sql, Vec::new()).await;
    rows.iter().map(|row| row.try_get("", "seq").expect("a number")).collect()
}

impl Seen {
    /// Headquarters is another one from here on, and behind the cursors.
    pub fn forget_cursors(&mut self) {
        self.cursors.clear();
        self.moved.clear();
    }

    pub async fn note_sent(&mut self, store: &Store) {
        let sent = number(store.test_db(), "SELECT COALESCE(MAX(seq), 0) FROM sync_outbox_sent").await;
        self.sent_up_to = sent.max(self.sent_up_to);
    }
}

/// What holds whenever a store got through to headquarters.
pub async fn after_a_good_cycle(hq: Option<&Hq>, store: &Store, shop: &Shop, seen: &mut Seen) -> Vec<String> {
    let mut broken = Vec::new();
    seen.good_cycles += 1;
    let before = std::mem::take(&mut seen.waiting);
    for seq in waiting(store).await {
        let since = before.get(&seq).copied().unwrap_or(seen.good_cycles);
        if seen.good_cycles - since >= PATIENCE {
            broken.push(format!("U4: an entry of {} waits though there is a line", shop.code));
        }
        seen.waiting.insert(seq, since);
    }
    let Some(hq) = hq else { return broken };
    // While something of a customer waits, the two may differ; and while the store is behind.
    let sql = "SELECT entity_id FROM sync_outbox WHERE entity_type = 'customers'";
    let busy = rows(store.test_db(), sql, Vec::new()).await;
    let busy: Vec<Uuid> = busy.iter().map(|row| row.try_get("", "entity_id").expect("an id")).collect();
    for (id, name) in shop.names.iter().filter(|(id, _)| !busy.contains(id)) {
        let there = customer::Entity::find_by_id(*id).one(hq.db().reader()).await.expect("a read");
        if there.is_some_and(|row| row.first_name.as_ref() != Some(name)) {
            if std::env::var_os("SIM_SHOW").is_some() {
                eprintln!("{id}: {name:?} at {}", shop.code);
            }
            broken.push(format!("U7: headquarters has an older name of a customer of {}", shop.code));
        }
    }
    let heads = versions::heads(hq.db().reader()).await.expect("the heads");
    let head = heads.get(&("customers".to_owned(), Uuid::nil())).copied().unwrap_or_default();
    if seen.cursors.get("customers") == Some(&head) {
        let there = customer::Entity::find().all(hq.db().reader()).await.expect("the customers");
        let here = customer::Entity::find().all(store.test_db().reader()).await.expect("the customers");
        let here: BTreeMap<Uuid, String> = here.iter().map(|row| (row.id, json_of(row))).collect();
        let differs = |row: &&customer::Model| !busy.contains(&row.id) && here.get(&row.id) != Some(&json_of(row));
        if there.iter().any(|row| differs(&row)) {
            broken.push(format!("I7: a customer differs at {} though its cursor is at the head", shop.code));
        }
    }
    broken
}

/// U3: headquarters forgets nothing of what was moved in the drawers of a store, whatever copy that goes on from.
pub async fn movements(hq: &Hq, shop: &Shop, seen: &mut Seen) -> Option<String> {
    let own = register_session::Entity::find().filter(register_session::Column::StoreId.eq(shop.id));
    let drawers = own.all(hq.db().reader()).await.expect("the drawers");
    let lists = drawers.iter().flat_map(|drawer| [&drawer.cash_movements, &drawer.safe_movements]);
    let moved = lists.filter_map(|list| list.0.as_array()).flatten();
    let moved: BTreeSet<String> = moved.filter_map(|movement| Some(movement["id"].as_str()?.to_owned())).collect();
    let is_all = moved.is_superset(&seen.moved);
    seen.moved.extend(moved);
    (!is_all).then(|| format!("U3: headquarters forgot what was moved in a drawer of {}", shop.code))
}

fn json_of(row: &customer::Model) -> String {
    serde_json::to_string(row).expect("JSON")
}

/// What holds at any time.
pub async fn during(store: &Store, shop: &Shop, hq_was_restored: bool, seen: &mut Seen) -> Vec<String> {
    let (db, code) = (store.test_db(), &shop.code);
    let mut broken = Vec::new();
    for row in rows(db, "SELECT entity_type, last_version, reloading FROM sequences", Vec::new()).await {
        let name: String = row.try_get("", "entity_type").expect("text");
        let version: i64 = row.try_get("", "last_version").expect("a number");
        let reloading: bool = row.try_get("", "reloading").expect("a flag");
        let before = seen.cursors.insert(name.clone(), version).unwrap_or_default();
        if version < before && !reloading && !hq_was_restored {
            broken.push(format!("I8: the cursor of {name} went back at {code}"));
        }
    }
    let overtaken = "SELECT COUNT(*) FROM sync_outbox o JOIN sync_outbox_sent s ON s.entity_type = o.entity_type \
                     AND s.entity_id = o.entity_id AND s.seq > o.seq";
    if number(db, overtaken).await > 0 {
        broken.push(format!("U4: {code} sent a later entry of an entity before an earlier one"));
    }
    broken.extend(attempts(db, shop).await);
    let unsent = "SELECT o.seq, o.entity_id, o.payload FROM sync_outbox o WHERE o.entity_type = 'customers' AND NOT EXISTS \
                  (SELECT 1 FROM sync_outbox l WHERE l.entity_id = o.entity_id AND l.seq > o.seq)";
    for row in rows(db, unsent, Vec::new()).await {
        let id: Uuid = row.try_get("", "entity_id").expect("an id");
        let seq: i64 = row.try_get("", "seq").expect("a number");
        if seq <= seen.sent_up_to || shop.was_restored {
            // Sent again: the customer may have been changed since by what headquarters had then.
            continue;
        }
        let payload: Json = serde_json::from_str(&row.try_get::<String>("", "payload").expect("text")).expect("JSON");
        let here = customer::Entity::find_by_id(id).one(db.reader()).await.expect("a read");
        if payload["firstName"].is_string()
            && here.and_then(|row| row.first_name).as_deref() != payload["firstName"].as_str()
        {
            broken.push(format!("D6: unsent work of {code} was overwritten"));
        }
    }
    broken
}

/// D2: at no moment are the taxes of a store others than headquarters had after some commit.
pub async fn taxes(store: &Store, shop: &Shop, had: &BTreeSet<String>, seen: &mut Seen) -> Option<String> {
    let version = store.test_db().memory_version();
    if seen.taxes_in.replace(version) == Some(version) {
        // Nothing wrote them.
        return None;
    }
    let here = taxes::picture(store.test_db()).await;
    if here.is_empty() || had.contains(&here) {
        return None;
    }
    if std::env::var_os("SIM_SHOW").is_some() {
        eprintln!("{}\n{here}", shop.code);
    }
    Some(format!("D2: {} has taxes that headquarters never had", shop.code))
}

/// Promise P5: only what headquarters refuses counts as an attempt.
async fn attempts(db: &Db, shop: &Shop) -> Option<String> {
    let sql = "SELECT entity_id FROM sync_outbox WHERE attempts > 0 UNION ALL \
               SELECT entity_id FROM sync_outbox_sent WHERE attempts > 0";
    let ids = rows(db, sql, Vec::new()).await;
    let innocent =
        ids.iter().filter(|row| !shop.refused.contains(&row.try_get("", "entity_id").expect("an id"))).count();
    (innocent > 0).then(|| format!("P5: an attempt was counted at {} for what was no verdict", shop.code))
}

/// Values that come without a version, as those of an added column do. Rule D11.
pub async fn new_values(db: &Db, generation: u32) {
    let Ok(tx) = db.begin().await else { return };
    let sql = format!("UPDATE products SET brand = 'brand {generation}' WHERE sku LIKE 'P%'");
    execute(&tx, &sql, []).await.expect("an update");
    drop(tx.commit().await);
}

/// What holds when everything is healed and nothing moves any more.
pub async fn at_the_end(hq: &Hq, shops: &[Shop], world: &World, hq_was_restored: bool) -> Verdict {
    let mut verdict = Verdict::default();
    for shop in shops {
        let Some(store) = shop.store() else {
            verdict.broken.push(format!("{} is not open", shop.code));
            continue;
        };
        documents(hq.db(), store.test_db(), shop, hq_was_restored, &mut verdict).await;
        // Of sales that both have lost each may have others.
        if !(hq_was_restored && shop.was_restored) {
            verdict.broken.extend(specials::wrong(store.test_db(), hq.db(), shop).await);
            verdict.broken.extend(back::at_a_store(store.test_db(), shop).await);
        }
        let broken = &mut verdict.broken;
        stock(hq.db(), store.test_db(), shop, hq_was_restored && shop.was_restored, broken).await;
        pulled(hq.db(), store.test_db(), shop, broken).await;
        numbers(hq.db(), store.test_db(), shop, broken).await;
        cursors(hq.db(), store.test_db(), shop, broken).await;
        outbox(hq.db(), store.test_db(), shop, hq_was_restored, broken).await;
        broken.extend(attempts(store.test_db(), shop).await);
        if !hq_was_restored {
            names(hq.db(), shop, broken).await;
        }
        if !shop.was_restored {
            broken.extend(drawers::at_a_store(store.test_db(), shop).await);
        }
        broken.extend(drawers::carried(store.test_db(), shop).await);
    }
    let unchecked = world.state().unchecked.clone();
    verdict.broken.extend(back::at_headquarters(hq.db(), &unchecked, hq_was_restored).await);
    verdict
}

async fn all(db: &Db, entity: &SyncType) -> Vec<Box<dyn Row>> {
    let snapshot = db.snapshot().await.expect("a snapshot");
    entity.table.all(&snapshot).await.expect("the rows")
}

fn of_type(name: &str) -> &'static SyncType {
    registry::find(name).expect("a type")
}

/// I1, I2, I3: what stores write is at the store and at headquarters, once and equal.
async fn documents(hq: &Db, store: &Db, shop: &Shop, hq_was_restored: bool, verdict: &mut Verdict) {
    // What a store fetched from headquarters after it had lost it, and headquarters lost then, is not sent again.
    let both_lost = hq_was_restored && shop.was_restored;
    for entity in registry::pushed().map(|(entity, _)| entity).filter(|entity| !entity.is_pulled()) {
        let name = entity.name;
        let here = texts(store, entity, shop.id).await;
        let there = texts(hq, entity, shop.id).await;
        for _ in here.keys().filter(|id| !there.contains_key(id) && !both_lost) {
            verdict.lost += usize::from(name == "sales");
            verdict.broken.push(format!("I2: one of {name} of {} is not at headquarters", shop.code));
        }
        for (id, text) in &there {
            match here.get(id) {
                Some(own) if own == text => {}
                Some(own) if std::env::var_os("SIM_SHOW").is_some() => {
                    eprintln!("HQ    {text}\nstore {own}");
                    verdict.broken.push(format!("I2: one of {name} of {} differs at headquarters", shop.code));
                }
                Some(_) => verdict.broken.push(format!("I2: one of {name} of {} differs at headquarters", shop.code)),
                None if both_lost => {}
                None => verdict.broken.push(format!("I3: headquarters has one of {name} that {} has not", shop.code)),
            }
        }
        if name == "sales" {
            if shop.acknowledged.keys().any(|id| !here.contains_key(id)) {
                verdict.broken.push(format!("I1: {} lost a sale that it answered", shop.code));
            }
            let mut receipts = BTreeSet::new();
            for row in all(hq, entity).await.iter().filter(|row| row.uuid("store_id") == Some(shop.id)) {
                if !receipts.insert(row.text("receipt_number")) {
                    verdict.doubled += 1;
                    verdict.broken.push(format!("I6: a receipt number of {} is there twice", shop.code));
                }
            }
        }
    }
}

/// The documents of a store as texts, without what each server writes for itself.
async fn texts(db: &Db, entity: &SyncType, store: Uuid) -> BTreeMap<Uuid, String> {
    let snapshot = db.snapshot().await.expect("a snapshot");
    let mut out = BTreeMap::new();
    for row in entity.table.all(&snapshot).await.expect("the rows") {
        let id = row.uuid("id").expect("an id");
        if row.uuid("store_id") == Some(store) {
            let own = ["syncVersion", "updatedAt", "receivedAt", "lastEnvelopeAt", "flags", "synced"];
            out.insert(id, plain(&*row, entity, &own));
        }
    }
    for child in entity.children {
        for row in child.table.all(&snapshot).await.expect("the rows") {
            if let Some(text) = row.uuid(child.parent).and_then(|parent| out.get_mut(&parent)) {
                text.push_str(&plain(&*row, entity, &[]));
            }
        }
    }
    out
}

/// What headquarters reckons from other documents is left out too (rule U17).
fn plain(row: &dyn Row, entity: &SyncType, without: &[&str]) -> String {
    let mut json: Json = serde_json::from_str(&row.to_json().expect("JSON")).expect("JSON");
    let object = json.as_object_mut().expect("an object");
    let reckoned = entity.push.into_iter().flat_map(|pushed| pushed.reckoned).map(|column| camel(column));
    for key in without.iter().map(|key| (*key).to_owned()).chain(reckoned) {
        object.remove(&key);
    }
    if let Some(states) = entity.push.and_then(|pushed| pushed.states.as_ref())
        && let Some(status) = object.get_mut(&camel(states.column))
    {
        *status = status.as_str().map(|said| states.meant(said)).into();
    }
    json.to_string()
}

/// I4: a level is the sum of its movements, at the store and at headquarters, and both are the same; and so is the average
/// cost.
async fn stock(hq: &Db, store: &Db, shop: &Shop, both_lost: bool, broken: &mut Vec<String>) {
    let sums = |db: &Db| {
        let db = db.clone();
        async move {
            let sql = "SELECT p.product_id AS id, p.quantity AS level, p.average_cost AS average, COALESCE((SELECT SUM(m.quantity_change) FROM \
                       stock_movements m WHERE m.store_id = p.store_id AND m.product_id = p.product_id), 0) AS total \
                       FROM store_product_dynamic p WHERE p.store_id = $1";
            let rows = rows(&db, sql, vec![shop.id.into()]).await;
            let number = |row: &tillkeep_storage::raw::Row, name: &str| row.try_get::<i64>("", name);
            rows.iter()
                .map(|row| {
                    let id: Uuid = row.try_get("", "id").expect("an id");
                    let average: Option<i64> = row.try_get("", "average").expect("an average");
                    (id, (number(row, "level").expect("a level"), number(row, "total").expect("a sum"), average))
                })
                .collect::<BTreeMap<Uuid, (i64, i64, Option<i64>)>>()
        }
    };
    let (here, there) = (sums(store).await, sums(hq).await);
    for (place, levels) in [(shop.code.as_str(), &here), ("headquarters", &there)] {
        if levels.values().any(|(level, sum, _)| level != sum) {
            broken.push(format!("I4: a level of {} is not the sum of its movements at {place}", shop.code));
        }
    }
    let of = |levels: &BTreeMap<Uuid, (i64, i64, Option<i64>)>, id: &Uuid| levels.get(id).copied().unwrap_or_default();
    let ids: BTreeSet<&Uuid> = here.keys().chain(there.keys()).collect();
    if !both_lost && ids.iter().any(|id| of(&here, id).0 != of(&there, id).0) {
        broken.push(format!("I4: headquarters reckons another level for {}", shop.code));
    }
    if !both_lost && ids.iter().any(|id| of(&here, id).2 != of(&there, id).2) {
        broken.push(format!("I4: headquarters reckons another average cost for {}", shop.code));
    }
}

/// I7: what a store pulls equals what headquarters has for it, tombstones included.
async fn pulled(hq: &Db, store: &Db, shop: &Shop, broken: &mut Vec<String>) {
    for entity in registry::pulled() {
        let visible = |row: &dyn Row| match entity.scope {
            Scope::Everyone => true,
            Scope::Store => row.uuid("store_id") == Some(shop.id),
            Scope::Parties => ["from_store_id", "to_store_id"].iter().any(|column| row.uuid(column) == Some(shop.id)),
        };
        let columns = entity.table.columns();
        let key = |row: &dyn Row| format!("{:?}", entity.key.iter().map(|name| row.get(name)).collect::<Vec<_>>());
        // What headquarters writes beside the versions, or never sends; what rows are looked for by is made there alone.
        let own = ["synced", "first_seen_at", "last_envelope_at", "received_at", "search_text"];
        let compared: Vec<&str> = columns
            .into_iter()
            .filter(|name| !own.contains(name) && !entity.store_owned.contains(name) && !entity.withheld.contains(name))
            .filter(|name| !(entity.store_may_create && ["created_at", "updated_at", "sync_version"].contains(name)))
            .collect();
        let row_text =
            |row: &dyn Row| format!("{:?}", compared.iter().map(|name| (name, row.get(name))).collect::<Vec<_>>());
        let table = |rows: Vec<Box<dyn Row>>| -> HashMap<String, String> {
            rows.iter().filter(|row| visible(&***row)).map(|row| (key(&**row), row_text(&**row))).collect()
        };
        let (here, there) = (table(all(store, entity).await), table(all(hq, entity).await));
        let missing = there.keys().filter(|key| !here.contains_key(*key)).count();
        let more = here.keys().filter(|key| !there.contains_key(*key)).count();
        let differ = there.iter().filter(|(key, text)| here.get(*key).is_some_and(|own| own != *text)).count();
        let name = entity.name;
        if missing > 0 {
            broken.push(format!("I7: {missing} of {name} are missing at {}", shop.code));
        }
        if more > 0 && !entity.store_may_create {
            broken.push(format!("I7: {} has {more} of {name} that headquarters has not", shop.code));
        }
        if differ > 0 {
            broken.push(format!("I7: {differ} of {name} differ at {}", shop.code));
            if std::env::var_os("SIM_SHOW").is_some() {
                for (key, text) in there.iter().filter(|(key, text)| here.get(*key).is_some_and(|own| own != *text)) {
                    eprintln!("HQ    {text}\nstore {}", here[key]);
                }
            }
        }
    }
}

/// I6: receipts and sessions are numbered from 1 without a gap.
async fn numbers(hq: &Db, store: &Db, shop: &Shop, broken: &mut Vec<String>) {
    // The numbers of what went with a disk are not used again.
    if shop.was_restored {
        return;
    }
    for (place, db) in [(shop.code.as_str(), store), ("headquarters", hq)] {
        for (entity, number) in registry::pushed().filter_map(|(entity, pushed)| Some((entity, pushed.number?))) {
            let (name, column) = (entity.name, number.column);
            let mut numbers: Vec<i64> = all(db, entity)
                .await
                .iter()
                .filter(|row| row.uuid("store_id") == Some(shop.id))
                .filter_map(|row| {
                    let text = row.text(column).and_then(|text| text.rsplit('-').next()?.parse().ok());
                    text.or_else(|| row.integer(column))
                })
                .collect();
            numbers.sort_unstable();
            if !numbers.iter().copied().eq(1..=i64::try_from(numbers.len()).expect("few")) {
                broken.push(format!("I6: the numbers of {name} of {} have a gap or come twice at {place}", shop.code));
            }
        }
    }
}

/// I8: no cursor is beyond its head, and all have arrived there.
async fn cursors(hq: &Db, store: &Db, shop: &Shop, broken: &mut Vec<String>) {
    let heads = versions::heads(hq.reader()).await.expect("the heads");
    for row in rows(store, "SELECT entity_type, last_version FROM sequences", Vec::new()).await {
        let name: String = row.try_get("", "entity_type").expect("text");
        let version: i64 = row.try_get("", "last_version").expect("a number");
        let scope = registry::counter_scope(of_type(&name), shop.id);
        let head = heads.get(&(name.clone(), scope)).copied().unwrap_or_default();
        if version != head {
            broken.push(format!("I8: the cursor of {name} at {} is not at the head", shop.code));
        }
    }
}

/// I9, I10: nothing waits, and headquarters has each number of the outbox.
async fn outbox(hq: &Db, store: &Db, shop: &Shop, hq_was_restored: bool, broken: &mut Vec<String>) {
    if number(store, "SELECT COUNT(*) FROM sync_outbox").await > 0 {
        broken.push(format!("I10: something waits in the outbox of {}", shop.code));
    }
    if shop.was_restored || hq_was_restored {
        return;
    }
    let sql = "SELECT COUNT(DISTINCT seq) AS known, COALESCE(MAX(seq), 0) AS last FROM sync_log WHERE store_id = $1";
    let row = &rows(hq, sql, vec![shop.id.into()]).await[0];
    let (known, last): (i64, i64) =
        (row.try_get("", "known").expect("a number"), row.try_get("", "last").expect("a number"));
    let given = number(store, "SELECT COALESCE(MAX(last_value), 0) FROM number_series WHERE name = 'outbox'").await;
    if known != last || last != given {
        broken.push(format!("I9: headquarters has {known} numbers up to {last} of the {given} of {}", shop.code));
    }
}

/// The last name that a store gave to a customer whom no other store changes is the name.
async fn names(hq: &Db, shop: &Shop, broken: &mut Vec<String>) {
    for (id, name) in &shop.names {
        let row = customer::Entity::find_by_id(*id).one(hq.reader()).await.expect("a read");
        if row.and_then(|row| row.first_name).as_ref() != Some(name) {
            broken.push(format!("U7: the last change of a customer of {} is not at headquarters", shop.code));
        }
    }
}
