//! A till that does more than sell. What got no answer is asked for once more, and what was answered is kept.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::Method;
use serde_json::{Value, json};
use tillkeep_model::Money;
use tillkeep_storage::verify::Acknowledged;
use uuid::Uuid;

use super::act::Act;
use crate::chaos::dice::Dice;
use crate::kit::{ADMIN, Client, Reply, TestStore, eventually, id};

/// The drawer of a register that is open, for all who work there.
#[derive(Clone, Default)]
struct Drawer(Arc<Mutex<String>>);

impl Drawer {
    fn path(&self) -> String {
        format!("/register-sessions/{}", self.id())
    }

    fn id(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, id: &str) {
        id.clone_into(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// What a till was answered.
#[derive(Default)]
pub struct Book {
    /// Sales, refunds and both halves of exchanges.
    pub documents: Vec<Acknowledged>,
    pub voided: BTreeSet<Uuid>,
    /// Movements of cash, and openings for no sale.
    pub moved: BTreeSet<Uuid>,
    /// Movements of the safe.
    pub safe: BTreeSet<Uuid>,
    /// Drawers that are closed.
    pub closed: BTreeSet<Uuid>,
    /// Documents and movements that were refused for good.
    pub refused: BTreeSet<Uuid>,
    /// What is no answer to a request that is right.
    pub wrong: Vec<String>,
}

impl Book {
    /// Adds what another till was answered.
    pub fn take(&mut self, other: Self) {
        self.documents.extend(other.documents);
        self.voided.extend(other.voided);
        self.moved.extend(other.moved);
        self.safe.extend(other.safe);
        self.closed.extend(other.closed);
        self.refused.extend(other.refused);
        self.wrong.extend(other.wrong);
    }
}

/// A request, as it is sent until it is answered.
struct Asked {
    act: Act,
    method: Method,
    path: String,
    body: Value,
    /// What it makes, ends or changes.
    about: Uuid,
}

/// A sale with an answer, of which something may come back.
struct Made {
    sale: Uuid,
    /// Its first line.
    item: String,
    sold: i64,
    left: i64,
}

pub struct Till {
    pub client: Client,
    store: Uuid,
    terminal: String,
    register: String,
    product: String,
    tenders: Value,
    /// Whom a drawer is handed to.
    other: String,
    drawer: Drawer,
    dice: Dice,
    made: Vec<Made>,
    /// The cart that was parked.
    parked: Option<Uuid>,
    /// The same as it is sold.
    resumed: Option<Value>,
    /// What waits for an answer.
    open: Option<Asked>,
    pub book: Book,
}

impl Till {
    /// At the register with this number of a store that has its tenders; it is made when it is not there.
    pub async fn at(site: &TestStore, client: &Client, number: usize, product: &str) -> Self {
        let (code, terminal) = (format!("{number:02}"), format!("{}-{number}", site.terminal));
        let registers = client.get("/registers").await.data();
        let is_it = |register: &&Value| register["code"] == code.as_str();
        let register = if let Some(register) = registers.as_array().expect("registers").iter().find(is_it) {
            register.clone()
        } else {
            let register = json!({"code": code, "name": format!("Till {code}"), "terminalId": terminal});
            client.post("/registers", register).await.data()
        };
        let other = eventually("the store knows another user", async || {
            let users = client.get("/users").await.data();
            users.as_array()?.iter().find(|user| user["username"] != ADMIN.0).map(id)
        })
        .await;
        let till = Self {
            client: client.clone(),
            store: site.id.parse().expect("id"),
            terminal: register["terminalId"].as_str().expect("a terminal").to_owned(),
            register: id(&register),
            product: product.to_owned(),
            tenders: client.get("/tenders").await.data(),
            other,
            drawer: Drawer::default(),
            dice: Dice(number as u64),
            made: Vec::new(),
            parked: None,
            resumed: None,
            open: None,
            book: Book::default(),
        };
        site.knows(client, product, None).await;
        till
    }

    /// Somebody else at the same drawer, who does other things.
    pub fn colleague(&self, seed: u64) -> Self {
        Self {
            client: self.client.clone(),
            store: self.store,
            terminal: self.terminal.clone(),
            register: self.register.clone(),
            product: self.product.clone(),
            tenders: self.tenders.clone(),
            other: self.other.clone(),
            drawer: self.drawer.clone(),
            dice: Dice(seed),
            made: Vec::new(),
            parked: None,
            resumed: None,
            open: None,
            book: Book::default(),
        }
    }

    /// One of `acts`.
    pub fn any(&mut self, acts: &[Act]) -> Act {
        acts[self.dice.below(acts.len())]
    }

    /// Asks for it, or first once more for what got no answer; whether an answer came.
    pub async fn act(&mut self, act: Act) -> bool {
        let Some(asked) = self.open.take().or_else(|| self.request(act)) else { return true };
        let Some(reply) = self.call(&asked).await else {
            self.open = Some(asked);
            return false;
        };
        if reply.status.is_success() || is_done_already(asked.act, &reply) {
            self.note(&asked, &reply.body);
        } else if reply.status == 409 {
            // A drawer that is counted or closed takes nothing.
            if asked.act.makes_something() {
                self.book.refused.insert(asked.about);
            }
        } else {
            self.book.wrong.push(format!("{:?} {}: {}", asked.act, asked.path, reply.text));
        }
        true
    }

    async fn call(&mut self, asked: &Asked) -> Option<Reply> {
        let sent = self.client.try_call(asked.method.clone(), &asked.path, Some(asked.body.clone())).await;
        let reply = sent.ok()?;
        match reply.status.as_u16() {
            401 => {
                if let Some(client) = self.client.sign_in(ADMIN.0, ADMIN.1).await {
                    self.client = client;
                }
                None
            }
            503 => None,
            status if status >= 500 => {
                self.book.wrong.push(format!("{}: {}", asked.path, reply.text));
                None
            }
            _ => Some(reply),
        }
    }

    fn note(&mut self, asked: &Asked, reply: &Value) {
        let data = &reply["data"];
        match asked.act {
            Act::Sell | Act::SellForLess => self.note_document(data, &asked.body),
            Act::SellResumed => {
                (self.parked, self.resumed) = (None, None);
                self.note_document(data, &asked.body);
            }
            Act::GiveBack => self.note_document(data, &Value::Null),
            Act::Exchange => {
                self.note_document(&data["refund"], &Value::Null);
                // What the tender of exchanges paid comes back by a tender that somebody names.
                self.note_document(&data["sale"], &Value::Null);
            }
            Act::Void => {
                self.book.voided.insert(asked.about);
            }
            Act::PaidIn | Act::PaidOut | Act::Drop | Act::FloatAdd | Act::NoSale => {
                self.book.moved.insert(asked.about);
            }
            Act::Park => self.parked = Some(asked.about),
            Act::Resume => self.resumed = Some(data["cart"].clone()),
            Act::DropCart => (self.parked, self.resumed) = (None, None),
            Act::Open => {
                // One that is open already is named by the refusal.
                let opened = data["id"].as_str().or(reply["sessionId"].as_str());
                self.drawer.set(opened.expect("the drawer that is open"));
            }
            Act::Close | Act::CloseCounted | Act::Force => {
                self.book.closed.insert(asked.about);
            }
            Act::Deposit | Act::Correct => {
                self.book.safe.insert(asked.about);
            }
            Act::Count | Act::Reopen | Act::Reassign | Act::Zz | Act::StoreZz => {}
        }
    }

    /// A document with an answer, and the cart it came from.
    fn note_document(&mut self, done: &Value, cart: &Value) {
        let sale: Uuid = id(done).parse().expect("id");
        self.book.documents.push(Acknowledged {
            store: self.store,
            sale,
            receipt: done["receiptNumber"].as_str().expect("receipt").to_owned(),
            total: Money(done["totalAmount"].as_i64().expect("total")),
        });
        if let Some(sold) = cart["lines"][0]["quantity"].as_i64() {
            self.made.push(Made { sale, item: id(&done["saleItems"][0]), sold, left: sold });
        }
    }

    /// What is sent for it; `None` when there is nothing to do it with.
    fn request(&mut self, act: Act) -> Option<Asked> {
        let new = Uuid::now_v7();
        let (path, body, about) = match act {
            Act::Sell | Act::SellForLess => ("/pos/sales".to_owned(), self.cart(new, act), new),
            Act::Void | Act::GiveBack | Act::Exchange => self.undoing(act, new)?,
            Act::PaidIn | Act::PaidOut | Act::Drop | Act::FloatAdd | Act::NoSale => self.moving(act, new),
            Act::Park | Act::Resume | Act::SellResumed | Act::DropCart => self.waiting(act, new)?,
            Act::Deposit => {
                let body = json!({"id": new, "type": "deposit", "amount": 100, "slipNumber": format!("B-{new}")});
                ("/safe/movements".to_owned(), body, new)
            }
            Act::Correct => {
                let amount = self.amount() - 2500;
                let amount = if amount == 0 { 1 } else { amount };
                let body = json!({"id": new, "type": "correction", "amount": amount, "reason": "Counted twice"});
                ("/safe/movements".to_owned(), body, new)
            }
            Act::Zz => ("/reports/zz".to_owned(), json!({"id": new, "registerId": self.register}), new),
            Act::StoreZz => ("/reports/zz".to_owned(), json!({"id": new, "scope": "store"}), new),
            Act::Open | Act::Count | Act::Reopen | Act::CloseCounted | Act::Close | Act::Force | Act::Reassign => {
                self.of_the_drawer(act)
            }
        };
        let method = if act == Act::DropCart { Method::DELETE } else { Method::POST };
        Some(Asked { act, method, path, body, about })
    }

    /// Goods that are paid in cash or by card.
    fn cart(&mut self, id: Uuid, act: Act) -> Value {
        let quantity = 1 + self.dice.below(4);
        let (mut line, mut cart) = (Value::Null, Value::Null);
        if act == Act::SellForLess {
            line = json!({"type": "percent", "bps": 100 * (1 + self.dice.below(9)), "reason": "A friend"});
            cart = json!({"type": "amount", "amount": 1 + self.dice.below(20), "reasonCode": "staff"});
        }
        let code = if self.dice.below(3) == 0 { "CARD" } else { "CASH" };
        let tender = self.tender(code);
        json!({
            "id": id, "terminalId": self.terminal,
            "lines": [{"productId": self.product, "quantity": quantity, "lineDiscount": line}],
            "cartDiscount": cart, "payments": [{"tenderId": tender}],
        })
    }

    fn tender(&self, code: &str) -> Value {
        let tenders = self.tenders.as_array().expect("tenders");
        tenders.iter().find(|tender| tender["code"] == code).expect("a tender")["id"].clone()
    }

    fn undoing(&mut self, act: Act, new: Uuid) -> Option<(String, Value, Uuid)> {
        if act == Act::Void {
            let place = self.made.iter().rposition(|made| made.left == made.sold)?;
            let sale = self.made.remove(place).sale;
            let body = json!({"terminalId": self.terminal, "reason": "Typed twice"});
            return Some((format!("/pos/sales/{sale}/void"), body, sale));
        }
        let made = self.made.iter_mut().find(|made| made.left > 0)?;
        made.left -= 1;
        let (sale, items) = (made.sale, json!([{"saleItemId": made.item, "quantity": 1}]));
        if act == Act::GiveBack {
            let body = json!({"id": new, "terminalId": self.terminal, "items": items, "reason": "Does not fit"});
            return Some((format!("/pos/sales/{sale}/refunds"), body, new));
        }
        let body = json!({
            "terminalId": self.terminal,
            "refund": {"id": Uuid::now_v7(), "saleId": sale, "items": items, "reason": "Wrong size"},
            "sale": {"id": new, "lines": [{"productId": self.product, "quantity": 2}]},
            "payments": [{"tenderId": self.tender("CARD")}],
        });
        Some(("/pos/exchanges".to_owned(), body, new))
    }

    fn moving(&mut self, act: Act, new: Uuid) -> (String, Value, Uuid) {
        let kind = match act {
            Act::PaidIn => "paid_in",
            Act::PaidOut => "paid_out",
            Act::Drop => "drop",
            Act::FloatAdd => "float_add",
            _ => {
                let body = json!({"id": new, "reason": "Change for a customer"});
                return (format!("/registers/{}/no-sale", self.register), body, new);
            }
        };
        let body = json!({"id": new, "type": kind, "amount": self.amount(), "reason": "As it was agreed"});
        (format!("{}/cash-movements", self.drawer.path()), body, new)
    }

    /// Above zero.
    fn amount(&mut self) -> i64 {
        1 + i64::try_from(self.dice.below(5000)).expect("small")
    }

    fn waiting(&mut self, act: Act, new: Uuid) -> Option<(String, Value, Uuid)> {
        if act == Act::Park {
            if self.parked.is_some() {
                return None;
            }
            let lines = json!([{"productId": self.product, "quantity": 1 + self.dice.below(3)}]);
            let body = json!({"id": new, "label": "Blue coat", "cart": {"terminalId": self.terminal, "lines": lines}});
            return Some(("/pos/parked-carts".to_owned(), body, new));
        }
        let parked = self.parked?;
        let path = format!("/pos/parked-carts/{parked}");
        if act == Act::SellResumed {
            let mut cart = self.resumed.clone()?;
            cart["payments"] = json!([{"tenderId": self.tender("CASH")}]);
            let sale: Uuid = id(&cart).parse().expect("id");
            return Some(("/pos/sales".to_owned(), cart, sale));
        }
        let body = json!({"terminalId": self.terminal});
        if act == Act::Resume {
            return self.resumed.is_none().then(|| (format!("{path}/resume"), body, parked));
        }
        Some((path, json!({"terminalId": self.terminal, "reason": "The customer left"}), parked))
    }

    fn of_the_drawer(&mut self, act: Act) -> (String, Value, Uuid) {
        if act == Act::Open {
            let float = 10_000 + 100 * self.dice.below(50);
            let body = json!({"openingFloat": float, "denominations": [{"value": 100, "count": float / 100}]});
            return (format!("/registers/{}/open", self.register), body, Uuid::nil());
        }
        let (verb, body) = match act {
            Act::Count => ("count", json!({"counts": self.counts()})),
            Act::Reopen => ("count", json!({"reopen": true})),
            Act::CloseCounted => ("close", json!({"acceptVariance": true, "acceptParked": true})),
            Act::Close => ("close", json!({"counts": self.counts(), "acceptVariance": true, "acceptParked": true})),
            Act::Force => ("force-close", json!({"reason": "Nobody counts it"})),
            _ => ("reassign", json!({"userId": self.other})),
        };
        (format!("{}/{verb}", self.drawer.path()), body, self.drawer.id().parse().expect("an open drawer"))
    }

    /// Something is counted of every tender that must be.
    fn counts(&mut self) -> Value {
        let mut counts = Vec::new();
        let tenders = self.tenders.as_array().cloned().unwrap_or_default();
        for tender in tenders.iter().filter(|tender| tender["countsInClose"] == true) {
            let count = self.dice.below(300);
            let mut row = json!({"tenderId": tender["id"], "amount": 100 * count});
            if tender["kind"] == "cash" {
                row["denominations"] = json!([{"value": 100, "count": count}]);
            }
            counts.push(row);
        }
        json!(counts)
    }
}

/// Whether a refusal says that the same request was heard before: these have no id of their own.
fn is_done_already(act: Act, reply: &Reply) -> bool {
    let code = reply.body["code"].as_str().unwrap_or_default();
    match act {
        Act::Open => code == "session_already_open",
        Act::Close | Act::CloseCounted => code == "session_closed",
        Act::Force => code == "already_closed",
        _ => false,
    }
}
