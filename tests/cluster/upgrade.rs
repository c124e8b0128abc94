//! Releases beside each other and one after the other. The newer one is this program with the feature `next-release`: a
//! step of the schema, a column of customers and a pulled type more. It is upgraded as an operator does it, a server at a
//! time, with the same data directory.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tillkeep_storage::{Db, raw};
use uuid::Uuid;

use crate::kept::Release;
use crate::kit::{Client, Fault, Process, Program, Shift, TestCluster, TestStore, eventually, id};

/// A chain of this release at work.
struct Work {
    // Before the chain: the checker looks at both at the end of a store.
    site: TestStore,
    chain: TestCluster,
    shift: Shift,
    product: String,
    /// A customer on account, who is not touched again.
    known: String,
}

impl Work {
    async fn begin() -> Self {
        let mut chain = TestCluster::new().await;
        let product = chain.product("A1", 1000).await;
        let known = json!({"lastName": "Known", "creditLimit": 5000});
        let known = id(&chain.admin.post("/customers", known).await.data());
        let site = chain.store().await;
        let mut shift = Shift::begin(&site, &product).await;
        assert!(shift.sell(&product, 1).await);
        let mut work = Self { site, chain, shift, product, known };
        work.one_more_customer("Before").await;
        work.all_is_sent().await;
        work
    }

    /// A new user at the store; the id.
    async fn one_more_customer(&mut self, name: &str) -> String {
        let client = self.at_store().await;
        id(&client.post("/customers", json!({"lastName": name})).await.data())
    }

    async fn at_store(&self) -> Client {
        self.site.admin().await
    }

    async fn all_is_sent(&self) {
        let client = self.at_store().await;
        self.site.drained(&client).await;
        let unknown = if self.site.process.program() == Program::This { "loyalty_tiers" } else { "" };
        self.chain.caught_up_but(&self.site, &client, unknown).await;
    }

    /// Both sides work: a price comes down, a sale and a customer go up; the customer, as headquarters has them.
    async fn works(&mut self, price: i64) -> Value {
        let edit = json!({"price": price});
        self.chain.admin.patch(&format!("/products/{}", self.product), edit).await.data();
        let client = self.at_store().await;
        self.site.knows(&client, &self.product, Some(price)).await;
        let sold = self.chain.sales(&self.site).await;
        // The first answer to a shift after a restart may be that it has to sign in again.
        let product = self.product.clone();
        while !self.shift.sell(&product, 1).await {}
        let customer = self.one_more_customer(&format!("At {price}")).await;
        self.all_is_sent().await;
        assert_eq!(self.chain.sales(&self.site).await, sold + 1);
        let status = client.get("/sync/status").await.data();
        assert_eq!(
            (&status["outbox"]["pending"], &status["outbox"]["deadLettered"]),
            (&json!(0), &json!(0)),
            "{status}"
        );
        self.chain.admin.get(&format!("/customers/{customer}")).await.data()
    }

    /// Headquarters is upgraded as `how` says, and gets a row of its new type and a value in its new column that no step
    /// would give. The store has no line meanwhile: it has not reloaded customers before that value is there.
    async fn hq_becomes_newer(&mut self, how: impl AsyncFnOnce(&mut Process)) {
        self.site.proxy.set(Fault::Down);
        how(&mut self.chain.hq).await;
        self.chain.hq.stop();
        let conn = open(&self.chain.hq).await;
        let tier = "INSERT INTO loyalty_tiers (id, created_at, updated_at, sync_version, code, name, earn_bps) \
                    VALUES ($1, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP, 1, 'platinum', 'Platinum', 300)";
        raw::execute(&conn, tier, [Uuid::now_v7().into()]).await.expect("a tier");
        let counter = "INSERT INTO sync_counters (entity_type, scope, value) VALUES ('loyalty_tiers', $1, 1)";
        raw::execute(&conn, counter, [Uuid::nil().into()]).await.expect("its counter");
        let known: Uuid = self.known.parse().expect("an id");
        let value = "UPDATE customers SET loyalty_tier = 'platinum' WHERE id = $1";
        assert_eq!(raw::execute(&conn, value, [known.into()]).await.expect("a value"), 1);
        close(conn).await;
        self.chain.hq.restart();
        self.site.proxy.set(Fault::None);
    }

    /// Everything is upgraded: what is new has arrived everywhere, and nothing was lost on the way.
    async fn ends_well(mut self) {
        let customer = self.works(4000).await;
        assert_eq!(customer["loyaltyTier"], "standard");
        let client = self.at_store().await;
        let known = format!("/customers/{}", self.known);
        eventually("the new column has the value of headquarters", async || {
            (client.get(&known).await.data()["loyaltyTier"] == "platinum").then_some(())
        })
        .await;
        let versions = client.get("/sync/status").await.data()["versions"].clone();
        assert_eq!(versions["loyalty_tiers"], 1, "{versions}");
        let customers = client.get("/customers?pageSize=100").await.data();
        assert_eq!(customers, self.chain.admin.get("/customers?pageSize=100").await.data());
        let receipts: Vec<String> = self.shift.sold.iter().map(|sold| sold.receipt.clone()).collect();
        assert_eq!(self.chain.sales(&self.site).await, receipts.len() as u64);
        assert_eq!(self.shift.wrong, Vec::<String>::new());
        verify_with_next(&self.chain, &self.site).await;
    }
}

/// The newer release's own checker finds nothing once everything is settled: a store that was just upgraded reloads the types of
/// which it knows more, once it has spoken with headquarters.
pub async fn verify_with_next(chain: &TestCluster, site: &TestStore) {
    let mut command = Command::new(Program::Next.path());
    command.env_clear().args(["verify", "--settled", "--store"]).arg(&site.process.dir);
    let url = chain.hq.database();
    if url.starts_with("postgres") {
        command.args(["--database-url", &url]);
    } else {
        command.arg("--hq").arg(&chain.hq.dir);
    }
    let begun = Instant::now();
    loop {
        let output = command.output().expect("the program runs");
        if output.status.success() {
            return;
        }
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(begun.elapsed() < Duration::from_secs(40), "the checker finds, long after all is well:\n{said}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// The database of a server that is stopped.
async fn open(server: &Process) -> tillkeep_storage::Connection {
    let url = server.database();
    let conn = if url.starts_with("postgres") {
        Db::open_to_read(&url).await
    } else {
        Db::open_alone(&server.dir.join("tillkeep.db"))
    };
    conn.expect("the database")
}

async fn close(conn: tillkeep_storage::Connection) {
    conn.close().await.expect("closed");
}

/// The names of the steps that a stopped server's database has.
async fn steps(server: &Process) -> Vec<String> {
    let conn = open(server).await;
    let rows = raw::query(&conn, "SELECT name FROM schema_steps ORDER BY name", []).await;
    let names = rows.expect("the steps").iter().map(|row| row.try_get("", "name").expect("a name")).collect();
    close(conn).await;
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn headquarters_is_upgraded_before_its_store_and_nothing_is_lost() {
    let mut work = Work::begin().await;
    work.hq_becomes_newer(async |hq| hq.upgrade()).await;
    // The store is of the older release: it takes no notice of the column and of the type.
    let customer = work.works(2000).await;
    assert_eq!(customer["loyaltyTier"], "standard", "what an older store does not send has the default");
    let client = work.at_store().await;
    let known = client.get(&format!("/customers/{}", work.known)).await.data();
    assert_eq!((&known["lastName"], known.get("loyaltyTier")), (&json!("Known"), None));
    work.site.process.upgrade();
    work.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_is_upgraded_before_its_headquarters_and_nothing_is_lost() {
    let mut work = Work::begin().await;
    work.site.process.upgrade();
    // Headquarters is of the older release: it takes the customer without the column.
    let customer = work.works(3000).await;
    assert_eq!(customer.get("loyaltyTier"), None);
    work.hq_becomes_newer(async |hq| hq.upgrade()).await;
    work.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_that_is_killed_in_the_middle_of_a_step_leaves_the_older_release_able_to_start_and_goes_on() {
    async fn killed(server: &mut Process) {
        server.stop();
        let before = steps(server).await;
        for place in ["1*return(kill)", "1*off->1*return(kill)", "3*off->1*return(kill)"] {
            server.is_of(Program::Next);
            server.set_environment("FAILPOINTS", &format!("migration.step={place}"));
            assert!(!server.try_restart() && server.died_at_its_start(), "it dies at {place}");
            assert_eq!(steps(server).await, before, "nothing is half done after {place}");
        }
        server.forget_environment("FAILPOINTS");
        server.is_of(Program::This);
        server.restart();
        server.upgrade();
    }
    let mut work = Work::begin().await;
    work.hq_becomes_newer(killed).await;
    killed(&mut work.site.process).await;
    work.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_release_refuses_a_file_of_a_newer_one_and_says_what_to_do() {
    async fn refused(server: &mut Process) {
        server.upgrade();
        server.stop();
        server.is_of(Program::This);
        if server.database().starts_with("postgres") {
            // Several servers may be in the middle of it, see `rolling.rs`.
            server.restart();
            server.upgrade();
            return;
        }
        let said = server.refuses_to_start();
        assert!(said.contains("_next_release") && said.contains("start the newer version"), "{said}");
        server.is_of(Program::Next);
        server.restart();
    }
    let mut work = Work::begin().await;
    work.hq_becomes_newer(refused).await;
    refused(&mut work.site.process).await;
    work.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_that_are_upgraded_at_once_both_start() {
    async fn twice(server: &mut Process) {
        server.stop();
        server.is_of(Program::Next);
        if !server.database().starts_with("postgres") {
            // A file has one server.
            server.restart();
            let said = server.another().refuses_to_start();
            assert!(said.contains("is in use by"), "{said}");
            return;
        }
        let mut other = server.beside();
        std::thread::scope(|scope| {
            scope.spawn(|| other.start_prepared());
            server.restart();
        });
        other.stop();
    }
    let mut work = Work::begin().await;
    work.hq_becomes_newer(twice).await;
    twice(&mut work.site.process).await;
    work.ends_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_databases_of_every_release_are_taken_over_and_their_servers_go_on() {
    for release in Release::all() {
        eprintln!("release {}", release.name);
        let (chain, site) = TestCluster::of_release(&release).await;
        chain.settled(&[&site], &[]).await;
        let till = site.sign_in(&release.about.username, &release.about.pin).await;
        let product = release.about.product.to_string();
        let (sold, level) = (chain.sales(&site).await, site.quantity(&till, &product).await);
        // The drawer of then is closed by the release of now.
        let current = format!("/register-sessions/current?terminalId={}", site.terminal);
        let session = till.get(&current).await.data();
        let mut counted = till.nothing_counted().await;
        counted["note"] = json!("taken over");
        till.post(&format!("/register-sessions/{}/close", id(&session)), counted).await.data();
        let register = session["registerId"].as_str().expect("a register");
        till.post(&format!("/registers/{register}/open"), json!({})).await.data();
        site.sell(&till, &product, 2).await;
        site.drained(&till).await;
        assert_eq!(chain.sales(&site).await, sold + 1);
        let left = site.quantity(&till, &product).await;
        assert_eq!(left.as_i64(), level.as_i64().map(|level| level - 2));
        chain.settled(&[&site], &[]).await;
    }
}
