//! A private `PostgreSQL` database that has the schema of headquarters already.

use std::thread;

use tillkeep_storage::{Db, Opening, Side};

use super::private_postgres::Database;

/// A database of its own, as a server that was started and stopped before its first start's rows would leave it.
pub fn migrated() -> Database {
    Database::copy_of(|url| {
        // A runtime of its own: the caller may be in the middle of one.
        thread::scope(|scope| scope.spawn(|| migrate(url)).join().expect("the schema of headquarters"));
    })
}

#[tokio::main(flavor = "current_thread")]
async fn migrate(url: &str) {
    let opening = Opening { accept_unsafe: true, ..Opening::USUAL };
    let db = Db::open_with(url, Side::Hq, opening).await.expect("a new database");
    db.close().await.expect("no connection");
}
