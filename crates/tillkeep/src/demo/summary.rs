//! What goes on in the demo: on a terminal a table that renews itself, else a line now and then.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use reqwest::Client;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::plant::Account;
use super::till::Counter;

const ON_TERMINAL: Duration = Duration::from_secs(1);
const ELSEWHERE: Duration = Duration::from_secs(30);

pub struct Board {
    http: Client,
    base: String,
    admin: Account,
    counters: Mutex<BTreeMap<String, Arc<Counter>>>,
}

impl Board {
    pub fn new(hq_url: &str, admin: Account) -> Self {
        Self { http: Client::new(), base: format!("{hq_url}/api/v1"), admin, counters: Mutex::default() }
    }

    /// The counter of one store's till.
    pub fn counter(&self, code: &str) -> Arc<Counter> {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        counters.entry(code.to_owned()).or_default().clone()
    }

    /// Shows until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        let live = std::io::stdout().is_terminal();
        let mut token = None;
        let mut lines = 0;
        loop {
            tokio::select! {
                () = tokio::time::sleep(if live { ON_TERMINAL } else { ELSEWHERE }) => {}
                () = stop.cancelled() => return,
            }
            match self.look(&mut token).await {
                Ok(table) => {
                    let mut out = std::io::stdout().lock();
                    // Back to where the last table began, and over it.
                    let up = if live && lines > 0 { format!("\x1b[{lines}A\x1b[J") } else { String::new() };
                    lines = table.lines().count();
                    if out.write_all(format!("{up}{table}").as_bytes()).and_then(|()| out.flush()).is_err() {
                        return;
                    }
                }
                Err(error) => {
                    token = None;
                    tracing::debug!(error = format!("{error:#}"), "the dashboard does not answer");
                }
            }
        }
    }

    async fn look(&self, token: &mut Option<String>) -> Result<String> {
        if token.is_none() {
            let body = json!({"username": self.admin.username, "pin": self.admin.pin});
            let answer: Value =
                self.http.post(format!("{}/auth/login", self.base)).json(&body).send().await?.json().await?;
            *token = answer["data"]["accessToken"].as_str().map(str::to_owned);
        }
        let token = token.as_deref().context("the administrator could not sign in")?;
        let dashboard = self.get(token, "/sync/dashboard").await?;
        let mut table = format!(
            "  {:<6} {:<10} {:>10} {:>14} {:>11} {:>11} {:>10} {:>8} {:>7}\n",
            "Store", "Line", "Sold here", "Amount", "Taken off", "Given back", "At HQ", "Waiting", "Failed"
        );
        let counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for store in dashboard["data"]["stores"].as_array().into_iter().flatten() {
            let code = store["storeCode"].as_str().unwrap_or_default();
            let Some(counter) = counters.get(code) else { continue };
            let id = store["storeId"].as_str().unwrap_or_default();
            let sales = self.get(token, &format!("/sales?storeId={id}&saleType=sale&pageSize=1")).await?;
            let amount = |minor: u64| format!("{}.{:02}", minor / 100, minor % 100);
            writeln!(
                table,
                "  {code:<6} {:<10} {:>10} {:>14} {:>11} {:>11} {:>10} {:>8} {:>7}",
                if store["connection"]["connected"] == true { "connected" } else { "away" },
                counter.sales.load(Ordering::Relaxed),
                amount(counter.minor_units.load(Ordering::Relaxed)),
                amount(counter.saved.load(Ordering::Relaxed)),
                amount(counter.given_back.load(Ordering::Relaxed)),
                sales["pagination"]["total"].to_string(),
                store["outboxPending"].to_string(),
                store["errorCount"].to_string(),
            )?;
        }
        Ok(table)
    }

    async fn get(&self, token: &str, path: &str) -> Result<Value> {
        let response = self.http.get(format!("{}{path}", self.base)).bearer_auth(token).send().await?;
        Ok(response.error_for_status()?.json().await?)
    }
}
