//! Attempts that are not judged yet: who comes meanwhile waits for them, and what a server that died left counts for nothing.

use sea_orm::EntityTrait;
use tillkeep_model::Instant;
use tillkeep_storage::attempts::{self, Bucket, Decision, Judge, Kind, Look, Taken};
use tillkeep_storage::entity::{pin_attempt, pin_attempt_under_way};
use tillkeep_storage::{Db, sea_orm};

use crate::kit::{self, at};

fn till() -> [Bucket; 1] {
    [Bucket::new(Kind::Device, "T1")]
}

async fn take(db: &Db, buckets: &[Bucket], judge: Judge, now: Instant) -> Decision {
    let tx = db.begin().await.expect("a transaction");
    let decision = attempts::take(&tx, buckets, judge, now).await.expect("a decision");
    tx.commit().await.expect("a commit");
    decision
}

/// Three attempts, of which the last one begins a wait.
async fn three(db: &Db, buckets: &[Bucket], judge: Judge, now: Instant) -> Vec<Taken> {
    let mut taken = Vec::new();
    for _ in 0..3 {
        let Decision::Go(one) = take(db, buckets, judge, now).await else { panic!("it is let through") };
        taken.push(one);
    }
    taken
}

/// The verdict on an attempt.
async fn judged(db: &Db, taken: &Taken, right: bool, now: Instant) {
    let tx = db.begin().await.expect("a transaction");
    if right {
        attempts::succeeded(&tx, taken, now).await.expect("settled");
    } else {
        attempts::failed(&tx, taken, now).await.expect("settled");
    }
    tx.commit().await.expect("a commit");
}

async fn counter(db: &Db) -> pin_attempt::Model {
    pin_attempt::Entity::find().one(db.reader()).await.expect("a read").expect("a counter")
}

async fn left(db: &Db) -> usize {
    pin_attempt_under_way::Entity::find().all(db.reader()).await.expect("a read").len()
}

#[tokio::test]
async fn who_comes_while_others_are_under_way_waits_for_their_verdict_and_is_let_in_by_a_right_one_alone() {
    for hq in kit::both().await {
        let judge = Judge::new(&hq.db);
        let first = three(&hq.db, &till(), judge, at(0)).await;
        let look = async || attempts::look(hq.db.reader(), &till(), judge, at(0)).await.expect("a look");
        assert!(matches!(take(&hq.db, &till(), judge, at(0)).await, Decision::UnderWay));
        assert!(matches!(look().await, Look::UnderWay));
        assert!(!counter(&hq.db).await.announced, "that others are under way is no news");
        judged(&hq.db, &first[0], true, at(0)).await;
        let Decision::Go(next) = take(&hq.db, &till(), judge, at(0)).await else { panic!("the first was right") };
        for one in first[1..].iter().chain([&next]) {
            judged(&hq.db, one, true, at(0)).await;
        }
        assert_eq!((counter(&hq.db).await.wrong_today, left(&hq.db).await), (0, 0));

        for one in three(&hq.db, &till(), judge, at(0)).await {
            assert!(matches!(take(&hq.db, &till(), judge, at(0)).await, Decision::UnderWay));
            judged(&hq.db, &one, false, at(0)).await;
        }
        assert!(matches!(look().await, Look::Unclear), "it is to be announced");
        let Decision::Wait(refusal) = take(&hq.db, &till(), judge, at(0)).await else { panic!("all were wrong") };
        assert_eq!((refusal.until, refusal.new.len()), (at(1), 1));
        assert!(matches!(look().await, Look::Blocked(until) if until == at(1)));
        assert_eq!((counter(&hq.db).await.wrong_today, left(&hq.db).await), (3, 0));
    }
}

#[tokio::test]
async fn what_a_server_that_died_had_not_judged_counts_for_nothing_and_what_it_judged_stays() {
    for hq in kit::both().await {
        let died = Judge::new(&hq.db);
        let Decision::Go(wrong) = take(&hq.db, &till(), died, at(0)).await else { panic!("the first one") };
        judged(&hq.db, &wrong, false, at(0)).await;
        for _ in 0..2 {
            assert!(matches!(take(&hq.db, &till(), died, at(0)).await, Decision::Go(_)));
        }
        let lives = Judge::new(&hq.db);
        // Where others may have the database, it may be one of them that looks at these PINs right now.
        let later = if hq.db.is_embedded() { 0 } else { 15 };
        if later > 0 {
            assert!(matches!(take(&hq.db, &till(), lives, at(0)).await, Decision::UnderWay));
            // As short a wait as that is over by then.
            let tx = hq.db.begin().await.expect("a transaction");
            attempts::mend(&tx, lives, at(14)).await.expect("mended");
            tx.commit().await.expect("a commit");
            assert_eq!(counter(&hq.db).await.wrong_today, 3);
        }
        let tx = hq.db.begin().await.expect("a transaction");
        attempts::mend(&tx, lives, at(later)).await.expect("mended");
        tx.commit().await.expect("a commit");
        let row = counter(&hq.db).await;
        assert_eq!((row.wrong_today, row.in_a_row, row.blocked_until, left(&hq.db).await), (1, 1, None, 0));
    }
}

#[tokio::test]
async fn the_first_who_comes_after_a_server_died_is_not_kept_waiting_by_what_it_left() {
    for hq in kit::both().await {
        // A name is counted in several, and is found by any of them.
        let account = [Bucket::new(Kind::Account, "ann here"), Bucket::new(Kind::AccountAnywhere, "ann")];
        let died = Judge::new(&hq.db);
        // The last of them would be waited for, for a quarter of an hour.
        let mut second = 0;
        for _ in 0..9 {
            let Decision::Go(wrong) = take(&hq.db, &account, died, at(second)).await else { panic!("it waited") };
            judged(&hq.db, &wrong, false, at(second)).await;
            second += 10;
        }
        assert!(matches!(take(&hq.db, &account, died, at(second)).await, Decision::Go(_)));
        let lives = Judge::new(&hq.db);
        second += if hq.db.is_embedded() { 0 } else { 15 };
        let look = attempts::look(hq.db.reader(), &account, lives, at(second)).await.expect("a look");
        assert!(matches!(look, Look::Unclear));
        let Decision::Go(right) = take(&hq.db, &account, lives, at(second)).await else { panic!("it is let in") };
        judged(&hq.db, &right, true, at(second)).await;
        let rows = pin_attempt::Entity::find().all(hq.db.reader()).await.expect("the counters");
        assert!(rows.iter().all(|row| row.wrong_today == 9 && row.blocked_until.is_none()), "{rows:?}");
        assert_eq!(left(&hq.db).await, 0);
    }
}

#[tokio::test]
async fn a_server_that_stood_still_and_was_taken_for_dead_gives_no_free_guess() {
    for hq in kit::both().await {
        let slow = Judge::new(&hq.db);
        let guesses = three(&hq.db, &till(), slow, at(0)).await;
        let other = Judge::new(&hq.db);
        let tx = hq.db.begin().await.expect("a transaction");
        attempts::mend(&tx, other, at(15)).await.expect("mended");
        tx.commit().await.expect("a commit");
        assert_eq!(counter(&hq.db).await.wrong_today, 0);
        judged(&hq.db, &guesses[0], false, at(16)).await;
        judged(&hq.db, &guesses[1], false, at(16)).await;
        assert_eq!((counter(&hq.db).await.wrong_today, counter(&hq.db).await.in_a_row), (2, 2));
        judged(&hq.db, &guesses[2], true, at(16)).await;
        let row = counter(&hq.db).await;
        assert_eq!((row.wrong_today, row.in_a_row, row.blocked_until), (2, 0, None), "a right one ends the waits");
    }
}
