//! A store whose token is rotated while it is at work.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use uuid::Uuid;

use crate::kit::{Client, Fault, eventually, secrets};
use crate::restored::{Shop, new_admin, receipts};

async fn rotate(shop: &Shop, minutes: i64) {
    let path = format!("/stores/{}/provision", shop.site.id);
    shop.chain.admin.post(&path, json!({"rotate": true, "graceMinutes": minutes})).await.data();
}

/// Whether headquarters gives notice of the store.
async fn noticed(shop: &Shop) -> bool {
    let notices = shop.chain.admin.get("/security/notices").await.data();
    notices.as_array().expect("notices").iter().any(|notice| notice["kind"] == "token_asked_again")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_takes_over_a_rotated_token_and_goes_on_past_its_grace_without_a_person() {
    let mut shop = Shop::open().await;
    shop.sell(1).await;
    shop.sent().await;
    let old = shop.site.sync_token.clone();
    let file = shop.site.process.dir.join("sync.token");
    assert!(!file.exists(), "it has one token, and that is the environment's");

    rotate(&shop, 1).await;
    let taken: String = eventually("the store has taken the token over", async || fs::read_to_string(&file).ok()).await;
    let taken = taken.trim().to_owned();
    secrets::note("the token that was taken over", &taken);
    assert_eq!(fs::metadata(&file).expect("the file").permissions().mode() & 0o777, 0o600);
    assert_ne!(taken, old);
    let log = shop.chain.admin.get("/audit-log?action=store.token_given").await.data();
    assert_eq!(log.as_array().map(Vec::len), Some(1), "{log}");
    shop.sell(1).await;
    shop.sent().await;

    // Who has no more than the old token gets nothing by asking, and headquarters says so.
    let thief = Client::new(&shop.chain.hq.url).with_token(&old);
    let asks =
        json!({"nodeEpoch": "a thief's", "storeVersion": "0.2.0", "instance": Uuid::new_v4(), "takesToken": true});
    let answer = thief.post("/sync/handshake", asks).await;
    assert_eq!((answer.status.as_u16(), &answer.body["syncToken"]), (200, &Value::Null));
    assert!(noticed(&shop).await);

    // The grace is over. The environment of the store still has the old token, over its start too.
    shop.chain.hq.stop();
    shop.chain.hq.set_environment("CLOCK_OFFSET_MS", "90000");
    shop.chain.hq.restart();
    new_admin(&mut shop.chain).await;
    assert_eq!(thief.get("/sync/versions").await.status, 401);
    shop.site.sync_token = taken;
    shop.sell(1).await;
    shop.sent().await;
    shop.site.process.stop();
    shop.site.process.restart();
    shop.till = shop.site.admin().await;
    shop.sell(1).await;
    shop.sent().await;
    assert_eq!(shop.chain.sales(&shop.site).await, 4);
    assert!(shop.site.process.log().contains("SYNC_TOKEN was replaced"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_is_put_back_within_the_grace_is_given_nothing_and_headquarters_says_so() {
    let mut shop = Shop::open().await;
    shop.sell(1).await;
    shop.sent().await;
    let aside = shop.copy_of_store().await;
    // Long ago: the ticket that it has in there is good no more.
    for _ in 0..6 {
        shop.site.process.stop();
        shop.site.process.restart();
        shop.till = shop.site.admin().await;
        shop.sell(1).await;
        shop.sent().await;
    }
    // It hears of nothing until it is what it was.
    shop.site.process.stop();
    rotate(&shop, 60).await;
    shop.put_store_back(&aside, Fault::None).await;
    eventually("headquarters says so", async || noticed(&shop).await.then_some(())).await;
    shop.sell(1).await;
    shop.sent().await;
    assert!(!shop.site.process.dir.join("sync.token").exists(), "a person brings the token");
    let log = shop.chain.admin.get("/audit-log?action=store.token_given").await.data();
    assert_eq!(log, json!([]));
    shop.sold.sort();
    eventually("the store has its sales again", async || {
        (receipts(&shop.till, "/pos/sales").await == shop.sold).then_some(())
    })
    .await;
}
