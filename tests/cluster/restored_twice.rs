//! A store that is restored once more while it still reads back its own documents. `docs/sync.md`, rule D8.

use serde_json::json;
use uuid::Uuid;

use crate::kit::{Fault, eventually};
use crate::restored::{Shop, copy_files, has_all, receipts, restore};
use crate::slow::LINES;

impl Shop {
    /// With goods and sales that a copy of the store does not have, and the copy in the place of its database, on a line
    /// that carries them in many pages; some are back already.
    async fn half_back() -> (Self, std::path::PathBuf) {
        let mut shop = Self::open().await;
        shop.sell(2).await;
        shop.sent().await;
        let aside = shop.copy_of_store().await;
        let received = json!({"id": Uuid::now_v7(), "productId": shop.product, "quantityChange": 90, "reason": "received", "unitCost": 480});
        shop.till.post("/inventory/adjustments", received).await.data();
        shop.sell_long(40).await;
        shop.sent().await;
        shop.put_half_back(&aside, 2).await;
        (shop, aside)
    }

    /// Starts the store, and waits until it is as it was, whatever happened to it.
    async fn is_whole_again(&mut self, quantity: i64) {
        self.site.proxy.set(Fault::None);
        self.site.process.restart();
        self.till = self.site.admin().await;
        eventually("the store has its sales again", async || {
            (receipts(&self.till, "/pos/sales").await == self.sold).then_some(())
        })
        .await;
        self.levels_agree(quantity).await;
        self.sell(1).await;
        self.sent().await;
        has_all(&self.chain, &self.sold.clone()).await;
        self.levels_agree(quantity - 1).await;
        assert!(self.site.outbox(&self.till, "failed").await.is_empty());
        self.chain.settled(&[&self.site], &[]).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_restored_again_while_it_reads_back_its_own_documents_ends_as_after_once() {
    let (mut shop, aside) = Shop::half_back().await;
    restore(&shop.site.process.dir, &aside);
    shop.is_whole_again(88 - 40 * LINES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_a_store_that_was_reading_back_its_own_documents_is_as_good_as_any() {
    let (mut shop, _) = Shop::half_back().await;
    let half = shop.site.process.dir.with_extension("half");
    copy_files(&shop.site.process.dir, &half);
    shop.is_whole_again(88 - 40 * LINES).await;
    // Sold since, under the name that the store took when it was restored.
    shop.sell(3).await;
    shop.sent().await;
    shop.site.process.stop();
    restore(&shop.site.process.dir, &half);
    shop.is_whole_again(84 - 40 * LINES).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_sold_between_two_restores_lacks_nothing() {
    let (mut shop, aside) = Shop::half_back().await;
    shop.site.process.restart();
    shop.till = shop.site.admin().await;
    // Beside the reading: under the new name, with numbers above those that headquarters has.
    shop.sell(2).await;
    shop.site.drained(&shop.till).await;
    shop.site.process.kill();
    restore(&shop.site.process.dir, &aside);
    shop.is_whole_again(86 - 40 * LINES).await;
}

/// They have no entry at the store that could be sent again, as it never sent them: they came from headquarters.
#[tokio::test(flavor = "multi_thread")]
async fn documents_that_came_back_go_to_a_headquarters_that_was_restored_since() {
    let mut shop = Shop::open().await;
    shop.sell(2).await;
    shop.sent().await;
    let of_headquarters = shop.copy_of_headquarters();
    let of_store = shop.copy_of_store().await;
    shop.sell(3).await;
    shop.sent().await;
    shop.put_store_back(&of_store, Fault::None).await;
    eventually("the store has its sales again", async || {
        (receipts(&shop.till, "/pos/sales").await == shop.sold).then_some(())
    })
    .await;
    shop.levels_agree(-5).await;
    shop.put_headquarters_back(&of_headquarters).await;
    has_all(&shop.chain, &shop.sold.clone()).await;
    shop.levels_agree(-5).await;
    shop.chain.settled(&[&shop.site], &[]).await;
}
