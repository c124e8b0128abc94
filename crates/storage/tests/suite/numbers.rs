//! The file of a store's last numbers. `docs/sync.md`, rule D14.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tillkeep_model::Instant;
use tillkeep_model::wire::LostNumbers;
use tillkeep_storage::entity::print_job;
use tillkeep_storage::numbers::{Given, Numbers, lost};
use tillkeep_storage::sea_orm::{EntityTrait, IntoActiveModel};
use tillkeep_storage::{Db, Side, fault, raw, series, settings};
use uuid::Uuid;

const STORE: Uuid = Uuid::from_u128(1);

/// A store's directory, of a server that comes and goes.
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
    let ranges = lost::newest(db.reader(), STORE).await.expect("what is lost");
    ranges.into_iter().map(|lost| (lost.series, lost.from, lost.to)).collect()
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
async fn a_paper_that_waits_in_an_older_copy_is_not_printed_by_itself() {
    let site = Site::new();
    let (db, numbers) = site.open().await;
    give(&db, &numbers, "receipt", "01").await;
    let job = print_job::Model {
        id: Uuid::from_u128(7),
        kind: "sale".to_owned(),
        state: "waiting".to_owned(),
        ..print_job::Model::default()
    };
    let tx = db.begin().await.expect("a transaction");
    print_job::Entity::insert_many([job.into_active_model()]).exec_without_returning(&tx).await.expect("a row");
    tx.commit().await.expect("a commit");
    db.close().await.expect("closed");
    let aside = site.dir.path().join("aside");
    copy(&site.database(), &aside);
    let state_of = async |db: &Db| {
        let job = print_job::Entity::find_by_id(Uuid::from_u128(7)).one(db.reader()).await.expect("a read");
        job.expect("a paper").state
    };
    let (db, numbers) = site.open().await;
    assert_eq!(state_of(&db).await, "waiting", "it is the same database");
    give(&db, &numbers, "receipt", "01").await;
    db.close().await.expect("closed");
    copy(&aside, &site.database());
    let (db, _numbers) = site.open().await;
    assert_eq!(state_of(&db).await, "unknown", "it may have come out since");
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
    numbers.answered(&db).await.expect("known").expect("written");
    numbers.ready().await.expect("known");
    assert_eq!(give(&db, &numbers, "receipt", "01").await, Given { letter: String::new(), number: 41 });
    db.close().await.expect("closed");

    for letter in ["A", "B"] {
        fs::remove_file(site.file()).expect("the file");
        let (db, numbers) = site.open().await;
        numbers.unanswered(&db).await.expect("a letter").expect("written");
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
async fn what_headquarters_hears_of_lost_numbers_is_kept_by_its_beginning() {
    let range = |from, to| LostNumbers { series: "receipt:01".into(), from, to, noticed_at: Instant::default() };
    for hq in crate::kit::both().await {
        let tx = hq.db.begin().await.expect("a transaction");
        let ranges = [range(5, 7), range(9, 8), range(0, 3), range(5, 9), range(20, 20)];
        lost::note(&tx, STORE, &ranges).await.expect("noted");
        lost::note(&tx, STORE, &ranges[..1]).await.expect("noted again");
        tx.commit().await.expect("a commit");
        let kept = lost::newest(hq.db.reader(), STORE).await.expect("kept");
        assert_eq!(kept, [range(5, 9), range(20, 20)]);
        assert_eq!(raw::query(hq.db.reader(), "SELECT 1 AS n FROM lost_numbers", []).await.expect("rows").len(), 2);
    }
}

#[tokio::test]
async fn a_file_that_says_nothing_is_set_aside_and_is_to_the_store_as_one_that_is_gone() {
    let site = Site::new();
    let (db, numbers) = site.open().await;
    give(&db, &numbers, "receipt", "01").await;
    db.close().await.expect("closed");
    let whole = fs::read(site.file()).expect("the file");
    let broken: Vec<u8> = whole.iter().map(|byte| if byte.is_ascii_hexdigit() { b'0' } else { *byte }).collect();
    for (turn, content) in [Vec::new(), vec![0; whole.len()], broken].into_iter().enumerate() {
        fs::write(site.file(), &content).expect("damaged");
        let (db, numbers) = site.open().await;
        numbers.ready().await.expect_err("headquarters is asked first");
        let aside = site.dir.path().join(format!("numbers.unreadable-{}", turn + 1));
        assert_eq!((numbers.set_aside(), fs::read(&aside).expect("as it was")), (Some(&*aside), content));
        numbers.answered(&db).await.expect("known").expect("written");
        let number = i64::try_from(turn + 2).expect("a number");
        assert_eq!(give(&db, &numbers, "receipt", "01").await.number, number);
        db.close().await.expect("closed");
        let (db, numbers) = site.open().await;
        assert_eq!(numbers.set_aside(), None);
        numbers.ready().await.expect("the new file is a good one");
        db.close().await.expect("closed");
    }
}

#[tokio::test]
async fn a_new_database_beside_a_file_that_says_nothing_asks_headquarters_too() {
    let site = Site::new();
    fs::write(site.file(), "").expect("an empty file");
    let (_db, numbers) = site.open().await;
    numbers.ready().await.expect_err("there was a store here");
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_refused_by_name_at_each_start() {
    let site = Site::new();
    let db = Db::open_file(&site.database(), Side::Store).await.expect("the database");
    let disk = site.dir.path().join("disk");
    let refused = async || {
        let opened = Numbers::open(&disk.join("numbers"), &db, STORE, Instant::default()).await;
        let error = opened.err().expect("refused").to_string();
        assert!(
            error.contains(&format!("{} is not there", disk.display())) && error.contains("numbers_file"),
            "{error}"
        );
    };
    refused().await;
    fs::create_dir(&disk).expect("mounted");
    drop(Numbers::open(&disk.join("numbers"), &db, STORE, Instant::default()).await.expect("the numbers"));
    fs::remove_dir_all(&disk).expect("not mounted");
    refused().await;
}

#[tokio::test]
async fn numbers_that_the_file_did_not_take_are_in_it_once_it_works() {
    let site = Site::new();
    let (db, numbers) = site.open().await;
    give(&db, &numbers, "receipt", "01").await;
    fault::set("numbers.write", "return(error)");
    let tx = db.begin().await.expect("a transaction");
    let series = numbers.ready().await.expect("known").series("receipt", "01");
    series.next(&tx, Instant::default()).await.expect("a number");
    let taken = tx.taken();
    tx.commit().await.expect("a commit");
    numbers.keep(taken).await.expect_err("the disk fails");
    assert!(numbers.is_unwritten());
    fault::set("numbers.write", "off");
    numbers.catch_up(db.reader()).await.expect("a read").expect("written");
    assert!(!numbers.is_unwritten());
    db.close().await.expect("closed");
    fs::remove_file(site.database()).expect("the database");
    let (db, numbers) = site.open().await;
    assert_eq!(lost_of(&db).await, [("receipt:01".to_owned(), 1, 2)]);
    assert_eq!(give(&db, &numbers, "receipt", "01").await.number, 3);
}

#[tokio::test]
async fn a_series_follows_what_its_till_has_printed_by_a_thousand_at_the_most() {
    let site = Site::new();
    let (db, numbers) = site.open().await;
    let sell = async |printed: i64| {
        let tx = db.begin().await.expect("a transaction");
        let series = numbers.ready().await.expect("known").series("receipt", "01");
        let (given, _, follows) = series.next_above(&tx, Instant::default(), STORE, printed).await.expect("a number");
        let taken = tx.taken();
        tx.commit().await.expect("a commit");
        numbers.keep(taken).await.expect("the file");
        (given.number, follows)
    };
    assert_eq!(sell(0).await, (1, true));
    assert_eq!(sell(1).await, (2, true), "as it is");
    assert_eq!(sell(1).await, (3, true), "a till that is behind");
    assert_eq!(sell(1003).await, (1004, true));
    assert_eq!(sell(2005).await, (1005, false), "beyond that it is a mistake");
    assert_eq!(sell(i64::MAX).await, (1006, false));
    assert_eq!(sell(1007).await, (1008, true));
    let lost = |from, to| ("receipt:01".to_owned(), from, to);
    assert_eq!(lost_of(&db).await, [lost(4, 1003), lost(1007, 1007)]);
    db.close().await.expect("closed");
    let (db, numbers) = site.open().await;
    assert_eq!(give(&db, &numbers, "receipt", "01").await.number, 1009);
}
