//! Rule D8: a tag says in which history a version was given.

use std::collections::BTreeSet;

use tillkeep_model::Instant;
use tillkeep_storage::entity::{product, store_product};
use tillkeep_storage::raw;
use tillkeep_storage::tags::{self, Head};
use uuid::Uuid;

use crate::kit::chain::{Chain, product as new_product};
use crate::kit::{self, Hq, at, entity};

async fn tag(hq: &Hq, name: &str, store: Uuid, version: i64) -> Option<Uuid> {
    tags::tag_of(hq.db.reader(), entity(name), store, version).await.expect("a read")
}

#[tokio::test]
async fn a_commit_gives_each_counter_that_it_raises_one_tag() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let (first, second) = (chain.first.store_id, chain.second.store_id);
        let row = |store, product| store_product::Model {
            id: tillkeep_model::ids::store_product(store, product),
            store_id: store,
            product_id: product,
            created_at: at(0),
            updated_at: at(0),
            ..store_product::Model::default()
        };
        let changes =
            hq.insert::<store_product::Entity>([row(first, chain.tea), row(first, chain.rice), row(second, chain.tea)]);
        let changes = changes.await;
        let given = changes[0].tag;
        assert!(given.is_some() && changes.iter().all(|change| change.tag == given), "{changes:?}");
        for (store, version) in [(first, 1), (first, 2), (second, 1)] {
            assert_eq!(tag(&hq, "store_product_dynamic", store, version).await, given, "a page may end at {version}");
        }
        let other = hq.edit::<product::Entity>(chain.tea, |row| row.price.0 += 1).await[0].tag;
        assert!(other.is_some() && other != given);
        let heads = tags::heads(hq.db.reader()).await.expect("the heads");
        let scoped = |name: &str, scope| heads[&(name.to_owned(), scope)];
        assert_eq!(scoped("products", Uuid::nil()), Head { version: 3, tag: other });
        assert_eq!(scoped("store_product_dynamic", first), Head { version: 2, tag: given });
        let (types, second) = (BTreeSet::from(["store_product_dynamic"]), BTreeSet::from([second]));
        let some = tags::heads_of(hq.db.reader(), &types, Some(&second)).await.expect("the heads");
        assert_eq!(some.into_values().collect::<Vec<_>>(), [Head { version: 1, tag: given }]);
        hq.verify().await;
    }
}

#[tokio::test]
async fn a_version_inside_of_a_commit_has_its_tag_and_one_that_was_not_given_has_none() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        // Two products are there already.
        let many = hq.insert::<product::Entity>((0..600).map(|n| new_product(&format!("P{n}"), n))).await[0].tag;
        let next = hq.edit::<product::Entity>(chain.tea, |row| row.price.0 += 1).await[0].tag;
        let mut found = Vec::new();
        for version in [0, 2, 3, 300, 602, 603, 604] {
            found.push(tag(&hq, "products", chain.first.store_id, version).await);
        }
        assert!(found[1].is_some() && found[1] != many && many != next);
        assert_eq!(found, [None, found[1], many, many, many, next, None]);
    }
}

#[tokio::test]
async fn what_was_rolled_back_has_no_tag_and_two_histories_have_two() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        {
            let mut tx = hq.db.begin().await.expect("a transaction");
            raw::execute(&tx, "UPDATE products SET sync_version = 0", []).await.expect("an update");
            tx.touch(kit::entity("products"));
        }
        assert_eq!(tag(&hq, "products", Uuid::nil(), 3).await, None);
        let before = hq.edit::<product::Entity>(chain.tea, |row| row.price.0 = 1).await[0].tag;
        // As after a copy from before the edit was restored.
        let tx = hq.db.begin().await.expect("a transaction");
        for sql in ["DELETE FROM sync_tags WHERE version = 3", "UPDATE sync_counters SET value = 2 WHERE value = 3"] {
            raw::execute(&tx, sql, []).await.expect("a statement");
        }
        tx.commit().await.expect("a commit");
        let after = hq.edit::<product::Entity>(chain.rice, |row| row.price.0 = 1).await;
        assert_eq!(kit::notifications(&after), [("products", None, 3)]);
        assert!(after[0].tag.is_some() && after[0].tag != before, "the same version, another tag");
    }
}

#[tokio::test]
async fn of_versions_that_were_overtaken_long_ago_no_tags_are_kept_and_of_each_counter_the_newest_is() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        for price in 1..=4 {
            hq.edit::<product::Entity>(chain.tea, |row| row.price.0 = price).await;
        }
        // Versions 2 to 6, of the days 10, 20, …; the suppliers' only one is of the first day.
        let of_day = |day: u128| Uuid::from_u128((day * 86_400_000) << 80 | 7 << 76);
        let tx = hq.db.begin().await.expect("a transaction");
        raw::execute(&tx, "DELETE FROM sync_tags", []).await.expect("a delete");
        for (name, version, day) in [
            ("products", 2_i64, 10),
            ("products", 3, 20),
            ("products", 4, 30),
            ("products", 6, 50),
            ("suppliers", 1, 1),
        ] {
            let sql = "INSERT INTO sync_tags (entity_type, scope, version, tag) VALUES ($1, $2, $3, $4)";
            let values = [name.into(), Uuid::nil().into(), version.into(), of_day(day).into()];
            raw::execute(&tx, sql, values).await.expect("an insert");
        }
        tx.commit().await.expect("a commit");
        let forget = async |day: i64| {
            let tx = hq.db.begin().await.expect("a transaction");
            // What is younger than a hundred days stays.
            let gone = tags::forget(&tx, Instant::from_millis((day + 100) * 86_400_000)).await.expect("a delete");
            tx.commit().await.expect("a commit");
            gone
        };
        // A store that went away on day 25 has version 3, and still finds its tag.
        assert_eq!((forget(25).await, tag(&hq, "products", Uuid::nil(), 3).await), (1, Some(of_day(20))));
        assert_eq!(forget(25).await, 0);
        // Version 3 was overtaken on day 30: another tag stands in its place, with which that of day 20 is not compared.
        assert_eq!((forget(31).await, tag(&hq, "products", Uuid::nil(), 3).await), (1, Some(of_day(30))));
        assert_eq!(forget(5000).await, 1);
        assert_eq!(tag(&hq, "products", Uuid::nil(), 6).await, Some(of_day(50)));
        assert_eq!(tag(&hq, "suppliers", Uuid::nil(), 1).await, Some(of_day(1)));
    }
}

#[test]
fn a_tag_that_may_be_forgotten_is_compared_with_none_and_a_younger_one_with_its_own_alone() {
    let of_day = |day: u128| Some(Uuid::from_u128((day * 86_400_000) << 80 | 7 << 76));
    let differ = |presented, known, day: i64| tags::differ(presented, known, Instant::from_millis(day * 86_400_000));
    assert!(differ(of_day(20), of_day(30), 119) && differ(of_day(30), of_day(20), 119));
    assert!(!differ(of_day(20), of_day(30), 121), "a load goes on above a tag that was forgotten meanwhile");
    assert!(!differ(of_day(20), of_day(20), 50) && !differ(None, of_day(20), 50) && !differ(of_day(20), None, 50));
}
