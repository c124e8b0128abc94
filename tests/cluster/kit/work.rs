//! A cashier at work at a till: sells, and repeats what got no answer.

use serde_json::{Value, json};
use tillkeep_model::Money;
use tillkeep_storage::verify::Acknowledged;
use uuid::Uuid;

use reqwest::Method;

use super::{ADMIN, Client, Reply, TestStore, id};

pub struct Shift {
    client: Client,
    store: Uuid,
    terminal: String,
    register: String,
    card: String,
    /// The sale that waits for an answer.
    open: Option<Value>,
    /// Sales with an answer.
    pub sold: Vec<Acknowledged>,
    /// Answers with 500 to 599 other than 503, and answers that were no refusal either.
    pub wrong: Vec<String>,
}

impl Shift {
    /// Behind an open drawer, with the store's first product known.
    pub async fn begin(site: &TestStore, product: &str) -> Self {
        let client = site.open_till().await;
        site.knows(&client, product, None).await;
        let registers = client.get("/registers").await.data();
        let tenders = client.get("/tenders").await.data();
        let card = tenders.as_array().expect("list").iter().find(|tender| tender["code"] == "CARD").expect("card");
        Self {
            store: site.id.parse().expect("id"),
            terminal: site.terminal.clone(),
            register: id(&registers[0]),
            card: id(card),
            open: None,
            sold: Vec::new(),
            wrong: Vec::new(),
            client,
        }
    }

    /// Another cashier who sells into the same drawer.
    pub fn colleague(&self) -> Self {
        Self {
            client: self.client.clone(),
            store: self.store,
            terminal: self.terminal.clone(),
            register: self.register.clone(),
            card: self.card.clone(),
            open: None,
            sold: Vec::new(),
            wrong: Vec::new(),
        }
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    async fn call(&mut self, path: &str, body: Value) -> Option<Reply> {
        let reply = self.client.try_call(Method::POST, path, Some(body)).await.ok()?;
        match reply.status.as_u16() {
            // The clock was set, or the server is another one than before.
            401 => {
                if let Some(client) = self.client.sign_in(ADMIN.0, ADMIN.1).await {
                    self.client = client;
                }
                None
            }
            503 => None,
            status if status >= 500 => {
                self.wrong.push(format!("{path}: {}", reply.text));
                None
            }
            _ => Some(reply),
        }
    }

    /// Tries to sell, and tries the same sale again the next time when no answer came; whether one did.
    pub async fn sell(&mut self, product: &str, quantity: i64) -> bool {
        self.sell_for_less(product, quantity, Value::Null, Value::Null).await
    }

    /// The same, with something off the line and off the cart.
    pub async fn sell_for_less(&mut self, product: &str, quantity: i64, line: Value, cart: Value) -> bool {
        let sale = self.open.take().unwrap_or_else(|| {
            json!({
                "id": Uuid::now_v7(),
                "terminalId": self.terminal,
                "lines": [{"productId": product, "quantity": quantity, "lineDiscount": line}],
                "cartDiscount": cart,
                "payments": [{"tenderId": self.card}],
            })
        });
        let Some(reply) = self.call("/pos/sales", sale.clone()).await else {
            self.open = Some(sale);
            return false;
        };
        if !reply.status.is_success() {
            // Refused for good (a deleted product), or no drawer is open.
            self.drawer(false).await;
            return false;
        }
        let done = reply.data();
        self.sold.push(Acknowledged {
            store: self.store,
            sale: sale["id"].as_str().and_then(|id| id.parse().ok()).expect("id"),
            receipt: done["receiptNumber"].as_str().expect("receipt").to_owned(),
            total: Money(done["totalAmount"].as_i64().expect("total")),
        });
        true
    }

    /// Opens the drawer; closes it first when `first_close`.
    pub async fn drawer(&mut self, first_close: bool) {
        let path = format!("/registers/{}/open", self.register);
        let Some(reply) = self.call(&path, json!({})).await else { return };
        if let Some(session) = reply.body["sessionId"].as_str().filter(|_| first_close) {
            self.call(&format!("/register-sessions/{session}/close"), json!({"note": "end of shift"})).await;
            self.call(&path, json!({})).await;
        }
    }

    /// A customer who wants a card.
    pub async fn customer(&mut self, name: &str) {
        self.call("/customers", json!({"lastName": name})).await;
    }

    /// Goods that came, as a correction of the level.
    pub async fn receive(&mut self, product: &str, quantity: i64) {
        let body =
            json!({"id": Uuid::now_v7(), "productId": product, "quantityChange": quantity, "reason": "received"});
        self.call("/inventory/adjustments", body).await;
    }
}
