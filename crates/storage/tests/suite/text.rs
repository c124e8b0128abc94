//! Codes and names sort and compare alike on both databases, whatever the collation of the `PostgreSQL` database is.

use std::collections::BTreeSet;

use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder};
use tillkeep_storage::entity::department::{Column, Entity};
use tillkeep_storage::entity::user;
use tillkeep_storage::registry::fold;
use tillkeep_storage::{db, raw, sea_orm};

use crate::kit::chain::{department, id};
use crate::kit::{self, Hq};

/// Texts in an order that depends on who sorts them.
const TEXTS: &[&str] = &[
    "Zebra", "apple", "Apple", "a b", "a-b", "ab", "AB", "_x", "10", "9", "Äpfel", "äpfel", "ß", "ss", "é", "e\u{301}",
    "Я", "😀",
];

/// Each kind of server, and a `PostgreSQL` database that sorts as people do.
async fn each() -> Vec<Hq> {
    let icu = ["--template=template0", "--locale-provider=icu", "--icu-locale=und"];
    let people_like = Hq::postgres_as(&icu).await;
    let row = raw::query(people_like.db.reader(), "SELECT 'apple' < 'Zebra' AS folded", []).await.expect("a row");
    assert!(row[0].try_get::<bool>("", "folded").expect("a truth"), "this database sorts like the others");
    kit::both().await.chain([people_like]).collect()
}

async fn store_all(hq: &Hq) {
    let rows = TEXTS.iter().map(|text| {
        let mut row = department();
        row.id = id(text);
        (*text).clone_into(&mut row.code);
        row
    });
    hq.insert::<Entity>(rows).await;
}

#[tokio::test]
async fn texts_sort_and_compare_by_their_bytes() {
    let mut sorted = TEXTS.to_vec();
    sorted.sort_unstable();
    for hq in each().await {
        store_all(&hq).await;
        let rows = Entity::find().order_by_asc(Column::Code).all(hq.db.reader()).await.expect("a read");
        assert_eq!(rows.iter().map(|row| row.code.as_str()).collect::<Vec<_>>(), sorted, "on {}", hq.name);
        for (place, text) in sorted.iter().enumerate() {
            let before = Entity::find().filter(Column::Code.lt(*text)).all(hq.db.reader()).await.expect("a read");
            assert_eq!(before.len(), place, "before {text:?} on {}", hq.name);
        }
    }
}

#[tokio::test]
async fn no_column_of_text_sorts_as_its_database_does() {
    let hq = &each().await[2];
    let sql = "SELECT table_name || '.' || column_name AS name FROM information_schema.columns \
               WHERE table_schema = 'public' AND data_type IN ('text', 'character varying', 'character') \
               AND collation_name IS DISTINCT FROM 'C'";
    let rows = raw::query(hq.db.reader(), sql, []).await.expect("the columns");
    let names: BTreeSet<String> = rows.iter().map(|row| row.try_get("", "name").expect("a name")).collect();
    assert_eq!(names, BTreeSet::new());
}

#[tokio::test]
async fn names_that_fold_to_one_are_one_on_each_database() {
    for hq in each().await {
        let named = |name: &str| user::Model {
            id: id(name),
            username: name.to_owned(),
            username_folded: fold(name),
            ..user::Model::default()
        };
        hq.insert::<user::Entity>([named("Straße"), named("strase")]).await;
        let tx = hq.db.begin().await.expect("a transaction");
        let again = named("STRASSE").into_active_model();
        let error = user::Entity::insert(again).exec_without_returning(&tx).await;
        let fields = db::unique_violation(&error.expect_err("taken")).expect("a key");
        assert_eq!(fields, ["username"], "on {}", hq.name);
    }
}
