//! The file of a store's last numbers, with real processes. `docs/sync.md`, rule D14.

use std::fs;

use crate::kit::{Fault, eventually};
use crate::restored::{Shop, forget, has_all, receipts};
use crate::verify::verify;

#[tokio::test(flavor = "multi_thread")]
async fn a_store_gives_no_number_twice_when_its_database_alone_is_restored_again_and_again() {
    let mut shop = Shop::open().await;
    shop.sell(2).await;
    shop.sent().await;
    let aside = shop.copy_of_store().await;
    for round in 0..4 {
        // Two of them reach headquarters, and one goes with the disk.
        shop.sell(2).await;
        shop.sent().await;
        shop.site.proxy.set(Fault::Down);
        shop.sell(1).await;
        shop.sold.pop();
        shop.site.process.kill();
        forget(&shop.site.process.dir);
        fs::copy(aside.join("tillkeep.db"), shop.site.process.dir.join("tillkeep.db")).expect("put back");
        // With a line and without one.
        shop.site.proxy.set(if round % 2 == 0 { Fault::None } else { Fault::Down });
        shop.site.process.restart();
        shop.till = shop.site.admin().await;
        shop.sell(2).await;
        shop.site.proxy.set(Fault::None);
    }
    assert_eq!(shop.sold.last().map(String::as_str), Some("S01-01-000022"));
    shop.sent().await;
    has_all(&shop.chain, &shop.sold.clone()).await;
    eventually("the store has its sales again", async || {
        (receipts(&shop.till, "/pos/sales").await == shop.sold).then_some(())
    })
    .await;
    let path = format!("/sync/completeness?storeId={}&date={}", shop.site.id, today(&shop).await);
    let day = shop.chain.admin.get(&path).await.data()["days"][0].clone();
    assert_eq!(day["missingReceiptCount"], 0, "{day}");
    let lost = day["registers"][0]["lostReceipts"].as_array().expect("a list").clone();
    let lost: Vec<_> = lost.iter().map(|range| (range["from"].clone(), range["count"].clone())).collect();
    let expected = ["000005", "000010", "000015", "000020"].map(|end| (format!("S01-01-{end}").into(), 1.into()));
    assert_eq!(lost, expected, "{day}");
    let (sound, said) = verify(&[], &shop.chain.hq.dir, &shop.site.process.dir);
    let named = format!("lost with the database of store {}: receipt:01 from 3 to 20, but for", shop.site.id);
    assert!(sound && said.contains(&named) && said.ends_with("Everything holds.\n"), "{said}");
}

/// The business day of the open drawer.
async fn today(shop: &Shop) -> String {
    let path = format!("/register-sessions/current?terminalId={}", shop.site.terminal);
    shop.till.get(&path).await.data()["businessDate"].as_str().expect("a date").to_owned()
}
