//! A day of a small chain, to be recorded: a store works, its line breaks, both sides go on, and the line comes back. The
//! clock stands, and ids are names, so that two recordings differ in little but tokens.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use tempfile::TempDir;
use tillkeep_hq::Account;
use tillkeep_hq::Hq;
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::Clock;
use tillkeep_model::permission::ADMINISTRATOR;
use tillkeep_model::{Instant, ids};
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::staff::GlobalPeople;
use tillkeep_storage::{outbox, series};
use tillkeep_store::Store;
use uuid::Uuid;

use super::found::{found, rates};
use super::hand;
use super::servers::{open_hq, open_store, stopped, talk};
use super::tape::Tape;
use crate::kit::{PIN, Server};

pub const CODE: &str = "S01";
pub const TERMINAL: &str = "S01-T1";
pub const USERNAME: &str = "root";

pub struct Day {
    pub dir: TempDir,
    pub clock: Clock,
    pub hq: Arc<Hq>,
    pub store: Arc<Store>,
    pub tape: Arc<Tape>,
    pub admin: Uuid,
    at_hq: Server,
    at_store: Server,
    tokens: [String; 2],
}

pub fn id(name: &str) -> Uuid {
    ids::named(&format!("recorded {name}"))
}

pub fn store_id() -> Uuid {
    id("store")
}

pub fn product() -> Uuid {
    id("tea")
}

impl Day {
    /// Headquarters with a chain, and a store that has all of it.
    pub async fn begin() -> Self {
        if rustls::crypto::aws_lc_rs::default_provider().install_default().is_err() {
            eprintln!("a provider was there already");
        }
        let dir = tempfile::tempdir().expect("a directory");
        for part in ["hq", "store"] {
            std::fs::create_dir(dir.path().join(part)).expect("a directory");
        }
        let clock = Clock::standing_at(Instant::parse("2026-03-02T14:00:00Z").expect("an instant"));
        let hq = open_hq(&dir.path().join("hq"), None, GlobalPeople::default(), &clock, stopped()).await;
        let account = Account { username: USERNAME.to_owned(), pin: PIN.to_owned().into(), role: ADMINISTRATOR };
        hq.make_account(&account, false, "a test").await.expect("an administrator");
        let admin = user::Entity::find().one(hq.db().reader()).await.expect("a read").expect("a user").id;
        let at_hq = Server {
            name: "hq",
            router: tillkeep_hq::routes::router(hq.clone(), &tillkeep_store::routes::writes()),
            routes: Vec::new(),
            auth: hq.auth.clone(),
            db: hq.db().clone(),
            store_id: None,
        };
        let token = at_hq.sign_in(admin).await;
        let wrong = json!({"username": "root", "pin": "604817"});
        assert_eq!(at_hq.call("POST", "/auth/login", None, Some(wrong)).await.status, 401);
        let sync_token = found(&at_hq, &token).await;
        hand::change(&hq, "1").await;
        let tape = Arc::new(Tape::new(at_hq.router.clone(), sync_token.clone()));
        let store = open_store(&dir.path().join("store"), &sync_token, tape.clone(), &clock).await;
        let at_store = Server {
            name: "store",
            router: tillkeep_store::routes::router(store.clone(), &tillkeep_hq::routes::writes()),
            routes: Vec::new(),
            auth: store.auth.clone(),
            db: store.test_db().clone(),
            store_id: Some(store.id),
        };
        talk(&store, &clock).await;
        let tokens = [token, at_store.sign_in(admin).await];
        Self { dir, clock, hq, store, tape, admin, at_hq, at_store, tokens }
    }

    async fn till(&self, path: &str, body: Json) -> Json {
        self.clock.pass(45_000);
        self.at_store.post(&self.tokens[1], path, body).await.data()
    }

    async fn sell(&self, name: &str, quantity: i64, tender: Uuid, customer: Option<Uuid>) -> Json {
        let sale = json!({
            "id": id(name), "terminalId": TERMINAL, "customerId": customer,
            "lines": [{"productId": product(), "quantity": quantity}, {"productId": id("cake"), "quantity": 1}],
            "payments": [{"tenderId": tender}],
        });
        self.till("/pos/sales", sale).await
    }

    /// A tea of `sale` comes back, and the claim on it stands until headquarters has the refund.
    async fn give_back(&self, name: &str, sale: &Json) {
        let body = json!({"id": id(name), "terminalId": TERMINAL, "items": [a_tea(sale)], "reason": "Too strong"});
        let path = format!("/pos/sales/{}/refunds", sale["id"].as_str().expect("an id"));
        let refund = self.till(&path, body).await;
        assert_eq!(refund["checkedAtHq"], true, "there is a line");
    }

    /// One sale is undone; of the other one a tea comes back for a cake more; and a customer pays ahead.
    async fn undo(&self, undone: &Json, exchanged: &Json) {
        let path = format!("/pos/sales/{}/void", undone["id"].as_str().expect("an id"));
        self.till(&path, json!({"terminalId": TERMINAL, "reason": "Typed twice"})).await;
        let refund = json!({
            "id": id("exchanged"), "saleId": exchanged["id"], "items": [a_tea(exchanged)], "reason": "Rather cake",
        });
        let exchange = json!({
            "terminalId": TERMINAL, "refund": refund,
            "sale": {"id": id("sold for it"), "lines": [{"productId": id("cake"), "quantity": 3}]},
            "payments": [{"tenderId": id("card")}],
        });
        self.till("/pos/exchanges", exchange).await;
        let settlement = json!({
            "id": id("settlement"), "terminalId": TERMINAL, "customerId": id("known"),
            "settlement": {"amount": 1500, "prepay": true}, "payments": [{"tenderId": id("card")}],
        });
        self.till("/pos/sales", settlement).await;
    }

    /// The store works with a line.
    pub async fn morning(&self) {
        let cash = ids::named("tender:CASH");
        let register = json!({"id": id("register"), "code": "01", "name": "Front", "terminalId": TERMINAL});
        self.till("/registers", register).await;
        self.till(&format!("/registers/{}/open", id("register")), json!({})).await;
        let customer = json!({"id": id("ann"), "firstName": "Ann", "lastName": "Miller", "phone": "+1 212 555 0101"});
        self.till("/customers", customer).await;
        let received =
            json!({"id": id("received"), "productId": product(), "quantityChange": 40, "reason": "received"});
        self.till("/inventory/adjustments", received).await;
        let first = self.sell("first sale", 2, cash, Some(id("ann"))).await;
        self.sell("second sale", 1, id("card"), None).await;
        self.write_by_hand("1").await;
        talk(&self.store, &self.clock).await;
        let paper = json!({"id": id("paper"), "to": "browser"});
        self.till(&format!("/pos/sales/{}/prints", id("first sale")), paper).await;
        self.give_back("refund", &first).await;
        let dropped = json!({
            "id": id("dropped"), "abandoned": true,
            "cart": {"terminalId": TERMINAL, "lines": [{"productId": product(), "quantity": 1}]},
        });
        self.till("/pos/parked-carts", dropped).await;
    }

    /// The line is gone. Headquarters changes something of every type, and the store goes on.
    pub async fn without_a_line(&self) {
        self.tape.cut();
        self.edit_everything().await;
        let cash = ids::named("tender:CASH");
        let third = self.sell("third sale", 3, cash, None).await;
        let fourth = self.sell("fourth sale", 1, id("card"), Some(id("ann"))).await;
        self.undo(&third, &fourth).await;
        let customer = json!({"id": id("bob"), "companyName": "Bob's", "email": "bob@example.com"});
        self.till("/customers", customer).await;
        let found = json!({"id": id("found"), "productId": id("cake"), "quantityChange": -1, "reason": "damaged"});
        self.till("/inventory/adjustments", found).await;
        self.write_by_hand("2").await;
        let path = format!("/register-sessions/current?terminalId={TERMINAL}");
        let session = self.at_store.get(&self.tokens[1], &path).await.data();
        let drawer = format!("/register-sessions/{}", session["id"].as_str().expect("an id"));
        let float = json!({"id": id("float"), "type": "float_add", "amount": 500, "reason": "coins"});
        self.till(&format!("{drawer}/cash-movements"), float).await;
        let path = format!("{drawer}/close");
        let counted = |tender: Uuid| json!({"tenderId": tender, "amount": 0});
        let counts = [cash, id("card"), id("account")].map(counted);
        self.till(&path, json!({"counts": counts, "acceptVariance": true, "note": "end of the day"})).await;
        self.till("/reports/zz", json!({"id": id("zz"), "registerId": id("register")})).await;
        let deposit = json!({"id": id("deposit"), "type": "deposit", "amount": 500, "slipNumber": "B-17"});
        self.till("/safe/movements", deposit).await;
        self.till(&format!("/registers/{}/open", id("register")), json!({})).await;
        // What was tried without a line counts nothing.
        talk(&self.store, &self.clock).await;
    }

    /// The line is back; from here on everything is written down.
    pub async fn with_a_line_again(&self) {
        self.tape.record();
        talk(&self.store, &self.clock).await;
    }

    async fn edit(&self, method: &str, path: &str, body: Json) {
        let authorization = format!("Bearer {}", self.tokens[0]);
        self.at_hq.call(method, path, Some(&authorization), Some(body)).await.data();
    }

    async fn edit_everything(&self) {
        let store = store_id();
        // The administrator signed in this morning.
        self.edit("POST", "/auth/confirm", json!({"pin": PIN})).await;
        let edits = [
            ("PATCH", format!("/stores/{store}"), json!({"receiptFooter": "Thank you"})),
            ("PATCH", format!("/departments/{}", id("food")), json!({"name": "Food and drink"})),
            ("PATCH", format!("/tax-rates/{}", id("rate")), json!({"ratePpm": 90_000})),
            ("PATCH", format!("/tax-groups/{}", id("group")), json!({"name": "Standard rate"})),
            ("PUT", format!("/tax-groups/{}/rates", id("group")), rates(store)),
            ("PATCH", format!("/tenders/{}", id("card")), json!({"name": "Any card"})),
            ("PATCH", format!("/products/{}", product()), json!({"price": 475})),
            ("PUT", format!("/store-prices/{store}/{}", id("cake")), json!({"price": 325})),
            ("PATCH", format!("/customers/{}", id("known")), json!({"creditLimit": 50_000, "notes": "Regular"})),
            ("PATCH", format!("/users/{}", id("cashier")), json!({"displayName": "Casey"})),
            ("PATCH", format!("/roles/{}", id("helper")), json!({"name": "Helper at the till"})),
            ("PUT", format!("/roles/{}/permissions", id("helper")), json!({"permissions": ["pos.sell"]})),
            ("POST", format!("/users/{}/roles", id("cashier")), json!({"roleId": id("helper"), "storeId": null})),
            ("PATCH", format!("/specials/{}", id("special")), json!({"name": "Cakes", "amount": 20})),
            ("PATCH", format!("/sales-reps/{}", id("rep")), json!({"name": "Rita"})),
            ("PATCH", format!("/reasons/{}", id("reason")), json!({"name": "At the fair", "needsNote": true})),
        ];
        for (method, path, body) in edits {
            self.clock.pass(60_000);
            self.edit(method, &path, body).await;
        }
        hand::change(&self.hq, "2").await;
    }

    /// Documents that a store has no route for yet, each with its entry: an order with a line, and a transfer.
    async fn write_by_hand(&self, number: &str) {
        self.clock.pass(60_000);
        let now = self.clock.now();
        let [order, item, transfer] = ["order", "item", "transfer"].map(|name| id(&format!("{name} {number}")));
        let rows = [
            (
                "purchase_orders",
                order,
                json!({
                    "id": order, "poNumber": format!("{CODE}-PO-{number}"), "storeId": store_id(), "supplierId": id("supplier"),
                    "origin": "store", "status": "submitted", "currencyCode": "USD", "subtotalAmount": 2000,
                    "totalAmount": 2000, "createdAt": now, "updatedAt": now,
                }),
            ),
            (
                "purchase_order_items",
                item,
                json!({
                    "id": item, "purchaseOrderId": order, "storeId": store_id(), "lineNo": 1, "productId": product(),
                    "description": "Tea", "orderedQuantity": 10, "unitCost": 200, "lineAmount": 2000, "createdAt": now,
                    "updatedAt": now,
                }),
            ),
            (
                "transfers",
                transfer,
                json!({
                    "id": transfer, "transferNumber": format!("{CODE}-TR-{number}"), "storeId": store_id(),
                    "fromStoreId": store_id(), "toStoreId": id("other store"), "status": "submitted", "createdAt": now,
                    "updatedAt": now, "transferItems": [{
                        "id": id(&format!("transfer line {number}")), "lineNo": 1, "productId": product(), "sku": "TEA",
                        "productName": "Tea", "requestedQuantity": 5,
                    }],
                }),
            ),
        ];
        let tx = self.store.test_db().begin().await.expect("a transaction");
        for (name, id, data) in rows {
            hand::insert(&tx, name, &data).await;
            let entry = outbox::Entry {
                entity_type: name,
                entity_id: id,
                action: "create",
                data: &data,
                created_at: now,
                depends_on: (name == "purchase_order_items").then_some(order),
            };
            outbox::enqueue(&tx, &entry, now).await.expect("an entry");
        }
        for name in ["po", "transfer"] {
            series::raise(&*tx, name, number.parse().expect("a number")).await.expect("a series");
        }
        tx.commit().await.expect("a commit");
        self.store.outbox_bell.notify_one();
    }
}

/// One of the first line of a sale.
fn a_tea(sale: &Json) -> Json {
    json!({"saleItemId": sale["saleItems"][0]["id"], "quantity": 1})
}
