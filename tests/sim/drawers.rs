//! What happens to a drawer beside its sales: cash that moves, carts that wait, counts, and what a cashier may be told of it.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use tillkeep_model::ids;
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::state::{PaymentStatus, SaleStatus, SessionStatus};
use tillkeep_model::words::CashMovementKind;
use tillkeep_storage::Db;
use tillkeep_storage::entity::register_session::Model as Session;
use tillkeep_storage::entity::{cash_movement, register_session, sale, sale_payment};
use tillkeep_storage::sea_orm::EntityTrait;
use uuid::Uuid;

use crate::back::Sold;
use crate::headquarters::{self, SOLD};
use crate::shop::Shop;

/// Figures from which what should be in a drawer is known.
const TELLING: [&str; 4] = ["/expectedCash", "/totalAmount", "/cash/payments", "/runningTotal/after"];

impl Shop {
    /// Something is done at the drawer of the till that is no sale.
    pub async fn at_the_drawer(&mut self) {
        let path = format!("/register-sessions/current?terminalId={}", self.terminal());
        let (_, current) = self.call("GET", &path, None).await;
        let Some(id) = current["data"]["id"].as_str() else { return self.drawer().await };
        if current["data"]["status"] != SessionStatus::Open.word() {
            // Who counted it did not come to its close.
            return self.change_drawer().await;
        }
        let drawer = format!("/register-sessions/{id}");
        match self.world.up_to(9) {
            0..=3 => self.move_cash(&drawer).await,
            4 => self.open_for_no_sale().await,
            5 | 6 => self.park().await,
            7 => self.hand_on(&drawer, id).await,
            _ => self.count(&drawer).await,
        }
    }

    /// Asks; the data of a success.
    async fn done(&mut self, what: &'static str, path: &str, body: Json) -> Option<Json> {
        let answer = self.call("POST", path, Some(body)).await;
        self.say(what, &answer);
        matches!(answer.0, 200 | 201 | 204).then(|| {
            self.world.count(what);
            answer.1["data"].clone()
        })
    }

    async fn move_cash(&mut self, drawer: &str) {
        let id = self.name("movement");
        let kinds = ["paid_in", "paid_out", "drop", "float_add"];
        let body = json!({
            "id": id, "type": kinds[self.world.index(kinds.len())], "amount": 1 + self.world.up_to(5000),
            "reason": "As it was agreed",
        });
        self.done("movements", &format!("{drawer}/cash-movements"), body).await;
    }

    async fn open_for_no_sale(&mut self) {
        let body = json!({"id": self.name("opening"), "reason": "Change for a customer"});
        let path = format!("/registers/{}/no-sale", self.register());
        self.done("openings for no sale", &path, body).await;
    }

    /// A cart is put aside, and sold a moment later. Of two tills that want to go on with it one has it.
    async fn park(&mut self) {
        let id = self.name("cart");
        let lines = json!([{"productId": headquarters::product(self.world.index(SOLD)), "quantity": 2}]);
        let cart = json!({"id": id, "cart": {"terminalId": self.terminal(), "lines": lines}});
        if self.done("parked carts", "/pos/parked-carts", cart).await.is_none() {
            return;
        }
        let path = format!("/pos/parked-carts/{id}/resume");
        let Some(resumed) = self.done("resumed carts", &path, json!({"terminalId": self.terminal()})).await else {
            return;
        };
        let beside = format!("{}-T2", self.code);
        let register = ids::named(&format!("second register of {}", self.code));
        let register = json!({"id": register, "code": "02", "name": "Back", "terminalId": beside});
        let answer = self.call("POST", "/registers", Some(register)).await;
        self.say("another register", &answer);
        let answer = self.call("POST", &path, Some(json!({"terminalId": beside}))).await;
        self.say("resume elsewhere", &answer);
        if answer.0 == 200 {
            self.complaints.push(format!("Cart: two tills of {} go on with one cart", self.code));
        }
        let mut cart = resumed["cart"].clone();
        cart["payments"] = json!([{"tenderId": ids::named("tender:CASH")}]);
        let sale: Option<Uuid> = cart["id"].as_str().and_then(|id| id.parse().ok());
        let sold = self.done("sold carts", "/pos/sales", cart).await;
        if let (Some(sale), Some(sold)) = (sale, sold) {
            self.acknowledge(sale);
            self.world.state().sold.extend(Sold::new(self.index, sale, &sold));
        }
    }

    /// A cashier has the drawer from now on, and looks at it.
    async fn hand_on(&mut self, drawer: &str, id: &str) {
        let to = json!({"userId": headquarters::cashier()});
        if self.done("handed on", &format!("{drawer}/reassign"), to).await.is_none() {
            return;
        }
        let path = format!("/reports/x?sessionId={id}");
        let (_, all) = self.call("GET", &path, None).await;
        let Some(mut told) = self.ask_as(headquarters::cashier(), &path).await else { return };
        self.world.count("blind reports");
        // What a cashier knows anyway.
        for own in ["movements", "openingFloat", "receipts", "header"] {
            if let Some(fields) = told.as_object_mut() {
                fields.remove(own);
            }
        }
        let float = all["data"]["openingFloat"].as_i64();
        let telling = TELLING.iter().filter_map(|place| all["data"].pointer(place)?.as_i64());
        // A few pieces or receipts may be as many by chance.
        let mut telling = telling.filter(|amount| amount.abs() > 400 && Some(*amount) != float);
        if telling.any(|amount| says(&told, amount)) {
            self.complaints.push(format!("Blind: a cashier of {} is told what should be in a drawer", self.code));
        }
    }

    /// The drawer is counted; then it sells on, or is closed with that count.
    async fn count(&mut self, drawer: &str) {
        let counts = self.counts().await;
        let path = format!("{drawer}/count");
        if self.done("counts", &path, json!({"counts": counts})).await.is_none() {
            return;
        }
        if self.world.up_to(1) == 0 {
            self.done("drawers that sell on", &path, json!({"reopen": true})).await;
            return;
        }
        let (what, path, body) = match self.world.up_to(2) {
            0 => ("forced closes", format!("{drawer}/force-close"), json!({"reason": "Nobody answers for it"})),
            _ => ("closes", format!("{drawer}/close"), json!({"acceptVariance": true, "acceptParked": true})),
        };
        self.done(what, &path, body).await;
        self.drawer().await;
    }
}

/// Whether `amount` stands anywhere in it.
fn says(told: &Json, amount: i64) -> bool {
    match told {
        Json::Array(entries) => entries.iter().any(|entry| says(entry, amount)),
        Json::Object(fields) => fields.values().any(|field| says(field, amount)),
        told => told.as_i64() == Some(amount),
    }
}

/// I5, of each closed drawer of a store: what should have been in it is its float, what was paid in cash and what was moved.
pub async fn at_a_store(store: &Db, shop: &Shop) -> Vec<String> {
    let snapshot = store.snapshot().await.expect("a snapshot");
    let sessions = register_session::Entity::find().all(&snapshot).await.expect("drawers");
    let sales = sale::Entity::find().all(&snapshot).await.expect("sales");
    let payments = sale_payment::Entity::find().all(&snapshot).await.expect("payments");
    let movements = cash_movement::Entity::find().all(&snapshot).await.expect("movements");
    let mut broken = Vec::new();
    for session in sessions.iter().filter(|session| session.status == SessionStatus::Closed) {
        let is_valid =
            |sale: &&sale::Model| sale.register_session_id == session.id && sale.status != SaleStatus::Voided;
        let of_drawer: Vec<Uuid> = sales.iter().filter(is_valid).map(|sale| sale.id).collect();
        let in_cash = |row: &&sale_payment::Model| {
            row.tender_kind == TenderKind::Cash
                && row.status != PaymentStatus::Voided
                && of_drawer.contains(&row.sale_id)
        };
        let paid: i64 = payments.iter().filter(in_cash).map(|row| row.amount.0).sum();
        // What came back after the close of its drawer was not known then.
        let of_it = |row: &&cash_movement::Model| row.session_id == session.id && !is_late(session, row.id);
        let moved: i64 = movements.iter().filter(of_it).map(signed).sum();
        let expected = session.opening_float.0 + paid + moved;
        if session.expected_cash.map(|cash| cash.0) != Some(expected) {
            show(session, expected);
            broken.push(format!("I5: a closed drawer of {} is not what was paid and moved", shop.code));
        }
    }
    broken
}

/// I5: what the drawers of a store carry is in its table of movements, also of those that came back.
pub async fn carried(store: &Db, shop: &Shop) -> Option<String> {
    let snapshot = store.snapshot().await.expect("a snapshot");
    let sessions = register_session::Entity::find().all(&snapshot).await.expect("drawers");
    let movements = cash_movement::Entity::find().all(&snapshot).await.expect("movements");
    let here: BTreeSet<String> = movements.iter().map(|row| row.id.to_string()).collect();
    let mut lists = sessions.iter().filter_map(|session| session.cash_movements.0.as_array()).flatten();
    let is_lost = lists.any(|movement| movement["id"].as_str().is_none_or(|id| !here.contains(id)));
    is_lost.then(|| format!("I5: a movement that a drawer of {} carries is not in its table", shop.code))
}

/// Whether a movement came back to its drawer when that was closed.
fn is_late(session: &Session, id: Uuid) -> bool {
    let carried = session.cash_movements.0.as_array();
    carried.into_iter().flatten().any(|movement| movement["late"] == true && movement["id"] == id.to_string())
}

/// What it changes in its drawer.
fn signed(row: &cash_movement::Model) -> i64 {
    let is = |kind: CashMovementKind| row.kind == kind.word();
    if is(CashMovementKind::PaidOut) || is(CashMovementKind::Drop) { -row.amount.0 } else { row.amount.0 }
}

fn show(session: &Session, expected: i64) {
    if std::env::var_os("SIM_SHOW").is_some() {
        eprintln!("{expected}: {session:?}");
    }
}
