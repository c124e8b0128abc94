//! Lines of 64 kbit/s, and lines that carry little at a time. `docs/sync.md`, *A store's cycle* and rule D8.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tillkeep_storage::entity::{product, user, user_store_role};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::{Db, Side};
use uuid::Uuid;

use crate::kit::{ADMIN, Client, Fault, TestCluster, eventually, id};
use crate::restored::{Shop, receipts};

/// 64 kbit/s.
const SLOW: Fault = Fault::Throttle(8_000);
/// Enough for a handshake and a little more.
const LITTLE: Fault = Fault::CutAnswer(12_000);
/// Lines of a long sale.
pub const LINES: i64 = 20;

impl Shop {
    /// Sales of so many lines that a page has only some of them.
    pub async fn sell_long(&mut self, count: usize) {
        let tenders = self.till.get("/tenders").await.data();
        let card = tenders.as_array().expect("list").iter().find(|tender| tender["code"] == "CARD").expect("card");
        for _ in 0..count {
            let lines: Vec<_> = (0..LINES).map(|_| json!({"productId": self.product, "quantity": 1})).collect();
            let payments = json!([{"tenderId": card["id"]}]);
            let sale =
                json!({"id": Uuid::now_v7(), "terminalId": self.site.terminal, "lines": lines, "payments": payments});
            let sale = self.till.post("/pos/sales", sale).await.data();
            self.sold.push(sale["receiptNumber"].as_str().expect("receipt").to_owned());
        }
    }

    /// The store as it was, on a line that carries little: it has more than `had` of its sales again but not all when it
    /// dies.
    pub async fn put_half_back(&mut self, aside: &Path, had: usize) {
        self.put_store_back(aside, LITTLE).await;
        let back = eventually("some sales are back", async || {
            Some(receipts(&self.till, "/pos/sales").await.len()).filter(|count| *count > had)
        })
        .await;
        assert!(back < self.sold.len(), "one page had them all: nothing is shown");
        self.site.process.kill();
    }
}

/// A chain of five stores with 50 people, 100 roles of theirs and so many products, in the database of headquarters.
async fn fill(chain: &mut TestCluster, products: usize) {
    chain.product("A1", 1000).await;
    let mut far = Uuid::nil();
    for number in 2..=5 {
        let body = json!({"code": format!("F{number:02}"), "name": "Far away", "timezone": "America/New_York"});
        far = id(&chain.admin.post("/stores", body).await.data()).parse().expect("an id");
    }
    chain.hq.stop();
    let db = Db::open_file(&chain.hq.dir.join("tillkeep.db"), Side::Hq).await.expect("the database");
    let mut tx = db.begin().await.expect("a transaction");
    let one = product::Entity::find().one(&tx).await.expect("a read").expect("a product");
    let person = user::Entity::find().one(&tx).await.expect("a read").expect("a person");
    let role = user_store_role::Entity::find().one(&tx).await.expect("a read").expect("a role");
    let goods = (0..products).map(|number| product::Model {
        id: Uuid::now_v7(),
        sku: format!("SKU-{number:06}"),
        sku_folded: format!("sku-{number:06}"),
        name: format!("Product {}", Uuid::new_v4()),
        sync_version: 0,
        ..one.clone()
    });
    tx.insert_all::<product::Entity>(goods.collect()).await.expect("rows");
    let people: Vec<_> = (0..49)
        .map(|number| user::Model {
            id: Uuid::now_v7(),
            username: format!("person{number}"),
            username_folded: format!("person{number}"),
            display_name: format!("Person {number}"),
            pin_lookup: Some(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())),
            sync_version: 0,
            ..person.clone()
        })
        .collect();
    // Each has a role everywhere and one in some store.
    let roles = people.iter().flat_map(|person| [None, Some(far)].map(|place| (person.id, place)));
    let roles = roles.map(|(user_id, store_id)| user_store_role::Model {
        id: Uuid::now_v7(),
        user_id,
        store_id,
        sync_version: 0,
        ..role.clone()
    });
    let roles = roles.collect();
    tx.insert_all::<user::Entity>(people).await.expect("rows");
    tx.insert_all::<user_store_role::Entity>(roles).await.expect("rows");
    tx.commit().await.expect("a commit");
    db.close().await.expect("closed");
    chain.hq.restart();
    chain.admin = Client::new(&chain.hq.url).sign_in(ADMIN.0, ADMIN.1).await.expect("the administrator signs in");
}

/// The versions of products that the store has.
async fn products(till: &Client) -> i64 {
    till.get("/sync/status").await.data()["versions"]["products"].as_i64().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_line_of_64_kbit_a_cashier_signs_in_within_a_minute_whatever_goods_come_after() {
    const PRODUCTS: usize = 8_000;
    let mut chain = TestCluster::new().await;
    fill(&mut chain, PRODUCTS).await;
    let mut site = chain.slow_store(SLOW).await;
    let begun = Instant::now();
    let client = Client::new(&site.process.url);
    // Not the minute of a machine that does nothing else: all goods take a quarter of an hour.
    let till = tokio::time::timeout(Duration::from_mins(4), async {
        let till = eventually("the first person can sign in", async || client.sign_in(ADMIN.0, ADMIN.1).await).await;
        eventually("and may do something", async || till.get("/registers").await.status.is_success().then_some(()))
            .await;
        till
    });
    let till = till.await.expect("before the goods");
    eprintln!("signed in after {:.1} s", begun.elapsed().as_secs_f64());
    // The goods follow, page after page, and go on where they were when the store starts again.
    let some = eventually("goods come too", async || Some(products(&till).await).filter(|version| *version > 0)).await;
    assert!(some < i64::try_from(PRODUCTS).expect("a number"), "the line is not slow: all is here");
    site.process.kill();
    site.process.restart();
    let till = site.admin().await;
    assert!(products(&till).await >= some, "a start throws nothing away");
    eventually("it goes on", async || (products(&till).await > some).then_some(())).await;
    site.proxy.set(Fault::None);
    eventually("all goods are here", async || (products(&till).await > 8_000).then_some(())).await;
}

/// Connections break after some bytes of answers: not even a page of the largest size comes through, however long one waits.
#[tokio::test(flavor = "multi_thread")]
async fn own_documents_come_back_in_smaller_pages_and_go_on_where_they_were_over_broken_lines_and_restarts() {
    let mut shop = Shop::open().await;
    shop.sent().await;
    let aside = shop.copy_of_store().await;
    shop.sell_long(40).await;
    shop.sent().await;

    shop.put_half_back(&aside, 0).await;
    shop.site.process.restart();
    shop.till = shop.site.admin().await;
    eventually("the store has its sales again", async || {
        (receipts(&shop.till, "/pos/sales").await == shop.sold).then_some(())
    })
    .await;
    shop.levels_agree(-40 * LINES).await;
    shop.sell(1).await;
    shop.site.proxy.set(Fault::None);
    shop.sent().await;
    shop.chain.settled(&[&shop.site], &[]).await;
}
