//! One thread writes to a file of `SQLite`. Transactions that wait share a commit, and none of them harms another.

use std::time::Duration;

use futures_util::future::join_all;
use tempfile::TempDir;
use tillkeep_storage::db::{execute, query, strikes_everything};
use tillkeep_storage::{Db, DbErr, Opening, Purpose, Side, Tx, Working, Written, count};

struct Till {
    db: Db,
    directory: TempDir,
}

impl Till {
    async fn open(opening: Opening) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let url = Db::url_of_file(&directory.path().join("store.db"));
        let db = Db::open_with(&url, Side::Store, opening).await.expect("a new database");
        Self { db, directory }
    }

    async fn new() -> Self {
        Self::open(Opening::default()).await
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
    // Others of this process are none: every test is one.
    let commits = count::commits() - before - 1;
    assert!(done.iter().all(Result::is_ok));
    assert!(commits < 15, "30 transactions took {commits} commits");
    assert_eq!(till.kept().await, (0..30).map(name).collect::<Vec<_>>());
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
async fn who_is_told_of_an_error_of_the_group_has_nothing_and_who_is_told_of_success_has_all() {
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
    limit("PRAGMA max_page_count = 1000000").await;
    till.sell(10).await.expect("there is room again");
    let sold: Vec<_> = (1..9).filter(|number| done[number - 1].is_ok()).map(name).collect();
    assert_eq!(till.kept().await, [vec![name(0)], sold, vec![name(10)]].concat());
}

#[tokio::test]
async fn what_nobody_waits_for_any_more_is_not_begun() {
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
async fn a_transaction_that_is_dropped_leaves_nothing_and_holds_up_nobody() {
    let till = Till::new().await;
    let tx = till.db.begin().await.expect("a transaction");
    execute(&tx, "INSERT INTO sync_state (key, value) VALUES ('sale 001', '')", []).await.expect("a row");
    drop(tx);
    till.sell(2).await.expect("a sale");
    assert_eq!(till.kept().await, [name(2)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_nothing_with_a_transaction_for_too_long_loses_it() {
    let till = Till::open(Opening { longest_pause: Duration::from_millis(100), ..Opening::default() }).await;
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
    let till = Till::open(Opening { longest_statement: Duration::from_millis(100), ..Opening::default() }).await;
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

#[tokio::test]
async fn sales_go_before_pages_and_pages_are_not_starved() {
    let till = Till::new().await;
    let (order, sync) = (std::sync::Mutex::new(Vec::new()), till.db.of(Purpose::Sync));
    let before = till.db.begin().await.expect("a transaction");
    let page = async |number: usize| {
        let tx = sync.begin().await.expect("a transaction");
        order.lock().expect("the order").push(format!("page {number}"));
        tx.commit().await.expect("a commit");
    };
    let edit = async |number: usize| {
        let tx = till.db.begin().await.expect("a transaction");
        order.lock().expect("the order").push(format!("edit {number}"));
        tx.commit().await.expect("a commit");
    };
    let all = async { tokio::join!(page(0), page(1), edit(0), edit(1), edit(2)) };
    tokio::pin!(all);
    assert!(futures_util::poll!(&mut all).is_pending());
    before.commit().await.expect("a commit");
    all.await;
    // The one before them was of the first rank, so that a page comes next, and they take turns then.
    assert_eq!(*order.lock().expect("the order"), ["page 0", "edit 0", "page 1", "edit 1", "edit 2"]);
}
