//! Pictures of products: how many are kept, and for how long.

use sea_orm::{EntityTrait, PaginatorTrait};
use tillkeep_model::Instant;
use tillkeep_storage::entity::product_picture::{Entity, Model};
use tillkeep_storage::{Tx, pictures};

use crate::kit;

const BEGIN: i64 = 1_700_000_000_000;

async fn keep(tx: &Tx, n: i64) {
    let created_at = Instant::from_millis(BEGIN + n);
    let (hash, content) = (format!("hash {}", n % 100), format!("picture {n}"));
    let picture = Model { hash, size: 96, content, created_at, unused_since: None };
    pictures::keep(tx, picture).await.expect("it is kept");
}

async fn left(tx: &Tx) -> u64 {
    Entity::find().count(tx).await.expect("a count")
}

#[tokio::test]
async fn of_more_pictures_than_there_is_room_for_the_oldest_go() {
    for hq in kit::both().await {
        let tx = hq.db.begin().await.expect("a transaction");
        for n in 0..10 {
            keep(&tx, n).await;
        }
        pictures::forget_beyond(&tx, 10).await.expect("nothing goes");
        assert_eq!(left(&tx).await, 10);
        // One that comes again is the newest.
        keep(&tx, 100).await;
        pictures::forget_beyond(&tx, 4).await.expect("the oldest go");
        assert_eq!(left(&tx).await, 4);
        let found = async |hash: &str| pictures::find(&tx, hash, 96).await.expect("a read");
        assert_eq!(found("hash 0").await.as_deref(), Some("picture 100"));
        assert_eq!((found("hash 9").await.is_some(), found("hash 6").await), (true, None));
    }
}

#[tokio::test]
async fn what_no_product_has_goes_a_day_after_it_was_let_go_however_old_it_is() {
    for hq in kit::both().await {
        let tx = hq.db.begin().await.expect("a transaction");
        let (day, at) = (24 * 3600 * 1000, |after| Instant::from_millis(BEGIN + after));
        for n in [0, 1] {
            keep(&tx, n).await;
            pictures::let_go(&tx, &format!("hash {n}"), at(9 * day)).await.expect("a note");
        }
        // One that comes again is let go by nobody.
        keep(&tx, 1).await;
        for (after, goes) in [(day, 0), (10 * day, 0), (10 * day + 1, 1), (99 * day, 0)] {
            assert_eq!(pictures::forget_unused(&tx, at(after)).await.expect("a delete"), goes, "after {after}");
        }
        assert!(pictures::find(&tx, "hash 1", 96).await.expect("a read").is_some());
        assert!(!pictures::is_named(&tx, "hash 0").await.expect("a read"));
    }
}
