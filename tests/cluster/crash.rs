//! A server that dies at a named place, or with a database that fails there, goes on as if nothing had been: nothing
//! lost, nothing doubled, nothing counted against an entry. The places are in `crates/storage/src/fault.rs`.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use tillkeep_model::Instant as Moment;
use tillkeep_storage::fault::PLACES;
use tillkeep_storage::verify::Options;
use tillkeep_storage::{Db, Side, outbox, registry, settings};
use uuid::Uuid;

use crate::kit::printer::Printer;
use crate::kit::{Fault, Process, Shift, TestCluster, TestStore, eventually, verdict};

/// Places that only a command, what was restored (`restored.rs`), an upgrade (`upgrade.rs`) or what is months old comes by.
const NOT_REACHED: &[&str] = &["outbox.resend", "backup.copied", "export.written", "migration.step", "prune.kept"];
/// Places of a store that nothing but the requests of its tills comes by.
const IN_REQUESTS: &[&str] = &[
    "outbox.enqueue",
    "sale.written",
    "sale.committed",
    "void.written",
    "void.committed",
    "refund.claimed",
    "refund.written",
    "refund.committed",
    "exchange.written",
    "exchange.committed",
    "movement.written",
    "movement.committed",
    "count.written",
    "parked.written",
    "parked.resumed",
    "session.closed",
    "session.forced",
    "reassign.written",
    "safe.written",
];
/// Of those the ones that a drawer comes by without selling.
const OF_DRAWERS: &[&str] = &["movement.", "count.", "session.forced", "reassign."];
/// Passes that a server makes before it listens.
const PASSES_OF_A_START: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Server {
    Hq,
    Store,
}

/// The places of one server, in the order of the list.
fn places(server: Server) -> Vec<&'static str> {
    let of_hq = |place: &str| ["pull.", "push.", "handshake.", "tracker."].iter().any(|room| place.starts_with(room));
    let here = |place: &&str| place.starts_with("tx.") || of_hq(place) == (server == Server::Hq);
    PLACES.iter().map(|(place, _)| *place).filter(here).filter(|place| !NOT_REACHED.contains(place)).collect()
}

struct World {
    // Before the chain: the checker looks at both at the end of a store.
    site: TestStore,
    chain: TestCluster,
    shift: Shift,
    /// That of the register.
    printer: Printer,
    product: String,
    turn: i64,
}

impl World {
    async fn new() -> Self {
        let mut chain = TestCluster::new().await;
        let product = chain.product("A1", 1000).await;
        let site = chain.store().await;
        // Somebody to hand a drawer to.
        chain.admin.post("/users", json!({"username": "bob", "displayName": "Bob"})).await.data();
        let shift = Shift::begin(&site, &product).await;
        // Each document has a paper.
        let printer = Printer::at(&shift).await;
        Self { chain, site, shift, printer, product, turn: 0 }
    }

    /// What a kill left of a paper is offered again to a person alone: none has come out twice.
    async fn nothing_was_printed_twice(&self) {
        eventually("no paper waits", async || {
            let waiting =
                self.shift.client().get("/pos/prints?state=waiting").await.body["pagination"]["total"].clone();
            (waiting == 0).then_some(())
        })
        .await;
        let papers = self.printer.papers();
        let different: BTreeSet<&Vec<u8>> = papers.iter().collect();
        assert_eq!(different.len(), papers.len(), "a paper was printed twice");
        assert!(!papers.is_empty(), "the printer was used");
    }

    fn server(&mut self, server: Server) -> &mut Process {
        match server {
            Server::Hq => &mut self.chain.hq,
            Server::Store => &mut self.site.process,
        }
    }

    /// What comes by a place, sooner or later.
    async fn come_by(&mut self, place: &str) {
        if place.starts_with("handshake.") {
            // After a lost line there is a handshake; a restart of headquarters may be over before anybody notices it.
            self.site.proxy.set(Fault::Down);
            tokio::time::sleep(Duration::from_millis(500)).await;
            self.site.proxy.set(Fault::None);
        }
        if OF_DRAWERS.iter().any(|room| place.starts_with(room)) {
            self.shift.drawer_without_sales().await;
        }
        if place.starts_with("safe.") {
            self.shift.deposit().await;
        }
        self.work().await;
    }

    /// What happens in a shop and at headquarters within a moment.
    async fn work(&mut self) {
        self.turn += 1;
        self.shift.sell(&self.product, 1).await;
        let path = format!("/products/{}", self.product);
        let edit = json!({"price": 1000 + self.turn});
        if let Ok(reply) = self.chain.admin.try_call(Method::PATCH, &path, Some(edit)).await
            && reply.status.is_server_error()
            && reply.status != 503
        {
            self.shift.wrong.push(format!("{path}: {}", reply.text));
        }
        match self.turn % 8 {
            0 => self.shift.drawer(true).await,
            1 => self.shift.customer("Lovelace").await,
            2 => self.shift.receive(&self.product, 3).await,
            3 => drop(self.shift.void().await),
            4 => drop(self.shift.give_back().await),
            5 => drop(self.shift.exchange(&self.product).await),
            6 => self.shift.park(&self.product).await,
            _ => {}
        }
    }

    /// What must be so before a place is come by.
    async fn prepare(&mut self, place: &str) -> Option<String> {
        const NEEDS: [&str; 4] = ["apply.begin_reload", "apply.end_reload", "outbox.refuse", "push.refusals"];
        if !NEEDS.contains(&place) {
            return None;
        }
        self.site.process.stop();
        let dir = self.site.process.dir.join("tillkeep.db");
        let mut taken = None;
        match place {
            "apply.begin_reload" | "apply.end_reload" => {
                let db = Db::open_file(&dir, Side::Store).await.expect("database");
                let tx = db.begin().await.expect("a transaction");
                settings::set(&tx, "hq_epoch", "another one").await.expect("a setting");
                tx.commit().await.expect("a commit");
                db.close().await.expect("close");
            }
            "outbox.refuse" | "push.refusals" => {
                let number = format!("TAKEN-{:04}", self.turn);
                taken = Some(self.take(&number).await);
                let db = Db::open_file(&dir, Side::Store).await.expect("database");
                refused_later(&db, &number, &self.site.id).await;
                db.close().await.expect("close");
            }
            _ => {}
        }
        self.site.process.restart();
        taken
    }

    /// A customer of that number at headquarters, whom no store numbered.
    async fn take(&self, number: &str) -> String {
        let id = Uuid::now_v7();
        let envelope = json!({
            "store_id": self.site.id, "entity_type": "customers", "entity_id": id, "action": "create",
            "timestamp": "2026-11-20T10:00:00.000Z",
            "data": {"id": id, "customerNumber": number, "lastName": "First"},
        });
        let reply = self.chain.machine(&self.site).post("/sync/push", json!({"envelopes": [envelope]})).await;
        assert_eq!(reply.body["results"][0]["status"], "ok", "{}", reply.text);
        id.to_string()
    }

    /// Makes room for what was refused.
    async fn mend(&self, holder: &str) {
        let admin = &self.chain.admin;
        eventually("the first customer is deleted", async || {
            let reply = admin.try_call(Method::DELETE, &format!("/customers/{holder}"), None).await.ok()?;
            (reply.status.is_success() || reply.status == 404).then_some(())
        })
        .await;
        eventually("the refused entry is settled", async || {
            let body = json!({"storeId": self.site.id});
            admin.try_call(Method::POST, "/sync/retry-all", Some(body)).await.ok()?;
            let waits = self.shift.client().get("/sync/status").await.body["data"]["outbox"].clone();
            (waits["pending"] == 0 && waits["deadLettered"] == 0).then_some(())
        })
        .await;
    }

    fn set_fault(&mut self, server: Server, fault: &str) {
        let process = self.server(server);
        process.stop();
        process.set_environment("FAILPOINTS", fault);
    }
}

/// A new customer of the store with a number that headquarters will refuse.
async fn refused_later(db: &Db, number: &str, store: &str) {
    let row = Uuid::now_v7();
    let now = Moment::parse("2026-11-20T11:00:00Z").expect("an instant");
    let data = json!({
        "id": row, "customerNumber": number, "lastName": "Second", "isActive": true, "originStoreId": store,
        "createdAt": now, "updatedAt": now,
    });
    let customers = registry::find("customers").expect("customers");
    let tx = db.begin().await.expect("a transaction");
    let decoded = customers.table.decode(&data.to_string()).expect("a row");
    customers.table.upsert(&tx, vec![decoded], &["id"], &[], None).await.expect("a row");
    let entry = outbox::Entry {
        entity_type: "customers",
        entity_id: row,
        action: "create",
        data: &data,
        created_at: now,
        depends_on: None,
    };
    outbox::enqueue(&tx, &entry, now).await.expect("an entry");
    tx.commit().await.expect("a commit");
}

/// A fault after the passes of a start, for the places that every start comes by.
fn fault(place: &str, times: usize, action: &str) -> String {
    let skip = if place.starts_with("tx.") { format!("{PASSES_OF_A_START}*off->") } else { String::new() };
    format!("{place}={skip}{times}*return({action})")
}

/// How many requests a server has answered with 503 since its start, by its own count.
async fn busy_answers(process: &Process) -> u64 {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let answer = client.get(format!("{}/metrics", process.url)).send().await.expect("an answer");
    let text = answer.text().await.expect("a text");
    let counts = text.lines().filter(|line| line.starts_with("tillkeep_http_requests_total{"));
    let counts = counts.filter(|line| line.contains(r#"status="503""#));
    counts.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum()
}

async fn killed_everywhere(server: Server) {
    let mut world = World::new().await;
    let places = tried(server, 1);
    let begun = Instant::now();
    for place in &places {
        let holder = world.prepare(place).await;
        world.set_fault(server, &fault(place, 1, "kill"));
        let alive = world.server(server).try_restart();
        let deadline = Instant::now() + Duration::from_secs(90);
        while alive && !world.server(server).has_ended() {
            assert!(Instant::now() < deadline, "nothing comes by {place}");
            world.come_by(place).await;
        }
        let (hq, store) = (world.chain.hq.database(), world.site.process.database());
        let findings = verdict::look(Some(&hq), &[store], Options::default()).await;
        assert!(findings.is_empty(), "killed at {place}:\n{}", verdict::list(&findings));
        let process = world.server(server);
        process.forget_environment("FAILPOINTS");
        process.restart();
        if let Some(holder) = holder {
            world.mend(&holder).await;
        }
    }
    for _ in 0..7 {
        world.work().await;
    }
    world.chain.settled(&[&world.site], &world.shift.sold).await;
    world.nothing_was_printed_twice().await;
    assert_eq!(world.shift.wrong, Vec::<String>::new());
    eprintln!("{} places of {server:?}, {} sales, {:?}", places.len(), world.shift.sold.len(), begun.elapsed());
}

/// Every third place of a run, from the one of this number on: where servers are not killed, the database fails. `make fails` and
/// `make deaths` have both at all of them.
fn tried(server: Server, from: usize) -> Vec<&'static str> {
    let (from, step) = if std::env::var_os("ALL_PLACES").is_some() { (0, 1) } else { (from, 3) };
    places(server).into_iter().skip(from).step_by(step).collect()
}

async fn failing_everywhere(server: Server) {
    let mut world = World::new().await;
    let places = tried(server, 0);
    let begun = Instant::now();
    for place in &places {
        let holder = world.prepare(place).await;
        world.set_fault(server, &fault(place, 2, "error"));
        let process = world.server(server);
        let logged = process.log().len();
        process.restart();
        let said = format!("makes {place} fail");
        let deadline = Instant::now() + Duration::from_secs(90);
        while !world.server(server).log()[logged..].contains(&said) {
            assert!(Instant::now() < deadline, "nothing comes by {place}, or no log says so");
            world.come_by(place).await;
        }
        if IN_REQUESTS.contains(place) {
            assert!(busy_answers(world.server(server)).await > 0, "{place} fails, and no till gets a 503");
        }
        if let Some(holder) = holder {
            world.mend(&holder).await;
        } else {
            let failed = world.site.outbox(world.shift.client(), "failed").await;
            assert_eq!(failed, Vec::<Value>::new(), "{place} is counted against an entry");
        }
        world.chain.settled(&[&world.site], &world.shift.sold).await;
    }
    let process = world.server(server);
    process.stop();
    process.forget_environment("FAILPOINTS");
    process.restart();
    world.chain.settled(&[&world.site], &world.shift.sold).await;
    assert_eq!(world.shift.wrong, Vec::<String>::new());
    eprintln!("{} places of {server:?}, {} sales, {:?}", places.len(), world.shift.sold.len(), begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_killed_at_any_place_loses_and_doubles_nothing() {
    killed_everywhere(Server::Store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn headquarters_killed_at_any_place_loses_and_doubles_nothing() {
    killed_everywhere(Server::Hq).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_answers_503_when_its_database_fails_at_any_place_and_goes_on() {
    failing_everywhere(Server::Store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn headquarters_counts_nothing_against_an_entry_when_its_database_fails_at_any_place() {
    failing_everywhere(Server::Hq).await;
}

#[test]
fn every_place_belongs_to_a_server_and_there_are_enough_of_them() {
    let mut all: Vec<&str> = places(Server::Hq).into_iter().chain(places(Server::Store)).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len() + NOT_REACHED.len(), PLACES.len());
    assert!(all.len() >= 25, "{}", all.len());
}
