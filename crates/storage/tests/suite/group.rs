//! One thread writes to a file of `SQLite`. Transactions that wait share a commit, and none of them harms another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tempfile::TempDir;
use tillkeep_storage::db::strikes_everything;
use tillkeep_storage::raw::{execute, query};
use tillkeep_storage::{Db, DbErr, Opening, Purpose, Side, Tx, Working, Written, count, fault};

struct Till {
    db: Db,
    directory: TempDir,
}

/// A group is not cut short by a machine that is busy with other things.
const PATIENT: Opening = Opening { longest_group: Duration::from_mins(1), ..Opening::USUAL };

impl Till {
    async fn open(opening: Opening) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let url = Db::url_of_file(&directory.path().join("store.db"));
        let db = Db::open_with(&url, Side::Store, opening).await.expect("a new database");
        Self { db, directory }
    }

    async fn new() -> Self {
        Self::open(PATIENT).await
    }

    /// Closes the database and reads what is in its file.
    async fn kept(self) -> Vec<String> {
        let Self { db, directory } = self;
        db.close().await.expect("closed");
        let conn = Db::open_to_read(&Db::url_of_file(&directory.path().join("store.db"))).await.expect("the file");
        let sql = "SELECT key FROM sync_state WHERE key LIKE 'sale %' ORDER BY key";
        let rows = query(&conn, sql, []).await.expect("the rows");
        rows.iter().map(|row| row.try_get("", "key").expect("a name")).collect()
    }

    async fn sell(&self, number: usize) -> Result<Written<()>, DbErr> {
        self.db.write(move |tx| sale(tx, number, Fate::Sold)).await
    }
}

#[derive(Clone, Copy)]
enum Fate {
    Sold,
    Refused,
    Panics,
    WaitsForAnother,
    RollsBack,
}

fn name(number: usize) -> String {
    format!("sale {number:03}")
}

/// Writes a row, and ends as `fate` says.
fn sale(tx: &mut Tx, number: usize, fate: Fate) -> Working<'_, (), DbErr> {
    Box::pin(async move {
        let sql = "INSERT INTO sync_state (key, value) VALUES ($1, 'sold')";
        execute(&*tx, sql, [name(number).into()]).await?;
        match fate {
            Fate::Sold => Ok(()),
            Fate::Refused => Err(DbErr::Custom("refused".to_owned())),
            Fate::Panics => panic!("of a test"),
            Fate::WaitsForAnother => {
                tokio::task::yield_now().await;
                Ok(())
            }
            Fate::RollsBack => execute(&*tx, "ROLLBACK", []).await.map(drop),
        }
    })
}

/// Has the writer wait while `work` is asked for, so that all of it is in the queue when it goes on.
async fn at_once<T>(db: &Db, work: impl IntoIterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let before = db.begin().await.expect("a transaction");
    let asked = join_all(work);
    tokio::pin!(asked);
    // Each of them is in the queue once it was polled.
    assert!(futures_util::poll!(&mut asked).is_pending());
    before.commit().await.expect("a commit");
    asked.await
}

#[tokio::test]
async fn transactions_that_wait_share_a_commit_and_are_all_there() {
    let till = Till::new().await;
    let before = count::commits();
    let done = at_once(&till.db, (0..30).map(|number| till.sell(number))).await;
    // Others of this process are none: every test is one. One commit is that of the transaction before them.
    assert_eq!(count::commits() - before, 1 + 1);
    assert!(done.iter().all(Result::is_ok));
    assert_eq!(till.kept().await, (0..30).map(name).collect::<Vec<_>>());
}

#[tokio::test]
async fn no_transaction_joins_a_group_that_has_gone_on_for_long() {
    let till = Till::open(Opening { longest_group: Duration::ZERO, ..Opening::USUAL }).await;
    let before = count::commits();
    let done = at_once(&till.db, (0..5).map(|number| till.sell(number))).await;
    assert_eq!(count::commits() - before, 1 + 5);
    assert!(done.iter().all(Result::is_ok));
    assert_eq!(till.kept().await, (0..5).map(name).collect::<Vec<_>>());
}

#[tokio::test]
async fn one_bad_transaction_of_a_group_fails_alone() {
    for bad in [Fate::Refused, Fate::Panics, Fate::WaitsForAnother] {
        for place in [0, 3, 7] {
            let till = Till::new().await;
            let fate = |number| if number == place { bad } else { Fate::Sold };
            let work = (0..8).map(|number| {
                let fate = fate(number);
                till.db.write(move |tx| sale(tx, number, fate))
            });
            let done = at_once(&till.db, work).await;
            let sold: Vec<_> = done.iter().map(Result::is_ok).collect();
            assert_eq!(sold, (0..8).map(|number| number != place).collect::<Vec<_>>());
            assert_eq!(till.kept().await, (0..8).filter(|number| *number != place).map(name).collect::<Vec<_>>());
        }
    }
}

#[tokio::test]
async fn a_caller_with_an_error_of_the_group_has_nothing_and_one_with_success_has_all() {
    let till = Till::new().await;
    let fate = |number| if number == 5 { Fate::RollsBack } else { Fate::Sold };
    let work = (0..10).map(|number| {
        let fate = fate(number);
        till.db.write(move |tx| sale(tx, number, fate))
    });
    let done = at_once(&till.db, work).await;
    assert!(done[5].is_err(), "it ended the transaction of all");
    // Whoever came after goes on.
    till.sell(99).await.expect("a sale");
    let sold: Vec<_> = (0..10).filter(|number| done[*number].is_ok()).chain([99]).map(name).collect();
    assert_eq!(till.kept().await, sold);
}

#[tokio::test]
async fn a_disk_that_is_full_within_a_group_loses_nothing_that_was_answered() {
    let till = Till::new().await;
    let limit = async |sql: &'static str| {
        let tx = till.db.begin().await.expect("a transaction");
        query(&tx, sql, []).await.expect("a pragma");
        tx.commit().await.expect("a commit");
    };
    till.sell(0).await.expect("a sale");
    limit("PRAGMA max_page_count = 1").await;
    let much = "x".repeat(300_000);
    let work = (1..9).map(|number| {
        let much = if number == 4 { much.clone() } else { String::new() };
        till.db.write(move |tx| {
            Box::pin(async move {
                sale(tx, number, Fate::Sold).await?;
                let sql = "UPDATE sync_state SET value = $2 WHERE key = $1";
                execute(&*tx, sql, [name(number).into(), much.into()]).await?;
                Ok::<_, DbErr>(())
            })
        })
    });
    let done = at_once(&till.db, work).await;
    let full = done[3].as_ref().expect_err("it does not fit");
    assert!(strikes_everything(full), "{full}");
    assert!(done[4..].iter().all(Result::is_ok), "those after it go on: {done:?}");
    limit("PRAGMA max_page_count = 1000000").await;
    till.sell(10).await.expect("there is room again");
    let sold: Vec<_> = (1..9).filter(|number| done[number - 1].is_ok()).map(name).collect();
    assert_eq!(till.kept().await, [vec![name(0)], sold, vec![name(10)]].concat());
}

#[tokio::test]
async fn what_no_caller_waits_for_any_more_is_not_begun() {
    let till = Till::new().await;
    let before = till.db.begin().await.expect("a transaction");
    {
        let gone = till.sell(1);
        tokio::pin!(gone);
        assert!(futures_util::poll!(&mut gone).is_pending());
    }
    before.commit().await.expect("a commit");
    till.sell(2).await.expect("a sale");
    assert_eq!(till.kept().await, [name(2)]);
}

#[tokio::test]
async fn a_transaction_that_is_dropped_leaves_nothing_and_holds_up_no_other() {
    let till = Till::new().await;
    let tx = till.db.begin().await.expect("a transaction");
    execute(&tx, "INSERT INTO sync_state (key, value) VALUES ('sale 001', '')", []).await.expect("a row");
    drop(tx);
    till.sell(2).await.expect("a sale");
    assert_eq!(till.kept().await, [name(2)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_nothing_with_a_transaction_for_too_long_loses_it() {
    let till = Till::open(Opening { longest_pause: Duration::from_secs(1), ..PATIENT }).await;
    let slow = till.db.begin().await.expect("a transaction");
    execute(&slow, "INSERT INTO sync_state (key, value) VALUES ('sale 001', '')", []).await.expect("a row");
    // Waits until it is its turn.
    till.sell(2).await.expect("a sale");
    let late = execute(&slow, "INSERT INTO sync_state (key, value) VALUES ('sale 003', '')", []).await;
    assert!(late.expect_err("it is over").to_string().contains("took too long"));
    slow.commit().await.expect_err("there is nothing to commit");
    till.sell(4).await.expect("a sale");
    assert_eq!(till.kept().await, [name(2), name(4)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_takes_too_long_is_broken_off_and_its_transaction_is_not_kept() {
    const ENDLESS: &str = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT MAX(x) AS x FROM n";
    let till = Till::open(Opening { longest_statement: Duration::from_secs(1), ..PATIENT }).await;
    let endless = till.db.write(|tx| {
        Box::pin(async move {
            sale(tx, 1, Fate::Sold).await?;
            query(&*tx, ENDLESS, []).await.map(drop)
        })
    });
    endless.await.expect_err("it takes too long");
    query(till.db.reader(), ENDLESS, []).await.expect_err("it takes too long to read as well");
    till.sell(2).await.expect("a sale");
    assert_eq!(till.kept().await, [name(2)]);
}

#[tokio::test]
async fn a_database_that_is_closed_does_first_what_was_asked_of_it() {
    let till = Till::new().await;
    let before = till.db.begin().await.expect("a transaction");
    {
        let asked = join_all((0..8).map(|number| till.sell(number)));
        tokio::pin!(asked);
        assert!(futures_util::poll!(&mut asked).is_pending());
        let closing = till.db.clone().close();
        tokio::pin!(closing);
        assert!(futures_util::poll!(&mut closing).is_pending());
        before.commit().await.expect("a commit");
        let (done, closed) = futures_util::future::join(asked, closing).await;
        closed.expect("closed");
        assert!(done.iter().all(Result::is_ok), "{done:?}");
    }
    till.sell(9).await.expect_err("it is closed");
    assert_eq!(till.kept().await, (0..8).map(name).collect::<Vec<_>>());
}

/// Edits and pages of which `pages` ask before `edits`, each of which takes `long`; the order in which they were done.
async fn order_of(till: &Till, pages: usize, edits: usize, long: Duration) -> Vec<String> {
    let (order, sync) = (std::sync::Mutex::new(Vec::new()), till.db.with_pool(Purpose::Sync));
    let before = till.db.begin().await.expect("a transaction");
    let write = async |db: &Db, name: String| {
        let tx = db.begin().await.expect("a transaction");
        let began = Instant::now();
        while began.elapsed() < long {
            query(&tx, "SELECT 1 AS one", []).await.expect("a row");
        }
        order.lock().expect("the order").push(name);
        tx.commit().await.expect("a commit");
    };
    {
        let pages = join_all((0..pages).map(|number| write(&sync, format!("page {number}"))));
        let edits = join_all((0..edits).map(|number| write(&till.db, format!("edit {number}"))));
        let all = async { tokio::join!(pages, edits) };
        tokio::pin!(all);
        assert!(futures_util::poll!(&mut all).is_pending());
        before.commit().await.expect("a commit");
        all.await;
    }
    order.into_inner().expect("the order")
}

#[tokio::test]
async fn people_and_sales_go_before_pages_that_have_just_come() {
    // However long it takes until all have asked.
    let till = Till::open(Opening { longest_bulk: Duration::from_hours(1), ..PATIENT }).await;
    let order = order_of(&till, 2, 3, Duration::ZERO).await;
    assert_eq!(order, ["edit 0", "edit 1", "edit 2", "page 0", "page 1"]);
}

#[tokio::test]
async fn pages_that_have_waited_long_have_half_of_the_time_and_no_more() {
    let till = Till::open(Opening { longest_bulk: Duration::ZERO, ..PATIENT }).await;
    let order = order_of(&till, 4, 40, Duration::from_millis(20)).await;
    let places: Vec<_> = (0..order.len()).filter(|place| order[*place].starts_with("page")).collect();
    println!("pages came at {places:?} of {}", order.len());
    assert!(places[3] < 40, "the pages were not starved: {order:?}");
    assert!(places.windows(2).all(|pair| pair[1] > pair[0] + 1), "another one goes between two pages: {order:?}");
}

#[tokio::test]
async fn a_caller_who_has_waited_for_the_writer_too_long_is_refused_and_nothing_of_it_is_done() {
    let till = Till::open(Opening { longest_wait: Duration::from_millis(500), ..PATIENT }).await;
    let holds = till.db.begin().await.expect("a transaction");
    let errors = {
        let asked = async { tokio::join!(till.sell(1), till.db.begin(), till.sell(2)) };
        tokio::pin!(asked);
        assert!(futures_util::poll!(&mut asked).is_pending());
        let began = Instant::now();
        while began.elapsed() < Duration::from_millis(600) {
            query(&holds, "SELECT 1 AS one", []).await.expect("a row");
        }
        holds.commit().await.expect("a commit");
        let (one, lent, two) = asked.await;
        [one.err(), lent.err(), two.err()]
    };
    assert!(errors.iter().all(|error| matches!(error, Some(DbErr::ConnectionAcquire(_)))), "{errors:?}");
    till.sell(3).await.expect("a sale");
    assert_eq!(till.kept().await, [name(3)]);
}

#[tokio::test]
async fn a_queue_that_is_too_long_is_refused_at_once() {
    let till = Till::new().await;
    let holds = till.db.begin().await.expect("a transaction");
    let mut asked: Vec<_> = (0..1_100).map(|number| Box::pin(till.sell(number))).collect();
    let mut refused = 0;
    for one in &mut asked {
        refused += usize::from(futures_util::poll!(one.as_mut()).is_ready());
    }
    assert_eq!(refused, 1_100 - 1_024);
    drop(asked);
    holds.commit().await.expect("a commit");
    // The writer has to find that no caller waits for those any more.
    loop {
        match till.sell(2_000).await {
            Err(DbErr::ConnectionAcquire(_)) => tokio::task::yield_now().await,
            sold => break sold.map(drop).expect("there is room again"),
        }
    }
    assert_eq!(till.kept().await, [name(2_000)]);
}

/// The first of its row is there already, for the second of two that have the same number.
fn twice(tx: &mut Tx, number: usize) -> Working<'_, (), DbErr> {
    Box::pin(async move {
        let sql = "SELECT key FROM sync_state WHERE key = $1";
        if !query(&*tx, sql, [name(number).into()]).await?.is_empty() {
            return Err(DbErr::RecordNotUpdated);
        }
        sale(tx, number, Fate::Sold).await
    })
}

#[tokio::test]
async fn a_commit_that_fails_is_answered_to_all_of_the_group_whatever_they_found_in_it() {
    let till = Till::new().await;
    fault::set("group.filled", "1*return(error)->off");
    let work = [1, 2, 1].map(|number| till.db.write(move |tx| twice(tx, number)));
    let done = at_once(&till.db, work).await;
    for one in &done {
        // The third found the row of the first, which was never kept.
        let error = one.as_ref().expect_err("nothing is on disk");
        assert!(matches!(error, DbErr::Conn(_)), "{error}");
    }
    till.db.write(|tx| twice(tx, 1)).await.expect("a sale");
    assert_eq!(till.kept().await, [name(1)]);
}

#[tokio::test]
async fn who_takes_too_long_within_a_group_undoes_it_for_all_or_for_itself_and_no_caller_hears_otherwise() {
    const FOREVER: &str = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) ";
    for (writes, slow) in [
        (false, format!("{FOREVER} SELECT MAX(x) AS x FROM n")),
        (true, format!("INSERT INTO sync_state (key, value) {FOREVER} SELECT 'sale 9' || x, '' FROM n")),
    ] {
        let till = Till::open(Opening { longest_statement: Duration::from_secs(1), ..PATIENT }).await;
        let work = (0..4).map(|number| {
            let slow = slow.clone();
            till.db.write(move |tx| {
                Box::pin(async move {
                    sale(tx, number, Fate::Sold).await?;
                    if number == 1 { query(&*tx, &slow, []).await.map(drop) } else { Ok(()) }
                })
            })
        });
        let done = at_once(&till.db, work).await;
        assert!(done[1].is_err(), "writes: {writes}");
        let sold: Vec<_> = (0..4).filter(|number| done[*number].is_ok()).map(name).collect();
        assert!(sold.len() >= 2, "the others go on: {done:?}");
        assert_eq!(till.kept().await, sold);
    }
}

#[tokio::test]
async fn a_writer_that_is_gone_keeps_no_caller_waiting_and_the_others_read_on() {
    let till = Till::new().await;
    till.sell(1).await.expect("a sale");
    fault::set("group.filled", "panic");
    let done = at_once(&till.db, [2, 3].map(|number| till.sell(number))).await;
    assert!(done.iter().all(Result::is_err), "{done:?}");
    till.sell(4).await.expect_err("no writer");
    till.db.begin().await.map(drop).expect_err("no writer");
    query(till.db.reader(), "SELECT key FROM sync_state", []).await.expect("it is read");
    assert_eq!(till.kept().await, [name(1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_stays_short_under_readers_that_never_pause() {
    const BYTES: usize = 1_000_000;
    let till = Till::new().await;
    let log = till.directory.path().join("store.db-wal");
    let mut longest = 0;
    let over = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn({
        let (db, over) = (till.db.clone(), over.clone());
        async move {
            let mut reading = db.snapshot().await.expect("a reader");
            while !over.load(Ordering::Relaxed) {
                // Before one goes, the next has begun, and each is there for some commits.
                let (next, began) = (db.snapshot().await.expect("a reader"), Instant::now());
                while began.elapsed() < Duration::from_millis(30) {
                    query(&next, "SELECT key FROM sync_state", []).await.expect("the rows");
                }
                reading = next;
            }
            drop(reading);
        }
    });
    for number in 0..300 {
        let much = number.to_string().repeat(BYTES / number.to_string().len());
        let written = till.db.write(move |tx| {
            Box::pin(async move {
                let sql = "INSERT INTO sync_state (key, value) VALUES ('much', $1) \
                           ON CONFLICT (key) DO UPDATE SET value = excluded.value";
                execute(&*tx, sql, [much.into()]).await.map(drop)
            })
        });
        written.await.expect("a write");
        longest = longest.max(std::fs::metadata(&log).expect("the log").len());
    }
    over.store(true, Ordering::Relaxed);
    reader.await.expect("the reader");
    println!("the log grew to {longest} bytes");
    // 300 MB were written, and without an end to readers all of it is in there. A busy machine keeps readers longer than the
    // writer waits for them, so that how much less it is says something of the machine.
    assert!(longest < 270_000_000, "the log grew to {longest} bytes");
}
