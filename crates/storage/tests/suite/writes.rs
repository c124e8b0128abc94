//! Writes by type: what stores pull gets a version with the commit, and the commit tells of it.

use std::collections::BTreeSet;

use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityName, EntityTrait, QueryFilter};
use tillkeep_model::Money;
use tillkeep_storage::entity::{outbox, product, role_permission};
use tillkeep_storage::registry;

use super::schema::every_entity;
use crate::kit::chain::{Chain, id};
use crate::kit::{self, fill};

#[tokio::test]
async fn a_write_of_a_pulled_row_has_a_version_and_is_announced_by_its_type() {
    use product::Column;
    for hq in kit::both().await {
        Chain::found(&hq).await;
        let find = async |name: &str| {
            let row = product::Entity::find_by_id(id(name)).one(hq.db.reader()).await.expect("a read");
            row.expect("the product")
        };
        let mut row = find("product:TEA").await;
        row.price = Money(1);
        let mut tx = hq.db.begin().await.expect("a transaction");
        tx.write::<product::Entity>(row.clone()).await.expect("a row that is there");
        assert_eq!(kit::notifications(&tx.commit().await.expect("a commit")), [("products", None, 3)]);
        assert_eq!(find("product:TEA").await.sync_version, 3);

        row.price = Money(2);
        let mut tx = hq.db.begin().await.expect("a transaction");
        tx.upsert::<product::Entity>(row, [Column::Id], [Column::Price]).await.expect("a row that is there");
        assert_eq!(kit::notifications(&tx.commit().await.expect("a commit")), [("products", None, 4)]);
        let row = find("product:TEA").await;
        assert_eq!((row.sync_version, row.price), (4, Money(2)));

        let mut tx = hq.db.begin().await.expect("a transaction");
        let priced = |price: i64, name: &str| {
            let id = id(name);
            move |rows: sea_orm::UpdateMany<product::Entity>| {
                rows.col_expr(Column::Price, Expr::value(price)).filter(Column::Id.eq(id))
            }
        };
        assert_eq!(tx.update(priced(3, "product:TEA")).await.expect("an update"), 1);
        assert_eq!(kit::notifications(&tx.commit().await.expect("a commit")), [("products", None, 5)]);
        assert_eq!(find("product:TEA").await.sync_version, 5);

        // What changes nothing is no news.
        let mut tx = hq.db.begin().await.expect("a transaction");
        assert_eq!(tx.update(priced(4, "product:NONE")).await.expect("an update"), 0);
        assert_eq!(tx.remove::<role_permission::Entity>(|all| all).await.expect("a removal"), 0);
        tx.insert_all::<product::Entity>(Vec::new()).await.expect("no rows");
        // Rows with versions leave as tombstones, and what no store pulls has no version.
        tx.remove::<product::Entity>(|all| all).await.expect_err("stores would keep them");
        tx.update::<outbox::Entity>(|all| all).await.expect_err("no store pulls it");
        assert_eq!(tx.commit().await.expect("a commit"), []);
        hq.verify().await;
    }
}

#[tokio::test]
async fn no_pulled_type_can_be_written_without_a_version() {
    for hq in kit::both().await {
        let pulled: BTreeSet<&str> = registry::pulled().map(|entity| entity.name).collect();
        let mut tx = hq.db.begin().await.expect("a transaction");
        // Parents first.
        for entity in registry::pulled() {
            macro_rules! insert {
                ($entity:ty) => {
                    if <$entity>::default().table_name() == entity.name {
                        let mut row = fill::model::<$entity>(1);
                        // As a row that was read and is written once more.
                        if let Ok(version) = "sync_version".parse() {
                            sea_orm::ModelTrait::set(&mut row, version, 77_i64.into());
                        }
                        tx.insert::<$entity>(row).await.expect(entity.name);
                    }
                };
            }
            every_entity!(insert);
        }
        let changed: BTreeSet<&str> =
            tx.commit().await.expect("a commit").iter().map(|change| change.entity_type).collect();
        assert_eq!(changed, pulled);
        let mut tx = hq.db.begin().await.expect("a transaction");
        macro_rules! update {
            ($entity:ty) => {
                let name = <$entity>::default().table_name();
                assert_eq!(tx.update::<$entity>(|rows| rows).await.is_ok(), pulled.contains(name), "{name}");
            };
        }
        // An update without a column to set is none.
        every_entity!(update);
        let changed: BTreeSet<&str> =
            tx.commit().await.expect("a commit").iter().map(|change| change.entity_type).collect();
        let versioned = |name: &&str| !registry::find(name).is_some_and(|entity| entity.replace_all);
        assert_eq!(changed, pulled.into_iter().filter(versioned).collect());
    }
}
