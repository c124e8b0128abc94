//! What a till that asks whether its sale was taken knows of the database that it asked.

use std::path::Path;

use serde_json::{Value as Json, json};
use tillkeep_storage::{Side, backup};
use uuid::Uuid;

use crate::kit::{Person, Shop, cart, id, line};

async fn at_the_start(person: &Person) -> Json {
    let said = person.get("/pos/bootstrap").await.ok(200)["database"].clone();
    assert!(said.as_str().is_some_and(|text| Uuid::try_parse(text).is_ok()), "{said}");
    said
}

/// What the till is told of a sale that is not there.
async fn not_found(person: &Person, sale: Uuid) -> Json {
    let path = format!("/pos/sales/{sale}");
    person.get(&path).await.refused(404, "sale_not_found")["database"].clone()
}

/// Puts a database in the place of the one that is there.
fn put_back(directory: &Path, backup: &Path) {
    for file in ["tillkeep.db", "tillkeep.db-wal", "tillkeep.db-shm"] {
        drop(std::fs::remove_file(directory.join(file)));
    }
    std::fs::copy(backup, directory.join("tillkeep.db")).expect("a copy");
}

#[tokio::test]
async fn a_sale_that_a_restored_store_does_not_have_is_not_found_in_another_database() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let first = at_the_start(&person).await;
    let aside = tempfile::tempdir().expect("a directory");
    let file = aside.path().join("s01.tillkeep");
    backup::write(shop.store.test_db().reader(), &file, &[], shop.clock.now()).await.expect("a backup");

    let request = cart(json!([line("TEA", 1)]), json!([{"tenderId": id("CASH")}]));
    let sale: Uuid = request["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    assert_eq!(not_found(&person, sale).await, first, "not taken yet, by the database that it goes to");
    person.post("/pos/sales", request).await.ok(201);
    person.get(&format!("/pos/sales/{sale}")).await.ok(200);

    // A restart is no restore.
    let shop = shop.again(None, |_| ()).await;
    let person = shop.person(&person);
    assert_eq!(at_the_start(&person).await, first);
    person.get(&format!("/pos/sales/{sale}")).await.ok(200);
    assert_eq!(not_found(&person, Uuid::now_v7()).await, first);

    // As `tillkeep restore` puts it back.
    backup::revive(&file, Side::Store, shop.clock.now()).await.expect("a database");
    let shop = shop.again(None, |directory| put_back(directory, &file)).await;
    let person = shop.person(&person);
    let restored = at_the_start(&person).await;
    assert_ne!(restored, first);
    assert_eq!(not_found(&person, sale).await, restored, "it was taken, and the money with it");
}

#[tokio::test]
async fn a_database_that_was_copied_back_by_hand_is_another_one_as_soon_as_its_numbers_tell() {
    let shop = Shop::open().await;
    let person = shop.selling().await;
    let first = at_the_start(&person).await;
    let aside = tempfile::tempdir().expect("a directory");
    let copy = aside.path().join("tillkeep.db");
    let copies = |directory: &Path| {
        std::fs::copy(directory.join("tillkeep.db"), &copy).expect("a copy");
    };
    let shop = shop.again(None, copies).await;
    let person = shop.person(&person);
    let sold = person.sell(json!([line("TEA", 1)])).await.ok(201);
    let sale: Uuid = sold["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
    let shop = shop.again(None, |directory| put_back(directory, &copy)).await;
    let person = shop.person(&person);
    let now = not_found(&person, sale).await;
    assert_ne!(now, first, "the file of the last numbers has one that is not here");
    assert_eq!(at_the_start(&person).await, now);
}
