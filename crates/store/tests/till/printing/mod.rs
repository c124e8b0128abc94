//! Papers and printers: what a sale prints, what becomes of a paper when the printer is away, slow or out of paper, and that none
//! comes out twice by itself.

mod golden;
mod queue;
mod settings;
mod trouble;

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value as Json, json};
use tillkeep_storage::entity::{print_job, sale, tender};
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel, QueryOrder};
use tillkeep_store::Patience;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::kit::{Person, Shop, cart, eventually, id, line};

/// With printers that answer at once or never.
fn impatient() -> Patience {
    let short = Duration::from_millis(300);
    Patience { connect: Duration::from_secs(2), status: short, write: Duration::from_secs(5), end: short }
}

/// The one who prints, until it is dropped.
pub(crate) struct Printing(JoinHandle<()>);

impl Printing {
    pub(crate) fn begin(shop: &Shop) -> Self {
        Self::with(shop, Patience { end: Duration::from_mins(1), ..impatient() })
    }

    fn with(shop: &Shop, patience: Patience) -> Self {
        Self(tokio::spawn(tillkeep_store::print(shop.store.clone(), patience)))
    }
}

impl Drop for Printing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Cash opens the drawer, as headquarters makes it.
async fn with_a_drawer(shop: &Shop) {
    let tx = shop.store.test_db().begin().await.expect("a transaction");
    let row = tender::Entity::find_by_id(id("CASH")).one(&tx).await.expect("a read").expect("cash");
    let row = tender::Model { opens_drawer: true, ..row };
    tender::Entity::update(row.into_active_model().reset_all()).exec(&tx).await.expect("an update");
    tx.commit().await.expect("a commit");
}

/// A printer at `address`, set at the register with this code.
async fn set(person: &Person, code: &str, address: SocketAddr, automatic: bool) {
    let printer = json!({
        "address": address.to_string(), "width": 42, "codePage": "PC858", "opensDrawer": true, "automatic": automatic,
    });
    let path = format!("/registers/{}", id(&format!("register {code}")));
    person.patch(&path, json!({"printer": printer})).await.ok(200);
}

/// An open drawer at register 01 with a printer at `address` that prints every sale.
async fn selling_with(shop: &Shop, address: SocketAddr) -> Person {
    with_a_drawer(shop).await;
    let person = shop.selling().await;
    set(&person, "01", address, true).await;
    person
}

async fn sell(person: &Person, tender: &str) -> Json {
    let cart = cart(json!([line("TEA", 1)]), json!([{"tenderId": id(tender)}]));
    person.post("/pos/sales", cart).await.ok(201)
}

/// Asks for a paper of `sale`.
async fn ask(person: &Person, sale: &Json, to: &str) -> Json {
    let path = format!("/pos/sales/{}/prints", sale["id"].as_str().expect("an id"));
    person.post(&path, json!({"id": Uuid::now_v7(), "to": to})).await.ok(201)
}

async fn again(person: &Person, job: &Json) -> Json {
    person.post(&format!("/pos/prints/{}/again", job["id"].as_str().expect("an id")), json!({})).await.ok(200)
}

/// The papers of this store, oldest first.
async fn jobs(shop: &Shop) -> Vec<print_job::Model> {
    let select = print_job::Entity::find().order_by_asc(print_job::Column::CreatedAt);
    select.order_by_asc(print_job::Column::Id).all(shop.store.test_db().reader()).await.expect("the papers")
}

/// Waits until the papers of this store are in these states, oldest first.
async fn until(shop: &Shop, states: &[&str]) {
    let are_so = async || jobs(shop).await.iter().map(|job| job.state.as_str()).eq(states.iter().copied());
    eventually(&format!("papers that are {states:?}"), are_so).await;
}

async fn until_so(shop: &Shop, so: impl Fn(&[print_job::Model]) -> bool) {
    eventually("papers as they are waited for", async || so(&jobs(shop).await)).await;
}

/// How the printer of register 01 is, as the list of registers says it.
async fn state(person: &Person) -> Json {
    let registers = person.get("/registers?code=01").await.ok(200);
    registers[0]["printerState"].clone()
}

async fn reprints(shop: &Shop, sale: &Json) -> i32 {
    let id: Uuid = sale["id"].as_str().expect("an id").parse().expect("a UUID");
    let row = sale::Entity::find_by_id(id).one(shop.store.test_db().reader()).await.expect("a read");
    row.expect("a sale").reprint_count
}

fn has(paper: &[u8], text: &str) -> bool {
    paper.windows(text.len()).any(|part| part == text.as_bytes())
}
