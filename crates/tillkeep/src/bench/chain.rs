//! Headquarters and stores of one run, set up over HTTP as an operator does it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use reqwest::{Client, Method};
use rusqlite::{Connection, OpenFlags, Params};
use serde_json::{Value, json};
use uuid::Uuid;

use super::Bench;
use crate::child::Child;

const ADMIN: (&str, &str) = ("root", "739154");
/// Whatever is waited for takes less, on any machine that is worth measuring.
const PATIENCE: Duration = Duration::from_mins(5);

/// Calls of people, where what they cost does not matter.
#[derive(Clone)]
pub struct Api {
    http: Client,
    pub url: String,
    pub token: String,
}

impl Api {
    /// Signs the administrator in.
    pub async fn sign_in(url: &str) -> Result<Self> {
        let http = Client::builder().no_proxy().build()?;
        let mut api = Self { http, url: url.to_owned(), token: String::new() };
        let answer = api.call("POST", "/auth/login", Some(json!({"username": ADMIN.0, "pin": ADMIN.1}))).await?;
        api.token = text(&answer["data"], "accessToken")?;
        Ok(api)
    }

    /// The same server, for another caller.
    pub fn with(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }

    pub async fn get(&self, path: &str) -> Result<Value> {
        Ok(self.call("GET", path, None).await?["data"].take())
    }

    pub async fn post(&self, path: &str, body: Value) -> Result<Value> {
        Ok(self.call("POST", path, Some(body)).await?["data"].take())
    }

    /// The whole answer of a call.
    pub async fn call(&self, method: &str, path: &str, body: Option<Value>) -> Result<Value> {
        let mut request = self.http.request(method.parse::<Method>()?, format!("{}/api/v1{path}", self.url));
        if !self.token.is_empty() {
            request = request.bearer_auth(&self.token);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await?;
        let status = answer.status();
        let bytes = answer.bytes().await?;
        if !status.is_success() {
            bail!("{path} was answered {status}: {}", String::from_utf8_lossy(&bytes));
        }
        // Some answers have no body.
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }
}

/// A headquarters that runs, and what goods need there.
pub struct Chain {
    pub hq: Child,
    pub admin: Api,
    pub dir: PathBuf,
    program: PathBuf,
    environment: Vec<(&'static str, String)>,
    department: String,
    tax_group: String,
    stores: usize,
}

/// A store as headquarters knows it.
#[derive(Clone)]
pub struct Provisioned {
    pub id: Uuid,
    pub code: String,
    pub sync_token: String,
    pub dir: PathBuf,
}

impl Chain {
    /// On the embedded database, in a directory of its own.
    pub async fn start(bench: &Bench) -> Result<Self> {
        Self::start_with(bench, Vec::new()).await
    }

    /// As [`Chain::start`], with more in the environment of headquarters.
    pub async fn start_with(bench: &Bench, mut environment: Vec<(&'static str, String)>) -> Result<Self> {
        let dir = bench.directory()?;
        environment.extend([("ADMIN_USERNAME", ADMIN.0.to_owned()), ("ADMIN_PIN", ADMIN.1.to_owned())]);
        let hq = serve(&bench.program, "hq", &dir.join("hq"), &environment).await?;
        let admin = Api::sign_in(&hq.url).await?;
        let rate = admin.post("/tax-rates", json!({"code": "T", "name": "Tax", "ratePpm": 88750})).await?;
        let rates = json!([{"taxRateId": rate["id"], "storeId": null, "sequence": 1, "isCompound": false}]);
        let group = json!({"code": "STD", "name": "Standard", "priceMode": "exclusive", "rates": rates});
        let tax_group = text(&admin.post("/tax-groups", group).await?, "id")?;
        let department = admin.post("/departments", json!({"code": "GROC", "name": "Grocery"})).await?;
        admin.post("/tenders", json!({"code": "CARD", "name": "Card", "kind": "card"})).await?;
        let department = text(&department, "id")?;
        Ok(Self { hq, admin, dir, program: bench.program.clone(), environment, department, tax_group, stores: 0 })
    }

    /// Stops headquarters and starts it again, with `change` between.
    pub async fn restart(mut self, change: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        self.hq.stop().await;
        let dir = self.dir.join("hq");
        change(&dir.join("tillkeep.db"))?;
        self.hq = serve(&self.program, "hq", &dir, &self.environment).await?;
        self.admin.url.clone_from(&self.hq.url);
        Ok(self)
    }

    /// So many products; their ids.
    pub async fn products(&self, count: usize) -> Result<Vec<String>> {
        self.products_of(&self.department, 0..count).await
    }

    /// A further department; its id.
    pub async fn department(&self, code: &str) -> Result<String> {
        text(&self.admin.post("/departments", json!({"code": code, "name": code})).await?, "id")
    }

    /// Products of a department with these numbers, which no other product has; their ids.
    pub async fn products_of(&self, department: &str, numbers: std::ops::Range<usize>) -> Result<Vec<String>> {
        let mut ids = Vec::with_capacity(numbers.len());
        for number in numbers {
            let body = json!({
                "sku": format!("SKU-{number:06}"), "name": format!("Product number {number}"), "price": 1000 + number,
                "cost": 500, "barcode": format!("28{number:011}"),
                "departmentId": department, "taxGroupId": self.tax_group,
            });
            ids.push(text(&self.admin.post("/products", body).await?, "id")?);
        }
        Ok(ids)
    }

    /// A store with its token, which does not run yet.
    pub async fn provision(&mut self) -> Result<Provisioned> {
        self.stores += 1;
        let code = format!("S{:02}", self.stores);
        let body = json!({"code": code, "name": format!("Store {code}"), "timezone": "America/New_York"});
        let id = text(&self.admin.post("/stores", body).await?, "id")?;
        let provisioned = self.admin.post(&format!("/stores/{id}/provision"), json!({})).await?;
        let dir = self.dir.join(&code);
        Ok(Provisioned { id: id.parse()?, code, sync_token: text(&provisioned, "syncToken")?, dir })
    }

    /// Starts the server of a store.
    pub async fn open(&self, store: &Provisioned) -> Result<Child> {
        self.open_at(store, &self.hq.url).await
    }

    /// As [`Chain::open`], for a store that reaches another server of headquarters.
    pub async fn open_at(&self, store: &Provisioned, url: &str) -> Result<Child> {
        store.open(&self.program, url).await
    }

    /// A second server on the same database, with the same keys.
    pub async fn beside(&self) -> Result<Child> {
        let (own, dir) = (self.dir.join("hq"), self.dir.join("hq2"));
        std::fs::create_dir_all(&dir)?;
        for key in ["token.key", "pin.key"] {
            std::fs::copy(own.join(key), dir.join(key))?;
        }
        serve(&self.program, "hq", &dir, &self.environment).await
    }

    /// A request of a store to headquarters, as the API of people makes them.
    pub fn machine(&self, store: &Provisioned) -> Api {
        self.admin.with(&store.sync_token)
    }

    pub async fn stop(self) {
        self.hq.stop().await;
    }
}

impl Provisioned {
    /// Starts its server, which knows headquarters at `url`, there or not.
    pub async fn open(&self, program: &Path, url: &str) -> Result<Child> {
        let environment = [("SYNC_TOKEN", self.sync_token.clone()), ("HQ_URL", url.to_owned())];
        serve(program, "store", &self.dir, &environment).await
    }

    /// Waits until the store's database has `entity_type` up to `version`. Whoever signs in before the store knows anybody is
    /// held up as a guesser.
    pub async fn has(&self, entity_type: &str, version: i64) -> Result<()> {
        let sql = "SELECT COALESCE((SELECT last_version FROM sequences WHERE entity_type = ?1), 0) >= ?2";
        let asked = self.until(sql, (entity_type, version)).await;
        asked.with_context(|| format!("store {} did not pull {entity_type} up to {version}", self.code))
    }

    /// Waits until headquarters has confirmed all that the store has sent.
    pub async fn has_sent_all(&self) -> Result<()> {
        let asked = self.until("SELECT NOT EXISTS (SELECT 1 FROM sync_outbox)", ()).await;
        asked.with_context(|| format!("store {} did not send everything", self.code))
    }

    /// Waits until `sql` says yes of the store's database. Looks into the file: asking the store would cost it time.
    async fn until(&self, sql: &str, params: impl Params + Copy) -> Result<()> {
        let begun = Instant::now();
        let path = self.dir.join("tillkeep.db");
        let look = || -> rusqlite::Result<bool> {
            let conn = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            conn.query_row(sql, params, |row| row.get(0))
        };
        loop {
            // The file may not be there yet.
            let looked = look();
            if matches!(looked, Ok(true)) {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                bail!("waited for {} s in vain: {looked:?}", PATIENCE.as_secs());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the store has all that `chain` has, then signs the administrator in there.
    pub async fn caught_up(&self, chain: &Chain, server: &Child) -> Result<Api> {
        let heads = chain.machine(self).call("GET", "/sync/versions", None).await?;
        for (entity_type, version) in heads["versions"].as_object().context("versions")? {
            self.has(entity_type, version.as_i64().unwrap_or_default()).await?;
        }
        Api::sign_in(&server.url).await
    }
}

async fn serve(program: &Path, command: &str, dir: &Path, environment: &[(&str, String)]) -> Result<Child> {
    std::fs::create_dir_all(dir)?;
    let environment: Vec<(&str, &str)> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Child::start(program, (command, 0), dir, &environment, command).await
}

/// The process of a server that must be running.
pub fn process(server: &Child) -> Result<u32> {
    server.id().with_context(|| format!("{} has ended by itself", server.name))
}

/// A member of an answer that is a text.
pub fn text(answer: &Value, name: &str) -> Result<String> {
    answer[name].as_str().map(str::to_owned).with_context(|| format!("an answer without {name}: {answer}"))
}
