//! A store: its server, its two loops, and what its people do.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use serde_json::{Value as Json, json};
use tillkeep_http::Clock;
use tillkeep_http::auth::SignInSettings;
use tillkeep_model::ids;
use tillkeep_storage::entity::customer;
use tillkeep_storage::sea_orm::{ActiveModelTrait, EntityTrait, IntoActiveModel};
use tillkeep_storage::{DbErr, outbox};
use tillkeep_store::headquarters::Http;
use tillkeep_store::sync::{Cycle, Round, Sender};
use tillkeep_store::{Settings, Store, World as Surroundings, routes};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::back::Sold;
use crate::headquarters::{self, SHARED, SOLD};
use crate::line::Line;
use crate::world::World;
use crate::{site, specials};

pub const CYCLE: usize = 0;
pub const SENDER: usize = 1;

/// What one of the two loops remembers from step to step.
pub enum Actor {
    Cycle(Cycle),
    Sender(Sender),
}

/// A step under way: it may wait for an answer from headquarters while others go on.
pub type Flight = Pin<Box<dyn Future<Output = (Actor, Round)>>>;

pub fn launch(store: Arc<Store>, mut actor: Actor) -> Flight {
    Box::pin(async move {
        let round = match &mut actor {
            Actor::Cycle(cycle) => Round::Idle(cycle.step(&store).await),
            Actor::Sender(sender) => sender.step(&store).await,
        };
        (actor, round)
    })
}

/// A background loop of the store.
#[derive(Default)]
pub struct Loop {
    pub flight: Option<Flight>,
    pub idle: Option<Actor>,
    pub rest: Option<Round>,
    /// Wake-ups of an earlier turn are void.
    pub turn: u64,
    /// Something happened while it did not listen.
    pub bell: bool,
    /// It waits until the other loop is through with what only one of them may do at a time.
    pub at_the_gate: bool,
}

pub struct Till {
    pub store: Arc<Store>,
    router: Router,
    token: String,
}

pub struct Shop {
    pub index: usize,
    pub code: String,
    pub id: Uuid,
    pub dir: PathBuf,
    pub clock: Clock,
    pub till: Option<Till>,
    pub loops: [Loop; 2],
    /// Raised when the server is gone: what was to happen to it does not.
    pub life: u64,
    /// No till sells before headquarters was reached once: after a new start from another disk.
    pub must_reach_hq: bool,
    /// Sales that the till knows are on disk.
    pub acknowledged: BTreeMap<Uuid, i64>,
    /// Acknowledged sales that went with a disk.
    pub gone: Vec<Uuid>,
    /// The names last given to customers whom only this store changes.
    pub names: BTreeMap<Uuid, String>,
    /// Entities of which headquarters refuses an entry.
    pub refused: Vec<Uuid>,
    pub was_restored: bool,
    /// Promises that were broken before the eyes of its people.
    pub complaints: Vec<String>,
    pub world: Arc<World>,
    sync_token: String,
    serial: u64,
    copied_at: Option<i64>,
}

impl Shop {
    pub fn new(world: &Arc<World>, index: usize, (id, sync_token): (Uuid, String), dir: PathBuf) -> Self {
        std::fs::create_dir_all(&dir).expect("a directory");
        Self {
            index,
            code: code(index),
            id,
            dir,
            clock: world.clock.of_another_machine(),
            till: None,
            loops: [Loop::default(), Loop::default()],
            life: 0,
            must_reach_hq: true,
            acknowledged: BTreeMap::new(),
            gone: Vec::new(),
            names: BTreeMap::new(),
            refused: Vec::new(),
            was_restored: false,
            complaints: Vec::new(),
            world: world.clone(),
            sync_token,
            serial: 0,
            copied_at: None,
        }
    }

    pub async fn open(&mut self) {
        let settings = Settings {
            data_dir: self.dir.clone(),
            sync_token: self.sync_token.clone().into(),
            hq_url: "http://127.0.0.1:9".to_owned(),
            hq_ca_file: None,
            sync_interval: std::time::Duration::from_secs(30),
            sign_in: SignInSettings::default(),
            numbers_file: None,
        };
        let store = loop {
            let line = Line {
                world: self.world.clone(),
                shop: self.index,
                code: self.code.clone(),
                token: self.sync_token.clone(),
            };
            let (clock, chance) = (self.clock.clone(), self.world.another_chance());
            let surroundings = Surroundings { hq: Arc::new(line), clock, chance };
            // The socket is not part of a run, so nothing goes over this one.
            let http = Http::new(&settings.hq_url, &settings.sync_token, None).expect("a client");
            // Cancelled, so that nothing happens by the clock of the machine.
            let stop = CancellationToken::new();
            stop.cancel();
            match Store::open_in(settings.clone(), http, surroundings, stop).await {
                Ok(store) => break store,
                Err(error) => self.world.note(&self.code, format!("does not open: {}", error.kind())),
            }
        };
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        self.till = Some(Till { router: routes::router(store.clone(), &[]), store, token: String::new() });
        self.loops = [
            Loop { idle: Some(Actor::Cycle(Cycle::default())), ..Loop::default() },
            Loop { idle: Some(Actor::Sender(Sender::default())), ..Loop::default() },
        ];
        self.life += 1;
    }

    /// The server dies wherever its loops are.
    pub async fn close(&mut self) {
        self.loops = [Loop::default(), Loop::default()];
        self.life += 1;
        if let Some(till) = self.till.take() {
            site::close(till.store.test_db().clone()).await;
        }
    }

    pub fn copy(&mut self) {
        site::copy(&self.dir);
        self.copied_at = Some(self.world.time());
    }

    /// From the copy, or from nothing. False when there is no copy.
    pub fn restore(&mut self, from_nothing: bool) -> bool {
        let since = if from_nothing {
            site::remove(&self.dir);
            -1
        } else {
            let Some(since) = self.copied_at.filter(|_| site::restore(&self.dir)) else { return false };
            since
        };
        let (kept, gone): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut self.acknowledged).into_iter().partition(|(_, at)| *at <= since);
        self.acknowledged = kept;
        self.gone.extend(gone.into_keys());
        self.names.clear();
        self.was_restored = true;
        self.must_reach_hq = true;
        true
    }

    /// Whether a cashier can work here now.
    pub fn is_ready(&self) -> bool {
        self.till.is_some() && !self.must_reach_hq
    }

    pub fn store(&self) -> Option<Arc<Store>> {
        self.till.as_ref().map(|till| till.store.clone())
    }

    pub fn sync_token(&self) -> &str {
        &self.sync_token
    }

    pub fn name(&mut self, kind: &str) -> Uuid {
        self.serial += 1;
        ids::named(&format!("{} {kind} {}", self.code, self.serial))
    }

    pub async fn call(&mut self, method: &str, path: &str, body: Option<Json>) -> (u16, Json) {
        let Some(till) = &mut self.till else { return (0, Json::Null) };
        for _ in 0..2 {
            if till.token.is_empty() {
                match site::sign_in(
                    &till.store.auth,
                    till.store.test_db(),
                    headquarters::administrator(),
                    Some(self.id),
                )
                .await
                {
                    Ok(token) => till.token = token,
                    Err(_) => return (0, json!({"code": "no session"})),
                }
            }
            let answer = site::call(&till.router, &till.token, method, path, body.clone()).await;
            if answer.0 != 401 {
                return answer;
            }
            till.token.clear();
        }
        (401, Json::Null)
    }

    /// What another user is answered, when they are.
    pub async fn ask_as(&self, user: Uuid, path: &str) -> Option<Json> {
        let till = self.till.as_ref()?;
        let token = site::sign_in(&till.store.auth, till.store.test_db(), user, Some(self.id)).await.ok()?;
        let (status, answer) = site::call(&till.router, &token, "GET", path, None).await;
        (status == 200).then(|| answer["data"].clone())
    }

    pub fn say(&self, what: &str, answer: &(u16, Json)) {
        self.world.note(&self.code, format!("{what}: {}", site::outcome(answer)));
    }

    pub fn register(&self) -> Uuid {
        ids::named(&format!("register of {}", self.code))
    }

    pub fn terminal(&self) -> String {
        format!("{}-T1", self.code)
    }

    /// A document that the till knows is on disk.
    pub fn acknowledge(&mut self, id: Uuid) {
        self.acknowledged.insert(id, self.world.time());
    }

    /// A register with an open drawer.
    pub async fn drawer(&mut self) {
        let register = json!({"id": self.register(), "code": "01", "name": "Front", "terminalId": self.terminal()});
        let answer = self.call("POST", "/registers", Some(register)).await;
        self.say("register", &answer);
        let answer = self.call("POST", &format!("/registers/{}/open", self.register()), Some(json!({}))).await;
        self.say("open", &answer);
    }

    /// The drawer is counted and the next one opened.
    pub async fn change_drawer(&mut self) {
        let (_, current) =
            self.call("GET", &format!("/register-sessions/current?terminalId={}", self.terminal()), None).await;
        if let Some(id) = current["data"]["id"].as_str() {
            let counts = self.counts().await;
            let path = format!("/register-sessions/{id}/close");
            let body = json!({"counts": counts, "acceptVariance": true, "acceptParked": true});
            let answer = self.call("POST", &path, Some(body)).await;
            self.say("close", &answer);
        }
        self.drawer().await;
    }

    /// Nothing is counted of any tender that must be.
    pub async fn counts(&mut self) -> Json {
        let (_, tenders) = self.call("GET", "/tenders", None).await;
        let tenders = tenders["data"].as_array().into_iter().flatten();
        let counted = tenders.filter(|tender| tender["countsInClose"] == true);
        counted.map(|tender| json!({"tenderId": tender["id"], "amount": 0})).collect()
    }

    pub async fn sell(&mut self) {
        let id = self.name("sale");
        let lines: Vec<Json> = (0..=self.world.up_to(3))
            .map(|_| {
                let product = headquarters::product(self.world.index(SOLD));
                let discount = specials::discount(&self.world);
                json!({"productId": product, "quantity": 1 + self.world.up_to(4), "lineDiscount": discount})
            })
            .collect();
        let customer = (self.world.up_to(3) == 0).then(|| headquarters::customer(self.world.index(SHARED)));
        // Every second one of those pays later.
        let later = customer.is_some() && self.world.up_to(1) == 0;
        let tender = if later { headquarters::account() } else { ids::named("tender:CASH") };
        let sale = json!({
            "id": id, "terminalId": self.terminal(), "lines": lines, "customerId": customer,
            "cartDiscount": specials::discount(&self.world),
            "payments": [{"tenderId": tender}],
        });
        for _ in 0..2 {
            let answer = self.call("POST", "/pos/sales", Some(sale.clone())).await;
            self.say("sale", &answer);
            match (answer.0, answer.1["code"].as_str()) {
                (200 | 201, _) => {
                    self.acknowledge(id);
                    self.world.count("sales");
                    self.world.state().sold.extend(Sold::new(self.index, id, &answer.1["data"]));
                    for (name, what) in specials::TAKEN_OFF {
                        if answer.1["data"][name].as_i64().is_some_and(|off| off > 0) {
                            self.world.count(what);
                        }
                    }
                    return;
                }
                (_, Some("no_open_session" | "session_closed" | "register_unknown")) => self.drawer().await,
                (_, Some("session_too_old")) => self.change_drawer().await,
                _ => return,
            }
        }
    }

    pub async fn adjust(&mut self) {
        let id = self.name("adjustment");
        let product = headquarters::product(self.world.index(SOLD));
        let pieces = 1 + self.world.up_to(20);
        let mut body = json!({"id": id, "productId": product, "quantityChange": pieces, "reason": "found"});
        if pieces.is_multiple_of(2) {
            // Bought at some cost, which the average follows.
            body["reason"] = "received".into();
            body["unitCost"] = json!(100 + 7 * pieces);
        }
        let answer = self.call("POST", "/inventory/adjustments", Some(body)).await;
        self.say("adjustment", &answer);
    }

    pub async fn meet_customer(&mut self) {
        let id = self.name("customer");
        let first = format!("{} {}", self.code, self.serial);
        let body = json!({"id": id, "firstName": first, "allowDuplicate": true});
        let answer = self.call("POST", "/customers", Some(body)).await;
        self.say("customer", &answer);
        if answer.0 == 201 {
            self.names.insert(id, first);
        }
    }

    /// Changes a customer whom no other store changes, or one of the whole chain.
    pub async fn change_customer(&mut self) {
        let shared = self.names.is_empty() || self.world.up_to(1) == 0;
        let id = if shared {
            headquarters::customer(self.world.index(SHARED))
        } else {
            *self.names.keys().nth(self.world.index(self.names.len())).expect("one")
        };
        self.serial += 1;
        let name = format!("{} {}", self.code, self.serial);
        let done = self.rename(id, &name, None).await;
        self.world.note(&self.code, format!("rename: {done:?}"));
        if !shared {
            self.remember(id, name, &done);
        }
    }

    /// An entry that headquarters cannot read, and a good one of the same customer behind it.
    pub async fn be_refused(&mut self) {
        let Some(id) = self.names.keys().next().copied() else { return };
        let bad = json!({"id": id, "firstName": {"not": "a name"}});
        self.serial += 1;
        let name = format!("{} {}", self.code, self.serial);
        let first = self.rename(id, "never", Some(&bad)).await;
        let second = self.rename(id, &name, None).await;
        self.world.note(&self.code, format!("an entry to refuse: {first:?} {second:?}"));
        if first != Ok(false) {
            self.refused.push(id);
            self.world.count("refused entries");
        }
        self.remember(id, name, &second);
    }

    /// What failed may have been committed all the same: the name is unknown then.
    fn remember(&mut self, id: Uuid, name: String, done: &Result<bool, DbErr>) {
        match done {
            Ok(true) => drop(self.names.insert(id, name)),
            Ok(false) => {}
            Err(_) => drop(self.names.remove(&id)),
        }
    }

    /// As a route would: the row and its entry in one transaction.
    async fn rename(&mut self, id: Uuid, name: &str, payload: Option<&Json>) -> Result<bool, DbErr> {
        let Some(store) = self.store() else { return Ok(false) };
        let now = store.clock.now();
        let tx = store.test_db().begin().await?;
        let Some(mut row) = customer::Entity::find_by_id(id).one(&tx).await? else { return Ok(false) };
        row.first_name = Some(name.to_owned());
        row.updated_at = now;
        row.synced = false;
        customer::Entity::update(row.clone().into_active_model().reset_all()).exec(&tx).await?;
        let data = json!(row);
        let entry = outbox::Entry {
            entity_type: "customers",
            entity_id: id,
            action: "update",
            data: payload.unwrap_or(&data),
            created_at: row.created_at,
            depends_on: None,
        };
        outbox::enqueue(&tx, &entry, now).await?;
        tx.commit().await?;
        store.outbox_bell.notify_one();
        Ok(true)
    }
}

pub fn code(index: usize) -> String {
    format!("S{:02}", index + 1)
}
