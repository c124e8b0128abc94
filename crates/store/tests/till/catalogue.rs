//! `GET /pos/catalogue`: the copy of the products that a till keeps.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use tillkeep_model::{Money, ids};
use tillkeep_storage::apply::{self, Cursor};
use tillkeep_storage::entity::{product, store_product};
use tillkeep_storage::registry::{self, COST_KEYS};
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use tillkeep_storage::{Tx, catalogue};

use crate::kit::{Person, Reply, Shop, id, rows};

/// What a till keeps.
#[derive(Clone, Default)]
struct Kept {
    products: BTreeMap<String, Json>,
    since: Option<String>,
}

/// What came with the pages of a read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Came {
    pages: usize,
    rows: usize,
    removed: usize,
    reset: bool,
}

impl Kept {
    /// Takes over one page; the query of the next one.
    fn take(&mut self, page: &Json, came: &mut Came) -> Option<String> {
        if page["reset"] == true {
            (came.reset, self.products) = (true, BTreeMap::new());
        }
        let key = |id: &Json| id.as_str().expect("an id").to_owned();
        for row in page["products"].as_array().expect("products") {
            self.products.insert(key(&row["id"]), row.clone());
            came.rows += 1;
        }
        for gone in page["removed"].as_array().expect("ids") {
            self.products.remove(&key(gone));
            came.removed += 1;
        }
        came.pages += 1;
        let Some(next) = page["next"].as_str() else {
            self.since = Some(page["version"].as_str().expect("a version").to_owned());
            return None;
        };
        Some(format!("next={next}"))
    }

    fn begin(&self) -> String {
        self.since.as_ref().map(|since| format!("since={since}")).unwrap_or_default()
    }

    async fn follow(&mut self, person: &Person, limit: usize) -> Came {
        let (mut came, mut query) = (Came::default(), Some(self.begin()));
        while let Some(asked) = query {
            let page = ask(person, &format!("limit={limit}&{asked}")).await.ok(200);
            query = self.take(&page, &mut came);
        }
        came
    }

    async fn anew(person: &Person) -> Self {
        let mut copy = Self::default();
        copy.follow(person, 1000).await;
        copy
    }
}

async fn ask(person: &Person, query: &str) -> Reply {
    person.get(&format!("/pos/catalogue?{}", query.trim_end_matches('&'))).await
}

/// The types whose rows make a copy.
const PRODUCTS: &str = "products";
const PRICES: &str = "store_product_dynamic";

async fn at(tx: &Tx, name: &str, version: i64) {
    let entity = registry::find(name).expect("a type");
    apply::set_cursor(tx, entity, Cursor { version, ..Cursor::default() }, None).await.expect("a cursor");
}

/// A product as a pull up to `version` brings it.
async fn comes(shop: &Shop, name: &str, version: i64, change: impl FnOnce(&mut product::Model)) {
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let row = product::Entity::find_by_id(id(name)).one(&tx).await.expect("a read");
    let is_new = row.is_none();
    let mut row = row.unwrap_or_else(|| rows::product(name, 100, "FREE"));
    change(&mut row);
    row.sync_version = version;
    if is_new {
        product::Entity::insert(row.into_active_model()).exec_without_returning(&tx).await.expect("an insert");
    } else {
        product::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    }
    at(&tx, PRODUCTS, version).await;
    tx.commit().await.expect("a commit");
}

/// The same of what this store has of a product.
async fn is_priced(shop: &Shop, name: &str, version: i64, change: impl FnOnce(&mut store_product::Model)) {
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let key = ids::store_product(shop.store.id, id(name));
    let row = store_product::Entity::find_by_id(key).one(&tx).await.expect("a read");
    let mut row = row.expect("a row");
    change(&mut row);
    row.sync_version = version;
    store_product::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    at(&tx, PRICES, version).await;
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn a_copy_that_follows_what_changed_is_what_a_full_read_is() {
    let shop = Shop::open().await;
    let cashier = shop.sign_in("cashier").await;
    let mut copy = Kept::default();
    let came = copy.follow(&cashier, 2).await;
    assert!(came.pages > 4 && !came.reset && came.removed == 0, "{came:?}");
    assert_eq!(copy.products, Kept::anew(&cashier).await.products);
    let bread = &copy.products[&id("BREAD").to_string()];
    let prices = (&bread["price"], &bread["effectivePrice"], &bread["priceSource"]);
    assert_eq!(prices, (&300.into(), &250.into(), &"store".into()), "the price of this store");
    assert!(
        !copy.products.contains_key(&id("OLD").to_string()) && !copy.products.contains_key(&id("GONE").to_string())
    );

    comes(&shop, "TEA", 1, |row| row.price = Money(2499)).await;
    comes(&shop, "WINE", 2, |row| row.is_active = false).await;
    comes(&shop, "OLD", 3, |row| row.is_active = true).await;
    comes(&shop, "T04", 4, |row| row.deleted_at = Some(rows::made())).await;
    comes(&shop, "HONEY", 5, |row| row.price = Money(799)).await;
    is_priced(&shop, "T06", 1, |row| (row.price, row.has_price_override) = (Money(4000), true)).await;
    is_priced(&shop, "BANANA", 2, |row| row.is_stocked = false).await;
    let came = copy.follow(&cashier, 2).await;
    assert_eq!((came.rows, came.removed, came.reset), (5, 2, false), "what changed, and no more");
    assert_eq!(copy.products, Kept::anew(&cashier).await.products);
    assert_eq!(copy.products[&id("T06").to_string()]["effectivePrice"], 4000);
    assert_eq!(copy.products[&id("BANANA").to_string()]["isStocked"], false);
    assert_eq!(copy.follow(&cashier, 2).await, Came { pages: 1, ..Came::default() }, "nothing moved");
}

#[tokio::test]
async fn what_changes_behind_a_read_comes_with_the_next_one() {
    let shop = Shop::open().await;
    let cashier = shop.sign_in("cashier").await;
    let (mut copy, mut came) = (Kept::default(), Came::default());
    let page = ask(&cashier, "limit=2").await.ok(200);
    let seen = page["products"][0]["sku"].as_str().expect("a SKU").to_owned();
    let mut query = copy.take(&page, &mut came);
    comes(&shop, &seen, 1, |row| row.name = "another name".to_owned()).await;
    while let Some(asked) = query {
        let page = ask(&cashier, &format!("limit=2&{asked}")).await.ok(200);
        query = copy.take(&page, &mut came);
    }
    assert_ne!(copy.products[&id(&seen).to_string()]["name"], "another name");
    copy.follow(&cashier, 2).await;
    assert_eq!(copy.products, Kept::anew(&cashier).await.products);
}

#[tokio::test]
async fn a_copy_is_made_anew_after_a_reload_and_by_a_store_that_was_set_back() {
    let shop = Shop::open().await;
    let cashier = shop.sign_in("cashier").await;
    comes(&shop, "TEA", 9, |_| ()).await;
    let mut copy = Kept::anew(&cashier).await;
    let page = ask(&cashier, "limit=2").await.ok(200);
    let next = page["next"].as_str().expect("a next page").to_owned();

    let tx = shop.store.test_db().begin().await.expect("a transaction");
    apply::begin_reload(&tx, registry::find(PRODUCTS).expect("a type")).await.expect("a reload");
    tx.commit().await.expect("a commit");
    let came = copy.follow(&cashier, 3).await;
    assert!(came.reset && came.removed == 0, "{came:?}");
    assert_eq!(copy.products, Kept::anew(&cashier).await.products);
    let page = ask(&cashier, &format!("limit=2&next={next}")).await.ok(200);
    assert_eq!(page["reset"], true, "half of a read of before is none");

    comes(&shop, "TEA", 9, |_| ()).await;
    copy.follow(&cashier, 3).await;
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    at(&tx, PRODUCTS, 5).await;
    tx.commit().await.expect("a commit");
    assert!(copy.follow(&cashier, 3).await.reset);
}

#[tokio::test]
async fn a_till_that_has_a_page_is_told_so_until_something_moves() {
    let shop = Shop::open().await;
    let cashier = shop.sign_in("cashier").await;
    let tag = async |query: &str, known: &str| {
        let answer = cashier.response(&format!("/pos/catalogue{query}"), &[("if-none-match", known)]).await;
        (answer.status().as_u16(), answer.headers()["etag"].to_str().expect("a text").to_owned())
    };
    let (status, first) = tag("?limit=3", "").await;
    assert_eq!(status, 200);
    assert_eq!(tag("?limit=3", &first).await, (304, first.clone()));
    assert_eq!(tag("?limit=4", &first).await.0, 200, "of another address");
    shop.change_product("TEA", |row| row.reorder_point = row.reorder_quantity).await;
    assert_eq!(tag("?limit=3", &first).await.0, 304, "what is sold and counted here is no change of the goods");
    comes(&shop, "TEA", 1, |row| row.price = Money(1)).await;
    let (status, second) = tag("?limit=3", &first).await;
    assert_eq!(status, 200);
    assert_ne!(first, second);
}

#[tokio::test]
async fn a_copy_has_no_costs_whoever_asks_and_travels_compressed() {
    let shop = Shop::open().await;
    for role in ["cashier", "store_manager", "administrator"] {
        let person = shop.sign_in(role).await;
        let text = person.text("/pos/catalogue").await;
        let page: Json = serde_json::from_str(&text).expect("JSON");
        let rows = page["data"]["products"].as_array().expect("products");
        assert!(rows.len() > 5);
        let keys = rows.iter().flat_map(|row| row.as_object().expect("a row").keys());
        for key in keys {
            assert!(!COST_KEYS.contains(key), "{key} to a {role}");
        }
        let answer = person.response("/pos/catalogue", &[("accept-encoding", "gzip")]).await;
        assert_eq!(answer.headers()["content-encoding"], "gzip");
    }
}

#[tokio::test]
async fn what_a_till_hands_back_must_be_of_this_server_and_is_named_otherwise() {
    let shop = Shop::open().await;
    let cashier = shop.sign_in("cashier").await;
    let here = catalogue::version(shop.store.test_db().reader()).await.expect("a version");
    for (query, field) in [
        ("since=yesterday".to_owned(), "since"),
        ("next=yesterday".to_owned(), "next"),
        (format!("since=1.{0}.0.0&next=1.{0}.0.0", here.history), "since"),
        ("limit=0".to_owned(), "limit"),
        ("limit=1001".to_owned(), "limit"),
    ] {
        ask(&cashier, &query).await.refused_at(422, "validation", field);
    }
}
