//! What a role shows of a list.

use super::kit::Kit;

#[tokio::test]
async fn a_manager_sees_the_stores_to_send_goods_to_and_no_more_of_them() {
    let kit = Kit::new().await;
    let (here, _) = (kit.store("S01").await, kit.store("S02").await);
    let manager = kit.person("mia", &[("store_manager", Some(here))]).await;
    let stores = kit.get(&manager, "/stores").await.data();
    assert_eq!(super::kit::column(&stores, "code"), ["S01", "S02"]);
    let keys: Vec<_> = stores[0].as_object().expect("object").keys().cloned().collect();
    assert_eq!(keys.len(), 4, "{keys:?}");
    kit.get(&manager, &format!("/stores/{here}")).await.refused(403, "forbidden");
}
