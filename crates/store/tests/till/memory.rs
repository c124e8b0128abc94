//! What a store keeps in memory is what its database has. `docs/sync.md`, "What a store keeps in memory".

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value as Json, json};
use tillkeep_model::{Bps, Instant, JsonText, Money};
use tillkeep_storage::entity::{
    department, product, product_special, sales_rep, store, tax_group, tax_group_rate, tax_rate, tender,
};
use tillkeep_storage::raw::sea_orm::{ConnectionTrait, EntityTrait};
use tillkeep_storage::{apply, memory, raw, registry};
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::Cycle;
use tokio::time::error::Elapsed;

use crate::kit::{Person, Shop, cart, id, line, nothing_counted, rows};

/// A headquarters that has what a test gives it, each gift as a new version of its type.
#[derive(Default)]
struct Hq {
    rows: Mutex<BTreeMap<&'static str, Vec<Json>>>,
    versions: Mutex<BTreeMap<&'static str, i64>>,
    /// It was restored: it names every type that it has as lost.
    lost: AtomicBool,
}

impl Hq {
    /// From now on `name` has these rows, and no others.
    fn has(&self, name: &'static str, rows: &[impl Serialize]) {
        let rows = rows.iter().map(|row| serde_json::to_value(row).expect("a row")).collect();
        self.rows.lock().expect("not poisoned").insert(name, rows);
        *self.versions.lock().expect("not poisoned").entry(name).or_default() += 1;
    }
}

#[async_trait::async_trait]
impl Transport for Hq {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let said = |name: &str| query.split('&').find_map(|part| part.strip_prefix(name));
        let versions = self.versions.lock().expect("not poisoned").clone();
        let body = match path {
            "/handshake" => json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T14:00:00.000Z",
            }),
            "/versions" => {
                let lost = self.lost.swap(false, Ordering::SeqCst);
                let resync: Vec<_> = if lost { versions.keys().collect() } else { Vec::new() };
                json!({"epoch": "e", "versions": versions, "resync": resync})
            }
            "/pull" => {
                let name = said("entity_type=").unwrap_or_default();
                let since: i64 = said("since_version=").and_then(|text| text.parse().ok()).unwrap_or_default();
                let rows = self.rows.lock().expect("not poisoned");
                json!({
                    "entity_type": name, "since_version": since, "rows": rows.get(name),
                    "latest_version": versions.get(name),
                })
            }
            _ => return Err("the line breaks".to_owned()),
        };
        Ok(Reply { status: 200, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}

async fn row<E>(shop: &Shop, name: &str) -> E::Model
where
    E: EntityTrait,
    <E::PrimaryKey as tillkeep_storage::raw::sea_orm::PrimaryKeyTrait>::ValueType: From<uuid::Uuid>,
{
    E::find_by_id(id(name)).one(shop.store.test_db().reader()).await.expect("a read").expect("a row")
}

async fn unit_price(person: &Person, product: &str) -> i64 {
    let sale = person.sell(json!([line(product, 1)])).await.ok(201);
    sale["saleItems"][0]["unitPrice"].as_i64().expect("a price")
}

#[tokio::test]
async fn whatever_a_pull_changed_holds_for_the_very_next_sale() {
    let hq = Arc::new(Hq::default());
    let shop = Shop::with_line(hq.clone()).await;
    let person = shop.selling().await;
    let before = person.sell(json!([line("TEA", 1)])).await.ok(201);
    assert_eq!([&before["totalAmount"], &before["netAmount"]], [2176, 1999]);
    person.get("/pos/lookup/TEA").await.ok(200);

    let tea = row::<product::Entity>(&shop, "TEA").await;
    hq.has("products", &[product::Model { price: Money(3000), sku: "CHA".into(), ..tea.clone() }]);
    Cycle::default().step(&shop.store).await;
    assert_eq!(unit_price(&person, "TEA").await, 3000);
    person.get("/pos/lookup/TEA").await.refused(404, "product_not_found");
    assert_eq!(person.get("/pos/lookup/CHA").await.ok(200)["effectivePrice"], 3000);

    let rate = row::<tax_rate::Entity>(&shop, "NY").await;
    hq.has("tax_rates", &[tax_rate::Model { rate_ppm: tillkeep_model::Ppm(100_000), ..rate }]);
    Cycle::default().step(&shop.store).await;
    assert_eq!(person.sell(json!([line("TEA", 1)])).await.ok(201)["taxAmount"], 300);

    let group = row::<tax_group::Entity>(&shop, "EXCLUSIVE").await;
    hq.has("tax_groups", &[tax_group::Model { price_mode: "inclusive".into(), ..group.clone() }]);
    Cycle::default().step(&shop.store).await;
    assert_eq!(person.sell(json!([line("TEA", 1)])).await.ok(201)["taxAmount"], 273);
    hq.has("tax_groups", &[group]);

    let link = rows::link("EXCLUSIVE", "NY", 1, false, None);
    hq.has("tax_group_rates", &[tax_group_rate::Model { deleted_at: Some(rows::made()), ..link }]);
    Cycle::default().step(&shop.store).await;
    assert_eq!(person.sell(json!([line("TEA", 1)])).await.ok(201)["taxAmount"], 0);

    let bread = row::<product::Entity>(&shop, "BREAD").await;
    person.get("/pos/lookup/ALT-1").await.ok(200);
    hq.has("products", &[product::Model { barcodes: JsonText(json!(["ALT-2"])), ..bread }]);
    Cycle::default().step(&shop.store).await;
    person.get("/pos/lookup/ALT-1").await.refused(404, "product_not_found");
    person.get("/pos/lookup/ALT-2").await.ok(200);

    let rep = row::<sales_rep::Entity>(&shop, "rep").await;
    assert_eq!(person.get("/pos/bootstrap").await.ok(200)["salesReps"][0]["name"], "Rita");
    hq.has("sales_reps", &[sales_rep::Model { name: "Rosa".into(), ..rep }]);
    Cycle::default().step(&shop.store).await;
    assert_eq!(person.get("/pos/bootstrap").await.ok(200)["salesReps"][0]["name"], "Rosa");

    let bread = row::<product::Entity>(&shop, "BREAD").await;
    hq.has("products", &[product::Model { name: "Rye bread".into(), ..bread.clone() }]);
    Cycle::default().step(&shop.store).await;
    let discounted = json!({
        "terminalId": "T1",
        "lines": [{"productId": bread.id, "quantity": 1,
            "lineDiscount": {"type": "percent", "bps": 500, "reason": "Of yesterday"}}],
    });
    let needs = async || person.post("/pos/quote", discounted.clone()).await.ok(200)["requiredPermissions"].clone();
    assert_eq!(needs().await, json!(["pos.discount", "pos.discount.override_max"]), "the store allows nothing");
    let department = department::Model {
        id: bread.department_id,
        code: "BAKERY".into(),
        name: "Bakery".into(),
        max_discount_bps: Some(Bps(500)),
        is_active: true,
        ..department::Model::default()
    };
    hq.has("departments", &[department]);
    Cycle::default().step(&shop.store).await;
    assert_eq!(needs().await, json!(["pos.discount"]));

    let named = product_special::Model {
        id: id("NAMED"),
        code: "NAMED".into(),
        name: "Tea week".into(),
        kind: "percent_off".into(),
        percent_bps: Some(Bps(1000)),
        product_id: Some(id("TEA")),
        days_of_week: 127,
        is_active: true,
        ..product_special::Model::default()
    };
    hq.has("product_specials", &[named]);
    Cycle::default().step(&shop.store).await;
    let sold = person.sell(json!([line("TEA", 1)])).await.ok(201);
    assert_eq!(sold["saleItems"][0]["specialDetails"][0]["code"], "NAMED");

    let cash = row::<tender::Entity>(&shop, "CASH").await;
    hq.has("tenders", &[tender::Model { max_amount: Some(Money(10)), ..cash.clone() }]);
    Cycle::default().step(&shop.store).await;
    person.sell(json!([line("TEA", 1)])).await.refused(422, "tender_rule");
    hq.has("tenders", &[cash]);

    let own = row::<store::Entity>(&shop, "S01").await;
    hq.has("stores", &[store::Model { max_session_hours: 0, ..own }]);
    Cycle::default().step(&shop.store).await;
    person.sell(json!([line("TEA", 1)])).await.refused(409, "session_too_old");
}

#[tokio::test]
async fn what_is_kept_in_memory_is_read_of_the_tables_that_empty_it_when_they_change_and_of_no_other() {
    // What each request reads again: who asks, whether its time went by, and what the store has of a product.
    const ANEW: [&str; 1] = ["store_product_dynamic"];
    let shop = Shop::that_rests().await;
    let person = shop.selling().await;
    let db = shop.store.test_db();
    let all = raw::query(db.reader(), "SELECT name FROM sqlite_master WHERE type = 'table'", []).await.expect("tables");
    let all: Vec<String> = all.iter().map(|row| row.try_get("", "name").expect("a name")).collect();
    let kept = |name: &str| memory::TABLES.contains(&name);
    assert!(memory::TABLES.iter().all(|name| all.iter().any(|table| table == name)));
    let tx = db.begin().await.expect("a transaction");
    for name in all.iter().filter(|name| !kept(name) && !ANEW.contains(&name.as_str()) && !name.starts_with("sqlite_"))
    {
        tx.execute_unprepared(&format!("ALTER TABLE {name} RENAME TO no_{name}")).await.expect("another name");
    }
    tx.commit().await.expect("a commit");
    let cache = shop.store.cache();
    cache.shop().await.expect("the settings of the store");
    assert_eq!(cache.products(&[id("TEA")]).await.expect("products").len(), 1);
    shop.store.specials().await.expect("the specials");
    // By either barcode, by number, by name, and by the label of a scale.
    for code in ["5012345678900", "ALT-1", "4011", "tea", "2104011012378"] {
        person.get(&format!("/pos/lookup/{code}")).await.ok(200);
    }
}

#[tokio::test]
async fn what_a_pull_changes_while_a_cart_is_read_holds_for_all_of_the_cart_or_for_nothing_of_it() {
    let shop = Shop::that_rests().await;
    let db = shop.store.test_db();
    shop.store.shop().await.expect("the settings are in memory, and no product");
    let mut readers = Vec::new();
    while let Ok(reader) = once(db.snapshot()).await {
        readers.push(reader.expect("a connection"));
    }
    let tea = [id("TEA")];
    let mut cart = std::pin::pin!(shop.store.goods(&tea));
    assert!(once(&mut cart).await.is_err(), "it waits for a connection to read the product");
    let tx = db.begin().await.expect("a transaction");
    tx.execute_unprepared("UPDATE stores SET max_session_hours = 7").await.expect("a change");
    tx.execute_unprepared("UPDATE products SET price = 3000").await.expect("a change");
    tx.commit().await.expect("a commit");
    drop(readers);
    let (own, products, _) = cart.await.expect("the goods");
    assert_eq!((own.own().expect("a store").max_session_hours, products[&tea[0]].row.price), (7, Money(3000)));
}

/// What `work` comes to without waiting.
async fn once<F: Future>(work: F) -> Result<F::Output, Elapsed> {
    tokio::time::timeout(Duration::ZERO, work).await
}

#[tokio::test]
async fn a_pull_of_any_type_that_is_in_memory_empties_it_and_of_any_other_leaves_it_and_specials_go_alone() {
    let hq = Arc::new(Hq::default());
    let shop = Shop::with_line(hq.clone()).await;
    let mut cycle = Cycle::default();
    let kept: BTreeSet<&str> = memory::TABLES.iter().copied().collect();
    for entity in registry::pulled().filter(|entity| !entity.replace_all) {
        // A row of its own, as the server would send it.
        let mut row = entity.table.decode("{}").expect("a row of defaults");
        row.set("id", id(entity.name).into());
        row.set("store_id", shop.store.id.into());
        let row: Json = serde_json::from_str(&row.to_json().expect("a text")).expect("a row");
        hq.has(entity.name, &[row]);
        let before = (shop.store.cache(), shop.store.specials_cache());
        cycle.step(&shop.store).await;
        let cursors = apply::cursors(shop.store.test_db().reader()).await.expect("cursors");
        assert!(cursors.get(entity.name).is_some_and(|cursor| cursor.version == 1), "{} is not here", entity.name);
        let specials = entity.name == "product_specials";
        let emptied = !Arc::ptr_eq(&before.0, &shop.store.cache());
        assert_eq!(emptied, kept.contains(entity.name) && !specials, "{}", entity.name);
        assert_eq!(!Arc::ptr_eq(&before.1, &shop.store.specials_cache()), specials, "{}", entity.name);
    }
}

#[tokio::test]
async fn what_a_reload_changed_or_took_away_holds_for_the_very_next_sale() {
    let hq = Arc::new(Hq::default());
    let shop = Shop::with_line(hq.clone()).await;
    let person = shop.selling().await;
    let [tea, wine] = [row::<product::Entity>(&shop, "TEA").await, row::<product::Entity>(&shop, "WINE").await];
    hq.has("products", &[tea.clone(), wine]);
    Cycle::default().step(&shop.store).await;
    let wine = json!([{"productId": id("WINE"), "quantity": 1, "ageConfirmed": true}]);
    person.sell(wine.clone()).await.ok(201);
    assert_eq!(unit_price(&person, "TEA").await, 1999);
    // Headquarters is restored to a time when tea cost less and there was no wine.
    hq.has("products", &[product::Model { price: Money(1500), ..tea }]);
    hq.lost.store(true, Ordering::SeqCst);
    Cycle::default().step(&shop.store).await;
    assert_eq!(unit_price(&person, "TEA").await, 1500);
    person.sell(wine).await.refused_at(422, "validation", "lines[0].productId");
}

#[tokio::test]
async fn a_restored_database_sells_at_its_own_prices() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    assert_eq!(unit_price(&person, "TEA").await, 1999);
    let mut old = Vec::new();
    let shop = shop.again(None, |home| old = std::fs::read(home.join("tillkeep.db")).expect("the database")).await;
    let person = shop.person(&person);
    shop.change_product("TEA", |row| row.price = Money(3000)).await;
    assert_eq!(unit_price(&person, "TEA").await, 3000);
    let shop = shop.again(None, |home| std::fs::write(home.join("tillkeep.db"), &old).expect("the database")).await;
    assert_eq!(unit_price(&shop.person(&person), "TEA").await, 1999);
}

#[tokio::test]
async fn a_till_that_is_moved_or_a_drawer_that_is_closed_sells_no_more_from_the_next_request_on() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    person.sell(json!([line("TEA", 1)])).await.ok(201);
    let session = person.get("/register-sessions/current").await.ok(200)["id"].clone();
    let close = format!("/register-sessions/{}/close", session.as_str().expect("an id"));
    person.post(&close, nothing_counted()).await.ok(200);
    person.sell(json!([line("TEA", 1)])).await.refused(409, "session_closed");
    let register = format!("/registers/{}", id("register 01"));
    person.post(&format!("{register}/open"), json!({})).await.ok(201);
    person.sell(json!([line("TEA", 1)])).await.ok(201);
    let session = person.get("/register-sessions/current").await.ok(200)["id"].clone();
    let close = format!("/register-sessions/{}/close", session.as_str().expect("an id"));
    person.post(&close, nothing_counted()).await.ok(200);
    person.patch(&register, json!({"terminalId": "T9"})).await.ok(200);
    let refused = person.sell(json!([line("TEA", 1)])).await.refused(409, "session_closed");
    assert!(refused["error"].as_str().is_some_and(|text| text.contains("no register has the terminal")), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tills_that_ask_while_a_price_changes_leave_no_old_price_behind() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let done = Arc::new(AtomicBool::new(false));
    let mut tills = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let (person, done) = (person.clone(), done.clone());
        tills.spawn(async move {
            while !done.load(Ordering::Relaxed) {
                person.post("/pos/quote", json!({"lines": [line("TEA", 1)]})).await.ok(200);
            }
        });
    }
    for price in 1..=200 {
        shop.change_product("TEA", |row| row.price = Money(price)).await;
        let quote = person.post("/pos/quote", json!({"lines": [line("TEA", 1)]})).await.ok(200);
        assert_eq!(quote["lines"][0]["unitPrice"], price);
    }
    done.store(true, Ordering::Relaxed);
    while let Some(till) = tills.join_next().await {
        till.expect("a till");
    }
}

#[tokio::test]
async fn what_was_read_of_an_older_database_answers_no_request() {
    let shop = Shop::open().await;
    let old = shop.store.cache();
    let tea = [id("TEA")];
    assert_eq!(old.products(&tea).await.expect("products")[&tea[0]].row.price, Money(1999));
    // What changes nothing that is in memory leaves it as it is.
    let person = shop.selling().await;
    let before = shop.store.cache();
    person.post("/customers", json!({"lastName": "Miller", "allowDuplicate": true})).await.ok(201);
    person.post("/pos/sales", cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]))).await.ok(201);
    assert!(Arc::ptr_eq(&before, &shop.store.cache()));
    shop.change_product("TEA", |row| (row.price, row.updated_at) = (Money(3000), Instant::default())).await;
    let new = shop.store.cache();
    assert!(!Arc::ptr_eq(&before, &new));
    assert_eq!(new.products(&tea).await.expect("products")[&tea[0]].row.price, Money(3000));
    // Who began before the change ends with what it began with, and no request after it.
    assert_eq!(old.products(&tea).await.expect("products")[&tea[0]].row.price, Money(1999));
    assert_eq!(shop.store.cache().products(&tea).await.expect("products")[&tea[0]].row.price, Money(3000));
}
