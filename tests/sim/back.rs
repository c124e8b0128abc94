//! Money that comes back: what people undo, give back, exchange and pay later, and what must hold of it at the end.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};
use tillkeep_model::ids;
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::SaleType;
use tillkeep_storage::entity::sale::OVER_REFUNDED;
use tillkeep_storage::entity::{customer, sale, sale_item, sale_payment};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::{Db, fiscal};
use uuid::Uuid;

use crate::headquarters::{self, SHARED, SOLD};
use crate::shop::Shop;

/// People bring back what they bought a moment ago.
const NEWEST: usize = 8;

/// A sale with its lines and how many pieces of each were sold.
#[derive(Clone)]
pub struct Sold {
    id: Uuid,
    shop: usize,
    lines: Vec<(String, u64)>,
}

impl Sold {
    /// Of the answer to a till.
    pub fn new(shop: usize, id: Uuid, answer: &Json) -> Option<Self> {
        let line = |item: &Json| Some((item["id"].as_str()?.to_owned(), item["quantity"].as_u64()?));
        let lines: Vec<_> = answer["saleItems"].as_array()?.iter().filter_map(line).collect();
        (!lines.is_empty()).then_some(Self { id, shop, lines })
    }
}

impl Shop {
    /// Somebody comes back, to this store or to another one than that of the sale, or pays what is owed.
    pub async fn undo(&mut self) {
        match self.world.up_to(9) {
            0 | 1 => self.void().await,
            2..=6 => self.give_back().await,
            7 | 8 => self.exchange().await,
            _ => self.settle().await,
        }
    }

    /// One of the sales of a moment ago.
    fn of_late(&self, own: bool) -> Option<Sold> {
        let mut newest: Vec<Sold> = {
            let state = self.world.state();
            state.sold.iter().rev().filter(|sold| !own || sold.shop == self.index).take(NEWEST).cloned().collect()
        };
        if newest.is_empty() {
            return None;
        }
        let place = if self.world.up_to(1) == 0 { 0 } else { self.world.index(newest.len()) };
        Some(newest.swap_remove(place))
    }

    /// Asks, and once more when a drawer had to be opened first. What may have happened without a word of headquarters on it is noted
    /// of the sale `about`.
    async fn ask(&mut self, what: &'static str, path: &str, body: &Json, about: Option<Uuid>) -> Option<Json> {
        for _ in 0..2 {
            let answer = self.call("POST", path, Some(body.clone())).await;
            self.say(what, &answer);
            let (status, answer) = answer;
            let is_done = matches!(status, 200 | 201);
            let may_be_done = is_done || status == 0 || (status >= 500 && answer["code"] != "hq_unreachable");
            if let Some(about) = about.filter(|_| may_be_done && answer["data"]["checkedAtHq"] != true) {
                self.world.state().unchecked.insert(about);
            }
            if is_done {
                self.world.count(what);
                return Some(answer["data"].clone());
            }
            match answer["code"].as_str() {
                Some("no_open_session" | "session_closed" | "register_unknown") => self.drawer().await,
                Some("session_too_old") => self.change_drawer().await,
                _ => return None,
            }
        }
        None
    }

    async fn void(&mut self) {
        let Some(sold) = self.of_late(true) else { return };
        let body = json!({"terminalId": self.terminal(), "reason": "Typed twice"});
        self.ask("voids", &format!("/pos/sales/{}/void", sold.id), &body, Some(sold.id)).await;
    }

    /// Some of some of its lines.
    fn some_of(&self, sold: &Sold) -> Json {
        let first = self.world.index(sold.lines.len());
        let many = 1 + self.world.index(2);
        let lines = sold.lines.iter().skip(first).take(many);
        let item = |(id, pieces): &(String, u64)| {
            let quantity = if self.world.up_to(1) == 0 { *pieces } else { 1 + self.world.up_to(pieces - 1) };
            json!({"saleItemId": id, "quantity": quantity, "restock": self.world.up_to(3) > 0})
        };
        lines.map(item).collect()
    }

    async fn give_back(&mut self) {
        let Some(sold) = self.of_late(false) else { return };
        let id = self.name("refund");
        let body = json!({
            "id": id, "terminalId": self.terminal(), "items": self.some_of(&sold), "reason": "Does not fit",
        });
        let (what, path) =
            (self.called(&sold, "refunds", "refunds elsewhere"), format!("/pos/sales/{}/refunds", sold.id));
        if self.ask(what, &path, &body, Some(sold.id)).await.is_some() {
            self.acknowledge(id);
            // What one brings back in one store somebody else brings back in another.
            self.world.state().sold.push(sold);
        }
    }

    async fn exchange(&mut self) {
        let Some(sold) = self.of_late(false) else { return };
        let (refund, sale) = (self.name("refund"), self.name("sale"));
        let product = headquarters::product(self.world.index(SOLD));
        let lines = json!([{"productId": product, "quantity": 1 + self.world.up_to(4)}]);
        let body = json!({
            "terminalId": self.terminal(),
            "refund": {"id": refund, "saleId": sold.id, "items": self.some_of(&sold), "reason": "Wrong size"},
            "sale": {"id": sale, "lines": lines},
            "payments": [{"tenderId": ids::named("tender:CASH")}],
        });
        let what = self.called(&sold, "exchanges", "exchanges elsewhere");
        let Some(done) = self.ask(what, "/pos/exchanges", &body, Some(sold.id)).await else { return };
        self.acknowledge(refund);
        self.acknowledge(sale);
        self.world.state().sold.extend(Sold::new(self.index, sale, &done["sale"]));
    }

    fn called(&self, sold: &Sold, here: &'static str, elsewhere: &'static str) -> &'static str {
        if sold.shop == self.index { here } else { elsewhere }
    }

    /// A customer pays what is owed, or what will be.
    async fn settle(&mut self) {
        let id = self.name("settlement");
        let customer = headquarters::customer(self.world.index(SHARED));
        let body = json!({
            "id": id, "terminalId": self.terminal(), "customerId": customer,
            "settlement": {"amount": 1 + self.world.up_to(5000), "prepay": true},
            "payments": [{"tenderId": ids::named("tender:CASH")}],
        });
        if self.ask("settlements", "/pos/sales", &body, None).await.is_some() {
            self.acknowledge(id);
        }
    }
}

/// The sales of one database, with what came back of them.
struct Books {
    sales: Vec<sale::Model>,
    items: Vec<sale_item::Model>,
    /// What came back of each line, and how much money of each sale, by the refunds that name them.
    lines: BTreeMap<Uuid, i64>,
    amounts: BTreeMap<Uuid, i64>,
}

impl Books {
    async fn of(db: &Db) -> Self {
        let snapshot = db.snapshot().await.expect("a snapshot");
        let sales = sale::Entity::find().all(&snapshot).await.expect("sales");
        let items = sale_item::Entity::find().all(&snapshot).await.expect("lines");
        let counts = |sale: &&sale::Model| sale.sale_type == SaleType::Refund && sale.status != SaleStatus::Voided;
        let (mut lines, mut amounts) = (BTreeMap::new(), BTreeMap::new());
        for refund in sales.iter().filter(counts) {
            *amounts.entry(refund.original_sale_id.unwrap_or_default()).or_default() -= refund.total_amount.0;
            for item in items.iter().filter(|item| item.sale_id == refund.id) {
                *lines.entry(item.original_sale_item_id.unwrap_or_default()).or_default() -= item.quantity.0;
            }
        }
        Self { sales, items, lines, amounts }
    }

    fn back(&self, item: &sale_item::Model) -> i64 {
        self.lines.get(&item.id).copied().unwrap_or_default()
    }

    fn items_of(&self, sale: &sale::Model) -> impl Iterator<Item = &sale_item::Model> {
        self.items.iter().filter(move |item| item.sale_id == sale.id)
    }

    /// U17 of a sale at headquarters: its figures are those of its refunds, and too much is flagged.
    fn wrong(&self, sale: &sale::Model, unchecked: &BTreeSet<Uuid>) -> Option<&'static str> {
        let came_back = self.amounts.contains_key(&sale.id);
        let all = self.items_of(sale).all(|item| self.back(item) >= item.quantity.0);
        let above = self.items_of(sale).any(|item| self.back(item) > item.quantity.0);
        let is_voided = sale.status == SaleStatus::Voided;
        let over = above || (is_voided && came_back);
        let is_flagged = sale.flags.0.as_array().is_some_and(|flags| flags.iter().any(|flag| flag == OVER_REFUNDED));
        let state = match (came_back, all) {
            (false, _) => SaleStatus::Completed,
            (true, true) => SaleStatus::Refunded,
            (true, false) => SaleStatus::PartiallyRefunded,
        };
        let is_same = self.items_of(sale).all(|item| item.refunded_quantity.0 == self.back(item))
            && sale.refunded_amount.0 == self.amounts.get(&sale.id).copied().unwrap_or_default()
            && (is_voided || sale.status == state);
        if !is_same {
            return Some("what came back of a sale is not what refunds say");
        }
        if over != is_flagged {
            return Some("too much came back and has no flag, or the other way round");
        }
        (over && !unchecked.contains(&sale.id)).then_some("too much came back, and headquarters was asked each time")
    }
}

/// U17, of all sales at headquarters; and every account is what sales, refunds and payments left on it.
pub async fn at_headquarters(hq: &Db, unchecked: &BTreeSet<Uuid>, hq_was_restored: bool) -> Vec<String> {
    let books = Books::of(hq).await;
    let mut broken = Vec::new();
    for sale in books.sales.iter().filter(|sale| sale.sale_type == SaleType::Sale) {
        // What was claimed at a headquarters that is gone keeps nobody away.
        let wrong = books.wrong(sale, unchecked).filter(|wrong| !(hq_was_restored && wrong.ends_with("each time")));
        if let Some(wrong) = wrong {
            if std::env::var_os("SIM_SHOW").is_some() {
                eprintln!("{} {wrong}: {sale:?}", sale.receipt_number);
            }
            broken.push(format!("U17: {wrong}"));
        }
    }
    broken.extend(accounts(hq, &books).await);
    broken.extend(chains(hq, "headquarters").await);
    broken
}

/// I5: the balance of each customer is the sum of what was put on the account.
async fn accounts(hq: &Db, books: &Books) -> Option<String> {
    let snapshot = hq.snapshot().await.expect("a snapshot");
    let payments = sale_payment::Entity::find().all(&snapshot).await.expect("payments");
    let customers = customer::Entity::find().all(&snapshot).await.expect("customers");
    let mut owed: BTreeMap<Uuid, i64> = BTreeMap::new();
    for sale in books.sales.iter().filter(|sale| sale.status != SaleStatus::Voided) {
        let of_sale = payments.iter().filter(|row| row.sale_id == sale.id && row.tender_kind == TenderKind::OnAccount);
        *owed.entry(sale.customer_id.unwrap_or_default()).or_default() += of_sale.map(|row| row.amount.0).sum::<i64>();
    }
    let is_other = |row: &customer::Model| row.account_balance.0 != owed.get(&row.id).copied().unwrap_or_default();
    customers.iter().any(is_other).then(|| "I5: a balance is not the sum of its payments".to_owned())
}

/// I15: every document has its place in the chain of its register, and no chain is broken.
async fn chains(db: &Db, place: &str) -> Option<String> {
    let snapshot = db.snapshot().await.expect("a snapshot");
    let checked = fiscal::check(&snapshot).await.expect("the chains");
    if std::env::var_os("SIM_SHOW").is_some() {
        for broken in &checked.breaks {
            eprintln!("{place}: {broken}");
        }
    }
    let is_broken = !checked.breaks.is_empty() || checked.without_entry > 0;
    is_broken.then(|| format!("I15: a chain is broken at {place}, or a document is in none"))
}

/// The same at a store, which knows of no less than it gave back itself.
pub async fn at_a_store(store: &Db, shop: &Shop) -> Vec<String> {
    let books = Books::of(store).await;
    let mut broken: Vec<String> = chains(store, &shop.code).await.into_iter().collect();
    if books.items.iter().any(|item| item.refunded_quantity.0 < books.back(item)) {
        broken.push(format!("U17: {} gave back more of a line than it knows of", shop.code));
    }
    broken
}
