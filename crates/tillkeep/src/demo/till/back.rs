//! Customers who come back: now and then a line of the last sale comes back, a sale is undone, or goods are exchanged. The manager
//! does it, who may.

use anyhow::{Result, bail};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use super::Till;
use super::basket::Article;

/// Of so many customers one brings something back, one has a sale undone, and one exchanges something.
const ROUND: u64 = 12;

/// What came of a customer who came back.
#[derive(Clone, Copy, Default)]
pub struct Back {
    /// What was given back, or undone.
    pub given: u64,
    /// Of an exchange, what was sold for it.
    pub sold: Option<u64>,
}

impl Till {
    /// After the sale `last`, the one with this number: what comes back of it, if anything does.
    pub(super) async fn come_back(
        &mut self,
        manager: &str,
        (number, last): (u64, &Value),
        articles: &[Article],
        cash: &str,
    ) -> Result<Back> {
        match number % ROUND {
            4 => self.give_back(manager, last).await,
            8 => self.void(manager, last).await,
            11 => self.exchange(manager, last, articles, cash).await,
            _ => Ok(Back::default()),
        }
    }

    async fn give_back(&mut self, manager: &str, last: &Value) -> Result<Back> {
        let mut body = json!({
            "id": Uuid::now_v7(), "terminalId": self.terminal, "items": [item(last)], "reason": "Does not taste",
        });
        self.say_last_receipt(&mut body);
        let path = format!("/pos/sales/{}/refunds", text(last, "id"));
        let Some(refund) = self.ask(manager, &path, body).await? else { return Ok(Back::default()) };
        self.last_receipt = Some(text(&refund, "receiptNumber").to_owned());
        Ok(Back { given: total(&refund), sold: None })
    }

    async fn void(&self, manager: &str, last: &Value) -> Result<Back> {
        let body = json!({"terminalId": self.terminal, "reason": "Rung up twice"});
        let path = format!("/pos/sales/{}/void", text(last, "id"));
        let voided = self.ask(manager, &path, body).await?;
        Ok(Back { given: voided.map_or(0, |sale| total(&sale)), sold: None })
    }

    async fn exchange(&mut self, manager: &str, last: &Value, articles: &[Article], cash: &str) -> Result<Back> {
        let line = articles[self.random.below(articles.len())].line(&mut self.random);
        let mut body = json!({
            "terminalId": self.terminal,
            "refund": {"id": Uuid::now_v7(), "saleId": last["id"], "items": [item(last)], "reason": "Took the wrong one"},
            "sale": {"id": Uuid::now_v7(), "lines": [line]},
            "payments": [{"tenderId": cash}],
        });
        self.say_last_receipt(&mut body);
        let Some(done) = self.ask(manager, "/pos/exchanges", body).await? else { return Ok(Back::default()) };
        self.last_receipt = Some(text(&done["sale"], "receiptNumber").to_owned());
        Ok(Back { given: total(&done["refund"]), sold: Some(total(&done["sale"])) })
    }

    fn say_last_receipt(&self, body: &mut Value) {
        if let Some(last) = self.last_receipt.as_ref().filter(|_| self.takes_last_receipt) {
            body["lastReceipt"] = last.as_str().into();
        }
    }

    /// Nothing when it is refused: what a store does not take back stays sold.
    async fn ask(&self, manager: &str, path: &str, body: Value) -> Result<Option<Value>> {
        let (status, answer) = self.call(Method::POST, Some(manager), path, Some(body)).await?;
        if status.is_success() {
            return Ok(Some(answer["data"].clone()));
        }
        if status.is_client_error() && status != StatusCode::UNAUTHORIZED {
            tracing::debug!(store = self.code, path, %answer, "nothing comes back");
            return Ok(None);
        }
        bail!("{path}: {answer}")
    }
}

/// All of its first line.
fn item(sale: &Value) -> Value {
    let first = &sale["saleItems"][0];
    json!({"saleItemId": first["id"], "quantity": first["quantity"]})
}

fn text<'a>(document: &'a Value, name: &str) -> &'a str {
    document[name].as_str().unwrap_or_default()
}

fn total(document: &Value) -> u64 {
    document["totalAmount"].as_i64().unwrap_or_default().unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_back_whole_and_money_that_is_given_back_counts_as_such() {
        let sale = json!({"id": "S", "totalAmount": 450, "saleItems": [{"id": "A", "quantity": 1.237}, {"id": "B"}]});
        assert_eq!(item(&sale), json!({"saleItemId": "A", "quantity": 1.237}));
        assert_eq!((text(&sale, "id"), total(&sale)), ("S", 450));
        assert_eq!(total(&json!({"totalAmount": -450})), 450);
    }
}
