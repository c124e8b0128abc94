//! Sales as a store pushes them: three lines, one payment, its entry in the chain of its register, all that a store says of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, bail};
use serde::Deserialize as _;
use serde_json::{Value, json};
use tillkeep_storage::entity::{chain_entry, sale, sale_item, sale_payment};
use tillkeep_storage::fiscal::{self, Rows};
use uuid::Uuid;

use super::as_sent::Order;
use super::chain::{Chain, Provisioned};
use super::http::request;

pub const LINES: usize = 3;
const AT: &str = "2026-11-20T15:04:05.123Z";

/// Of so many sales one is bad.
pub const BAD_EVERY: usize = 100;

/// What a store sent of a sale, with one of its lines.
const SALE: &str = include_str!("sale.json");
/// Sales so far, of which each has a number of its own.
static NUMBER: AtomicUsize = AtomicUsize::new(1);

/// What is wrong with a bad sale, by who finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// The reader of the envelope: a quantity is a word.
    Unread,
    /// A rule, once it is compared with what is there: no sale is deleted.
    Rule,
    /// What is done with it in the end: no number holds the stock that would be left.
    Effect,
    /// A rule again, for what `PostgreSQL` alone would refuse: a NUL in the note.
    Nul,
}

/// A store with an open drawer, of which headquarters knows: nobody has to look at a sale of it.
pub async fn store_with_drawer(chain: &mut Chain) -> Result<Provisioned> {
    let store = chain.provision().await?;
    let data = json!({
        "id": store.id, "storeId": store.id, "registerCode": "09", "sessionNumber": 1, "status": "open", "openedAt": AT,
        "businessDate": "2026-11-20",
    });
    let drawer = json!({
        "store_id": store.id, "entity_type": "register_sessions", "entity_id": store.id, "action": "create",
        "timestamp": AT, "data": data,
    });
    let answer = chain.machine(&store).call("POST", "/sync/push", Some(json!({"envelopes": [drawer]}))).await?;
    if answer["results"][0]["status"] != "ok" {
        bail!("headquarters did not take the drawer: {answer}");
    }
    Ok(store)
}

/// Sales of one store, of which one in [`BAD_EVERY`] may be bad.
pub struct Envelopes<'a> {
    pub store: &'a Provisioned,
    pub products: &'a [String],
    pub bad: Option<Bad>,
}

impl Envelopes<'_> {
    /// The request that pushes so many new ones, in a chain of their own.
    pub fn request(&self, count: usize) -> Result<Vec<u8>> {
        let mut chain = Receipts { id: Uuid::now_v7(), number: 0, last: String::new() };
        let (order, mut envelopes) = (Order::of("sales")?, Vec::with_capacity(count));
        for number in 0..count {
            let bad = self.bad.filter(|_| number % BAD_EVERY == BAD_EVERY - 1);
            envelopes.push(self.envelope(number, bad, &mut chain, &order)?);
        }
        let body = format!("{{\"envelopes\":[{}]}}", envelopes.join(","));
        Ok(request("POST", "/sync/push", &self.store.sync_token, &body))
    }

    fn envelope(&self, number: usize, bad: Option<Bad>, chain: &mut Receipts, order: &Order) -> Result<String> {
        let (id, store) = (Uuid::now_v7(), self.store.id);
        let action = if bad == Some(Bad::Rule) { "delete" } else { "create" };
        let mut sale = self.sale(id, number, bad)?;
        // Nobody reads further in one that cannot be read.
        if bad != Some(Bad::Unread) {
            chain.enter(&mut sale)?;
        }
        let data = order.text(&sale);
        Ok(format!(
            "{{\"store_id\":\"{store}\",\"entity_type\":\"sales\",\"entity_id\":\"{id}\",\"action\":\"{action}\",\
             \"timestamp\":\"{AT}\",\"data\":{data}}}"
        ))
    }

    fn sale(&self, id: Uuid, number: usize, bad: Option<Bad>) -> Result<Value> {
        let (quantity, lines) = match bad {
            Some(Bad::Unread) => (json!("many"), LINES),
            // Each line alone is well.
            Some(Bad::Effect) => (json!(999_999_999_999_999_i64), 10),
            None | Some(Bad::Rule | Bad::Nul) => (json!(1), LINES),
        };
        let store = self.store.id;
        let receipt = format!("{}-09-{:06}", self.store.code, NUMBER.fetch_add(1, Ordering::Relaxed));
        let mut sale: Value = serde_json::from_str(SALE)?;
        set(&mut sale, json!({"id": id, "storeId": store, "receiptNumber": receipt, "registerSessionId": store}));
        if bad == Some(Bad::Nul) {
            sale["note"] = json!("left\0at the door");
        }
        let line = sale["saleItems"][0].take();
        let lines = (0..lines).map(|place| {
            let other = if bad == Some(Bad::Effect) { 0 } else { place };
            let product = &self.products[(number * LINES + other) % self.products.len()];
            let mut line = line.clone();
            let (own, number) = (Uuid::now_v7(), place + 1);
            set(
                &mut line,
                json!({"id": own, "saleId": id, "lineNo": number, "productId": product, "quantity": quantity}),
            );
            line
        });
        sale["saleItems"] = lines.collect();
        set(&mut sale["salePayments"][0], json!({"id": Uuid::now_v7(), "saleId": id}));
        set(&mut sale["chainEntries"][0], json!({"id": Uuid::now_v7(), "saleId": id, "storeId": store}));
        Ok(sale)
    }
}

/// The chain of a register, up to the last sale.
struct Receipts {
    id: Uuid,
    number: i64,
    last: String,
}

impl Receipts {
    /// Gives a sale its place, with the hash that headquarters finds again.
    fn enter(&mut self, sale: &mut Value) -> Result<()> {
        self.number += 1;
        let place = json!({"chainId": self.id, "number": self.number, "previousHash": self.last});
        set(&mut sale["chainEntries"][0], place);
        let entry = chain_entry::Model::deserialize(&sale["chainEntries"][0])?;
        let document = sale::Model::deserialize(&*sale)?;
        let items = Vec::<sale_item::Model>::deserialize(&sale["saleItems"])?;
        let payments = Vec::<sale_payment::Model>::deserialize(&sale["salePayments"])?;
        let rows = Rows { sale: &document, items: items.iter().collect(), payments: payments.iter().collect() };
        self.last = fiscal::hash(&fiscal::line(&entry, &rows, &|id| id));
        sale["chainEntries"][0]["hash"] = json!(self.last);
        Ok(())
    }
}

/// Gives `object` these values.
fn set(object: &mut Value, values: Value) {
    if let (Value::Object(object), Value::Object(values)) = (object, values) {
        object.extend(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sale_is_as_large_as_one_of_a_store() {
        let store = Provisioned {
            id: Uuid::now_v7(),
            code: "S01".to_owned(),
            sync_token: String::new(),
            dir: std::path::PathBuf::new(),
        };
        let products: Vec<String> = (0..4).map(|_| Uuid::now_v7().to_string()).collect();
        let envelopes = Envelopes { store: &store, products: &products, bad: None };
        let bytes = envelopes.request(10).expect("a request").len() / 10;
        assert!((4800..6800).contains(&bytes), "{bytes}");
        let mut chain = Receipts { id: Uuid::now_v7(), number: 0, last: String::new() };
        let order = Order::of("sales").expect("a type");
        let [one, other] = [0, 1].map(|number| {
            let text = envelopes.envelope(number, None, &mut chain, &order).expect("an envelope");
            serde_json::from_str::<Value>(&text).expect("JSON")
        });
        let whole = envelopes.sale(Uuid::nil(), 0, None).expect("a sale");
        let keys = |sale: &Value| sale.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
        for place in ["", "/saleItems/0", "/salePayments/0"] {
            let sent = one["data"].pointer(place).map(keys);
            assert_eq!(sent, whole.pointer(place).map(keys), "nothing of it is lost on the way: {place}");
        }
        assert_eq!(one["data"]["saleItems"].as_array().map(Vec::len), Some(LINES));
        for place in ["/data/id", "/data/receiptNumber", "/data/saleItems/2/id", "/data/chainEntries/0/number"] {
            assert!(one.pointer(place).is_some() && one.pointer(place) != other.pointer(place), "{place}");
        }
        assert_eq!(one.pointer("/data/chainEntries/0/hash"), other.pointer("/data/chainEntries/0/previousHash"));
    }
}
