//! Several headquarters servers on one `PostgreSQL` database, and what a server asks of its database.

use std::thread;

use serde_json::json;

use crate::kit::{ADMIN, Client, Process};
use crate::own_postgres::Server;
use crate::private_postgres::Database;

const ACCEPT: (&str, &str) = ("TILLKEEP_ACCEPT_UNSAFE_DATABASE", "1");
const WARNING: &str = "UNSAFE DATABASE";

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_that_start_at_once_on_one_empty_database_both_come_up() {
    let dir = tempfile::tempdir().expect("dir");
    let environment = [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1)];
    // The key of PINs is made once and given to each server.
    Process::start("hq", &dir.path().join("keys"), &environment).stop();
    let pin_key = dir.path().join("keys/pin.key").display().to_string();
    let database = Database::create();
    let own = [
        ("DATABASE_URL", database.url.as_str()),
        ACCEPT,
        ("TILLKEEP_PIN_KEY_FILE", &pin_key),
        ("TILLKEEP_JWT_KEY", "ZmlmdHkgc2hhZGVzIG9mIHRlYSBhbmQgYSBiaXNjdWl0Lg=="),
        ("TILLKEEP_SYNC_KEY", "YSBiaXNjdWl0IGFuZCBmaWZ0eSBzaGFkZXMgb2YgdGVhLg=="),
    ];
    let environment = [&environment[..], &own].concat();
    let start = |name: &str| Process::start("hq", &dir.path().join(name), &environment);
    let (one, other) = thread::scope(|scope| {
        let started = scope.spawn(|| start("one"));
        (start("other"), started.join().expect("a server"))
    });
    let admin = Client::new(&one.url).sign_in(ADMIN.0, ADMIN.1).await.expect("sign in");
    Client::new(&other.url).sign_in(ADMIN.0, ADMIN.1).await.expect("sign in");
    admin.post("/departments", json!({"code": "GROC", "name": "Grocery"})).await.data();
    // What one has made the other one has, and one token is good at both.
    let at_other = Client::new(&other.url).with_token(admin.token.as_deref().expect("a token"));
    for (path, count) in [("/users", 1), ("/departments", 2)] {
        assert_eq!(at_other.get(path).await.body["pagination"]["total"], count, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_forgets_is_refused_unless_the_environment_accepts_it_and_then_named_at_every_start() {
    let dir = tempfile::tempdir().expect("dir");
    let database = Database::create();
    let admin = [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1), ("DATABASE_URL", database.url.as_str())];
    let refusal = Process::that_fails("hq", &dir.path().join("refused"), &admin);
    assert!(refusal.contains("the database is not durable: PostgreSQL has fsync, full_page_writes off"), "{refusal}");
    let mut hq = Process::start("hq", &dir.path().join("accepted"), &[&admin[..], &[ACCEPT]].concat());
    hq.stop();
    hq.restart();
    assert_eq!(hq.log().matches(WARNING).count(), 2, "{}", hq.log());
    hq.stop();

    let server = Server::new();
    let environment = [admin[0], admin[1], ("DATABASE_URL", server.url.as_str())];
    let sound = Process::start("hq", &dir.path().join("sound"), &environment);
    assert!(!sound.log().contains(WARNING), "{}", sound.log());
    assert!(!dir.path().join("sound/tillkeep.db").exists(), "nothing is kept beside PostgreSQL");
}
