//! A cashier at work at a till: sells, undoes, gives back and exchanges, and repeats what got no answer.

use serde_json::{Value, json};
use tillkeep_model::Money;
use tillkeep_storage::verify::Acknowledged;
use uuid::Uuid;

use reqwest::Method;

use super::client::nothing_counted;
use super::{ADMIN, Client, Reply, TestStore, id};

/// What a till asks for, as it asks for it once more.
#[derive(Clone)]
struct Asked {
    path: String,
    body: Value,
}

/// A sale with an answer, of which something may come back.
struct Made {
    sale: String,
    /// Its first line.
    item: String,
    sold: i64,
    left: i64,
}

pub struct Shift {
    client: Client,
    store: Uuid,
    terminal: String,
    pub register: String,
    card: String,
    /// What ends a drawer.
    closing: Value,
    /// What waits for an answer.
    open: Option<Asked>,
    /// A cart that was put aside and is not known to be dropped.
    parked: Option<Uuid>,
    made: Vec<Made>,
    /// Documents with an answer: sales, refunds, both halves of exchanges and settlements.
    pub sold: Vec<Acknowledged>,
    /// Sales that were voided, with an answer.
    pub voided: usize,
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
            closing: nothing_counted(&tenders),
            open: None,
            parked: None,
            made: Vec::new(),
            sold: Vec::new(),
            voided: 0,
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
            closing: self.closing.clone(),
            open: None,
            parked: None,
            made: Vec::new(),
            sold: Vec::new(),
            voided: 0,
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

    /// Asks for it, or once more for what got no answer the last time; whether an answer came that is no refusal.
    async fn ask(&mut self, path: String, body: Value) -> bool {
        let asked = self.open.take().unwrap_or(Asked { path, body });
        let Some(reply) = self.call(&asked.path, asked.body.clone()).await else {
            self.open = Some(asked);
            return false;
        };
        if !reply.status.is_success() {
            // Refused for good (a deleted product), or no drawer is open.
            self.drawer(false).await;
            return false;
        }
        let done = reply.data();
        if asked.path.ends_with("/void") {
            self.voided += 1;
        } else if asked.path.ends_with("/exchanges") {
            self.note(&done["refund"], &Value::Null);
            self.note(&done["sale"], &asked.body["sale"]);
        } else {
            self.note(&done, &asked.body);
        }
        true
    }

    /// A document with an answer, and the cart it came from.
    fn note(&mut self, done: &Value, cart: &Value) {
        self.sold.push(Acknowledged {
            store: self.store,
            sale: id(done).parse().expect("id"),
            receipt: done["receiptNumber"].as_str().expect("receipt").to_owned(),
            total: Money(done["totalAmount"].as_i64().expect("total")),
        });
        if let Some(sold) = cart["lines"][0]["quantity"].as_i64() {
            self.made.push(Made { sale: id(done), item: id(&done["saleItems"][0]), sold, left: sold });
        }
    }

    /// Asks once more for what got no answer, if anything did; whether nothing is open then.
    pub async fn again(&mut self) -> bool {
        if let Some(Asked { path, body }) = self.open.clone() {
            self.ask(path, body).await;
        }
        self.open.is_none()
    }

    /// Tries to sell, and tries the same sale again the next time when no answer came; whether one did.
    pub async fn sell(&mut self, product: &str, quantity: i64) -> bool {
        self.sell_for_less(product, quantity, Value::Null, Value::Null).await
    }

    /// The same, with something off the line and off the cart.
    pub async fn sell_for_less(&mut self, product: &str, quantity: i64, line: Value, cart: Value) -> bool {
        let sale = json!({
            "id": Uuid::now_v7(),
            "terminalId": self.terminal,
            "lines": [{"productId": product, "quantity": quantity, "lineDiscount": line}],
            "cartDiscount": cart,
            "payments": [{"tenderId": self.card}],
        });
        self.ask("/pos/sales".to_owned(), sale).await
    }

    /// Undoes the newest sale, of which nothing came back.
    pub async fn void(&mut self) -> bool {
        let place = self.made.iter().rposition(|made| made.left == made.sold).filter(|_| self.open.is_none());
        let Some(sale) = place.map(|place| self.made.remove(place).sale) else { return self.again().await };
        let body = json!({"terminalId": self.terminal, "reason": "Typed twice"});
        self.ask(format!("/pos/sales/{sale}/void"), body).await
    }

    /// Gives a piece of the oldest sale back that has one left.
    pub async fn give_back(&mut self) -> bool {
        let Some((sale, items)) = self.a_piece() else { return self.again().await };
        let body = json!({
            "id": Uuid::now_v7(), "terminalId": self.terminal, "items": items, "reason": "Does not fit",
        });
        self.ask(format!("/pos/sales/{sale}/refunds"), body).await
    }

    /// Takes such a piece back for two of `product`.
    pub async fn exchange(&mut self, product: &str) -> bool {
        let Some((sale, items)) = self.a_piece() else { return self.again().await };
        let body = json!({
            "terminalId": self.terminal,
            "refund": {"id": Uuid::now_v7(), "saleId": sale, "items": items, "reason": "Wrong size"},
            "sale": {"id": Uuid::now_v7(), "lines": [{"productId": product, "quantity": 2}]},
            "payments": [{"tenderId": self.card}],
        });
        self.ask("/pos/exchanges".to_owned(), body).await
    }

    fn a_piece(&mut self) -> Option<(String, Value)> {
        let made = self.made.iter_mut().find(|made| made.left > 0).filter(|_| self.open.is_none())?;
        made.left -= 1;
        Some((made.sale.clone(), json!([{"saleItemId": made.item, "quantity": 1}])))
    }

    /// A customer pays `amount`, owed or not.
    pub async fn settle(&mut self, customer: &str, amount: i64) -> bool {
        let body = json!({
            "id": Uuid::now_v7(), "terminalId": self.terminal, "customerId": customer,
            "settlement": {"amount": amount, "prepay": true}, "payments": [{"tenderId": self.card}],
        });
        self.ask("/pos/sales".to_owned(), body).await
    }

    /// Opens the drawer; closes it first when `first_close`.
    pub async fn drawer(&mut self, first_close: bool) {
        let path = format!("/registers/{}/open", self.register);
        let Some(reply) = self.call(&path, json!({})).await else { return };
        if let Some(session) = reply.body["sessionId"].as_str().filter(|_| first_close) {
            self.drop_cart().await;
            let closing = self.closing.clone();
            self.call(&format!("/register-sessions/{session}/close"), closing).await;
            self.call(&path, json!({})).await;
        }
    }

    /// What happens to a drawer besides its sales, one after the other; at the end there is a new one, which sells.
    pub async fn drawer_without_sales(&mut self) {
        let path = format!("/register-sessions/current?terminalId={}", self.terminal);
        let Ok(reply) = self.client.try_call(Method::GET, &path, None).await else { return };
        let session = &reply.body["data"];
        let Some(drawer) = session["id"].as_str().map(|id| format!("/register-sessions/{id}")) else {
            return self.drawer(false).await;
        };
        let users = self.client.try_call(Method::GET, "/users", None).await;
        let users = users.map(|reply| reply.body["data"].clone()).unwrap_or_default();
        let owner = [&session["ownerId"], &session["openedBy"]].into_iter().find(|id| !id.is_null());
        let is_other = |user: &&Value| user["isActive"] == true && Some(&user["id"]) != owner;
        let other = users.as_array().into_iter().flatten().find(is_other).map(|user| user["id"].clone());
        let found = json!({"id": Uuid::now_v7(), "type": "paid_in", "amount": 100, "reason": "found on the floor"});
        self.call(&format!("{drawer}/cash-movements"), found).await;
        let opened = json!({"id": Uuid::now_v7(), "reason": "change for a customer"});
        self.call(&format!("/registers/{}/no-sale", self.register), opened).await;
        let counts = json!({"counts": self.closing["counts"]});
        self.call(&format!("{drawer}/count"), counts).await;
        self.call(&format!("{drawer}/count"), json!({"reopen": true})).await;
        if let Some(other) = other {
            self.call(&format!("{drawer}/reassign"), json!({"userId": other})).await;
        }
        self.call(&format!("{drawer}/force-close"), json!({"reason": "nobody counts it"})).await;
        self.drawer(false).await;
    }

    /// Puts a cart aside, goes on with it and drops it.
    pub async fn park(&mut self, product: &str) {
        let id = *self.parked.get_or_insert_with(Uuid::now_v7);
        let cart = json!({"terminalId": self.terminal, "lines": [{"productId": product, "quantity": 1}]});
        self.call("/pos/parked-carts", json!({"id": id, "cart": cart})).await;
        self.call(&format!("/pos/parked-carts/{id}/resume"), json!({"terminalId": self.terminal})).await;
        self.drop_cart().await;
    }

    async fn drop_cart(&mut self) {
        let Some(id) = self.parked else { return };
        let (path, body) = (format!("/pos/parked-carts/{id}"), json!({"reason": "The customer left"}));
        let Ok(reply) = self.client.try_call(Method::DELETE, &path, Some(body)).await else { return };
        // What never came to be parked is not found.
        if reply.status.is_success() || reply.status == 404 {
            self.parked = None;
        }
    }

    /// Money that goes to the bank.
    pub async fn deposit(&mut self) {
        let id = Uuid::now_v7();
        let body = json!({"id": id, "type": "deposit", "amount": 100, "slipNumber": format!("B-{id}")});
        self.call("/safe/movements", body).await;
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
