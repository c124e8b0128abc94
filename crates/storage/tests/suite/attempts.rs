//! Counting of sign-in attempts: what is let through, what waits, what frees it again.

use std::sync::OnceLock;

use sea_orm::{Condition, EntityTrait, QueryOrder};
use tillkeep_model::Instant;
use tillkeep_storage::attempts::{self, Bucket, Decision, Judge, Kind, Look, Taken};
use tillkeep_storage::entity::pin_attempt::{Column, Entity, Model};
use tillkeep_storage::raw::query;
use tillkeep_storage::{Db, sea_orm};
use uuid::Uuid;

use crate::kit::{self, Hq, at};

const DAY: i64 = 24 * 3600;

/// The one server of these tests, on a database of this kind.
fn judge(db: &Db) -> Judge {
    static ON_FILES: OnceLock<Judge> = OnceLock::new();
    static OF_SEVERAL: OnceLock<Judge> = OnceLock::new();
    *(if db.is_embedded() { &ON_FILES } else { &OF_SEVERAL }).get_or_init(|| Judge::new(db))
}

async fn taken(db: &Db, buckets: &[Bucket], judge: Judge, now: Instant) -> Decision {
    let tx = db.begin().await.expect("a transaction");
    let decision = attempts::take(&tx, buckets, judge, now).await.expect("a decision");
    tx.commit().await.expect("a commit");
    decision
}

/// An attempt that is let through, or when it would be.
async fn attempt(db: &Db, buckets: &[Bucket], now: Instant) -> Result<Taken, Instant> {
    match taken(db, buckets, judge(db), now).await {
        Decision::Go(taken) => Ok(taken),
        Decision::UnderWay => Err(now),
        Decision::Wait(refusal) => Err(refusal.until),
    }
}

/// An attempt that is let through and is a wrong one.
async fn wrong(db: &Db, buckets: &[Bucket], now: Instant) {
    let taken = attempt(db, buckets, now).await.expect("let through");
    fails(db, &taken, now).await;
}

async fn fails(db: &Db, taken: &Taken, now: Instant) {
    let tx = db.begin().await.expect("a transaction");
    attempts::failed(&tx, taken, now).await.expect("settled");
    tx.commit().await.expect("a commit");
}

async fn settle(db: &Db, taken: &Taken, right: bool, now: Instant) {
    let tx = db.begin().await.expect("a transaction");
    if right {
        attempts::succeeded(&tx, taken, now).await.expect("settled");
    } else {
        attempts::withdrawn(&tx, taken, now).await.expect("settled");
    }
    tx.commit().await.expect("a commit");
}

fn device(name: &str) -> Bucket {
    Bucket::new(Kind::Device, name).at(Uuid::nil())
}

async fn rows(db: &Db) -> Vec<Model> {
    Entity::find().all(db.reader()).await.expect("the rows")
}

/// Guesses at `bucket` as soon as each is let through, until `count` were; the second at which the last one was.
async fn guess(db: &Db, bucket: &Bucket, count: usize, mut second: i64) -> i64 {
    for _ in 0..count {
        match attempt(db, std::slice::from_ref(bucket), at(second)).await {
            Ok(taken) => fails(db, &taken, at(second)).await,
            Err(until) => {
                second += until.millis_since(at(second)) / 1000;
                wrong(db, std::slice::from_ref(bucket), at(second)).await;
            }
        }
    }
    second
}

#[tokio::test]
async fn people_who_have_to_wait_are_counted_once_each_and_until_they_need_not() {
    for hq in kit::both().await {
        let of = |user: u128, place: &str| Bucket {
            user_id: Some(Uuid::from_u128(user)),
            ..Bucket::new(Kind::Account, format!("{user} {place}"))
        };
        let locked = async |second| attempts::people_locked(hq.db.reader(), at(second)).await.expect("a number");
        assert_eq!(locked(0).await, 0);
        // Ten wrong ones are a quarter of an hour, at one place or at two; whoever is nobody locks nobody.
        let mut last = 0;
        for bucket in [of(1, "here"), of(1, "there"), of(2, "here"), Bucket::new(Kind::Account, "nobody"), device("T1")]
        {
            last = last.max(guess(&hq.db, &bucket, 10, 0).await);
        }
        assert_eq!((locked(last + 1).await, locked(last + 3600).await), (2, 0));
    }
}

#[tokio::test]
async fn of_attempts_at_once_only_as_many_go_through_as_one_after_the_other() {
    for hq in kit::both().await {
        let tasks = (0..60).map(|_| {
            let db = hq.db.clone();
            tokio::spawn(async move { attempt(&db, &[device("T1")], at(0)).await.is_ok() })
        });
        let mut through = 0;
        for task in tasks.collect::<Vec<_>>() {
            through += usize::from(task.await.expect("an attempt"));
        }
        assert_eq!(through, 3, "two without a wait, and the one that then begins to wait");
        assert_eq!(rows(&hq.db).await[0].wrong_today, 3, "a refused attempt is not counted");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn attempts_of_which_some_find_a_counter_and_others_make_it_never_wait_in_a_circle() {
    let hq = Hq::postgres().await;
    for round in 0..16 {
        let [first, second] = in_order(&hq.db, ["one", "other"].map(|name| device(&format!("{name} {round}")))).await;
        let holding = hq.db.begin().await.expect("a transaction");
        let server = judge(&hq.db);
        let taken = attempts::take(&holding, std::slice::from_ref(&first), server, at(0)).await.expect("a decision");
        let both = || {
            let (db, buckets) = (hq.db.clone(), [first.clone(), second.clone()]);
            tokio::spawn(async move { attempt(&db, &buckets, at(0)).await.is_ok() })
        };
        let before = both();
        waits(&hq, 1).await;
        // The one who waits has looked and will find this one made by another caller; the next one finds it at once.
        wrong(&hq.db, std::slice::from_ref(&second), at(0)).await;
        let after = both();
        waits(&hq, 2).await;
        drop((taken, holding));
        let mut through = 0;
        for task in [before, after] {
            through += usize::from(task.await.expect("no attempt is broken off"));
        }
        assert_eq!(through, 2, "each counter lets three through");
    }
}

/// These buckets by the ids of their counters, none of which is made.
async fn in_order(db: &Db, buckets: [Bucket; 2]) -> [Bucket; 2] {
    let tx = db.begin().await.expect("a transaction");
    drop(attempts::take(&tx, &buckets, judge(db), at(0)).await.expect("a decision"));
    let rows = Entity::find().order_by_asc(Column::Id).all(&tx).await.expect("the rows");
    let place = |bucket: &Bucket| rows.iter().position(|row| row.subject == bucket.subject);
    let [one, other] = buckets;
    if place(&one) < place(&other) { [one, other] } else { [other, one] }
}

/// Returns when so many wait for a lock in this database, or more.
async fn waits(hq: &Hq, count: i64) {
    let sql =
        "SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    loop {
        let rows = query(hq.db.reader(), sql, []).await.expect("a look");
        if rows[0].try_get::<i64>("", "n").expect("a count") >= count {
            return;
        }
        tokio::task::yield_now().await;
    }
}

/// The seconds, from `from` until `until`, at which a guesser is let through who tries again as soon as that may be; with
/// `own` they type a PIN of their own before each guess.
async fn guesses(db: &Db, bucket: &Bucket, own: bool, from: i64, until: i64) -> Vec<i64> {
    let one = std::slice::from_ref(bucket);
    let (mut through, mut second) = (Vec::new(), from);
    while second < until {
        assert!(through.len() < 1000, "there is no end to it");
        if own && let Ok(right) = attempt(db, one, at(second)).await {
            settle(db, &right, true, at(second)).await;
        }
        match attempt(db, one, at(second)).await {
            Ok(wrong) => {
                fails(db, &wrong, at(second)).await;
                through.push(second);
            }
            Err(free) => {
                let wait = free.millis_since(at(second)) / 1000;
                assert!((1..=900).contains(&wait), "{wait} s");
                second += wait;
            }
        }
    }
    through
}

/// How many of `seconds` fall into a day, whenever it begins, at the most.
fn of_a_day(seconds: &[i64]) -> usize {
    let within = |first: i64| seconds.iter().filter(|second| (first..first + DAY).contains(second)).count();
    seconds.iter().map(|first| within(*first)).max().unwrap_or(0)
}

#[tokio::test]
async fn whoever_guesses_on_and_on_waits_a_quarter_of_an_hour_at_the_most_and_midnight_is_no_help() {
    for hq in kit::both().await {
        let through = guesses(&hq.db, &device("T1"), false, 0, 2 * DAY).await;
        assert_eq!(through[..11], [0, 0, 0, 1, 4, 9, 19, 79, 199, 439, 919]);
        assert_eq!(of_a_day(&through), 105);
        assert_eq!(through.len(), 105 + 96, "no more on the second day, which begins in between");
        wrong(&hq.db, &[device("T2")], at(2 * DAY)).await;
    }
}

#[tokio::test]
async fn a_pin_of_ones_own_between_the_guesses_gives_a_few_more_at_a_device_and_none_at_headquarters() {
    for hq in kit::both().await {
        // From the beginning of a day on the clock, and over one.
        let midnight = DAY / 2;
        let at_device = guesses(&hq.db, &device("T1"), true, midnight, midnight + DAY).await.len();
        assert!((110..=20 + 110).contains(&at_device), "{at_device}");
        let everybody = Bucket::new(Kind::Headquarters, "");
        let at_headquarters = guesses(&hq.db, &everybody, true, 0, 2 * DAY).await;
        assert!((90..=110).contains(&of_a_day(&at_headquarters)), "{at_headquarters:?}");
    }
}

#[tokio::test]
async fn all_strangers_together_get_a_hundred_and_fifty_pins_alone_a_day_at_headquarters() {
    for hq in kit::both().await {
        let strangers = Bucket::new(Kind::HeadquartersAnywhere, "");
        let through = guesses(&hq.db, &strangers, false, 0, 2 * DAY).await;
        assert!((140..=151).contains(&of_a_day(&through)), "{}", of_a_day(&through));
        assert!(through.len() - of_a_day(&through) <= 97, "{}", through.len());
    }
}

#[tokio::test]
async fn a_right_pin_ends_the_waits_of_honest_mistakes() {
    for hq in kit::both().await {
        let second = guess(&hq.db, &device("T1"), 7, 0).await;
        let right = attempt(&hq.db, &[device("T1")], at(second + 60)).await.expect("waited for");
        settle(&hq.db, &right, true, at(second + 61)).await;
        let row = rows(&hq.db).await.remove(0);
        assert_eq!((row.wrong_today, row.in_a_row, row.blocked_until), (7, 0, None));
        for _ in 0..3 {
            wrong(&hq.db, &[device("T1")], at(second + 62)).await;
        }
    }
}

#[tokio::test]
async fn each_quarter_of_an_hour_without_a_wrong_one_makes_one_good_and_whoever_rests_gains_nothing() {
    for hq in kit::both().await {
        // Long past the eleventh, from which on further ones count no more.
        let last = guess(&hq.db, &device("T1"), 40, 0).await;
        // The wait itself, and eight quarters of an hour more: three are left.
        let rested = last + 900 + 8 * 900;
        let through = guesses(&hq.db, &device("T1"), false, rested, rested + 1000).await;
        assert_eq!(through.iter().map(|second| second - rested).collect::<Vec<_>>(), [0, 3, 8, 18, 78, 198, 438, 918]);
        assert_eq!(through.len(), 8, "no more than one for each");
    }
}

#[tokio::test]
async fn what_was_counted_beside_attempts_that_count_no_more_blocks_no_attempt() {
    for hq in kit::both().await {
        let mut taken = Vec::new();
        for _ in 0..3 {
            taken.push(attempt(&hq.db, &[device("T1")], at(0)).await.expect("let through"));
        }
        for one in &taken {
            settle(&hq.db, one, false, at(0)).await;
        }
        wrong(&hq.db, &[device("T1")], at(0)).await;
    }
}

#[tokio::test]
async fn an_attempt_refused_by_one_bucket_counts_in_no_other() {
    for hq in kit::both().await {
        let address = Bucket::new(Kind::LoginAddress, "192.0.2.1");
        for _ in 0..3 {
            wrong(&hq.db, &[device("T1"), address.clone()], at(0)).await;
        }
        attempt(&hq.db, &[address.clone(), device("T1")], at(0)).await.expect_err("the device waits");
        let count = rows(&hq.db).await.iter().find(|row| row.kind == "login_address").map(|row| row.wrong_today);
        assert_eq!(count, Some(3));
        wrong(&hq.db, &[address, device("T2")], at(0)).await;
    }
}

#[tokio::test]
async fn an_attempt_that_was_not_looked_at_counts_no_more() {
    for hq in kit::both().await {
        for _ in 0..100 {
            let taken = attempt(&hq.db, &[device("T1")], at(0)).await.expect("free");
            settle(&hq.db, &taken, false, at(0)).await;
        }
        let row = rows(&hq.db).await.remove(0);
        assert_eq!((row.wrong_today, row.in_a_row, row.blocked_until), (0, 0, None));
    }
}

#[tokio::test]
async fn an_address_gets_thirty_wrong_names_a_minute_and_right_ones_are_free() {
    for hq in kit::both().await {
        let address = [Bucket::new(Kind::LoginAddress, "192.0.2.1")];
        for _ in 0..50 {
            let right = attempt(&hq.db, &address, at(0)).await.expect("free");
            settle(&hq.db, &right, true, at(0)).await;
        }
        for second in 0..30 {
            wrong(&hq.db, &address, at(second)).await;
        }
        assert_eq!(attempt(&hq.db, &address, at(30)).await.expect_err("a minute's number"), at(60));
        wrong(&hq.db, &[Bucket::new(Kind::LoginAddress, "192.0.2.2")], at(30)).await;
        wrong(&hq.db, &address, at(60)).await;
    }
}

#[tokio::test]
async fn a_block_is_announced_once_listed_while_it_lasts_and_lifted_by_its_id() {
    for hq in kit::both().await {
        let last = guess(&hq.db, &device("T1"), 20, 0).await;
        let (now, all) = (at(last + 100), Condition::all());
        let announced = async || {
            let decision = taken(&hq.db, &[device("T1")], judge(&hq.db), now).await;
            let Decision::Wait(refusal) = decision else { panic!("it is locked") };
            refusal.new.len()
        };
        // Its first wait was announced while guessing, and that it became a long one.
        assert_eq!((announced().await, announced().await), (0, 0));
        let look = async || attempts::look(hq.db.reader(), &[device("T1")], judge(&hq.db), now).await.expect("a look");
        assert!(matches!(look().await, Look::Blocked(until) if until > now));
        let (locks, total) = attempts::locks(hq.db.reader(), all.clone(), now, 0, 10).await.expect("the locks");
        assert_eq!((locks.len(), total, locks[0].wrong_today), (1, 1, 20));
        let tx = hq.db.begin().await.expect("a transaction");
        assert!(attempts::unlock(&tx, all.clone(), Uuid::nil(), now).await.expect("no such lock").is_none());
        assert!(attempts::unlock(&tx, all.clone(), locks[0].id, now).await.expect("the lock").is_some());
        tx.commit().await.expect("a commit");
        let (_, total) = attempts::locks(hq.db.reader(), all, now, 0, 10).await.expect("the locks");
        assert_eq!(total, 0);
        wrong(&hq.db, &[device("T1")], now).await;
        assert!(matches!(look().await, Look::Unclear));
    }
}

#[tokio::test]
async fn counters_go_that_block_no_attempt_and_to_which_a_day_added_nothing() {
    for hq in kit::both().await {
        let account = Bucket::new(Kind::Account, "user");
        let last = guess(&hq.db, &account, 10, 0).await;
        let prune = async |second: i64| {
            let tx = hq.db.begin().await.expect("a transaction");
            let gone = attempts::prune(&tx, at(second)).await.expect("pruned");
            tx.commit().await.expect("a commit");
            gone
        };
        wrong(&hq.db, &[device("T1")], at(last + DAY - 60)).await;
        assert_eq!(prune(last + DAY - 60).await, 0, "midnight is long past");
        assert_eq!(prune(last + DAY).await, 1);
        assert_eq!(rows(&hq.db).await[0].kind, "device");
        assert_eq!(prune(last + 2 * DAY).await, 1);
    }
}
