//! A small chain, set up over HTTP as an operator does it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tillkeep_storage::Side;
use tillkeep_storage::entity::refund_claim;
use tillkeep_storage::verify::{Acknowledged, Options};
use uuid::Uuid;

use super::{Client, Fault, Process, Program, Proxy, Rows, database, eventually, verdict};
use crate::Home;
use crate::kept::Release;

pub const ADMIN: (&str, &str) = ("root", "739154");

pub struct TestCluster {
    pub hq: Process,
    /// Where stores and machines reach headquarters: that server, unless a balancer stands before it.
    pub front: String,
    pub admin: Client,
    pub department: String,
    pub tax_group: String,
    pub stores: usize,
    dir: Arc<TempDir>,
    /// Goes when the servers are gone.
    home: Arc<Home>,
    /// As that of a [`TestStore`].
    pub broken_on_purpose: bool,
}

/// A store server with the proxy between it and HQ.
pub struct TestStore {
    pub process: Process,
    pub proxy: Proxy,
    pub id: String,
    pub sync_token: String,
    pub terminal: String,
    /// Where headquarters has its database, which stays until both are looked at, whichever goes first.
    hq: String,
    _kept: (Arc<TempDir>, Arc<Home>),
    /// A test that breaks what must hold says so: the checker does not look at this store then.
    pub broken_on_purpose: bool,
}

/// Whatever a test did, what must always hold holds at its end. This program cannot read what a newer release has made: its
/// own checker does that, see `upgrade.rs`.
impl Drop for TestStore {
    fn drop(&mut self) {
        self.process.kill();
        if !std::thread::panicking() && !self.broken_on_purpose && self.process.program() == Program::This {
            let findings = verdict::now(Some(&self.hq), &[self.process.database()], Options::default());
            assert!(findings.is_empty(), "the checker found, at the end of the test:\n{}", verdict::list(&findings));
        }
    }
}

impl Drop for TestCluster {
    fn drop(&mut self) {
        self.hq.kill();
        if !std::thread::panicking() && !self.broken_on_purpose && self.hq.program() == Program::This {
            let findings = verdict::now(Some(&self.hq.database()), &[], Options::default());
            assert!(findings.is_empty(), "the checker found, at the end of the test:\n{}", verdict::list(&findings));
        }
    }
}

impl TestCluster {
    /// HQ with an administrator, a department and a tax of 8.875 %.
    pub async fn new() -> Self {
        Self::with(&[]).await
    }

    /// As [`TestCluster::new`], with more in the environment of HQ.
    pub async fn with(more: &[(&str, &str)]) -> Self {
        let dir = Arc::new(tempfile::tempdir().expect("dir"));
        let home = Arc::new(Home::make());
        let mut environment = vec![("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1)];
        environment.extend(home.environment());
        environment.extend_from_slice(more);
        let hq = Process::start("hq", &dir.path().join("hq"), &environment);
        let admin = Client::new(&hq.url).sign_in(ADMIN.0, ADMIN.1).await.expect("the administrator signs in");
        let rate = admin.post("/tax-rates", json!({"code": "NY", "name": "New York", "ratePpm": 88750})).await.data();
        let rates = json!([{"taxRateId": rate["id"], "storeId": null, "sequence": 1, "isCompound": false}]);
        let group = json!({"code": "STD", "name": "Standard", "priceMode": "exclusive", "rates": rates});
        let tax_group = admin.post("/tax-groups", group).await.data();
        let department = admin.post("/departments", json!({"code": "GROC", "name": "Grocery"})).await.data();
        let card = json!({"code": "CARD", "name": "Card", "kind": "card"});
        admin.post("/tenders", card).await.data();
        Self {
            front: hq.url.clone(),
            hq,
            admin,
            department: id(&department),
            tax_group: id(&tax_group),
            stores: 0,
            dir,
            home,
            broken_on_purpose: false,
        }
    }

    /// Headquarters and its store as an earlier release has left them.
    pub async fn of_release(release: &Release) -> (Self, TestStore) {
        let about = &release.about;
        let dir = Arc::new(tempfile::tempdir().expect("dir"));
        let home = Arc::new(Home::empty());
        let hq = Process::prepared("hq", &dir.path().join("hq"), &home.environment());
        let url = hq.database();
        release.install(Side::Hq, &hq.dir, url.starts_with("postgres").then_some(url.as_str())).await;
        let mut hq = hq;
        hq.start_prepared();
        let admin =
            Client::new(&hq.url).sign_in(&about.username, &about.pin).await.expect("the administrator signs in");
        let proxy = Proxy::start(&hq.url).await;
        let own = [("SYNC_TOKEN", about.sync_token.as_str()), ("HQ_URL", &proxy.url), ("SYNC_INTERVAL_MS", "200")];
        let mut process = Process::prepared("store", &dir.path().join(&about.store_code), &own);
        release.install(Side::Store, &process.dir, None).await;
        process.start_prepared();
        let chain = Self {
            front: hq.url.clone(),
            hq,
            admin,
            department: String::new(),
            tax_group: String::new(),
            stores: 1,
            dir: dir.clone(),
            home: home.clone(),
            broken_on_purpose: false,
        };
        let site = TestStore {
            process,
            proxy,
            id: about.store_id.to_string(),
            terminal: about.terminal.clone(),
            sync_token: about.sync_token.clone(),
            hq: url,
            _kept: (dir, home),
            broken_on_purpose: false,
        };
        (chain, site)
    }

    /// A product at `price`; its id.
    pub async fn product(&self, sku: &str, price: i64) -> String {
        let body = json!({
            "sku": sku, "name": format!("Product {sku}"), "price": price, "cost": price / 2,
            "departmentId": self.department, "taxGroupId": self.tax_group,
        });
        id(&self.admin.post("/products", body).await.data())
    }

    /// A user with these roles who has changed the PIN that was made for them to this one.
    pub async fn person(&self, name: &str, pin: &str, assignments: Value) -> String {
        let body = json!({"username": name, "displayName": name, "assignments": assignments});
        let made = self.admin.post("/users", body).await.data();
        self.change_pin(name, made["generatedPin"].as_str().expect("a PIN"), pin).await;
        id(&made)
    }

    /// A user changes a PIN at headquarters.
    pub async fn change_pin(&self, name: &str, current: &str, new: &str) {
        let person = Client::new(&self.hq.url).sign_in(name, current).await.expect("the present PIN is right");
        let change = json!({"currentPin": current, "newPin": new});
        assert_eq!(person.post("/auth/change-pin", change).await.status, 204);
    }

    /// Creates and provisions a store, and starts its server from `SYNC_TOKEN` and `HQ_URL` alone.
    pub async fn store(&mut self) -> TestStore {
        self.store_with(&[]).await
    }

    /// As [`TestCluster::store`], behind a line that has this fault from the beginning.
    pub async fn slow_store(&mut self, fault: Fault) -> TestStore {
        self.store_behind(fault, &[]).await
    }

    /// As [`TestCluster::store`], with more in the environment of the store.
    pub async fn store_with(&mut self, more: &[(&str, &str)]) -> TestStore {
        self.store_behind(Fault::None, more).await
    }

    async fn store_behind(&mut self, fault: Fault, more: &[(&str, &str)]) -> TestStore {
        self.stores += 1;
        let code = format!("S{:02}", self.stores);
        let body = json!({"code": code, "name": format!("Store {code}"), "timezone": "America/New_York"});
        let store = self.admin.post("/stores", body).await.data();
        let path = format!("/stores/{}/provision", id(&store));
        let provisioned = self.admin.post(&path, json!({})).await.data();
        let sync_token = provisioned["syncToken"].as_str().expect("token").to_owned();
        let proxy = Proxy::start(&self.front).await;
        proxy.set(fault);
        let own = [("SYNC_TOKEN", sync_token.as_str()), ("HQ_URL", &proxy.url), ("SYNC_INTERVAL_MS", "200")];
        let environment = [&own, more].concat();
        let process = Process::start("store", &self.dir.path().join(&code), &environment);
        TestStore {
            process,
            proxy,
            id: id(&store),
            terminal: format!("{code}-T1"),
            sync_token,
            hq: self.hq.database(),
            _kept: (self.dir.clone(), self.home.clone()),
            broken_on_purpose: false,
        }
    }

    /// The store that `process` is, which was started by other means than these.
    pub async fn site(&mut self, process: Process, store_id: &str, code: &str, sync_token: &str) -> TestStore {
        self.stores += 1;
        TestStore {
            process,
            proxy: Proxy::start(&self.front).await,
            id: store_id.to_owned(),
            sync_token: sync_token.to_owned(),
            terminal: format!("{code}-T1"),
            hq: self.hq.database(),
            _kept: (self.dir.clone(), self.home.clone()),
            broken_on_purpose: false,
        }
    }

    /// A client with a store's sync token: the machine protocol by hand.
    pub fn machine(&self, site: &TestStore) -> Client {
        Client::new(&self.hq.url).with_token(&site.sync_token)
    }

    /// Waits until `site` has pulled all that HQ has for it.
    pub async fn caught_up(&self, site: &TestStore, admin: &Client) {
        self.caught_up_but(site, admin, "").await;
    }

    /// As [`TestCluster::caught_up`], but for a type that a store of an older release does not know.
    pub async fn caught_up_but(&self, site: &TestStore, admin: &Client, unknown: &str) {
        let heads = self.machine(site).get("/sync/versions").await.body["versions"].clone();
        eventually("the store has every head", async || {
            let versions = admin.get("/sync/status").await.data()["versions"].clone();
            let behind = |(name, head): (&String, &Value)| {
                name != unknown && versions[name].as_i64().unwrap_or(0) < head.as_i64().unwrap_or(0)
            };
            (!heads.as_object()?.iter().any(behind)).then_some(())
        })
        .await;
    }

    /// Waits until everything was sent and pulled, then has the checker look at all of it.
    pub async fn settled(&self, sites: &[&TestStore], sold: &[Acknowledged]) {
        let stores: Vec<String> = sites.iter().map(|site| site.process.database()).collect();
        let begun = Instant::now();
        loop {
            let verifiers = verdict::verifiers(&self.hq.dir);
            let options = Options { settled: true, acknowledged: sold.to_vec(), verifiers, ..Options::default() };
            let findings = verdict::look(Some(&self.hq.database()), &stores, options).await;
            if findings.is_empty() {
                return;
            }
            let patient = begun.elapsed() < Duration::from_secs(40);
            assert!(patient, "the checker finds, long after all is well:\n{}", verdict::list(&findings));
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// HQ's row of one product in one store.
    pub async fn level(&self, site: &TestStore, product: &str) -> Option<Value> {
        let path = "/sync/pull?entity_type=store_product_dynamic&since_version=0";
        let rows = self.machine(site).get(path).await.body["rows"].clone();
        rows.as_array()?.iter().find(|row| row["productId"] == product).cloned()
    }

    /// How many sales of `site` HQ has.
    pub async fn sales(&self, site: &TestStore) -> u64 {
        let reply = self.admin.get(&format!("/sales?storeId={}&pageSize=1", site.id)).await;
        reply.body["pagination"]["total"].as_u64().expect("total")
    }

    /// What HQ, which must be stopped, holds for refunds that have not come.
    pub async fn claims(&self) -> Vec<refund_claim::Model> {
        database::claims(&self.hq.database_url()).await
    }

    /// Every row of a type at HQ, which must be stopped.
    pub async fn rows(&self, name: &str) -> Rows {
        database::rows_of_table(&self.hq.database_url(), Side::Hq, database::table(name)).await
    }
}

impl TestStore {
    /// A user at the store, once the store knows them.
    pub async fn sign_in(&self, username: &str, pin: &str) -> Client {
        let client = Client::new(&self.process.url);
        eventually("the user can sign in at the store", async || client.sign_in(username, pin).await).await
    }

    pub async fn admin(&self) -> Client {
        self.sign_in(ADMIN.0, ADMIN.1).await
    }

    /// The administrator behind an open drawer.
    pub async fn open_till(&self) -> Client {
        let till = self.admin().await;
        eventually("the store has its tenders", async || {
            let tenders = till.get("/tenders").await;
            let ready = tenders.body["data"].as_array()?.iter().any(|tender| tender["code"] == "CARD");
            ready.then_some(())
        })
        .await;
        let register = json!({"code": "01", "name": "Front", "terminalId": self.terminal});
        let register = till.post("/registers", register).await.data();
        let path = format!("/registers/{}/open", id(&register));
        let opened = eventually("the store has its own row", async || {
            let opened = till.post(&path, json!({})).await;
            (opened.status != 503).then_some(opened)
        });
        opened.await.data();
        till
    }

    /// Waits until the store sells `product`, at `price` when one is given.
    pub async fn knows(&self, till: &Client, product: &str, price: Option<i64>) {
        eventually("the store knows the product", async || {
            let reply = till.get(&format!("/products/{product}")).await;
            let found = reply.status.is_success();
            let right = price.is_none_or(|price| reply.body["data"]["price"] == price);
            (found && right).then_some(())
        })
        .await;
    }

    /// Sells `quantity` of `product` for the exact amount by card.
    pub async fn sell(&self, till: &Client, product: &str, quantity: i64) -> Value {
        let tenders = till.get("/tenders").await.data();
        let card = tenders.as_array().expect("list").iter().find(|tender| tender["code"] == "CARD").expect("card");
        let sale = json!({
            "id": Uuid::now_v7(),
            "terminalId": self.terminal,
            "lines": [{"productId": product, "quantity": quantity}],
            "payments": [{"tenderId": card["id"]}],
        });
        till.post("/pos/sales", sale).await.data()
    }

    /// Entries of the outbox in this state, oldest first.
    pub async fn outbox(&self, client: &Client, status: &str) -> Vec<Value> {
        let reply = client.get(&format!("/sync/outbox?status={status}&pageSize=200")).await;
        reply.data().as_array().expect("list").clone()
    }

    /// Waits until everything was sent.
    pub async fn drained(&self, client: &Client) {
        eventually("the outbox is empty", async || {
            let state = client.get("/sync/status").await.data()["outbox"].clone();
            (state["pending"] == 0).then_some(())
        })
        .await;
    }

    /// The quantity on hand at the store.
    pub async fn quantity(&self, client: &Client, product: &str) -> Value {
        client.get(&format!("/inventory/{product}")).await.data()["quantity"].clone()
    }

    /// Every row of a type at this store; its server must be stopped.
    pub async fn rows(&self, name: &str) -> Rows {
        database::rows_of_table(&self.process.database_url(), Side::Store, database::table(name)).await
    }

    /// Changes the database of this store; its server must be stopped.
    pub async fn execute(&self, sql: &str) {
        database::execute(&self.process.database_url(), Side::Store, sql).await;
    }
}

pub fn id(row: &Value) -> String {
    row["id"].as_str().expect("id").to_owned()
}
