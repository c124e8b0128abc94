//! A simulated till: signs in, opens its drawer, sells a few baskets a minute over the store's HTTP API, with specials, discounts,
//! labels and packs, and expects what was quoted. Now and then something comes back.

mod back;
mod basket;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use tillkeep_model::ids;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use self::basket::{Article, Known};
use super::chain::{SEED, Stream};
use super::plant::{Account, Planted, PlantedStore};

/// How long a store may take until its people can sign in: it has to pull them first.
const READY_WITHIN: Duration = Duration::from_mins(2);

/// What a till sold since the demo began.
#[derive(Default)]
pub struct Counter {
    pub sales: AtomicU64,
    pub minor_units: AtomicU64,
    /// What specials and discounts took off.
    pub saved: AtomicU64,
    /// What was given back or undone.
    pub given_back: AtomicU64,
    pub failures: AtomicU64,
}

pub struct Till {
    http: Client,
    base: String,
    store_id: Uuid,
    code: String,
    terminal: String,
    admin: Account,
    manager: Account,
    cashier: Account,
    opening_stock: Vec<(Uuid, tillkeep_model::Qty, tillkeep_model::Money)>,
    pause: Duration,
    random: Stream,
    /// Customers who bought something.
    served: u64,
    /// The receipt that was printed last, for a store that takes it.
    last_receipt: Option<String>,
    takes_last_receipt: bool,
}

/// What a sale came to, and what was taken off.
struct Sold {
    total: u64,
    saved: u64,
    /// As the store has it.
    document: Value,
}

impl Counter {
    fn sold(&self, total: u64, saved: u64) {
        self.sales.fetch_add(1, Ordering::Relaxed);
        self.minor_units.fetch_add(total, Ordering::Relaxed);
        self.saved.fetch_add(saved, Ordering::Relaxed);
    }
}

impl Till {
    pub fn new(planted: &Planted, store: &PlantedStore, url: &str, per_minute: u32) -> Result<Self> {
        Ok(Self {
            http: Client::builder().timeout(Duration::from_secs(10)).no_proxy().build()?,
            base: format!("{url}/api/v1"),
            store_id: store.id,
            code: store.code.clone(),
            terminal: format!("{}-TILL-01", store.code),
            admin: planted.account("admin")?,
            manager: planted.of_store("store_manager", &store.code)?,
            cashier: planted.of_store("cashier", &store.code)?,
            opening_stock: store.opening_stock.clone(),
            pause: Duration::from_mins(1) / per_minute,
            random: Stream::new(SEED, &format!("till:{}", store.code)),
            served: 0,
            last_receipt: None,
            takes_last_receipt: false,
        })
    }

    /// Makes the store ready for who sells there by hand: it has its register and its stock, and nobody has opened a drawer. Until
    /// its people have arrived it is tried again.
    pub async fn made_ready(&self) -> Result<()> {
        let begun = Instant::now();
        loop {
            let Err(error) = self.make_ready().await else { return Ok(()) };
            if begun.elapsed() > READY_WITHIN {
                return Err(error).with_context(|| format!("store {} does not become ready", self.code));
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    async fn make_ready(&self) -> Result<()> {
        let admin = self.sign_in(&self.admin).await?;
        self.register(&admin).await?;
        let manager = self.sign_in(&self.manager).await?;
        self.stock_up(&manager).await?;
        // The cashier is who the reader signs in as next.
        self.pin_in().await?;
        Ok(())
    }

    /// Sells until `stop`; whatever goes wrong is tried again.
    pub async fn run(mut self, counter: Arc<Counter>, stop: CancellationToken) {
        while !stop.is_cancelled() {
            let shift = tokio::select! {
                shift = self.shift(&counter) => shift,
                () = stop.cancelled() => return,
            };
            if let Err(error) = shift {
                counter.failures.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(store = self.code, error = format!("{error:#}"), "the till starts over");
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_secs(1)) => {}
                    () = stop.cancelled() => return,
                }
            }
        }
    }

    async fn shift(&mut self, counter: &Counter) -> Result<()> {
        let admin = self.sign_in(&self.admin).await?;
        let register = self.register(&admin).await?;
        let manager = self.sign_in(&self.manager).await?;
        self.stock_up(&manager).await?;
        let cashier = self.pin_in().await?;
        self.open_drawer(&cashier, &register).await?;
        let known = self.get(&cashier, &format!("/pos/bootstrap?terminalId={}", self.terminal)).await?;
        self.takes_last_receipt = known["takesLastReceipt"] == true;
        let articles = self.articles(&cashier).await?;
        let known = Known {
            reasons: discount_reasons(&self.get(&cashier, "/reasons?kind=discount&pageSize=100").await?),
            // Each of the demo has a telephone number with it.
            customers: ids_of(&self.get(&cashier, "/pos/customers?search=55501&pageSize=100").await?),
        };
        let tenders = self.get(&cashier, "/tenders").await?;
        let tender = |kind: &str| {
            let found = tenders.as_array().and_then(|list| list.iter().find(|tender| tender["kind"] == kind));
            found
                .and_then(|tender| tender["id"].as_str())
                .map(str::to_owned)
                .with_context(|| format!("no {kind} tender"))
        };
        let (cash, card) = (tender("cash")?, tender("card")?);
        loop {
            if let Some(sold) = self.sell(&cashier, &articles, &known, [&cash, &card]).await? {
                counter.sold(sold.total, sold.saved);
                self.served += 1;
                let back = self.come_back(&manager, (self.served, &sold.document), &articles, &cash).await?;
                counter.given_back.fetch_add(back.given, Ordering::Relaxed);
                if let Some(total) = back.sold {
                    counter.sold(total, 0);
                }
            }
            tokio::time::sleep(self.pause).await;
        }
    }

    async fn sign_in(&self, account: &Account) -> Result<String> {
        let body = json!({"username": account.username, "pin": account.pin});
        let answer = self.call(Method::POST, None, "/auth/login", Some(body)).await?.1;
        answer["data"]["accessToken"].as_str().map(str::to_owned).context("no user could sign in yet")
    }

    async fn pin_in(&self) -> Result<String> {
        let body = json!({"pin": self.cashier.pin, "storeId": self.store_id, "terminalId": self.terminal});
        let answer = self.call(Method::POST, None, "/auth/pin-login", Some(body)).await?.1;
        answer["data"]["accessToken"].as_str().map(str::to_owned).context("the cashier could not sign in")
    }

    /// The register of this till, made when it is the first time.
    async fn register(&self, token: &str) -> Result<String> {
        let body = json!({"code": "01", "name": "Front till", "terminalId": self.terminal});
        self.call(Method::POST, Some(token), "/registers", Some(body)).await?;
        let registers = self.get(token, "/registers").await?;
        let mine = registers.as_array().and_then(|list| list.iter().find(|row| row["terminalId"] == self.terminal));
        mine.and_then(|row| row["id"].as_str()).map(str::to_owned).context("the till has no register")
    }

    /// Opening stock, each product once: the ids are always the same.
    async fn stock_up(&self, token: &str) -> Result<()> {
        for (product, quantity, cost) in &self.opening_stock {
            let id = ids::named(&format!("demo:opening:{}:{product}", self.code));
            let body = json!({
                "id": id, "productId": product, "quantityChange": quantity, "reason": "opening", "unitCost": cost,
            });
            let (status, answer) = self.call(Method::POST, Some(token), "/inventory/adjustments", Some(body)).await?;
            if !status.is_success() {
                bail!("opening stock: {answer}");
            }
        }
        Ok(())
    }

    async fn open_drawer(&self, token: &str, register: &str) -> Result<()> {
        let current = format!("/register-sessions/current?terminalId={}", self.terminal);
        if self.call(Method::GET, Some(token), &current, None).await?.0.is_success() {
            return Ok(());
        }
        let (status, answer) =
            self.call(Method::POST, Some(token), &format!("/registers/{register}/open"), Some(json!({}))).await?;
        if status.is_success() { Ok(()) } else { bail!("the drawer does not open: {answer}") }
    }

    async fn articles(&self, token: &str) -> Result<Vec<Article>> {
        let mut articles = Vec::new();
        for page in 1..=2 {
            let rows = self.get(token, &format!("/pos/products?page={page}&pageSize=200")).await?;
            articles.extend(rows.as_array().into_iter().flatten().filter_map(Article::read));
        }
        if articles.is_empty() {
            bail!("the store has no products yet");
        }
        Ok(articles)
    }

    async fn quote(&self, token: &str, basket: &Value) -> Result<Value> {
        let (status, quote) = self.call(Method::POST, Some(token), "/pos/quote", Some(basket.clone())).await?;
        if status.is_success() { Ok(quote["data"].clone()) } else { bail!("no quote: {quote}") }
    }

    async fn sell(
        &mut self,
        token: &str,
        articles: &[Article],
        known: &Known,
        [cash, card]: [&str; 2],
    ) -> Result<Option<Sold>> {
        let mut basket = basket::basket(articles, known, &mut self.random);
        basket["id"] = json!(Uuid::now_v7());
        basket["terminalId"] = json!(self.terminal);
        for (place, line) in basket["lines"].as_array_mut().into_iter().flatten().enumerate() {
            line["lineId"] = place.to_string().into();
        }
        let mut quote = self.quote(token, &basket).await?;
        let full = basket.clone();
        if basket::discount(&mut basket, &quote, known, &mut self.random) {
            quote = self.quote(token, &basket).await?;
            if quote["needs"].as_array().into_iter().flatten().any(|need| need["held"] == false) {
                // More than a cashier may: nobody is called for it.
                basket = full;
                quote = self.quote(token, &basket).await?;
            }
        }
        let total = quote["totalAmount"].as_i64().context("a quote without a total")?;
        let payment = if self.random.below(100) < 55 {
            json!({"tenderId": card})
        } else {
            // A note that covers it: the next whole ten, or twenty.
            json!({"tenderId": cash, "tenderedAmount": (total / 1000 + self.random.between(1, 2)) * 1000})
        };
        let mut sale = basket;
        sale["payments"] = json!([payment]);
        sale["expectedTotal"] = total.into();
        if self.takes_last_receipt && self.last_receipt.is_some() {
            sale["lastReceipt"] = json!(self.last_receipt);
        }
        let (status, answer) = self.call(Method::POST, Some(token), "/pos/sales", Some(sale)).await?;
        if status.is_success() {
            self.last_receipt = answer["data"]["receiptNumber"].as_str().map(str::to_owned);
            let off = ["specialDiscount", "lineDiscount", "cartDiscount"]
                .map(|name| quote[name].as_u64().unwrap_or_default());
            let document = answer["data"].clone();
            return Ok(Some(Sold { total: total.unsigned_abs(), saved: off.iter().sum(), document }));
        }
        if answer["code"] == "total_mismatch" {
            // A price changed between quote and payment; the next customer pays the new one.
            return Ok(None);
        }
        bail!("no sale: {answer}")
    }

    async fn get(&self, token: &str, path: &str) -> Result<Value> {
        let (status, answer) = self.call(Method::GET, Some(token), path, None).await?;
        if status.is_success() { Ok(answer["data"].clone()) } else { bail!("{path}: {answer}") }
    }

    async fn call(
        &self,
        method: Method,
        token: Option<&str>,
        path: &str,
        body: Option<Value>,
    ) -> Result<(StatusCode, Value)> {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await?;
        let status = response.status();
        let bytes = response.bytes().await?;
        Ok((status, serde_json::from_slice(&bytes).unwrap_or_default()))
    }
}

/// Codes of the reasons for a discount that can be given without a word more.
fn discount_reasons(reasons: &Value) -> Vec<String> {
    let fits = |row: &&Value| row["kind"] == "discount" && row["needsNote"] == false && row["isActive"] == true;
    let fitting = reasons.as_array().into_iter().flatten().filter(fits);
    fitting.filter_map(|row| row["code"].as_str().map(str::to_owned)).collect()
}

fn ids_of(rows: &Value) -> Vec<String> {
    rows.as_array().into_iter().flatten().filter_map(|row| row["id"].as_str().map(str::to_owned)).collect()
}
