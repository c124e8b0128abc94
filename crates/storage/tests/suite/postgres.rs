//! What holds of `PostgreSQL` alone: how a server must be set, what is set on each connection, and transactions that it
//! breaks off.

use std::time::Duration;

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Qty;
use tillkeep_model::wire::PushStatus;
use tillkeep_storage::{Db, Purpose, Side, Tx, db, raw};

use crate::kit::chain::{Chain, id, sender};
use crate::kit::envelopes::{create_sale, push};
use crate::kit::own_postgres::Server;
use crate::kit::private_postgres::Database;
use crate::kit::{self, Hq};

async fn text(conn: &impl ConnectionTrait, sql: &str) -> String {
    let rows = raw::query(conn, sql, []).await.expect("an answer");
    rows[0].try_get_by_index(0).expect("a text")
}

async fn setting(conn: &impl ConnectionTrait, name: &str) -> String {
    text(conn, &format!("SHOW {name}")).await
}

/// A statement of the test about the whole database.
async fn execute(db: &Db, sql: &str) {
    let tx = db.begin().await.expect("a transaction");
    raw::execute(&tx, sql, []).await.expect("a statement");
    tx.commit().await.expect("a commit");
}

#[tokio::test]
async fn a_server_that_forgets_commits_in_a_crash_is_refused() {
    let database = Database::create();
    let refusal = Db::open(&database.url, Side::Hq).await.err().expect("refused").to_string();
    for word in ["fsync, full_page_writes off", "TILLKEEP_ACCEPT_UNSAFE_DATABASE=1"] {
        assert!(refusal.contains(word), "{refusal}");
    }
    assert!(kit::open_private(&database.url).await.is_ok(), "unless that is wanted");
}

#[tokio::test]
async fn a_server_as_it_is_installed_is_good_and_found_again_after_a_crash() {
    let server = Server::new();
    let db = Db::open(&server.url, Side::Hq).await.expect("a sound database");
    let tx = db.begin().await.expect("a transaction");
    server.crash();
    // Neither is the fault of who asked: not what was under way, nor what comes while the server is away.
    let errors = [raw::execute(&tx, "SELECT 1", []).await.err(), db.begin().await.err()];
    for error in errors {
        let error = error.expect("the server is away");
        assert!(db::is_passing(&error) && !db::is_data_fault(&error), "{error:?}");
    }
    server.start();
    db.ping().await.expect("it is found again");
}

#[tokio::test]
async fn a_database_in_another_encoding_is_refused() {
    let database = Database::create_as(&["--template=template0", "--encoding=SQL_ASCII"]);
    let refusal = kit::open_private(&database.url).await.err().expect("refused").to_string();
    assert!(refusal.contains("SQL_ASCII"), "{refusal}");
}

#[tokio::test]
async fn each_connection_has_its_limits_whatever_the_database_is_set_to() {
    let hq = Hq::postgres().await;
    let name = text(hq.db.reader(), "SELECT current_database()").await;
    for (key, value) in [
        ("synchronous_commit", "off"),
        ("default_transaction_isolation", "serializable"),
        ("statement_timeout", "0"),
        ("lock_timeout", "0"),
        ("idle_in_transaction_session_timeout", "0"),
    ] {
        execute(&hq.db, &format!("ALTER DATABASE {name} SET {key} = '{value}'")).await;
    }
    // What is set of a database holds for connections that come after it.
    let db = kit::open_private(&hq.url()).await.expect("the same database");
    for purpose in [Purpose::People, Purpose::Sync] {
        let db = db.with_pool(purpose);
        let (writer, reader) = (db.begin().await.expect("begin"), db.snapshot().await.expect("begin"));
        let word = format!("{purpose:?}").to_lowercase();
        assert_eq!(setting(&writer, "application_name").await, format!("tillkeep {word} write"));
        assert_eq!(setting(&reader, "application_name").await, format!("tillkeep {word} read"));
        assert_eq!(setting(&writer, "transaction_isolation").await, "read committed");
        // A stream waits half a minute for its client between two pages, and longer when both are slow.
        for (conn, idle) in [(&*writer, "15s"), (&reader, "2min")] {
            assert_eq!(setting(conn, "synchronous_commit").await, "on");
            assert_eq!(setting(conn, "statement_timeout").await, "30s");
            assert_eq!(setting(conn, "lock_timeout").await, "10s");
            assert_eq!(setting(conn, "idle_in_transaction_session_timeout").await, idle);
        }
    }
}

#[tokio::test]
async fn who_ran_into_a_limit_may_come_again() {
    let hq = Hq::postgres().await;
    let shortened = async |limit: &str| -> Tx {
        let tx = hq.db.begin().await.expect("a transaction");
        raw::execute(&tx, &format!("SET LOCAL {limit} = '20ms'"), []).await.expect("a limit");
        tx
    };
    let passes = |error: DbErr| assert!(db::is_passing(&error) && !db::is_data_fault(&error), "{error:?}");

    let tx = shortened("statement_timeout").await;
    passes(raw::execute(&tx, "SELECT pg_sleep(10)", []).await.expect_err("cut"));

    let holder = hq.db.begin().await.expect("a transaction");
    raw::execute(&holder, "LOCK TABLE products", []).await.expect("the lock");
    let tx = shortened("lock_timeout").await;
    passes(raw::execute(&tx, "LOCK TABLE products", []).await.expect_err("held"));

    let tx = shortened("idle_in_transaction_session_timeout").await;
    let pid = text(&*tx, "SELECT pg_backend_pid()::text").await;
    while text(hq.db.reader(), &format!("SELECT COUNT(*)::text FROM pg_stat_activity WHERE pid = {pid}")).await != "0" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    passes(raw::execute(&tx, "SELECT 1", []).await.expect_err("ended"));
}

/// What a standby says until it is promoted, and a server with a disk that may only be read.
#[tokio::test]
async fn a_database_that_only_reads_for_now_says_that_it_passes() {
    for hq in kit::both().await {
        let tx = hq.db.begin().await.expect("a transaction");
        let only = if hq.db.is_embedded() { "PRAGMA query_only = ON" } else { "SET TRANSACTION READ ONLY" };
        tx.execute_unprepared(only).await.expect("a transaction that reads");
        let sql = "DELETE FROM sync_counters";
        let error = raw::execute(&tx, sql, []).await.expect_err("only reads");
        assert!(db::is_passing(&error) && !db::is_data_fault(&error), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_push_that_the_database_breaks_off_for_a_deadlock_goes_through() {
    let hq = Hq::postgres().await;
    let chain = Chain::found(&hq).await;
    push(&hq, &chain.first, &[create_sale(&chain.first, id("first"), &[(chain.tea, 1)])]).await;
    let name = text(hq.db.reader(), "SELECT current_database()").await;
    // The push waits first, so it is the one to be broken off, if this test gets into its way within this time.
    execute(&hq.db, &format!("ALTER DATABASE {name} SET deadlock_timeout = '3s'")).await;
    let db = kit::open_private(&hq.url()).await.expect("the same database");

    let other = db.begin().await.expect("a transaction");
    let counter = "SELECT value FROM sync_counters WHERE entity_type = 'store_product_dynamic' FOR UPDATE";
    raw::query(&other, counter, []).await.expect("the counter");
    let sale = create_sale(&sender("S01"), id("second"), &[(chain.tea, 1)]);
    let pushed = tokio::spawn({
        let (db, envelope) = (db.with_pool(Purpose::Sync), sale.to_string());
        async move { tillkeep_storage::push::push(&db, &sender("S01"), &[&envelope], kit::at(0)).await }
    });
    let waiting = "SELECT COUNT(*)::text FROM pg_stat_activity \
                   WHERE application_name = 'tillkeep sync write' AND wait_event_type = 'Lock'";
    while text(hq.db.reader(), waiting).await == "0" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The push holds the level and waits for the counter; this holds the counter and wants the level.
    raw::execute(&other, "UPDATE store_product_dynamic SET reorder_point = 7000", []).await.expect("the level");
    other.commit().await.expect("a commit");

    let pushed = pushed.await.expect("a task").expect("a push that went through");
    assert_eq!((pushed.refused, pushed.results[0].status), (0, PushStatus::Ok));
    assert_eq!(hq.stock(chain.first.store_id, chain.tea).await.expect("tea").quantity, Qty::pieces(-2));
    let deadlocks = "SELECT deadlocks::text FROM pg_stat_database WHERE datname = current_database()";
    while text(hq.db.reader(), deadlocks).await == "0" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    hq.verify().await;
}
