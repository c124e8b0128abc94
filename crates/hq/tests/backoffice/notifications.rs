//! The notification queue over a real message broker: two servers of one headquarters, on one database.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::json;
use tillkeep_hq::live::{Connection, Next};
use tillkeep_hq::notify::Broker;
use tillkeep_hq::{Hq, routes};
use tillkeep_model::wire::close::REPLACED;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use uuid::Uuid;

use super::kit::{Kit, Person};
use super::nats_server::NatsServer;

/// Longer than anything here may take.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Two servers, and of what the socket of a store at each of them would be notified.
pub struct Site {
    pub kit: Kit,
    admin: Person,
    other: Arc<Hq>,
    /// At the first server, by which changes are made.
    here: Arc<Connection>,
    /// At the other one.
    pub there: Arc<Connection>,
}

pub fn broker(url: String) -> Broker {
    Broker { url: url.into(), credentials_file: None, ca_file: None }
}

pub async fn site(broker: Broker) -> Site {
    let kit = Kit::with_broker(broker).await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let other = Hq::open(&kit.settings, kit.clock.clone(), CancellationToken::new()).await.expect("another server");
    let here = kit.hq.hub.connect(one, "S01", kit.clock.now(), REPLACED);
    let there = other.hub.connect(two, "S02", kit.clock.now(), REPLACED);
    Site { kit, admin, other, here, there }
}

impl Site {
    /// Waits until the queue of both servers is degraded, or is not.
    pub async fn degraded(&self, wanted: bool) {
        for hq in [&self.kit.hq, &self.other] {
            let mut standing = hq.notifications.standing();
            let became = timeout(PATIENCE, standing.wait_for(|standing| standing.degraded == wanted)).await;
            became.unwrap_or_else(|_| panic!("degraded is not {wanted} in time")).expect("a queue");
        }
    }

    /// Makes a department at the first server: its answer and its own stores wait for no broker; its version.
    pub async fn change(&self, code: &str) -> i64 {
        let begun = Instant::now();
        let made = self.kit.post(&self.admin, "/departments", json!({"code": code, "name": code}));
        timeout(PATIENCE, made).await.expect("it waits for no broker").is(201);
        let version = departments(&self.kit.hq);
        notified(&self.here, "departments", version).await;
        println!("{code} was answered and notified after {:?}", begun.elapsed());
        version
    }
}

/// The head of the departments that a server knows.
fn departments(hq: &Hq) -> i64 {
    hq.heads.of_store(Uuid::nil())["departments"].version
}

/// Waits until a socket is notified of this version.
pub async fn notified(connection: &Connection, name: &str, version: i64) {
    let notified = async {
        loop {
            let Next::Tell(types) = connection.next().await else { panic!("the socket was closed") };
            if types.iter().any(|(entity, at)| *entity == name && *at >= version) {
                return;
            }
        }
    };
    timeout(PATIENCE, notified).await.unwrap_or_else(|_| panic!("no notification of {name} {version}"));
}

#[tokio::test]
async fn a_store_is_notified_by_its_server_of_what_changed_at_another_one() {
    let server = NatsServer::start_with("");
    let site = site(broker(server.url())).await;
    site.degraded(false).await;
    let begun = Instant::now();
    let version = site.change("ONE").await;
    notified(&site.there, "departments", version).await;
    println!("notified at the other server after {:?}", begun.elapsed());
    // The store asks its server at once, and that knows of it.
    assert_eq!(departments(&site.other), version);
    // Of what one store alone has that store is notified.
    let product = site.kit.product(&site.admin, "TEA", json!({})).await;
    let path = format!("/store-prices/{}/{}", site.there.store_id, product["id"].as_str().expect("an id"));
    site.kit.put(&site.admin, &path, json!({"price": 900})).await.is(200);
    notified(&site.there, "store_product_dynamic", 1).await;
    // In the end both know the same of everything, tags included.
    let heads = |hq: &Hq| [Uuid::nil(), site.there.store_id].map(|store| hq.heads.of_store(store));
    let same = async {
        while heads(&site.kit.hq) != heads(&site.other) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, same).await.expect("both servers know the same");
}

#[tokio::test]
async fn a_pull_that_shows_what_another_server_changed_takes_withdrawn_permissions_away() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let role = kit.role(&admin, "buyer", &["products.view"]).await;
    let buyer = kit.person("buyer", &[("buyer", None)]).await;
    let token = kit.sync_token(kit.store("S01").await);
    let other = Hq::open(&kit.settings, kit.clock.clone(), CancellationToken::new()).await.expect("another server");
    let asked = async |token: &str, path: &str| {
        let request = Request::get(format!("/api/v1{path}")).header("authorization", format!("Bearer {token}"));
        let request = request.body(Body::empty()).expect("a request");
        routes::router(other.clone(), &[]).oneshot(request).await.expect("an answer").status().as_u16()
    };
    assert_eq!(asked(&buyer.token, "/products").await, 200);
    let since = other.heads.of_store(Uuid::nil())["roles"].version;
    kit.put(&admin, &format!("/roles/{role}/permissions"), json!({"permissions": ["tenders.view"]})).await.is(200);
    // No hint comes: a store of the other server asks before it.
    assert_eq!(asked(&token, &format!("/sync/pull?entity_type=roles&since_version={since}&limit=100")).await, 200);
    assert!(other.heads.of_store(Uuid::nil())["roles"].version > since);
    assert_eq!(asked(&buyer.token, "/products").await, 403);
}

#[tokio::test]
async fn a_broker_that_is_absent_stopped_wiped_or_back_changes_no_answer_and_everybody_learns() {
    let mut server = NatsServer::stopped("");
    let mut site = site(broker(server.url())).await;

    // Absent at the start: said with its moment and its reason, and found in the database meanwhile.
    site.degraded(true).await;
    let version = site.change("ABSENT").await;
    notified(&site.there, "departments", version).await;
    let standing = site.kit.hq.notifications.standing().borrow().clone();
    let now = site.kit.clock.now();
    assert!(standing.since.is_some_and(|since| since <= now), "{standing:?}");
    let dashboard = site.kit.get(&site.admin, "/sync/dashboard").await.data();
    let shown = &dashboard["summary"]["notifications"];
    assert_eq!((&shown["queue"], &shown["degraded"]), (&json!("nats"), &json!(true)), "{shown}");
    assert!(
        shown["since"].is_string() && shown["reason"].as_str().is_some_and(|why| why.contains("broker")),
        "{shown}"
    );

    // Who looks at the dashboard sees it come back as it happens.
    let request =
        Request::get("/api/v1/sync/dashboard/stream").header("authorization", format!("Bearer {}", site.admin.token));
    let mut events = site.kit.answer(request.body(Body::empty()).expect("a request")).await.into_body();
    server.start();
    site.degraded(false).await;
    let seen = async {
        let mut text = String::new();
        while !text
            .contains("\"notifications\":{\"queue\":\"nats\",\"degraded\":false,\"since\":null,\"reason\":null}}\n")
        {
            let frame = events.frame().await.expect("the stream goes on").expect("a piece");
            text.push_str(&String::from_utf8_lossy(&frame.into_data().expect("data")));
        }
        text
    };
    let text = timeout(PATIENCE, seen).await.expect("seen in time");
    assert!(text.starts_with("retry: ") && text.contains("event: change\n"), "{text}");
    drop(events);

    let version = site.change("UP").await;
    notified(&site.there, "departments", version).await;

    // Stopped under changes, and back with nothing that it had.
    server.kill();
    let versions = [site.change("STOPPED1").await, site.change("STOPPED2").await];
    site.degraded(true).await;
    server.start();
    site.degraded(false).await;
    notified(&site.there, "departments", versions[1]).await;
    let version = site.change("BACK").await;
    notified(&site.there, "departments", version).await;

    // The stream is deleted under it.
    let client = async_nats::connect(server.url()).await.expect("a client");
    let jetstream = async_nats::jetstream::new(client);
    let stream = format!("TILLKEEP-{}", site.kit.hq.epoch);
    jetstream.delete_stream(&stream).await.expect("deleted");
    let version = site.change("WIPED").await;
    notified(&site.there, "departments", version).await;
    let there_again = async {
        while jetstream.get_stream(&stream).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, there_again).await.expect("the stream is made again");
    site.degraded(false).await;
    let version = site.change("AGAIN").await;
    notified(&site.there, "departments", version).await;

    // A server of headquarters that starts while the broker is there hears it too.
    site.other =
        Hq::open(&site.kit.settings, site.kit.clock.clone(), CancellationToken::new()).await.expect("a server");
    site.there = site.other.hub.connect(site.there.store_id, "S02", site.kit.clock.now(), REPLACED);
    site.degraded(false).await;
    let version = site.change("LAST").await;
    notified(&site.there, "departments", version).await;
}

#[tokio::test]
async fn a_hint_that_the_database_does_not_bear_out_reaches_no_store() {
    let server = NatsServer::start_with("");
    let site = site(broker(server.url())).await;
    site.degraded(false).await;
    let client = async_nats::connect(server.url()).await.expect("a client");
    let jetstream = async_nats::jetstream::new(client);
    let known = departments(&site.other);
    let hint = |name: &str, version: i64| {
        json!({"node": Uuid::nil(), "entityType": name, "storeId": null, "version": version}).to_string()
    };
    // The last one says what is so, and is heard after the others: each has a subject of its own, and so stays in the stream.
    let hints =
        [hint("departments", known + 1000), hint("spaceships", 7), "no JSON".to_owned(), hint("departments", known)];
    for (number, hint) in hints.into_iter().enumerate() {
        let subject = format!("tillkeep.{}.departments.{number}", site.kit.hq.epoch);
        jetstream.publish(subject, hint.into()).await.expect("published").await.expect("taken");
    }
    let notified = async {
        loop {
            let Next::Tell(types) = site.there.next().await else { panic!("the socket was closed") };
            assert!(types.iter().all(|(name, at)| *name != "departments" || *at <= known), "{types:?}");
            if types.contains(&("departments", known)) {
                return;
            }
        }
    };
    timeout(PATIENCE, notified).await.expect("notified in time");
    assert_eq!(departments(&site.other), known);
    // And it goes on to listen.
    let version = site.change("TRUE").await;
    self::notified(&site.there, "departments", version).await;
}
