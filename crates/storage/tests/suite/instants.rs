//! Instants in a database sort and compare as time does, also where the database keeps them as text.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use tillkeep_model::Instant;
use tillkeep_storage::entity::store_node::{Column, Entity, Model};
use tillkeep_storage::raw::query;
use tillkeep_storage::sea_orm;
use uuid::Uuid;

use crate::kit::{self, Hq};

/// Around the borders where a text without decimals, with two, or with another zone would sort wrongly.
fn rising() -> Vec<Instant> {
    [
        "1969-12-31T23:59:59.999Z",
        "1970-01-01T00:00:00Z",
        "1970-01-01T00:00:00.001Z",
        "2026-11-20T11:59:59.999Z",
        "2026-11-20T12:00:00.000Z",
        "2026-11-20T12:00:00.001Z",
        "2026-11-20T12:00:00.009Z",
        "2026-11-20T12:00:00.010Z",
        "2026-11-20T12:00:00.099Z",
        "2026-11-20T12:00:00.100Z",
        "2026-11-20T14:00:00.500+02:00",
        "2026-11-20T12:00:00.999Z",
        "2026-11-20T12:00:01Z",
        "2026-11-20T12:00:10Z",
        "9999-12-31T23:59:59.999Z",
    ]
    .iter()
    .map(|text| Instant::parse(text).expect("an instant"))
    .collect()
}

async fn store_all(hq: &Hq) {
    // Written in another order than that of time, and under ids in an order that says nothing.
    let rows = rising().into_iter().rev().map(|at| Model {
        store_id: Uuid::new_v5(&Uuid::NAMESPACE_OID, at.to_string().as_bytes()),
        last_seen_at: Some(at),
        ..Model::default()
    });
    hq.insert::<Entity>(rows).await;
}

#[tokio::test]
async fn instants_come_back_unchanged_and_sort_like_time() {
    for hq in kit::both().await {
        store_all(&hq).await;
        let rows = Entity::find().order_by_asc(Column::LastSeenAt).all(hq.db.reader()).await.expect("a read");
        let found: Vec<Instant> = rows.into_iter().filter_map(|row| row.last_seen_at).collect();
        assert_eq!(found, rising());
    }
}

#[tokio::test]
async fn a_bound_instant_compares_like_time() {
    for hq in kit::both().await {
        store_all(&hq).await;
        for (place, instant) in rising().into_iter().enumerate() {
            let later =
                Entity::find().filter(Column::LastSeenAt.gt(instant)).all(hq.db.reader()).await.expect("a read");
            assert_eq!(later.len(), rising().len() - place - 1, "later than {instant}");
            let same = Entity::find().filter(Column::LastSeenAt.eq(instant)).all(hq.db.reader()).await.expect("a read");
            assert_eq!(same.len(), 1, "equal to {instant}");
        }
    }
}

#[tokio::test]
async fn the_greatest_of_a_column_is_the_latest_instant() {
    for hq in kit::both().await {
        store_all(&hq).await;
        let sql = "SELECT MAX(last_seen_at) AS latest FROM store_nodes";
        let found = query(hq.db.reader(), sql, []).await.expect("a read");
        let latest: Option<Instant> = found[0].try_get("", "latest").expect("an instant");
        assert_eq!(latest, rising().last().copied());
    }
}
