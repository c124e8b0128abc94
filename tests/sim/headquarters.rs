//! Headquarters, and who works there.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_hq::{Hq, routes};
use tillkeep_http::Clock;
use tillkeep_http::auth::SignInSettings;
use tillkeep_model::{Instant, ids};
use tillkeep_storage::Opening;
use tillkeep_storage::entity::{user, user_store_role};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::world::World;
use crate::{site, specials, taxes};

/// Products that are sold all the time; further ones come and go.
pub const SOLD: usize = 8;
const COME_AND_GO: usize = 4;
/// Customers of the whole chain.
pub const SHARED: usize = 3;

pub struct Headquarters {
    world: Arc<World>,
    pub dir: PathBuf,
    pub clock: Clock,
    pub hq: Option<Arc<Hq>>,
    token: String,
    /// Raised by each edit, so that values differ.
    edits: u64,
    /// What the taxes were after each commit.
    pub taxes: BTreeSet<String>,
}

pub fn product(index: usize) -> Uuid {
    ids::named(&format!("product {index}"))
}

pub fn customer(index: usize) -> Uuid {
    ids::named(&format!("customer {index}"))
}

/// The tender of customers who pay later.
pub fn account() -> Uuid {
    ids::named("on account")
}

pub fn administrator() -> Uuid {
    ids::named("administrator")
}

/// Who sells, and must not know what should be in a drawer.
pub fn cashier() -> Uuid {
    ids::named("cashier")
}

/// A user who can sign in, with the permissions of a role in every store.
fn person(id: Uuid, name: &str, role: &str, now: Instant) -> (user::Model, user_store_role::Model) {
    let person = user::Model {
        id,
        username: name.to_owned(),
        username_folded: name.to_owned(),
        display_name: name.to_owned(),
        is_active: true,
        created_at: now,
        updated_at: now,
        ..user::Model::default()
    };
    let assignment = user_store_role::Model {
        id: ids::named(&format!("{role} everywhere")),
        user_id: id,
        role_id: ids::role(role),
        created_at: now,
        updated_at: now,
        ..user_store_role::Model::default()
    };
    (person, assignment)
}

impl Headquarters {
    pub async fn new(world: &Arc<World>, dir: PathBuf) -> Self {
        std::fs::create_dir_all(&dir).expect("a directory");
        let clock = world.clock.of_another_machine();
        let (token, taxes) = (String::new(), BTreeSet::new());
        let mut this = Self { world: world.clone(), dir, clock, hq: None, token, edits: 0, taxes };
        this.open().await;
        this.found().await;
        this
    }

    pub async fn open(&mut self) {
        let settings = tillkeep_hq::Settings {
            data_dir: self.dir.clone(),
            database_url: None,
            database: Opening::default(),
            public_url: None,
            allow_insecure: false,
            node: String::new(),
            sign_in: SignInSettings::default(),
            global_people: tillkeep_storage::staff::GlobalPeople::default(),
            broker: None,
            sync_log_days: 90,
            new_customers_per_hour: 1000,
        };
        let hq = loop {
            // Cancelled, so that nothing happens by the clock of the machine.
            let stop = CancellationToken::new();
            stop.cancel();
            match Hq::open(&settings, self.clock.clone(), stop).await {
                Ok(hq) => break hq,
                Err(error) => self.world.note("HQ", format!("does not open: {}", error.kind())),
            }
        };
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        self.world.state().hq = Some(routes::router(hq.clone(), &[]));
        self.hq = Some(hq);
    }

    pub async fn close(&mut self) {
        self.world.state().hq = None;
        if let Some(hq) = self.hq.take() {
            site::close(hq.db().clone()).await;
        }
    }

    /// The administrator, goods and people.
    async fn found(&mut self) {
        let hq = self.hq.clone().expect("open");
        let now = self.clock.now();
        let mut tx = hq.db().begin().await.expect("begin");
        for (id, name, role) in [(administrator(), "admin", "administrator"), (cashier(), "anna", "cashier")] {
            let (person, assignment) = person(id, name, role, now);
            tx.insert::<user::Entity>(person).await.expect("a user");
            tx.insert::<user_store_role::Entity>(assignment).await.expect("a role");
        }
        hq.commit(tx).await.expect("commit");
        self.token = site::sign_in(&hq.auth, hq.db(), administrator(), None).await.expect("a session");
        for index in 0..SOLD + COME_AND_GO {
            let body = json!({
                "id": product(index), "sku": format!("P{index}"), "name": format!("Product {index}"), "price": 1000 + index,
                "departmentId": ids::named("department:GENERAL"), "taxGroupId": ids::named("tax_group:NONE"),
            });
            self.must("POST", "/products", body).await;
        }
        for index in 0..SHARED {
            let name = format!("Miller {index}");
            let body =
                json!({"id": customer(index), "firstName": "Ann", "lastName": name, "creditLimit": 1_000_000_000});
            self.must("POST", "/customers", body).await;
        }
        let account = json!({
            "id": account(), "code": "ACCOUNT", "name": "On account", "kind": "on_account", "requiresCustomer": true,
        });
        self.must("POST", "/tenders", account).await;
        for index in 0..specials::MOST {
            self.must("POST", "/specials", specials::made(index)).await;
        }
        let role = json!({"id": ids::named("helper"), "code": "helper", "name": "Helper", "permissions": ["pos.sell"]});
        self.must("POST", "/roles", role).await;
    }

    /// Makes and provisions a store; its id and sync token.
    pub async fn store(&mut self, code: &str) -> (Uuid, String) {
        let id = ids::named(&format!("store {code}"));
        let body = json!({"id": id, "code": code, "name": code, "timezone": "America/New_York"});
        self.must("POST", "/stores", body).await;
        let answer = self.must("POST", &format!("/stores/{id}/provision"), json!({})).await;
        (id, answer["data"]["syncToken"].as_str().expect("a token").to_owned())
    }

    /// Taxes that differ by store.
    pub async fn tax(&mut self, stores: &[Uuid]) {
        for index in 0..taxes::RATES {
            self.must("POST", "/tax-rates", taxes::rate(index)).await;
        }
        for index in 0..taxes::GROUPS {
            let mut group = json!({"id": taxes::group_id(index), "code": format!("G{index}"), "name": "A group"});
            group["rates"] = taxes::draw(&self.world, stores);
            self.must("POST", "/tax-groups", group).await;
            self.note_taxes().await;
        }
    }

    async fn note_taxes(&mut self) {
        if let Some(hq) = &self.hq {
            self.taxes.insert(taxes::picture(hq.db()).await);
        }
    }

    async fn must(&mut self, method: &str, path: &str, body: Json) -> Json {
        let (status, answer) = self.call(method, path, Some(body)).await;
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// As the administrator, who signs in again when headquarters wants that: its clock was put back, or the session went with the
    /// disk on which it was noted.
    async fn call(&mut self, method: &str, path: &str, body: Option<Json>) -> (u16, Json) {
        let router: Option<Router> = self.world.state().hq.clone();
        let Some(router) = router else { return (0, json!({"code": "down"})) };
        let answer = site::call(&router, &self.token, method, path, body.clone()).await;
        if answer.0 != 401 || !self.sign_in().await {
            return answer;
        }
        site::call(&router, &self.token, method, path, body).await
    }

    /// Whether headquarters let the administrator in.
    async fn sign_in(&mut self) -> bool {
        let Some(hq) = self.hq.clone() else { return false };
        let Ok(token) = site::sign_in(&hq.auth, hq.db(), administrator(), None).await else { return false };
        self.token = token;
        true
    }

    /// A user changes something.
    pub async fn edit(&mut self, stores: &[Uuid]) {
        self.edits += 1;
        let edits = self.edits;
        let sold = product(self.world.index(SOLD));
        let fleeting = product(SOLD + self.world.index(COME_AND_GO));
        let (method, path, body) = match self.world.up_to(15) {
            0 => ("PATCH", format!("/products/{sold}"), json!({"price": 500 + self.world.up_to(5000)})),
            1 => ("PATCH", format!("/products/{sold}"), json!({"name": format!("Product, edit {edits}")})),
            2 => ("DELETE", format!("/products/{fleeting}"), Json::Null),
            3 => ("POST", format!("/products/{fleeting}/restore"), json!({})),
            4 => {
                let store = stores[self.world.index(stores.len())];
                ("PUT", format!("/store-prices/{store}/{sold}"), json!({"price": 400 + self.world.up_to(3000)}))
            }
            5 | 6 => {
                let id = customer(self.world.index(SHARED));
                ("PATCH", format!("/customers/{id}"), json!({"notes": format!("edit {edits}")}))
            }
            7 => {
                let all = ["pos.sell", "customers.view", "inventory.view", "reports.view_local"];
                let held: Vec<&str> = all.into_iter().filter(|_| self.world.up_to(1) == 0).collect();
                ("PUT", format!("/roles/{}/permissions", ids::named("helper")), json!({"permissions": held}))
            }
            // Often: what a restored copy lacks is a row that is not written again.
            8..=10 => {
                let body = json!({
                    "id": ids::named(&format!("new product {edits}")), "sku": format!("N{edits}"), "name": "New",
                    "price": 700, "departmentId": ids::named("department:GENERAL"),
                    "taxGroupId": ids::named("tax_group:NONE"),
                });
                ("POST", "/products".to_owned(), body)
            }
            11 => {
                let rate = taxes::rate_id(self.world.index(taxes::RATES));
                ("PATCH", format!("/tax-rates/{rate}"), json!({"ratePpm": 10_000 + edits}))
            }
            // All of a group at once, which is more than a page.
            12 => {
                let group = taxes::group_id(self.world.index(taxes::GROUPS));
                ("PUT", format!("/tax-groups/{group}/rates"), taxes::draw(&self.world, stores))
            }
            13 => return self.swap(edits).await,
            _ => {
                let index = self.world.index(specials::MOST);
                ("PATCH", format!("/specials/{}", specials::id(index)), specials::change(&self.world, index))
            }
        };
        // Roles want a sign-in of the last minutes, and the clock jumps.
        if path.starts_with("/roles/") {
            self.sign_in().await;
        }
        let answer = self.call(method, &path, Some(body).filter(|body| !body.is_null())).await;
        self.note_taxes().await;
        let room = path.split('/').nth(1).unwrap_or_default().to_owned();
        self.world.note("HQ", format!("{method} {room}: {}", site::outcome(&answer)));
    }

    /// One product gives its number to another one and is edited again: in pull order, the other one comes first.
    async fn swap(&mut self, edits: u64) {
        let (one, other) = (product(SOLD), product(SOLD + 1));
        let number = format!("SWAP{}", edits % 2);
        for (id, body) in [
            (one, json!({"sku": format!("AWAY{edits}")})),
            (other, json!({"sku": number})),
            (one, json!({"name": format!("Swapped {edits}")})),
        ] {
            let answer = self.call("PATCH", &format!("/products/{id}"), Some(body)).await;
            self.world.note("HQ", format!("swap: {}", site::outcome(&answer)));
        }
    }

    /// A user resolves what was refused.
    pub async fn resolve_all(&mut self) -> usize {
        let (_, list) = self.call("GET", "/sync/errors?pageSize=100", None).await;
        let failed: Vec<String> = list["data"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|row| Some(row["id"].as_str()?.to_owned()))
            .collect();
        for id in &failed {
            let answer = self.call("POST", &format!("/sync/resolve/{id}"), Some(json!({"note": "seen"}))).await;
            self.world.note("HQ", format!("resolve: {}", site::outcome(&answer)));
        }
        failed.len()
    }
}
