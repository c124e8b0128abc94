//! The line to `PostgreSQL` over TLS, as the address of the database asks for it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::authority::{Authority, THIS_MACHINE};
use crate::haproxy::HaProxy;
use crate::kit::{ADMIN, Process, TestCluster, eventually};
use crate::own_postgres::Server;
use crate::private_postgres::{OWNER, Run, as_user, client};
use crate::standby::Standby;

const DURABLE: (&str, &str) = ("TILLKEEP_ACCEPT_UNSAFE_DATABASE", "");

/// A directory that the user of `PostgreSQL` can read in.
fn directory() -> TempDir {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().expect("a directory")
}

/// From now on `server` offers TLS, with a certificate for `hosts`.
fn offer_tls(server: &Server, authority: &Authority, hosts: &[&str]) {
    let dir = directory();
    let (cert, key) = authority.issue(dir.path(), "server", hosts);
    for (file, name) in [(cert, "server.crt"), (key, "server.key")] {
        let kept = server.directory.join("data").join(name);
        as_user(Path::new("install")).args(["-m", "600"]).arg(file).arg(kept).run();
    }
    for sql in ["ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()"] {
        client("psql", server.port).args(["-d", OWNER, "-q", "-c", sql]).run();
    }
}

/// How many connections of headquarters are encrypted, and how many are not.
fn encrypted(server: &Server) -> (usize, usize) {
    let sql = "SELECT count(*) FILTER (WHERE ssl), count(*) FILTER (WHERE NOT ssl) FROM pg_stat_ssl JOIN pg_stat_activity \
               USING (pid) WHERE application_name LIKE 'tillkeep %'";
    let output = client("psql", server.port).args(["-d", OWNER, "-At", "-F", " ", "-c", sql]).output().expect("psql");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut counts = printed.split_whitespace().map(|count| count.parse().expect("a count"));
    (counts.next().expect("a count"), counts.next().expect("a count"))
}

/// The address of `server` with a password, and with these parameters.
fn address(server: &Server, parameters: &str) -> String {
    server.url.replace(&format!("{OWNER}@"), &format!("{OWNER}:hunter2@")) + parameters
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_works_over_a_verified_line_to_postgresql_and_finds_it_again_after_a_crash() {
    let (server, dir, authority) = (Server::new(), directory(), Authority::new("the chain's own"));
    let ca = authority.file(dir.path());
    offer_tls(&server, &authority, &THIS_MACHINE);
    let url = address(&server, &format!("?sslmode=verify-full&sslrootcert={}", ca.display()));
    let mut chain = TestCluster::with(&[("DATABASE_URL", &url), DURABLE]).await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    site.sell(&till, &product, 1).await;
    site.drained(&till).await;
    let (safe, open) = encrypted(&server);
    assert!(safe >= 4 && open == 0, "{safe} connections are encrypted, {open} are not");
    server.crash();
    site.sell(&till, &product, 1).await;
    server.start();
    site.drained(&till).await;
    assert_eq!(chain.sales(&site).await, 2);
    assert_eq!(encrypted(&server).1, 0);
    assert!(!chain.hq.log().contains("hunter2"));
    chain.settled(&[&site], &[]).await;
}

/// One address for whichever server is the primary; who is connected to another one is cut off.
const ONE_ADDRESS: &str = "
    mode tcp
frontend all
    bind 127.0.0.1:PORT
    default_backend primary
backend primary
    default-server on-marked-down shutdown-sessions
";

#[tokio::test(flavor = "multi_thread")]
async fn a_promoted_standby_behind_the_same_address_is_found_over_a_verified_line_without_a_restart() {
    let (server, dir, authority) = (Server::new(), directory(), Authority::new("the chain's own"));
    let ca = authority.file(dir.path());
    offer_tls(&server, &authority, &THIS_MACHINE);
    let standby = Standby::new(&server);
    let at = |port: u16| format!("127.0.0.1:{port}");
    let mut balancer = HaProxy::with_rules(ONE_ADDRESS, &[&at(server.port)]);
    let url = address(&server, &format!("?sslmode=verify-full&sslrootcert={}", ca.display()));
    let url = url.replace(&at(server.port), &at(balancer.port));
    let mut chain = TestCluster::with(&[("DATABASE_URL", &url), DURABLE]).await;
    let product = chain.product("A1", 1000).await;
    let site = chain.store().await;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    site.sell(&till, &product, 1).await;
    site.drained(&till).await;
    server.crash();
    site.sell(&till, &product, 1).await;
    standby.promote();
    balancer.set_servers(&[&at(standby.port)]);
    site.drained(&till).await;
    eventually("people are answered again", async || {
        chain.admin.get("/departments").await.status.is_success().then_some(())
    })
    .await;
    eventually("both sales are there", async || (chain.sales(&site).await == 2).then_some(())).await;
    chain.settled(&[&site], &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_postgresql_that_cannot_be_trusted_is_refused_with_what_to_do_and_without_the_password() {
    let (server, dir, authority) = (Server::new(), directory(), Authority::new("the chain's own"));
    let others = directory();
    let (right, wrong) = (authority.file(dir.path()), Authority::new("another company's").file(others.path()));
    let start = |name: &str, parameters: &str| {
        let url = address(&server, parameters);
        let environment = [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1), ("DATABASE_URL", url.as_str())];
        Process::prepared("hq", &dir.path().join(name), &environment)
    };
    let refused = |parameters: &str, reason: &str| {
        let said = start("refused", parameters).refuses_to_start();
        assert!(said.contains(reason) && !said.contains("hunter2"), "{parameters}: {said}");
    };
    let with = |mode: &str, root: &Path| format!("?sslmode={mode}&sslrootcert={}", root.display());
    refused("?sslmode=require", "PostgreSQL does not speak TLS there, and sslmode");
    // Another host's certificate.
    offer_tls(&server, &authority, &["db.example.com"]);
    eventually("it offers TLS", async || (encrypted(&server) == (0, 0)).then_some(())).await;
    refused(&with("verify-full", &right), "the host in the address of the database is none of its names");
    refused(&with("verify-full", &wrong), "name the certificate of its authority with sslrootcert");
    refused(&with("verify-ca", &wrong), "name the certificate of its authority with sslrootcert");
    refused("?sslmode=verify-full", "name the certificate of its authority with sslrootcert");
    refused(&with("require", &right), "database_url (DATABASE_URL): sslrootcert is in the address");
    // The authority is right, and the name is not asked for.
    let mut trusted = start("trusted", &with("verify-ca", &right));
    trusted.start_prepared();
    let (safe, open) = encrypted(&server);
    assert!(safe >= 4 && open == 0, "{safe} connections are encrypted, {open} are not");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_is_encrypted_where_postgresql_offers_it_and_always_when_it_is_asked_for() {
    let (server, dir, authority) = (Server::new(), directory(), Authority::new("no company's"));
    let check = |parameters: &str, is_encrypted: bool| {
        let url = address(&server, parameters);
        let environment = [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1), ("DATABASE_URL", url.as_str())];
        let mut hq = Process::start("hq", &dir.path().join("hq"), &environment);
        let (safe, open) = encrypted(&server);
        assert_eq!((safe > 0, open > 0), (is_encrypted, !is_encrypted), "{parameters}");
        hq.stop();
    };
    check("?sslmode=prefer", false);
    offer_tls(&server, &authority, &["db.example.com"]);
    for (parameters, is_encrypted) in
        [("", true), ("?sslmode=prefer", true), ("?sslmode=require", true), ("?sslmode=disable", false)]
    {
        check(parameters, is_encrypted);
    }
}

#[test]
fn a_check_of_the_configuration_names_a_root_certificate_that_is_not_there() {
    let output = Command::new(env!("CARGO_BIN_EXE_tillkeep"))
        .args(["config", "check"])
        .env_clear()
        .env("DATABASE_URL", "postgres://till:hunter2@db/chain?sslmode=verify-full&sslrootcert=/nowhere/ca.pem")
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && !said.contains("hunter2"), "{said}");
    assert!(said.contains("database_url (DATABASE_URL): sslrootcert /nowhere/ca.pem: No such file"), "{said}");
}
