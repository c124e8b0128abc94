//! Databases that are restored, cloned or lost, at headquarters and at a store. `docs/sync.md`, rules D8 and D9.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use uuid::Uuid;

use crate::kit::{ADMIN, Client, Fault, TestCluster, TestStore, eventually, id};

/// A copy of a data directory while its server is stopped.
pub fn copy(dir: &Path) -> PathBuf {
    let aside = dir.with_extension("aside");
    drop(fs::remove_dir_all(&aside));
    copy_files(dir, &aside);
    aside
}

pub fn copy_files(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let path = entry.expect("an entry").path();
        // The log of the server goes on, whatever happens to its database.
        if path.is_file() && !path.ends_with("server.log") {
            fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("a copy");
        }
    }
}

pub fn restore(dir: &Path, aside: &Path) {
    forget(dir);
    copy_files(aside, dir);
}

pub fn forget(dir: &Path) {
    for file in ["tillkeep.db", "tillkeep.db-wal", "tillkeep.db-shm"] {
        drop(fs::remove_file(dir.join(file)));
    }
}

pub async fn new_admin(chain: &mut TestCluster) {
    chain.admin = Client::new(&chain.hq.url).sign_in(ADMIN.0, ADMIN.1).await.expect("sign in");
}

/// The receipts in a list of sales: `/sales` at headquarters, `/pos/sales` at a store.
pub async fn receipts(client: &Client, list: &str) -> Vec<String> {
    let reply = client.get(&format!("{list}?pageSize=200&sort=receiptNumber")).await;
    // A store that begins from nothing knows the caller before it knows what the caller may.
    let sales = if reply.status == 403 { json!([]) } else { reply.data() };
    let mut receipts: Vec<String> = sales
        .as_array()
        .expect("list")
        .iter()
        .map(|sale| sale["receiptNumber"].as_str().expect("receipt").to_owned())
        .collect();
    receipts.sort();
    receipts
}

pub async fn has_all(chain: &TestCluster, wanted: &[String]) {
    eventually("headquarters has every receipt once", async || {
        (receipts(&chain.admin, "/sales").await == wanted).then_some(())
    })
    .await;
}

pub struct Shop {
    pub chain: TestCluster,
    pub site: TestStore,
    pub till: Client,
    pub product: String,
    pub sold: Vec<String>,
}

impl Shop {
    pub async fn open() -> Self {
        let mut chain = TestCluster::new().await;
        let product = chain.product("A1", 1000).await;
        let site = chain.store().await;
        let till = site.open_till().await;
        site.knows(&till, &product, None).await;
        Self { chain, site, till, product, sold: Vec::new() }
    }

    pub async fn sell(&mut self, count: usize) {
        for _ in 0..count {
            let sale = self.site.sell(&self.till, &self.product, 1).await;
            self.sold.push(sale["receiptNumber"].as_str().expect("receipt").to_owned());
        }
    }

    pub async fn customer(&self, name: &str) -> Value {
        self.till.post("/customers", json!({"lastName": name})).await.data()
    }

    /// The store as it is now; it goes on.
    pub async fn copy_of_store(&mut self) -> PathBuf {
        self.site.process.stop();
        let aside = copy(&self.site.process.dir);
        self.site.process.restart();
        self.till = self.site.admin().await;
        aside
    }

    /// The store is as it was, on a line with this fault.
    pub async fn put_store_back(&mut self, aside: &Path, line: Fault) {
        self.site.process.stop();
        restore(&self.site.process.dir, aside);
        self.site.proxy.set(line);
        self.site.process.restart();
        self.till = self.site.admin().await;
    }

    /// Headquarters as it is now; it goes on.
    pub fn copy_of_headquarters(&mut self) -> PathBuf {
        self.chain.hq.stop();
        let aside = copy(&self.chain.hq.dir);
        self.chain.hq.restart();
        aside
    }

    /// Headquarters is as it was, and its administrator is signed in.
    pub async fn put_headquarters_back(&mut self, aside: &Path) {
        self.chain.hq.stop();
        restore(&self.chain.hq.dir, aside);
        self.chain.hq.restart();
        new_admin(&mut self.chain).await;
    }

    pub async fn sent(&self) {
        self.site.drained(&self.till).await;
        self.chain.caught_up(&self.site, &self.till).await;
    }

    pub async fn levels_agree(&self, quantity: i64) {
        eventually("both sides have the same stock", async || {
            let at_hq = self.chain.level(&self.site, &self.product).await?["quantity"].clone();
            let here = self.site.quantity(&self.till, &self.product).await;
            (at_hq == quantity && here == quantity).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_headquarters_that_is_restored_as_a_file_gets_again_what_it_lost() {
    let mut shop = Shop::open().await;
    shop.sell(3).await;
    shop.sent().await;
    let aside = shop.copy_of_headquarters();
    shop.sell(4).await;
    let customer = shop.customer("Kept").await;
    let later = shop.chain.product("B2", 500).await;
    shop.site.knows(&shop.till, &later, None).await;
    shop.sent().await;
    has_all(&shop.chain, &shop.sold.clone()).await;

    shop.put_headquarters_back(&aside).await;
    has_all(&shop.chain, &shop.sold.clone()).await;
    // A customer that headquarters had lost was sent before anything was reloaded.
    let found = format!("/customers/{}", id(&customer));
    eventually("the customer is back", async || shop.chain.admin.get(&found).await.status.is_success().then_some(()))
        .await;
    assert_eq!(shop.till.get(&found).await.data()["lastName"], "Kept");
    // What headquarters does not have any more goes at the store, too.
    eventually("the lost product is gone", async || {
        (shop.till.get(&format!("/products/{later}")).await.status == 404).then_some(())
    })
    .await;
    shop.sell(1).await;
    shop.sent().await;
    has_all(&shop.chain, &shop.sold.clone()).await;
    shop.levels_agree(-8).await;
    assert!(shop.site.outbox(&shop.till, "failed").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_headquarters_that_has_overtaken_the_cursors_is_noticed() {
    let mut shop = Shop::open().await;
    shop.sent().await;
    let aside = shop.copy_of_headquarters();
    let lost = shop.chain.product("LOST", 500).await;
    shop.site.knows(&shop.till, &lost, None).await;
    shop.sent().await;

    shop.site.proxy.set(Fault::Down);
    shop.put_headquarters_back(&aside).await;
    let mut made = Vec::new();
    for number in 0..5 {
        made.push(shop.chain.product(&format!("N{number}"), 700).await);
    }
    // The answer to the handshake that finds it out is lost, once and again.
    shop.site.proxy.set(Fault::LoseAnswers);
    let before = shop.site.proxy.lost_answers();
    eventually("answers are lost", async || (shop.site.proxy.lost_answers() > before + 2).then_some(())).await;
    shop.site.proxy.set(Fault::None);
    for product in &made {
        shop.site.knows(&shop.till, product, Some(700)).await;
    }
    eventually("what headquarters lost is gone", async || {
        (shop.till.get(&format!("/products/{lost}")).await.status == 404).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_forgotten_while_both_clocks_were_a_year_ahead_is_sent_again_to_a_restored_headquarters() {
    let mut shop = Shop::open().await;
    shop.sent().await;
    let aside = shop.copy_of_headquarters();
    shop.sell(3).await;
    let customer = shop.customer("Kept").await;
    shop.sent().await;
    for offset in [400 * 24 * 3600 * 1000_i64, 0] {
        shop.site.process.stop();
        shop.chain.hq.stop();
        for process in [&mut shop.chain.hq, &mut shop.site.process] {
            process.set_environment("CLOCK_OFFSET_MS", &offset.to_string());
            process.restart();
        }
        eventually("the store has forgotten what it sent", async || {
            shop.site.process.log().contains("is kept as a number alone").then_some(())
        })
        .await;
    }
    shop.till = shop.site.admin().await;
    shop.sell(2).await;
    shop.sent().await;

    shop.put_headquarters_back(&aside).await;
    has_all(&shop.chain, &shop.sold.clone()).await;
    let found = format!("/customers/{}", id(&customer));
    eventually("the customer is back", async || shop.chain.admin.get(&found).await.status.is_success().then_some(()))
        .await;
    shop.sell(1).await;
    shop.sent().await;
    has_all(&shop.chain, &shop.sold.clone()).await;
    shop.levels_agree(-6).await;
    assert!(shop.site.outbox(&shop.till, "failed").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_store_gets_its_own_sales_and_its_stock_again_and_gives_no_number_twice() {
    let mut shop = Shop::open().await;
    shop.sell(3).await;
    shop.sent().await;
    let aside = shop.copy_of_store().await;
    shop.sell(4).await;
    shop.customer("Numbered").await;
    shop.sent().await;

    shop.put_store_back(&aside, Fault::None).await;
    eventually("the store has its sales again", async || {
        (receipts(&shop.till, "/pos/sales").await == shop.sold).then_some(())
    })
    .await;
    shop.levels_agree(-7).await;
    shop.sell(2).await;
    assert_eq!(shop.sold.last().map(String::as_str), Some("S01-01-000009"));
    assert_eq!(shop.customer("Next").await["customerNumber"], "S01-000002");
    shop.sent().await;
    has_all(&shop.chain, &shop.sold.clone()).await;
    shop.levels_agree(-9).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reinstalled_store_gets_its_recent_own_sales_back() {
    let mut shop = Shop::open().await;
    let received = json!({"id": Uuid::now_v7(), "productId": shop.product, "quantityChange": 50, "reason": "received", "unitCost": 480});
    shop.till.post("/inventory/adjustments", received).await.data();
    shop.sell(5).await;
    shop.sent().await;

    shop.site.process.stop();
    forget(&shop.site.process.dir);
    shop.site.process.restart();
    shop.till = shop.site.admin().await;
    eventually("the store has its sales again", async || {
        (receipts(&shop.till, "/pos/sales").await == shop.sold).then_some(())
    })
    .await;
    shop.levels_agree(45).await;
    let sales = shop.till.get("/pos/sales?pageSize=1").await.data();
    let sale = shop.till.get(&format!("/pos/sales/{}", id(&sales[0]))).await.data();
    assert_eq!(sale["saleItems"].as_array().map(Vec::len), Some(1), "with its lines, as a refund needs them");
    assert_eq!(sale["salePayments"].as_array().map(Vec::len), Some(1));
    // The till is known by its drawer, which is still open; its terminal is given to it again.
    let registers = shop.till.get("/registers").await.data();
    let register = id(&registers[0]);
    assert_eq!(registers[0]["code"], "01");
    let terminal = json!({"terminalId": shop.site.terminal});
    shop.till.patch(&format!("/registers/{register}"), terminal).await.data();
    shop.sell(1).await;
    assert_eq!(shop.sold.last().map(String::as_str), Some("S01-01-000006"));
    shop.sent().await;
    has_all(&shop.chain, &shop.sold.clone()).await;
    shop.levels_agree(44).await;
}

/// Runs the program with these arguments, for a data directory.
pub fn tillkeep(arguments: &[&str], dir: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
    command.args(arguments).arg("--data-dir").arg(dir).env_clear().output().expect("the program runs")
}

#[track_caller]
pub fn done(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[track_caller]
pub fn refused(output: &Output) -> String {
    assert!(!output.status.success(), "it should have refused");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_a_running_headquarters_is_restored_and_gets_again_what_it_lacks() {
    let mut shop = Shop::open().await;
    shop.sell(3).await;
    shop.sent().await;
    let hq = shop.chain.hq.dir.clone();
    let file = hq.with_extension("backup");
    let text = file.to_str().expect("a path");
    done(&tillkeep(&["backup", text], &hq));
    assert!(refused(&tillkeep(&["backup", text], &hq)).contains("exists"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).expect("the backup").permissions());
    assert_eq!(mode & 0o777, 0o600, "it has the keys inside");
    shop.sell(4).await;
    let customer = shop.customer("Kept").await;
    shop.sent().await;

    assert!(refused(&tillkeep(&["restore", text, "--replace"], &hq)).contains("stop it first"));
    shop.chain.hq.stop();
    assert!(refused(&tillkeep(&["restore", text], &hq)).contains("--replace"));
    fs::remove_file(hq.join("pin.key")).expect("the key is lost with the machine");
    done(&tillkeep(&["restore", text, "--replace"], &hq));
    shop.chain.hq.restart();
    new_admin(&mut shop.chain).await;
    has_all(&shop.chain, &shop.sold.clone()).await;
    let found = format!("/customers/{}", id(&customer));
    eventually("the customer is back", async || shop.chain.admin.get(&found).await.status.is_success().then_some(()))
        .await;
    shop.sell(1).await;
    shop.sent().await;
    shop.levels_agree(-8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_a_store_is_restored_on_another_machine() {
    let mut shop = Shop::open().await;
    shop.sell(3).await;
    shop.sent().await;
    let dir = shop.site.process.dir.clone();
    let file = dir.with_extension("backup");
    done(&tillkeep(&["backup", file.to_str().expect("a path")], &dir));
    shop.sell(4).await;
    shop.sent().await;

    shop.site.process.stop();
    for name in ["tillkeep.db", "pin.key", "token.key"] {
        fs::remove_file(dir.join(name)).expect("the machine is lost");
    }
    forget(&dir);
    let said = done(&tillkeep(&["restore", file.to_str().expect("a path")], &dir));
    assert!(said.contains("a store"), "{said}");
    shop.site.process.restart();
    shop.till = shop.site.admin().await;
    eventually("the store has its sales again", async || {
        (receipts(&shop.till, "/pos/sales").await == shop.sold).then_some(())
    })
    .await;
    shop.levels_agree(-7).await;
    shop.sell(1).await;
    assert_eq!(shop.sold.last().map(String::as_str), Some("S01-01-000008"));
    shop.sent().await;
    has_all(&shop.chain, &shop.sold.clone()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_backup_is_not_restored() {
    let dir = tempfile::tempdir().expect("dir");
    let file = dir.path().join("backup");
    fs::write(&file, "not a database, whatever its name says").expect("a file");
    let data = dir.path().join("data");
    refused(&tillkeep(&["restore", file.to_str().expect("a path")], &data));
    assert!(!data.exists(), "nothing was made");
    let missing = refused(&tillkeep(&["backup", file.to_str().expect("a path")], &data));
    assert!(missing.contains("is not there"), "{missing}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_a_store_work_beside_its_server() {
    let mut shop = Shop::open().await;
    shop.sent().await;
    shop.chain.hq.stop();
    shop.sell(2).await;
    let dir = shop.site.process.dir.clone();
    let status = done(&tillkeep(&["store", "status"], &dir));
    assert!(status.contains("outbox: 2 pending, 0 dead"), "{status}");
    let list = done(&tillkeep(&["store", "outbox", "list"], &dir));
    assert_eq!(list.lines().filter(|line| line.contains(" sales ")).count(), 2, "{list}");
    assert_eq!(done(&tillkeep(&["store", "outbox", "list", "--dead"], &dir)), "");
    assert!(done(&tillkeep(&["store", "outbox", "requeue"], &dir)).starts_with("0 entries"));
    assert!(refused(&tillkeep(&["store", "outbox", "requeue", "999"], &dir)).contains("no entry 999"));
    assert!(refused(&tillkeep(&["store", "resync", "sales"], &dir)).contains("not a type that stores pull"));
    // What the store has and headquarters does not, a load from the beginning takes away.
    let db =
        tillkeep_storage::Db::open_file(&dir.join("tillkeep.db"), tillkeep_storage::Side::Store).await.expect("db");
    let tx = db.begin().await.expect("a transaction");
    let sql = "UPDATE departments SET name = 'Spoilt'";
    tillkeep_storage::raw::execute(&tx, sql, []).await.expect("an update");
    tx.commit().await.expect("a commit");
    db.close().await.expect("closed");
    done(&tillkeep(&["store", "resync", "departments"], &dir));
    shop.chain.hq.restart();
    eventually("the department is as headquarters has it", async || {
        let departments = shop.till.get("/departments").await.data();
        departments.as_array()?.iter().any(|department| department["name"] == "Grocery").then_some(())
    })
    .await;
    shop.sent().await;
    has_all(&shop.chain, &shop.sold.clone()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_store_that_sells_on_before_it_has_a_line_gets_back_what_it_had_sold() {
    let mut shop = Shop::open().await;
    shop.sell(2).await;
    shop.sent().await;
    let aside = shop.copy_of_store().await;
    shop.sell(3).await;
    shop.sent().await;

    shop.put_store_back(&aside, Fault::Down).await;
    // More than it has lost, so that none of its numbers is behind those that headquarters has.
    shop.sell(5).await;
    shop.site.proxy.set(Fault::None);
    shop.sold.sort();
    has_all(&shop.chain, &shop.sold.clone()).await;
    eventually("the store has its sales again", async || {
        (receipts(&shop.till, "/pos/sales").await == shop.sold).then_some(())
    })
    .await;
    shop.levels_agree(-10).await;
    assert!(shop.site.outbox(&shop.till, "failed").await.is_empty());
    // Three numbers were given twice, which the store could not know without a line: the checker says so.
    shop.site.broken_on_purpose = true;
    shop.chain.broken_on_purpose = true;
}
