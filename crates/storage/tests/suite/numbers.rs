//! The file of a store's last numbers. `docs/sync.md`, rule D14.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tillkeep_model::Instant;
use tillkeep_model::wire::LostNumbers;
use tillkeep_storage::numbers::{Given, Numbers, lost};
use tillkeep_storage::{Db, Side, db, series, settings};
use uuid::Uuid;

const STORE: Uuid = Uuid::from_u128(1);

/// A store's directory, whose server comes and goes.
struct Site {
    dir: TempDir,
}

impl Site {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a directory") }
    }

    fn database(&self) -> PathBuf {
        self.dir.path().join("tillkeep.db")
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("numbers")
    }

    async fn open(&self) -> (Db, Numbers) {
        let db = Db::open_file(&self.database(), Side::Store).await.expect("the database");
        let numbers = Numbers::open(&self.file(), &db, STORE, Instant::default()).await.expect("the numbers");
        (db, numbers)
    }
}

/// Gives a number, as a document does.
async fn give(db: &Db, numbers: &Numbers, kind: &str, part: &str) -> Given {
    let tx = db.begin().await.expect("a transaction");
    let (given, _) =
        numbers.ready().await.expect("known").series(kind, part).next(&tx, Instant::default()).await.expect("a number");
    let taken = tx.taken();
    tx.commit().await.expect("a commit");
    numbers.keep(taken).await.expect("the file");
    given
}

async fn lost_of(db: &Db) -> Vec<(String, i64, i64)> {
    let told = lost::told(db.reader(), STORE).await.expect("what is lost");
    told.into_iter().map(|lost| (lost.series, lost.from, lost.to)).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::copy(from, to).expect("a copy");
}

#[tokio::test]
async fn a_database_restored_a_thousand_times_gives_no_number_twice() {
    let site = Site::new();
    let copies = tempfile::tempdir().expect("a directory");
    let mut given = HashSet::new();
    // What is restored next is as a seed has it, so that a failure comes again.
    let mut seed: u64 = 20_261_122;
    let mut chance = |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    for round in 0..1000_u64 {
        let (db, numbers) = site.open().await;
        for _ in 0..=chance(3) {
            let register = ["01", "02"][usize::try_from(chance(2)).expect("few")];
            let number = give(&db, &numbers, "receipt", register).await;
            assert!(given.insert((register, number.number)), "{register} {number:?} in round {round}");
        }
        db.close().await.expect("closed");
        if round < 5 || chance(4) == 0 {
            copy(&site.database(), &copies.path().join((round % 5).to_string()));
        }
        copy(&copies.path().join(chance(round.min(4) + 1).to_string()), &site.database());
    }
    let (db, _numbers) = site.open().await;
    assert!(!lost_of(&db).await.is_empty());
}

#[tokio::test]
async fn what_the_file_has_beyond_the_database_is_lost_and_named_once() {
    let site = Site::new();
    let (db, numbers) = site.open().await;
    give(&db, &numbers, "receipt", "01").await;
    db.close().await.expect("closed");
    let aside = site.dir.path().join("aside");
    copy(&site.database(), &aside);
    let (db, numbers) = site.open().await;
    for _ in 0..3 {
        give(&db, &numbers, "receipt", "01").await;
    }
    give(&db, &numbers, "customer", "").await;
    db.close().await.expect("closed");

    copy(&aside, &site.database());
    for _ in 0..2 {
        let (db, _numbers) = site.open().await;
        let lost = [("customer".to_owned(), 1, 1), ("receipt:01".to_owned(), 2, 4)];
        assert_eq!(lost_of(&db).await, lost);
        db.close().await.expect("closed");
    }
    let (db, numbers) = site.open().await;
    assert_eq!(give(&db, &numbers, "receipt", "01").await.number, 5);
}

#[tokio::test]
async fn a_number_that_is_taken_back_is_given_again_and_not_lost() {
    let site = Site::new();
    let (db, numbers) = site.open().await;
    let tx = db.begin().await.expect("a transaction");
    let (given, _) = numbers
        .ready()
        .await
        .expect("known")
        .series("receipt", "01")
        .next(&tx, Instant::default())
        .await
        .expect("a number");
    assert_eq!(given.number, 1);
    drop(tx);
    assert_eq!(give(&db, &numbers, "receipt", "01").await.number, 1);
    db.close().await.expect("closed");
    // Nor is one that was committed by a server that died before it was in the file.
    let before = fs::read(site.file()).expect("the file");
    let (db, numbers) = site.open().await;
    give(&db, &numbers, "receipt", "01").await;
    db.close().await.expect("closed");
    fs::write(site.file(), before).expect("the file");
    let (db, numbers) = site.open().await;
    assert_eq!(give(&db, &numbers, "receipt", "01").await.number, 3);
    assert_eq!(lost_of(&db).await, []);
}

#[tokio::test]
async fn a_store_of_the_first_release_has_no_file_and_is_not_stopped() {
    let site = Site::new();
    let db = Db::open_file(&site.database(), Side::Store).await.expect("the database");
    let tx = db.begin().await.expect("a transaction");
    series::raise(&tx, "receipt:01", 41).await.expect("its last number");
    tx.commit().await.expect("a commit");
    db.close().await.expect("closed");
    let (db, numbers) = site.open().await;
    assert!(!numbers.are_unknown());
    assert_eq!(give(&db, &numbers, "receipt", "01").await, Given { letter: String::new(), number: 42 });
    db.close().await.expect("closed");
    // From now on it has one, and misses it.
    fs::remove_file(site.file()).expect("the file");
    let (_db, numbers) = site.open().await;
    assert!(numbers.are_unknown());
}

#[tokio::test]
async fn without_the_file_numbers_go_on_above_headquarters_or_with_a_letter() {
    let site = Site::new();
    let (db, numbers) = site.open().await;
    give(&db, &numbers, "receipt", "01").await;
    db.close().await.expect("closed");

    fs::remove_file(site.file()).expect("the file");
    let (db, numbers) = site.open().await;
    let tx = db.begin().await.expect("a transaction");
    series::raise(&tx, "receipt:01", 40).await.expect("what headquarters has");
    tx.commit().await.expect("a commit");
    numbers.answered(&db).await.expect("known");
    numbers.ready().await.expect("known");
    assert_eq!(give(&db, &numbers, "receipt", "01").await, Given { letter: String::new(), number: 41 });
    db.close().await.expect("closed");

    for letter in ["A", "B"] {
        fs::remove_file(site.file()).expect("the file");
        let (db, numbers) = site.open().await;
        numbers.unanswered(&db).await.expect("a letter");
        numbers.ready().await.expect("a series of its own");
        for number in [1, 2] {
            assert_eq!(give(&db, &numbers, "receipt", "01").await, Given { letter: letter.to_owned(), number });
        }
        db.close().await.expect("closed");
        // The letter stays, also when only one of the two has it.
        let (db, numbers) = site.open().await;
        assert_eq!(give(&db, &numbers, "session", "01").await.letter, letter);
        let tx = db.begin().await.expect("a transaction");
        settings::set(&tx, "numbers_letter", "").await.expect("an older database");
        tx.commit().await.expect("a commit");
        db.close().await.expect("closed");
        let (db, numbers) = site.open().await;
        assert_eq!(give(&db, &numbers, "receipt", "01").await, Given { letter: letter.to_owned(), number: 3 });
        db.close().await.expect("closed");
    }
}

#[tokio::test]
async fn a_file_of_another_store_is_refused_by_name() {
    let site = Site::new();
    let (db, _numbers) = site.open().await;
    let other = Numbers::open(&site.file(), &db, Uuid::from_u128(2), Instant::default()).await;
    let error = other.err().expect("refused").to_string();
    assert!(error.contains("give each store a file of its own"), "{error}");
}

#[tokio::test]
async fn tills_that_sell_at_once_have_all_their_numbers_in_the_file() {
    let site = Site::new();
    let (db, numbers) = site.open().await;
    let numbers = std::sync::Arc::new(numbers);
    let tills = (0..8).map(|till| {
        let (db, numbers) = (db.clone(), numbers.clone());
        tokio::spawn(async move {
            for _ in 0..5 {
                give(&db, &numbers, "receipt", &format!("{till:02}")).await;
            }
        })
    });
    for till in tills.collect::<Vec<_>>() {
        till.await.expect("sold");
    }
    db.close().await.expect("closed");
    fs::remove_file(site.database()).expect("the database");
    let (db, _numbers) = site.open().await;
    let last = series::all(db.reader()).await.expect("the series");
    assert!((0..8).all(|till| last[&format!("receipt:{till:02}")] == 5), "{last:?}");
}

#[tokio::test]
async fn what_headquarters_is_told_of_lost_numbers_is_kept_by_its_beginning() {
    let range = |from, to| LostNumbers { series: "receipt:01".into(), from, to, noticed_at: Instant::default() };
    for hq in crate::kit::both().await {
        let tx = hq.db.begin().await.expect("a transaction");
        let told = [range(5, 7), range(9, 8), range(0, 3), range(5, 9), range(20, 20)];
        lost::note(&tx, STORE, &told).await.expect("noted");
        lost::note(&tx, STORE, &told[..1]).await.expect("noted again");
        tx.commit().await.expect("a commit");
        let kept = lost::told(hq.db.reader(), STORE).await.expect("kept");
        assert_eq!(kept, [range(5, 9), range(20, 20)]);
        assert_eq!(db::query(hq.db.reader(), "SELECT 1 AS n FROM lost_numbers", []).await.expect("rows").len(), 2);
    }
}
