//! When a server makes a backup, and when it does not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tempfile::TempDir;
use tillkeep_storage::{Db, Side, backup, settings};

use super::make::has_room;
use super::*;
use crate::backup::write::Server;

const DAY: i64 = 24 * 3600 * 1000;
const HOUR: i64 = 3600 * 1000;

/// A store with a database that was made just now.
struct Shop {
    dir: TempDir,
    clock: Clock,
    db: Db,
}

impl Shop {
    async fn open() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let db = Db::open_file(&dir.path().join(write::DATABASE), Side::Store).await.expect("a database");
        Self { dir, clock: Clock::default(), db }
    }

    fn server(&self) -> Server {
        Server { database: self.dir.path().join(write::DATABASE), data_dir: self.dir.path().to_owned() }
    }

    /// What a server that starts now has.
    fn schedule(&self, keep: usize, free: Free) -> Schedule {
        let directory = self.dir.path().join("backups");
        let plan = Plan { every: Duration::from_hours(24), keep, directory: directory.clone(), recipient: None };
        let kept = Shelf::new(directory, Some("S01"));
        Schedule { free, ..Schedule::new(plan, kept, Source::File(self.server()), self.clock.clone()) }
    }

    fn backups(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.dir.path().join("backups")) else { return Vec::new() };
        let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

#[test]
fn the_next_backup_is_due_by_the_last_one_or_else_by_the_age_of_the_database() {
    let at = |hours: i64| Instant::from_millis(1_700_000_000_000 + hours * HOUR);
    let every = Duration::from_hours(24);
    assert_eq!(due(Some(at(10)), Some(at(0)), every, at(20)), at(34));
    assert_eq!(due(None, Some(at(0)), every, at(20)), at(24), "a new database is not backed up at once");
    assert_eq!(due(None, Some(at(0)), every, at(48)), at(24), "an old one is");
    assert_eq!(due(None, None, every, at(20)), at(20), "nobody knows how old it is");
    assert_eq!(due(None, Some(at(900)), every, at(20)), at(20), "a clock was wrong");
}

#[tokio::test]
async fn a_backup_is_made_when_it_is_due_also_after_a_start_and_the_newest_are_kept() {
    let shop = Shop::open().await;
    let plenty: Free = |_| Ok(u64::MAX);
    let next = shop.schedule(2, plenty).turn().await;
    assert_eq!(shop.backups(), Vec::<String>::new(), "the database is new");
    assert!(next.millis_since(shop.clock.now()) > 23 * HOUR, "{next}");

    shop.clock.advance(DAY + HOUR);
    let next = shop.schedule(2, plenty).turn().await;
    let first = shop.backups();
    assert_eq!(first.len(), 1, "{first:?}");
    assert!(next.millis_since(shop.clock.now()) > 23 * HOUR, "{next}");
    let file = shop.dir.path().join("backups").join(&first[0]);
    let mode = fs::metadata(&file).expect("the backup").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it has the keys inside");
    assert_eq!(backup::read(&file).await.expect("a backup").side, Side::Store);

    shop.clock.advance(2 * HOUR);
    shop.schedule(2, plenty).turn().await;
    assert_eq!(shop.backups(), first, "a start is no reason");

    fs::write(file.with_file_name("by-hand.tillkeep"), "x").expect("a file");
    for _ in 0..3 {
        shop.clock.advance(DAY);
        shop.schedule(2, plenty).turn().await;
    }
    let left = shop.backups();
    assert_eq!(left.len(), 3, "{left:?}");
    assert!(left[0] == "by-hand.tillkeep" && !left.contains(&first[0]), "{left:?}");
}

#[tokio::test]
async fn a_disk_with_less_room_than_twice_the_database_is_left_alone_until_there_is_more() {
    let shop = Shop::open().await;
    shop.clock.advance(2 * DAY);
    let next = shop.schedule(7, |_| Ok(10)).turn().await;
    assert_eq!(shop.backups(), Vec::<String>::new());
    let waits = next.millis_since(shop.clock.now());
    assert!((1..=HOUR).contains(&waits), "it is tried again before the next day: {waits}");
    let said = has_room(|_| Ok(10), shop.dir.path(), 11, "make room").expect_err("too little").to_string();
    assert!(said.ends_with("make room"), "{said}");
    assert!(has_room(|_| Ok(10), shop.dir.path(), 10, "make room").is_ok());
    shop.schedule(7, |_| Ok(u64::MAX)).turn().await;
    assert_eq!(shop.backups().len(), 1);
}

/// The disk of backups has room for one file of the database, and none for two.
fn room_for_one(directory: &Path) -> io::Result<u64> {
    let Some(data_dir) = directory.parent().filter(|_| directory.ends_with("backups")) else { return Ok(u64::MAX) };
    let server = Server { database: data_dir.join(write::DATABASE), data_dir: data_dir.to_owned() };
    Ok(server.bytes()? / 2 * 3)
}

#[tokio::test]
async fn old_backups_stay_while_the_disk_of_the_database_has_no_room_for_a_copy() {
    let shop = Shop::open().await;
    let apart = |free: Free| Schedule { shares: |_, _| Ok(false), ..shop.schedule(2, free) };
    for _ in 0..2 {
        shop.clock.advance(2 * DAY);
        apart(|_| Ok(u64::MAX)).turn().await;
    }
    let old = shop.backups();
    assert_eq!(old.len(), 2, "{old:?}");
    shop.clock.advance(2 * DAY);
    let nowhere: Free = |_| Ok(10);
    let no_room_beside: Free = |directory| Ok(if directory.ends_with("backups") { u64::MAX } else { 10 });
    for free in [nowhere, no_room_beside] {
        let next = apart(free).turn().await;
        assert_eq!(shop.backups(), old);
        assert!((1..=HOUR).contains(&next.millis_since(shop.clock.now())), "{next}");
    }
    // The other disk has the file alone, and the copy never.
    apart(room_for_one).turn().await;
    let left = shop.backups();
    assert!(left.len() == 2 && left[0] == old[1], "{left:?} after {old:?}");
    shop.clock.advance(2 * DAY);
    shop.schedule(2, room_for_one).turn().await;
    assert_eq!(shop.backups(), left[1..], "on one disk the oldest went, and there is no room all the same");
}

#[tokio::test]
async fn what_a_killed_command_left_beside_the_database_goes_with_the_next_backup() {
    let shop = Shop::open().await;
    shop.clock.advance(2 * DAY);
    // Above the highest number that a process can have.
    let left = shop.dir.path().join(format!("tillkeep.db.backup-{}-a", i32::MAX));
    fs::write(&left, "x").expect("a file");
    shop.schedule(7, |_| Ok(u64::MAX)).turn().await;
    assert_eq!((shop.backups().len(), left.exists()), (1, false));
}

#[tokio::test]
async fn a_directory_that_cannot_be_made_is_a_failure_and_nothing_else() {
    let shop = Shop::open().await;
    shop.clock.advance(2 * DAY);
    fs::write(shop.dir.path().join("backups"), "a file of that name").expect("a file");
    let next = shop.schedule(7, |_| Ok(u64::MAX)).turn().await;
    assert!(next > shop.clock.now());
    assert_eq!(settings::get(shop.db.reader(), "nothing").await.expect("it still answers"), None);
}

/// A disk that is asked and never answers, as that of a machine that is away.
fn never(_: &Path) -> io::Result<u64> {
    loop {
        thread::park();
    }
}

#[tokio::test]
async fn a_disk_that_hangs_is_a_failure_after_a_while_and_holds_up_neither_the_server_nor_its_end() {
    let shop = Shop::open().await;
    shop.clock.advance(2 * DAY);
    let mut hung = shop.schedule(7, never);
    hung.patience = Patience { short: Duration::from_millis(50), file: Duration::from_millis(50) };
    for _ in 0..2 {
        let next = hung.turn().await;
        let waits = next.millis_since(shop.clock.now());
        assert!((1..=HOUR).contains(&waits), "it is tried again before the next day: {waits}");
    }
    assert_eq!(shop.backups(), Vec::<String>::new());
    let tx = shop.db.begin().await.expect("a transaction");
    settings::set(&tx, "sold", "1").await.expect("a setting");
    tx.commit().await.expect("it still sells");
    // This test ends although the thread that asked never does.
}

#[tokio::test]
async fn a_backup_lies_on_the_disk_of_its_database_until_it_is_whole_and_leaves_nothing_there() {
    let shop = Shop::open().await;
    let beside = || {
        let entries = fs::read_dir(shop.dir.path()).expect("a directory").map(|entry| entry.expect("an entry"));
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("tillkeep.db.backup-")).count()
    };
    let target = shop.dir.path().join("backups").join("one.tillkeep");
    let copied = write::copy(&shop.server(), shop.clock.now()).await.expect("a copy");
    assert_eq!((beside(), target.parent().map(Path::exists)), (1, Some(false)), "no other disk was asked for anything");
    fs::create_dir(shop.dir.path().join("backups")).expect("a directory");
    copied.put(&target, None).expect("put to its place");
    assert_eq!((beside(), shop.backups()), (0, vec!["one.tillkeep".to_owned()]));
    assert_eq!(backup::read(&target).await.expect("a backup").side, Side::Store);
    drop(write::copy(&shop.server(), shop.clock.now()).await.expect("a copy"));
    assert_eq!(beside(), 0, "what came to nothing is gone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_writes_goes_on_while_backups_are_made_and_each_is_of_one_moment() {
    let shop = Shop::open().await;
    let db = shop.db.clone();
    let set = async |key: &str, value: &str| {
        let tx = db.begin().await.expect("a transaction");
        settings::set(&tx, key, value).await.expect("a setting");
        tx.commit().await.expect("a commit");
    };
    // So much that a copy takes longer than a commit.
    for number in 0..10 {
        set(&format!("filler {number}"), &"x".repeat(1 << 20)).await;
    }
    let done = Arc::new(AtomicBool::new(false));
    let (server, over) = (shop.server(), done.clone());
    let made = tokio::spawn(async move {
        let mut made = Vec::new();
        while !over.load(Ordering::Relaxed) {
            let file = server.data_dir.join(format!("backup-{}", made.len()));
            write::write(&server, &file, None, Clock::default().now()).await.expect("a backup");
            made.push(file);
        }
        made
    });
    let mut longest = Duration::ZERO;
    for number in 0..50 {
        let begun = shop.clock.uptime();
        set("sold", &number.to_string()).await;
        set("paid", &number.to_string()).await;
        longest = longest.max(shop.clock.uptime().saturating_sub(begun));
    }
    done.store(true, Ordering::Relaxed);
    let made = made.await.expect("backups");
    // A writer that is held waits for the whole copy; the limit is far beyond a commit on a busy machine.
    assert!(longest < Duration::from_secs(5), "{longest:?} for two commits");
    for file in &made {
        let conn = Db::open_to_read(&Db::url_of_file(file)).await.expect("a backup");
        let get = async |key: &str| {
            let text = settings::get(&conn, key).await.expect("a setting");
            text.map_or(-1, |text| text.parse::<i64>().expect("a number"))
        };
        let (sold, paid) = (get("sold").await, get("paid").await);
        assert!(sold == paid || sold == paid + 1, "sold {sold}, paid {paid}");
        conn.close().await.expect("closed");
    }
    // While a transaction is open that has written, a backup is made without what is not committed.
    let tx = shop.db.begin().await.expect("a transaction");
    settings::set(&tx, "sold", "never").await.expect("a setting");
    let file = shop.dir.path().join("beside");
    let server = shop.server();
    write::write(&server, &file, None, shop.clock.now()).await.expect("a backup beside a writer");
    drop(tx);
    backup::read(&file).await.expect("a backup");
}
