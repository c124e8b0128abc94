//! Rule D9: a reload replaces, and keeps what the store alone has.

use tillkeep_model::wire::Applied;
use tillkeep_model::{Money, Qty, ids};
use tillkeep_storage::document::flags;
use tillkeep_storage::entity::{customer, department, product, store_product, supplier, transfer, transfer_item};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::{apply, outbox};

use crate::kit::chain::{Chain, id, product as new_product};
use crate::kit::envelopes::{customer as new_customer, take};
use crate::kit::{self, Hq, Shop, at, entity, fill};

async fn forget<E: EntityTrait>(hq: &Hq, id: uuid::Uuid) {
    use tillkeep_storage::sea_orm::{ColumnTrait, QueryFilter};
    let tx = hq.db.begin().await.expect("a transaction");
    E::delete_many().filter(kit::column::<E>("id").eq(id)).exec(&tx).await.expect("a delete");
    tx.commit().await.expect("a commit");
}

async fn shop_with_customers() -> (Hq, Shop) {
    let hq = Hq::sqlite().await;
    let shop = Shop::open(id("S01")).await;
    fill::at_hq(&hq, "customers", 0..6, shop.id, shop.id).await;
    shop.pull(&hq, "customers", 10).await;
    (hq, shop)
}

#[tokio::test]
async fn what_headquarters_does_not_have_any_more_goes() {
    let (hq, shop) = shop_with_customers().await;
    forget::<customer::Entity>(&hq, fill::id_of("customers", 3)).await;
    shop.reload(&hq, "customers").await;
    assert_eq!(shop.rows("customers").await.len(), 5);
    assert!(shop.row::<customer::Entity>(fill::id_of("customers", 3)).await.is_none());
    assert_eq!(shop.cursor("customers").await, apply::Cursor { version: 6, ..apply::Cursor::default() });
}

#[tokio::test]
async fn a_reload_brings_values_of_rows_with_a_version_that_did_not_move() {
    let (hq, shop) = shop_with_customers().await;
    shop.execute("UPDATE customers SET city = NULL", []).await;
    shop.pull(&hq, "customers", 10).await;
    assert!(shop.rows("customers").await.iter().all(|row| row["city"].is_null()));
    shop.reload(&hq, "customers").await;
    assert!(shop.rows("customers").await.iter().all(|row| !row["city"].is_null()));
}

#[tokio::test]
async fn unsent_local_work_stays() {
    let (hq, shop) = shop_with_customers().await;
    shop.insert::<customer::Entity>(customer::Model { id: id("new"), synced: false, ..Default::default() }).await;
    let edited = fill::id_of("customers", 1);
    shop.execute("UPDATE customers SET first_name = 'Mine', synced = FALSE WHERE id = $1", [edited.into()]).await;
    let lost = fill::id_of("customers", 2);
    shop.execute("UPDATE customers SET synced = FALSE WHERE id = $1", [lost.into()]).await;
    forget::<customer::Entity>(&hq, lost).await;
    shop.reload(&hq, "customers").await;
    assert!(shop.row::<customer::Entity>(id("new")).await.is_some(), "made here");
    assert!(shop.row::<customer::Entity>(lost).await.is_some(), "changed here, lost there");
    let row = shop.row::<customer::Entity>(edited).await.expect("changed here");
    assert_eq!(row.first_name.as_deref(), Some("Mine"));
}

#[tokio::test]
async fn work_that_began_while_the_reload_was_running_stays_too() {
    let (hq, shop) = shop_with_customers().await;
    let tx = shop.begin().await;
    apply::begin_reload(&tx, entity("customers")).await.expect("a reload");
    tx.commit().await.expect("a commit");
    let busy = [fill::id_of("customers", 4), fill::id_of("customers", 5)];
    for id in busy {
        shop.execute("UPDATE customers SET notes = 'new', synced = FALSE WHERE id = $1", [id.into()]).await;
    }
    forget::<customer::Entity>(&hq, busy[0]).await;
    shop.pull(&hq, "customers", 2).await;
    for id in busy {
        let row = shop.row::<customer::Entity>(id).await.expect("a customer with unsent work");
        assert_eq!(row.notes.as_deref(), Some("new"));
    }
}

#[tokio::test]
async fn a_reload_goes_on_where_it_was_interrupted() {
    let (hq, shop) = shop_with_customers().await;
    forget::<customer::Entity>(&hq, fill::id_of("customers", 0)).await;
    let tx = shop.begin().await;
    apply::begin_reload(&tx, entity("customers")).await.expect("a reload");
    tx.commit().await.expect("a commit");
    shop.apply(&hq.answer("customers", shop.id, 0, 2).await).await;
    assert_eq!(shop.rows("customers").await.len(), 6, "nothing goes before the end");
    let cursor = shop.cursor("customers").await;
    assert!(cursor.reloading && cursor.version > 0, "{cursor:?}");
    shop.pull(&hq, "customers", 2).await;
    assert_eq!(shop.rows("customers").await.len(), 5);
    assert!(!shop.cursor("customers").await.reloading);
}

#[tokio::test]
async fn quantities_survive_and_a_lost_override_falls_back_to_the_default_price() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let shop = Shop::open(chain.first.store_id).await;
        let own_price = store_product::Model {
            id: ids::store_product(shop.id, chain.tea),
            store_id: shop.id,
            product_id: chain.tea,
            price: Money(1500),
            has_price_override: true,
            ..store_product::Model::default()
        };
        let row_id = own_price.id;
        hq.insert::<store_product::Entity>([own_price]).await;
        shop.pull_everything(&hq, 10).await;
        shop.execute("UPDATE store_product_dynamic SET quantity = 7000", []).await;
        forget::<store_product::Entity>(&hq, row_id).await;
        shop.reload(&hq, "products").await;
        shop.reload(&hq, "store_product_dynamic").await;
        let (tea, rice) = (shop.stock(chain.tea).await, shop.stock(chain.rice).await);
        assert_eq!((tea.price, tea.has_price_override, tea.quantity), (Money(1999), false, Qty::pieces(7)));
        assert_eq!((rice.price, rice.quantity), (Money(500), Qty::pieces(7)));
        hq.edit::<product::Entity>(chain.tea, |row| row.price = Money(2099)).await;
        shop.pull_everything(&hq, 10).await;
        assert_eq!(shop.stock(chain.tea).await.price, Money(2099));
    }
}

#[tokio::test]
async fn the_lines_of_a_transfer_go_with_it() {
    let hq = Hq::sqlite().await;
    let shop = Shop::open(id("S01")).await;
    fill::at_hq(&hq, "transfers", 0..3, shop.id, id("S02")).await;
    shop.pull(&hq, "transfers", 10).await;
    shop.execute("UPDATE transfers SET synced = FALSE WHERE id = $1", [fill::id_of("transfers", 2).into()]).await;
    for n in 1..3 {
        for line in [2 * n, 2 * n + 1] {
            forget::<transfer_item::Entity>(&hq, fill::id_of("transfer_items", line)).await;
        }
        forget::<transfer::Entity>(&hq, fill::id_of("transfers", n)).await;
    }
    shop.reload(&hq, "transfers").await;
    let lines = transfer_item::Entity::find().all(shop.db.reader()).await.expect("the lines");
    let mut parents: Vec<_> = lines.iter().map(|line| line.transfer_id).collect();
    parents.sort_unstable();
    let mut expected = [0, 0, 2, 2].map(|n| fill::id_of("transfers", n));
    expected.sort_unstable();
    assert_eq!(parents, expected, "the lines of the kept one and of the one with unsent work");
}

#[tokio::test]
async fn a_reload_of_one_type_leaves_the_others_alone() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        hq.insert::<product::Entity>([new_product("MORE", 1)]).await;
        let shop = Shop::open(chain.first.store_id).await;
        shop.pull_everything(&hq, 2).await;
        shop.insert::<supplier::Entity>(supplier::Model { id: id("ghost"), ..Default::default() }).await;
        shop.insert::<department::Entity>(department::Model {
            id: id("ghost"),
            deleted_at: Some(at(0)),
            ..Default::default()
        })
        .await;
        shop.reload(&hq, "suppliers").await;
        assert_eq!(shop.rows("suppliers").await.len(), 0);
        assert_eq!(shop.rows("departments").await.len(), 2);
        assert_eq!(shop.rows("products").await.len(), 3);
    }
}

#[tokio::test]
async fn what_headquarters_refused_for_good_is_flagged_outlives_a_reload_and_goes_again_with_its_next_change() {
    for hq in kit::both().await {
        let chain = Chain::found(&hq).await;
        let shop = Shop::open(chain.first.store_id).await;
        let flags = async |name: &str| {
            let row = shop.row::<customer::Entity>(id(name)).await.expect("the customer");
            row.flags.0.to_string()
        };
        let mut known = new_customer(&chain.first, id("known"), "S01-1");
        take(&hq, &chain.first, &known).await;
        shop.pull(&hq, "customers", 10).await;
        let refused = customer::Model {
            id: id("refused"),
            customer_number: "S01-2".into(),
            first_name: Some("Eve".into()),
            created_at: at(0),
            synced: true,
            ..Default::default()
        };
        shop.insert::<customer::Entity>(refused.clone()).await;
        let tx = shop.begin().await;
        outbox::left_here(&tx, &[id("refused"), id("known"), id("stranger")]).await.expect("flags");
        tx.commit().await.expect("a commit");
        let flagged = format!("[\"{}\"]", flags::NOT_AT_HQ);
        // What headquarters has travels back as it is there, and is no such row.
        assert_eq!((flags("refused").await, flags("known").await), (flagged.clone(), "[]".to_owned()));
        shop.reload(&hq, "customers").await;
        assert_eq!((flags("refused").await, flags("known").await), (flagged, "[]".to_owned()));

        let data = serde_json::to_value(&refused).expect("JSON");
        let tx = shop.begin().await;
        let entry = outbox::Entry {
            entity_type: "customers",
            entity_id: refused.id,
            action: "update",
            data: &data,
            created_at: at(0),
            depends_on: None,
        };
        outbox::enqueue(&tx, &entry, at(20)).await.expect("an entry");
        tx.commit().await.expect("a commit");
        let entry = outbox::batch(shop.db.reader(), 9, at(30), 0).await.expect("a batch").remove(0);
        known["entity_id"] = entry.entity_id.to_string().into();
        known["data"] = kit::parse(&entry.payload);
        known["timestamp"] = serde_json::json!(entry.timestamp);
        assert_eq!(take(&hq, &chain.first, &known).await, Applied::Inserted);
        let tx = shop.begin().await;
        outbox::confirm(&tx, &[&entry], at(40)).await.expect("a confirmation");
        tx.commit().await.expect("a commit");
        shop.pull(&hq, "customers", 10).await;
        assert_eq!(flags("refused").await, "[]", "headquarters has it now");
    }
}
