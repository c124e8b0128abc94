//! The key of a request in the transaction of what it did.

use tillkeep_storage::entity::idempotency_key::Entity;
use tillkeep_storage::idempotency::{self, KeyedRequest, Outcome};
use tillkeep_storage::sea_orm::{DbErr, EntityTrait};
use tillkeep_storage::settings;
use tokio::sync::Barrier;

use crate::kit::{at, both};

#[tokio::test]
async fn of_two_transactions_with_one_key_one_commits_and_nothing_of_the_other_is_there() {
    for hq in both().await {
        let begun = Barrier::new(2);
        let one = async |name: &'static str| {
            let keyed = KeyedRequest::new("key".into(), "/route", name.into(), at(0), at(60));
            idempotency::within(keyed.clone(), async {
                let tx = hq.db.begin().await.expect("a transaction");
                settings::set(&tx, name, "set").await.expect("a setting");
                if !hq.db.is_embedded() {
                    // One after the other on SQLite, which has one writer; here both are under way.
                    begun.wait().await;
                }
                let done = tx.commit().await;
                assert_eq!(keyed.outcome(), if done.is_ok() { Outcome::Done } else { Outcome::Taken });
                done
            })
            .await
        };
        let (first, second) = tokio::join!(one("first"), one("second"));
        let (kept, lost, refused) = match (first, second) {
            (Ok(_), refused) => ("first", "second", refused),
            (refused, Ok(_)) => ("second", "first", refused),
            (first, second) => panic!("none of both: {first:?} {second:?}"),
        };
        assert!(idempotency::is_taken(&refused.expect_err("the key is taken")));
        let get = async |key| settings::get(hq.db.reader(), key).await.expect("a read");
        assert_eq!((get(kept).await.as_deref(), get(lost).await), (Some("set"), None));
        let row = idempotency::find(hq.db.reader(), "key", at(0)).await.expect("a read").expect("a row");
        assert_eq!(row.request_hash, kept);
    }
}

#[tokio::test]
async fn work_that_commits_piece_by_piece_has_its_key_when_all_of_it_is_done() {
    for hq in both().await {
        let keyed = KeyedRequest::new("key".into(), "/route", "hash".into(), at(0), at(60));
        let keys = async || Entity::find().all(hq.db.reader()).await.expect("keys").len();
        idempotency::within(keyed.clone(), async {
            let piece = async || hq.db.begin().await.expect("a transaction").commit().await.expect("a commit");
            idempotency::aside(async {
                piece().await;
                piece().await;
            })
            .await;
            assert_eq!((keyed.outcome(), keys().await), (Outcome::Nothing, 0));
            idempotency::done(&hq.db).await.expect("the key");
            assert_eq!((keyed.outcome(), keys().await), (Outcome::Done, 1));
        })
        .await;
        // Without a key there is nothing to write.
        idempotency::done(&hq.db).await.expect("nothing");
        assert_eq!(keys().await, 1);
    }
}

#[tokio::test]
async fn what_is_noted_aside_or_rolled_back_keeps_no_key_and_an_expired_one_is_free() {
    for hq in both().await {
        let keyed = |from: i64| KeyedRequest::new("key".into(), "/route", format!("{from}"), at(from), at(from + 60));
        idempotency::within(keyed(0), async {
            hq.db.begin_aside().await.expect("a transaction").commit().await.expect("a commit");
            drop(hq.db.begin().await.expect("a transaction"));
        })
        .await;
        assert!(Entity::find().all(hq.db.reader()).await.expect("keys").is_empty());
        let commit = async |from: i64| {
            let keyed = keyed(from);
            let both = idempotency::within(keyed.clone(), async {
                hq.db.begin().await.expect("a transaction").commit().await?;
                // A request that commits twice has one key.
                hq.db.begin().await.expect("a transaction").commit().await
            });
            both.await.map(|_| keyed.outcome())
        };
        assert_eq!(commit(0).await.expect("the first"), Outcome::Done);
        assert!(idempotency::is_taken(&commit(59).await.expect_err("taken")));
        assert_eq!(commit(60).await.expect("the first one is over"), Outcome::Done);
        let row = idempotency::find(hq.db.reader(), "key", at(119)).await.expect("a read").expect("a row");
        assert_eq!((row.request_hash.as_str(), row.status), ("60", None));
        assert!(idempotency::find(hq.db.reader(), "key", at(120)).await.expect("a read").is_none());
    }
}

#[tokio::test]
async fn work_that_leaves_its_key_out_can_be_asked_for_again() {
    for hq in both().await {
        let keyed = KeyedRequest::new("key".into(), "/route", "hash".into(), at(0), at(60));
        let refused = hq.db.write(|tx| {
            Box::pin(async move {
                tx.set_aside();
                Ok::<_, DbErr>(())
            })
        });
        idempotency::within(keyed.clone(), refused).await.expect("a commit");
        let keys = Entity::find().all(hq.db.reader()).await.expect("keys").len();
        assert_eq!((keyed.outcome(), keys), (Outcome::Nothing, 0));
    }
}
