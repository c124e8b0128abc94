//! A PIN alone at headquarters, under any store id and from any address. How many tries that gives in a day is walked in `crates/hq/tests/backoffice/headquarters_pins.rs`.

use futures_util::StreamExt;
use serde_json::json;

use crate::device::{Device, person};
use crate::kit::{ADMIN, Client, TestCluster, id};

#[tokio::test(flavor = "multi_thread")]
async fn thirty_store_ids_behind_five_addresses_are_five_guessers_and_neither_tills_nor_other_addresses_notice_anything()
 {
    let mut chain = TestCluster::with(&[("TRUSTED_PROXIES", "127.0.0.1")]).await;
    let site = chain.store().await;
    let cashier = person(&chain, &site, "cash", "cashier").await;
    let mut stores = Vec::new();
    for number in 0..30 {
        let body = json!({"code": format!("X{number:02}"), "name": "Another", "timezone": "UTC"});
        let store = id(&chain.admin.post("/stores", body).await.data());
        chain.admin.post(&format!("/stores/{store}/activate"), json!({})).await.data();
        stores.push(store);
    }
    let guesser = Device::at(1, &chain.hq.url, &site.id);
    let tries = (0..1000).map(|number| {
        let (store, client) = (stores[number % 30].clone(), format!("203.0.113.{}", number % 5));
        let guesser = &guesser;
        async move { guesser.forwarded(&store, &format!("T{number}"), "000000000", Some(&client)).await.0 }
    });
    let statuses: Vec<u16> = futures_util::stream::iter(tries).buffer_unordered(64).collect().await;
    assert!(statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
    let looked_at = statuses.iter().filter(|status| **status == 401).count();
    // Each has seven before its first wait of a minute. Three waits later all of them still have fewer than the fifty that stop
    // whoever comes from an unknown place, so that a slow machine makes no difference.
    assert!((15..=45).contains(&looked_at), "{looked_at} of 1000 were looked at");
    let (status, _) = guesser.forwarded(&site.id, "T1", &cashier, Some("203.0.113.99")).await;
    assert_eq!(status, 200, "a user elsewhere");

    let till = Device::at(1, &site.process.url, &site.id);
    assert_eq!(till.pin(&site.terminal, &cashier).await.0, 200, "the store counts by itself");
    // At headquarters people have names.
    assert!(Client::new(&chain.hq.url).sign_in(ADMIN.0, ADMIN.1).await.is_some());
}
