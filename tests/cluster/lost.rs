//! Headquarters that lost its last seconds: a copy of its database from a moment ago takes its place, under stores that run
//! and have seen what is gone. `docs/sync.md`, rule D8.

use std::path::Path;

use serde_json::json;
use tillkeep_storage::{Db, raw};

use crate::kit::{Fault, eventually};
use crate::restored::{Shop, forget, has_all, new_admin};

/// A copy of the database of a server that runs, as of now.
async fn copy_now(dir: &Path, copy: &Path) {
    drop(std::fs::remove_file(copy));
    let conn = Db::open_to_read(&Db::url_of_file(&dir.join("tillkeep.db"))).await.expect("the database");
    let sql = format!("VACUUM INTO '{}'", copy.display());
    raw::execute(&conn, &sql, []).await.expect("a copy");
    conn.close().await.expect("closed");
}

impl Shop {
    /// So many commits at headquarters that change the price, which the store has at the end.
    async fn price_edits(&self, edits: i64, from: i64) {
        for price in from..from + edits {
            let path = format!("/products/{}", self.product);
            self.chain.admin.patch(&path, json!({"price": price})).await.data();
        }
        self.site.knows(&self.till, &self.product, Some(from + edits - 1)).await;
    }

    /// Headquarters dies, and starts again with the copy.
    async fn lose_what_came_after(&mut self, copy: &Path) {
        self.chain.hq.kill();
        forget(&self.chain.hq.dir);
        std::fs::copy(copy, self.chain.hq.dir.join("tillkeep.db")).expect("the copy is put in its place");
        self.chain.hq.restart();
        new_admin(&mut self.chain).await;
    }

    async fn price_at_headquarters(&self) -> i64 {
        let path = format!("/products/{}", self.product);
        self.chain.admin.get(&path).await.data()["price"].as_i64().expect("a price")
    }

    /// Waits until the store sells at the price of headquarters, and has nothing else that headquarters does not have.
    async fn is_as_headquarters(&mut self) {
        let price = self.price_at_headquarters().await;
        self.site.knows(&self.till, &self.product, Some(price)).await;
        self.sent().await;
        self.chain.settled(&[&self.site], &[]).await;
    }
}

/// Commits of a copy's age, and those that headquarters makes again before any store asks: fewer, as many, more. As many
/// leave every number as it was.
const AGES: &[(i64, i64)] = &[(1, 0), (1, 1), (1, 3), (4, 4), (25, 24), (25, 25), (25, 26), (150, 150)];

#[tokio::test(flavor = "multi_thread")]
async fn prices_that_headquarters_lost_go_from_the_stores_however_young_the_copy_is() {
    let mut shop = Shop::open().await;
    shop.sent().await;
    let copy = shop.chain.hq.dir.with_extension("copy");
    for (round, (lost, made_since)) in (0_i64..).zip(AGES) {
        copy_now(&shop.chain.hq.dir, &copy).await;
        shop.price_edits(*lost, 100_000 + round * 1000).await;
        shop.site.proxy.set(Fault::Down);
        shop.lose_what_came_after(&copy).await;
        for price in 0..*made_since {
            let path = format!("/products/{}", shop.product);
            shop.chain.admin.patch(&path, json!({"price": 2000 + round * 1000 + price})).await.data();
        }
        shop.site.proxy.set(Fault::None);
        shop.is_as_headquarters().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stores_sent_and_headquarters_lost_is_sent_again_however_young_the_copy_is() {
    let mut shop = Shop::open().await;
    shop.sent().await;
    let copy = shop.chain.hq.dir.with_extension("copy");
    for (lost, made_since) in [(1, 0), (1, 1), (3, 3), (12, 11)] {
        copy_now(&shop.chain.hq.dir, &copy).await;
        shop.sell(lost).await;
        shop.sent().await;
        shop.lose_what_came_after(&copy).await;
        // What is sold now raises the same counters again.
        shop.sell(made_since).await;
        has_all(&shop.chain, &shop.sold.clone()).await;
        shop.is_as_headquarters().await;
    }
}

/// Nothing that a store pulls says that a session is gone: it has to shake hands.
#[tokio::test(flavor = "multi_thread")]
async fn a_drawer_that_headquarters_lost_is_sent_again_though_nothing_that_is_pulled_moved() {
    let mut shop = Shop::open().await;
    shop.sent().await;
    let copy = shop.chain.hq.dir.with_extension("copy");
    copy_now(&shop.chain.hq.dir, &copy).await;
    let register = json!({"code": "02", "name": "Back", "terminalId": "S01-T2"});
    let register = shop.till.post("/registers", register).await.data();
    let path = format!("/registers/{}/open", register["id"].as_str().expect("an id"));
    let drawer = shop.till.post(&path, json!({})).await.data();
    shop.sent().await;
    shop.lose_what_came_after(&copy).await;
    let drawer: uuid::Uuid = drawer["id"].as_str().expect("an id").parse().expect("an id");
    eventually("headquarters has the drawer again", async || {
        let conn = Db::open_to_read(&shop.chain.hq.database()).await.expect("the database");
        let rows = raw::query(&conn, "SELECT id FROM register_sessions WHERE id = $1", [drawer.into()]).await;
        conn.close().await.expect("closed");
        (rows.expect("a read").len() == 1).then_some(())
    })
    .await;
    shop.is_as_headquarters().await;
}
