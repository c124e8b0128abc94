//! Pages that are equal for all stores, and questions that cost no query. `docs/sync.md`, rules D10 to D12.

use std::sync::Arc;
use std::time::Duration;

use async_compression::tokio::bufread::{GzipDecoder, ZstdDecoder};
use axum::http::header;
use futures_util::future::join_all;
use serde_json::{Value as Json, json};
use tillkeep_hq::live::Connection;
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::metrics;
use tillkeep_model::wire::close::REPLACED;
use tillkeep_storage::entity::{product, tax_group_rate, tax_rate};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, QueryFilter};
use tillkeep_storage::{Change, registry};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;
use uuid::Uuid;

use super::kit::{Kit, Person, id_of};

const PRODUCTS: &str = "/pull?entity_type=products&since_version=0&limit=100";

/// One line of the metrics.
pub fn counted(line: &str) -> u64 {
    let page = metrics::start().expect("metrics").render();
    let found = page.lines().find_map(|found| found.strip_prefix(line)?.trim().parse().ok());
    found.unwrap_or_default()
}

fn pages(result: &str) -> u64 {
    counted(&format!("tillkeep_pull_pages_total{{result=\"{result}\"}}"))
}

#[tokio::test]
async fn fifty_stores_that_pull_a_page_cost_one_query() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for number in 0..5 {
        kit.product(&admin, &format!("P{number}"), json!({})).await;
    }
    let mut tokens = Vec::new();
    for number in 0..50 {
        tokens.push(kit.sync_token(kit.store(&format!("S{number:02}")).await));
    }
    let before = (pages("miss"), pages("hit"));
    let answers = join_all(tokens.iter().map(|token| kit.ask(token, PRODUCTS))).await;
    assert_eq!((pages("miss") - before.0, pages("hit") - before.1), (1, 49));
    assert_eq!(answers[0]["rows"].as_array().expect("rows").len(), 5);
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let held = kit.hold_readers().await;
    let again =
        timeout(Duration::from_mins(1), kit.ask(&tokens[7], PRODUCTS)).await.expect("an answer without a query");
    assert_eq!(again, answers[0]);
    drop(held);
}

/// Loads all products in pages of two, as a store does; how many rows of each page, and the prices.
async fn load(kit: &Kit, token: &str) -> (Vec<usize>, Vec<i64>) {
    let (mut since, mut pages, mut prices) = (0, Vec::new(), Vec::new());
    loop {
        let path = format!("/pull?entity_type=products&since_version={since}&limit=2");
        let page = kit.ask(token, &path).await;
        let rows = page["rows"].as_array().expect("rows");
        pages.push(rows.len());
        prices.extend(rows.iter().map(|row| row["price"].as_i64().expect("a price")));
        since = page["latest_version"].as_i64().expect("a version");
        if page["has_more"] == false {
            return (pages, prices);
        }
    }
}

#[tokio::test]
async fn stores_that_load_at_once_or_later_read_no_page_that_was_read_until_a_row_changes() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(id_of(&kit.product(&admin, &format!("P{number}"), json!({})).await));
    }
    let mut tokens = Vec::new();
    for code in ["S01", "S02", "S03"] {
        tokens.push(kit.sync_token(kit.store(code).await));
    }
    let before = pages("miss");
    let (one, two) = tokio::join!(load(&kit, &tokens[0]), load(&kit, &tokens[1]));
    assert_eq!((one.0.as_slice(), &one, pages("miss") - before), ([2, 2, 1].as_slice(), &two, 3));
    // Who asks is known from here on.
    kit.ask(&tokens[2], "/versions").await;
    let held = kit.hold_readers().await;
    let third = timeout(Duration::from_mins(1), load(&kit, &tokens[2])).await.expect("a load without a query");
    assert_eq!(third, one);
    drop(held);
    kit.patch(&admin, &format!("/products/{}", ids[1]), json!({"price": 1100})).await.is(200);
    let before = pages("miss");
    for token in &tokens {
        assert_eq!(load(&kit, token).await, (vec![2, 2, 1], vec![1000, 1000, 1000, 1000, 1100]));
    }
    assert_eq!(pages("miss") - before, 3);
}

/// Products, and stores that load them two at a time.
struct Loads {
    kit: Kit,
    admin: Person,
    stores: Vec<Uuid>,
}

impl Loads {
    async fn begin() -> Self {
        let kit = Kit::new().await;
        let admin = kit.admin().await;
        for number in 0..5 {
            kit.product(&admin, &format!("P{number}"), json!({})).await;
        }
        let stores = vec![kit.store("S01").await, kit.store("S02").await];
        Self { kit, admin, stores }
    }

    fn connect(&self, store: usize) -> Arc<Connection> {
        self.kit.hq.hub.connect(self.stores[store], "", self.kit.clock.now(), REPLACED)
    }

    async fn sent(&self, store: usize, path: &str) -> Json {
        self.kit.ask(&self.kit.sync_token(self.stores[store]), path).await
    }

    /// Asks for the page after `since` by a store that has what is up to `has`.
    async fn ask(&self, store: usize, since: &Json, has: &Json) -> Json {
        let path = format!("/pull?entity_type=products&since_version={since}&has_version={has}&limit=2");
        self.sent(store, &path).await
    }

    async fn say(&self, store: usize, page: &Json, word: &str) {
        let epoch = page["epoch"].as_str().expect("an epoch");
        self.sent(store, &format!("/versions?epoch={epoch}&{word}")).await;
    }

    /// How far the load of the products is; nothing before the store is heard of.
    async fn shown(&self, store: usize) -> Option<Json> {
        tillkeep_hq::sync::rounds::note(&self.kit.hq).await;
        let stores = self.kit.get(&self.admin, "/sync/dashboard").await.data()["stores"].clone();
        let types = stores[store]["sync"].as_array().cloned().unwrap_or_default();
        types.iter().find(|row| row["entityType"] == "products").map(|row| row["loading"].clone())
    }
}

#[tokio::test]
async fn the_dashboard_shows_how_many_rows_a_store_has_that_loads_and_of_how_many() {
    let loads = Loads::begin().await;
    let _line = loads.connect(0);
    let first = loads.ask(0, &json!(0), &json!(0)).await;
    let one = &first["latest_version"];
    assert_eq!((&first["total"], loads.shown(0).await), (&json!(5), Some(json!({"rows": 0, "total": 5}))));
    // It asks ahead: what it was handed is not here yet.
    let second = loads.ask(0, one, &json!(0)).await;
    assert_eq!(loads.shown(0).await, Some(json!({"rows": 0, "total": 5})));
    let last = loads.ask(0, &second["latest_version"], one).await;
    assert_eq!((last.get("total"), loads.shown(0).await), (None, Some(json!({"rows": 2, "total": 5}))));
    loads.say(0, &first, &format!("have=products:{}", last["latest_version"])).await;
    assert_eq!(loads.shown(0).await, Some(json!(null)));
}

#[tokio::test]
async fn a_store_that_is_switched_off_or_cannot_store_a_type_loads_nothing_of_it() {
    let loads = Loads::begin().await;
    let line = loads.connect(0);
    let first = loads.ask(0, &json!(0), &json!(0)).await;
    loads.ask(0, &first["latest_version"], &first["latest_version"]).await;
    let under_way = Some(json!({"rows": 2, "total": 5}));
    assert_eq!(loads.shown(0).await, under_way);
    loads.kit.hq.hub.disconnect(&line);
    assert_eq!(loads.shown(0).await, Some(json!(null)));
    let _line = loads.connect(0);
    assert_eq!(loads.shown(0).await, under_way);
    for version in [&first["latest_version"], &json!(0)] {
        loads.say(0, &first, &format!("have=products:{version}&unstored=products:full")).await;
        assert_eq!(loads.shown(0).await, Some(json!(null)), "{version}");
    }
}

#[tokio::test]
async fn a_store_that_loads_pages_which_were_made_for_another_one_is_shown_of_how_many_rows_too() {
    let loads = Loads::begin().await;
    let first = loads.ask(0, &json!(0), &json!(0)).await;
    loads.ask(0, &first["latest_version"], &json!(0)).await;
    // Later than anything is counted for.
    loads.kit.clock.advance(120_000);
    let (_line, made) = (loads.connect(1), pages("miss"));
    loads.ask(1, &json!(0), &json!(0)).await;
    assert_eq!((loads.shown(1).await, pages("miss")), (Some(json!({"rows": 0, "total": 5})), made));
    // A page that is made again so late counts from then on.
    loads.kit.product(&loads.admin, "P5", json!({})).await;
    assert_eq!(loads.ask(1, &json!(0), &json!(0)).await["total"], 6);
}

#[tokio::test]
async fn a_change_is_in_the_next_page() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = id_of(&kit.product(&admin, "P1", json!({})).await);
    let token = kit.sync_token(kit.store("S01").await);
    for price in [1100, 1200, 1300] {
        let before = kit.ask(&token, PRODUCTS).await;
        kit.patch(&admin, &format!("/products/{id}"), json!({"price": price})).await.is(200);
        let after = kit.ask(&token, PRODUCTS).await;
        assert_eq!(after["rows"][0]["price"], price);
        assert!(after["latest_version"].as_i64() > before["latest_version"].as_i64());
    }
}

/// Commits a price as a writer does with a commit that no server was notified of yet.
async fn quietly(kit: &Kit, id: Uuid, price: i64) -> Vec<tillkeep_storage::Change> {
    let mut tx = kit.hq.db().begin().await.expect("begin");
    let changed = tx.update::<product::Entity>(|products| {
        products.col_expr(product::Column::Price, Expr::value(price)).filter(product::Column::Id.eq(id))
    });
    assert_eq!(changed.await.expect("update"), 1);
    tx.commit().await.expect("commit")
}

#[tokio::test]
async fn a_page_that_saw_a_commit_before_it_was_announced_is_kept_under_its_own_head() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = id_of(&kit.product(&admin, "P1", json!({})).await);
    let token = kit.sync_token(kit.store("S01").await);
    let old = kit.ask(&token, PRODUCTS).await;
    let changes = quietly(&kit, id, 1100).await;
    // No server was notified: the kept page is as good as a moment ago.
    assert_eq!(kit.ask(&token, PRODUCTS).await, old);
    // Another page is read and sees the commit. From then on its head is known, and the old page is not found any more.
    let other = "/pull?entity_type=products&since_version=0&limit=7";
    let new = kit.ask(&token, other).await;
    assert_eq!((&new["rows"][0]["price"], &new["latest_version"]), (&json!(1100), &json!(changes[0].version)));
    let versions = kit.ask(&token, "/versions").await;
    assert_eq!(versions["versions"]["products"], changes[0].version);
    assert_eq!(kit.ask(&token, PRODUCTS).await["rows"][0]["price"], 1100);
    kit.hq.announce(&changes);
    assert_eq!(kit.ask(&token, PRODUCTS).await["rows"][0]["price"], 1100);
    let announced = quietly(&kit, id, 1200).await;
    kit.hq.announce(&announced);
    assert_eq!(kit.ask(&token, PRODUCTS).await["rows"][0]["price"], 1200);
}

#[tokio::test]
async fn whoever_reads_a_part_of_a_commit_of_taxes_makes_all_of_it_known() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let rate = kit.post(&admin, "/tax-rates", json!({"code": "A", "name": "A", "ratePpm": 50_000})).await;
    rate.is(201);
    let rates = json!([{"taxRateId": rate.body["data"]["id"], "sequence": 1}]);
    kit.post(&admin, "/tax-groups", json!({"code": "A", "name": "A", "rates": rates})).await.is(201);
    let token = kit.sync_token(kit.store("S01").await);
    let heads = async || kit.ask(&token, "/versions").await["versions"].clone();
    let before = heads().await;
    let mut tx = kit.hq.db().begin().await.expect("begin");
    tx.update::<tax_rate::Entity>(|rows| rows.col_expr(tax_rate::Column::RatePpm, Expr::value(60_000)))
        .await
        .expect("an update");
    tx.update::<tax_group_rate::Entity>(|rows| rows.col_expr(tax_group_rate::Column::Sequence, Expr::value(2)))
        .await
        .expect("an update");
    let changes = tx.commit().await.expect("commit");
    // No server was notified, and no page was asked for since.
    assert_eq!(heads().await, before);
    kit.ask(&token, "/pull?entity_type=tax_group_rates&since_version=0&limit=7").await;
    // A store that asks now must not take what it had of the rates for the newest.
    let after = heads().await;
    for name in ["tax_rates", "tax_group_rates"] {
        let change = changes.iter().find(|change| change.entity_type == name).expect("it changed");
        assert_eq!(after[name], change.version, "{name}");
    }
}

#[tokio::test]
async fn what_differs_by_store_is_never_kept() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    kit.product(&admin, "P1", json!({})).await;
    let token = kit.sync_token(kit.store("S01").await);
    let path = |name: &str| format!("/pull?entity_type={name}&since_version=0&limit=100");
    for entity in registry::pulled() {
        kit.ask(&token, &path(entity.name)).await;
    }
    let held = kit.hold_readers().await;
    let never = ["users", "store_product_dynamic", "purchase_orders", "purchase_order_items", "transfers"];
    // Those that are kept first: a server that could not look at its database for seconds believes nothing of what it has.
    let mut types: Vec<&str> = registry::pulled().map(|entity| entity.name).collect();
    types.sort_by_key(|name| never.contains(name));
    let mut asked = Vec::new();
    for name in types {
        let patience = if never.contains(&name) { Duration::from_millis(300) } else { Duration::from_secs(20) };
        if timeout(patience, kit.ask(&token, &path(name))).await.is_err() {
            asked.push(name);
        }
    }
    drop(held);
    assert_eq!(asked, never);
}

#[tokio::test]
async fn a_kept_page_is_compressed_once_and_reads_the_same() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    for number in 0..20 {
        kit.product(&admin, &format!("P{number}"), json!({})).await;
    }
    let token = kit.sync_token(kit.store("S01").await);
    let plain = kit.machine(&token, PRODUCTS, "identity").await.1;
    for _ in 0..2 {
        for coding in ["gzip", "zstd"] {
            let (headers, body) = kit.machine(&token, PRODUCTS, coding).await;
            let named: Vec<_> = headers.get_all(header::CONTENT_ENCODING).iter().collect();
            assert_eq!(named, [coding]);
            assert!(headers.contains_key(header::VARY) && body.len() * 2 < plain.len(), "{headers:?}");
            let mut read = Vec::new();
            match coding {
                "gzip" => GzipDecoder::new(body.as_slice()).read_to_end(&mut read).await.expect("gzip"),
                _ => ZstdDecoder::new(body.as_slice()).read_to_end(&mut read).await.expect("zstd"),
            };
            assert_eq!(read, plain, "{coding}");
        }
    }
}

#[tokio::test]
async fn the_question_of_a_quiet_cycle_asks_no_database() {
    let kit = Kit::new().await;
    let token = kit.sync_token(kit.store("S01").await);
    let first = kit.ask(&token, "/versions").await;
    let epoch = first["epoch"].as_str().expect("epoch");
    let held = kit.hold_readers().await;
    let oldest = kit.clock.now();
    let path = format!(
        "/versions?epoch={epoch}&have=stores:1,departments:1&pending=2&dead=0&oldest={oldest}&unstored=tenders:full"
    );
    let again = timeout(Duration::from_mins(1), kit.ask(&token, &path)).await.expect("an answer without a query");
    assert_eq!((&again["epoch"], &again["versions"]), (&first["epoch"], &first["versions"]));
    drop(held);
}

#[tokio::test]
async fn a_change_is_live_where_a_store_says_so() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    kit.product(&admin, "P1", json!({})).await;
    let head = kit.ask(&kit.sync_token(one), "/versions").await;
    let (epoch, version) =
        (head["epoch"].as_str().expect("epoch"), head["versions"]["products"].as_i64().expect("head"));
    let rollout =
        async |query: &str| kit.get(&admin, &format!("/sync/rollout?entityType=products{query}")).await.data();
    let behind = |code: &str, version: i64| json!({"storeCode": code, "version": version});
    assert_eq!(rollout("").await, json!({"stores": 1, "live": 0, "neverStarted": 1, "behind": [behind("S01", 0)]}));
    // To have asked for a page is not to have it.
    kit.ask(&kit.sync_token(one), PRODUCTS).await;
    assert_eq!(rollout("").await["live"], 0);
    // Nor is what it had of another database.
    kit.ask(&kit.sync_token(two), &format!("/versions?epoch=other&have=products:{version}")).await;
    assert_eq!(rollout("").await["live"], 0);
    let said = format!("/versions?epoch={epoch}&have=products:{version},spaceships:3,nonsense");
    let before = counted("tillkeep_sync_ignored_total{what=\"reported_type\"}");
    kit.ask(&kit.sync_token(one), &said).await;
    assert_eq!(counted("tillkeep_sync_ignored_total{what=\"reported_type\"}") - before, 2);
    assert_eq!(rollout("").await, json!({"stores": 2, "live": 1, "neverStarted": 0, "behind": [behind("S02", 0)]}));
    kit.product(&admin, "P2", json!({})).await;
    assert_eq!(rollout("").await["behind"], json!([behind("S01", version), behind("S02", 0)]));
    assert_eq!(rollout(&format!("&version={version}")).await["live"], 1);
    // A reload starts over.
    kit.ask(&kit.sync_token(one), &format!("/versions?epoch={epoch}&have=products:0")).await;
    assert_eq!(rollout(&format!("&version={version}")).await["live"], 0);

    kit.role(&admin, "lead", &["stores.view"]).await;
    let lead = kit.person("lea", &[("lead", Some(two))]).await;
    let own = kit.get(&lead, "/sync/rollout?entityType=products").await.data();
    assert_eq!(own, json!({"stores": 1, "live": 0, "neverStarted": 0, "behind": [behind("S02", 0)]}));
    kit.get(&admin, "/sync/rollout?entityType=sales").await.refused(400, "unknown_entity_type");
    kit.get(&admin, "/sync/rollout?entityType=products&version=-1").await.names("version");
    kit.get(&admin, "/sync/rollout").await.names("entityType");
}

#[tokio::test]
async fn an_unknown_type_is_counted() {
    let kit = Kit::new().await;
    metrics::start();
    let who = super::kit::Person { id: Uuid::nil(), token: kit.sync_token(kit.store("S01").await) };
    let before = counted("tillkeep_sync_ignored_total{what=\"pull_type\"}");
    let got: Json = kit.get(&who, "/sync/pull?entity_type=spaceships&since_version=0").await.body;
    assert_eq!(got["code"], "unknown_entity_type");
    assert_eq!(counted("tillkeep_sync_ignored_total{what=\"pull_type\"}") - before, 1);
}

#[tokio::test]
async fn an_unknown_parameter_is_counted() {
    let kit = Kit::new().await;
    metrics::start();
    let who = super::kit::Person { id: Uuid::nil(), token: kit.sync_token(kit.store("S01").await) };
    let before = counted("tillkeep_sync_ignored_total{what=\"parameter\"}");
    kit.get(&who, "/sync/versions?of=a&newer=release&epoch=x").await.is(200);
    kit.post(&who, "/sync/push?compact=1", json!({"envelopes": []})).await.is(200);
    assert_eq!(counted("tillkeep_sync_ignored_total{what=\"parameter\"}") - before, 3);
}

/// In the second after a standby took over that has less, before headquarters looks at its database again.
#[tokio::test]
async fn a_cursor_beyond_the_database_is_ahead_whatever_headquarters_has_in_memory() {
    let kit = Kit::new().await;
    let store = kit.store("S01").await;
    let caller = Person { id: Uuid::nil(), token: kit.sync_token(store) };
    for entity_type in ["departments", "users"] {
        kit.hq.heads.raise(&[Change { entity_type, store: None, version: 1000, tag: None }]);
        let query = format!("entity_type={entity_type}&since_version=900&limit=10&epoch={}", kit.hq.epoch);
        let got = kit.get(&caller, &format!("/sync/pull?{query}")).await;
        got.is(409);
        assert_eq!(got.body["code"], "cursor_ahead", "{entity_type}");
    }
}
