//! Two headquarters servers on one database: what one of them does holds at the other. `docs/sync.md`, "Several servers of
//! headquarters".

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

use crate::faults::take_the_number;
use crate::kit::{ADMIN, Client, Fault, Process, TestCluster, TestStore, eventually, id, metric};
use crate::nats_server::NatsServer;

/// A store that would learn of nothing by its own cycle while a test runs.
const RARELY: (&str, &str) = ("SYNC_INTERVAL_MS", "600000");
/// Without a broker the others know after so long at the most.
const WITHIN: Duration = Duration::from_secs(50);

/// Two servers, and stores at the second one.
struct Two {
    chain: TestCluster,
    other: Process,
    /// The administrator, with the token that the first one gave, at the second one.
    at_other: Client,
}

impl Two {
    async fn start(environment: &[(&str, &str)]) -> Self {
        Self::start_with(environment, &[]).await
    }

    /// As [`Two::start`], with more in the environment of the second one.
    async fn start_with(environment: &[(&str, &str)], of_other: &[(&str, &str)]) -> Self {
        let chain = TestCluster::with(&[environment, &[("HQ_NODE", "north")]].concat()).await;
        let mut other = chain.hq.beside();
        other.set_environment("HQ_NODE", "south");
        for (key, value) in of_other {
            other.set_environment(key, value);
        }
        other.start_prepared();
        let at_other = Client::new(&other.url).with_token(chain.admin.token.as_deref().expect("a token"));
        let two = Self { chain, other, at_other };
        eventually("both know of each other", async || {
            let names = async |client: &Client| {
                let nodes = client.get("/sync/dashboard").await.data()["nodes"].clone();
                nodes.as_array().map(|nodes| nodes.iter().map(|node| node["name"].clone()).collect::<Vec<_>>())
            };
            let both = Some(vec![json!("north"), json!("south")]);
            (names(&two.chain.admin).await == both && names(&two.at_other).await == both).then_some(())
        })
        .await;
        two
    }

    /// A store that sends requests and socket to the second server.
    async fn store_at_other(&mut self) -> TestStore {
        self.chain.front.clone_from(&self.other.url);
        let site = self.chain.store_with(&[RARELY]).await;
        eventually("the store is connected", async || {
            (metric(&self.other.url, "tillkeep_stores_connected").await == Some(1.0)).then_some(())
        })
        .await;
        site
    }
}

async fn within<T>(most: Duration, what: &str, look: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    let found = eventually(what, look).await;
    let took = begun.elapsed();
    eprintln!("{what}: {} ms", took.as_millis());
    assert!(took < most, "{what} after {took:?}");
    found
}

/// The store's row of a dashboard.
async fn row(client: &Client, site: &TestStore) -> Value {
    let rows = client.get("/sync/dashboard").await.data()["stores"].clone();
    rows.as_array().expect("rows").iter().find(|row| row["storeId"] == site.id.as_str()).cloned().expect("the store")
}

/// What one server does is known at the other within `most`, and its stores, sessions and sockets heed it.
async fn what_one_does_the_other_knows(environment: &[(&str, &str)], most: Duration) {
    let mut two = Two::start(environment).await;
    let product = two.chain.product("TEA", 1000).await;
    let site = two.store_at_other().await;
    let till = site.open_till().await;
    site.knows(&till, &product, Some(1000)).await;

    // Prices, by the socket that the other one holds.
    for price in [1100, 1200, 1300] {
        two.chain.admin.patch(&format!("/products/{product}"), json!({"price": price})).await.data();
        within(most, "a price is at the store of the other server", async || {
            let found = till.get(&format!("/products/{product}")).await.body["data"]["price"].clone();
            (found == price).then_some(())
        })
        .await;
    }
    // What a store pushes to one is shown by both, and so is its socket.
    site.sell(&till, &product, 1).await;
    site.drained(&till).await;
    for client in [&two.chain.admin, &two.at_other] {
        let shown = within(WITHIN, "the dashboard shows the store", async || {
            let row = row(client, &site).await;
            (row["connection"]["connected"] == true && row["outboxPending"] == 0).then_some(row)
        })
        .await;
        assert_eq!(shown["node"], "south", "{shown}");
        assert!(shown["connection"]["connectedAt"].is_string() && shown["endedBecause"].is_null(), "{shown}");
        assert_eq!(client.get(&format!("/stores/{}", site.id)).await.data()["sync"]["connected"], true);
    }

    // A user's sessions, and what they may do.
    two.chain.person("ann", "483920", json!([{"roleId": role(&two.chain.admin, "administrator").await}])).await;
    let ann = Client::new(&two.other.url).sign_in("ann", "483920").await.expect("sign in");
    assert_eq!(ann.get("/auth/me").await.status, 200);
    let ann_here = Client::new(&two.chain.hq.url).with_token(ann.token.as_deref().expect("a token"));
    assert_eq!(ann_here.post("/auth/logout", json!({})).await.status, 204);
    within(most, "a session that ended is over", async || (ann.get("/auth/me").await.status == 401).then_some(()))
        .await;
    let ann = Client::new(&two.other.url).sign_in("ann", "483920").await.expect("sign in");
    let user = ann.get("/auth/me").await.data()["id"].clone();
    assert_eq!(ann.get("/users").await.status, 200);
    let user = format!("/users/{}", user.as_str().expect("an id"));
    two.chain.admin.patch(&user, json!({"isActive": false})).await.data();
    within(most, "who was dismissed reads nothing", async || (ann.get("/users").await.status == 401).then_some(()))
        .await;

    // A store that is taken out of use: its token, and its socket.
    let machine = Client::new(&two.other.url).with_token(&site.sync_token);
    assert_eq!(machine.get("/sync/versions").await.status, 200);
    two.chain.admin.post(&format!("/stores/{}/deactivate", site.id), json!({"force": true})).await.data();
    within(most, "its token is refused", async || (machine.get("/sync/versions").await.status == 401).then_some(()))
        .await;
    within(most, "its socket is closed", async || {
        (metric(&two.other.url, "tillkeep_stores_connected").await == Some(0.0)).then_some(())
    })
    .await;
    for (what, least) in [("other", 3.0), ("sessions", 1.0)] {
        let name = format!("tillkeep_notifications_received_total{{what=\"{what}\"}}");
        let heard = metric(&two.other.url, &name).await.is_some_and(|hints| hints >= least);
        assert_eq!(heard, !environment.is_empty(), "{what} came by the broker");
    }
    within(WITHIN, "it is shown as gone", async || {
        let gone = row(&two.chain.admin, &site).await;
        (gone["connection"]["connected"] == false && gone["node"].is_null()).then_some(())
    })
    .await;
    two.other.stop();
}

async fn role(admin: &Client, code: &str) -> Value {
    let roles = admin.get("/roles?pageSize=100").await.data();
    roles.as_array().expect("roles").iter().find(|role| role["code"] == code).expect(code)["id"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_server_does_the_other_knows_within_five_seconds_without_a_broker() {
    what_one_does_the_other_knows(&[], WITHIN).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_server_does_the_other_knows_at_once_with_a_broker() {
    let broker = NatsServer::start_with("");
    // On a busy machine all of this takes its time: that it came by the broker is counted.
    what_one_does_the_other_knows(&[("NATS_URL", &broker.url())], WITHIN).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_without_a_broker_say_so_and_a_server_that_leaves_is_gone_from_the_dashboard() {
    let mut two = Two::start(&[]).await;
    for client in [&two.chain.admin, &two.at_other] {
        let notifications = within(WITHIN, "each says so once it has looked", async || {
            let notifications = client.get("/sync/dashboard").await.data()["summary"]["notifications"].clone();
            (notifications["degraded"] == true).then_some(notifications)
        })
        .await;
        assert!(notifications["reason"].as_str().is_some_and(|reason| reason.contains("NATS_URL")), "{notifications}");
    }
    for process in [&two.chain.hq, &two.other] {
        assert_eq!(process.log().matches("no message broker is set (NATS_URL)").count(), 1, "{}", process.log());
    }
    two.other.stop();
    within(WITHIN, "the one that is left is alone", async || {
        let dashboard = two.chain.admin.get("/sync/dashboard").await.data();
        let alone = dashboard["nodes"].as_array().is_some_and(|nodes| nodes.len() == 1);
        (alone && dashboard["summary"]["notifications"]["degraded"] == false).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stores_of_a_server_that_died_are_shown_as_gone_until_they_come_back_elsewhere() {
    let mut two = Two::start(&[]).await;
    let site = two.store_at_other().await;
    within(WITHIN, "the other server shows it", async || {
        (row(&two.chain.admin, &site).await["node"] == "south").then_some(())
    })
    .await;
    two.other.kill();
    eventually("it is not shown as connected", async || {
        (row(&two.chain.admin, &site).await["connection"]["connected"] == false).then_some(())
    })
    .await;
    // As a balancer does it.
    site.proxy.send_to(&two.chain.hq.url);
    eventually("it is connected to the one that is left", async || {
        (row(&two.chain.admin, &site).await["node"] == "north").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_heard_a_version_of_one_server_is_never_answered_from_below_it_by_the_other() {
    let mut two = Two::start(&[]).await;
    let product = two.chain.product("TEA", 1000).await;
    let site = two.store_at_other().await;
    let here = Client::new(&two.chain.hq.url).with_token(&site.sync_token);
    let there = Client::new(&two.other.url).with_token(&site.sync_token);
    for price in 2000..2030 {
        two.chain.admin.patch(&format!("/products/{product}"), json!({"price": price})).await.data();
        let version = here.get("/sync/versions").await.body["versions"]["products"].as_i64().expect("a version");
        let header = ("tillkeep-told", format!("products:{version}"));
        // At once, before the other one can have looked.
        let reply = there.get_with("/sync/versions", &[(header.0, &header.1)]).await;
        assert_eq!(reply.body["versions"]["products"], version);
        let since = version - 1;
        let path = format!("/sync/pull?entity_type=products&since_version={since}&limit=10");
        let page = there.get_with(&path, &[(header.0, &header.1)]).await;
        assert_eq!((&page.body["rows"][0]["price"], &page.body["latest_version"]), (&json!(price), &json!(version)));
    }
    // An invented version costs a look, and changes nothing.
    let before = there.get("/sync/versions").await.body["versions"].clone();
    let invented = "products:9000000000000000000,spaceships:7,tenders:x,users";
    assert_eq!(there.get_with("/sync/versions", &[("tillkeep-told", invented)]).await.body["versions"], before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_is_settled_at_one_server_goes_from_the_outbox_of_a_store_of_the_other() {
    let mut two = Two::start(&[]).await;
    let site = two.store_at_other().await;
    let till = site.open_till().await;
    site.proxy.set(Fault::Down);
    take_the_number(&two.chain, &site, "S01-000001").await;
    till.post("/customers", json!({"lastName": "Second"})).await.data();
    site.proxy.set(Fault::None);
    let failed = eventually("it is refused", async || {
        let entries = two.chain.admin.get("/sync/errors").await.body["data"].clone();
        entries.as_array()?.first().cloned()
    })
    .await;
    eventually("the store knows", async || site.outbox(&till, "failed").await.first().cloned()).await;
    let path = format!("/sync/resolve/{}", id(&failed));
    two.chain.admin.post(&path, json!({"note": "a double"})).await.data();
    // The store asks rarely; its next question is answered by the other server.
    eventually("it is gone from the store", async || {
        till.call(Method::POST, "/sync/now", None).await;
        let left = [site.outbox(&till, "failed").await, site.outbox(&till, "dead").await].concat();
        left.is_empty().then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_key_signs_once_every_server_has_it_in_front_and_a_server_that_lacks_it_does_not_start() {
    let two = Two::start(&[]).await;
    rotate_keys(&two.chain.hq);
    let mut session = Renewed::begin(&two.chain.hq.url).await;
    let before = kid(&session.access);
    // It is read again every two seconds.
    eventually("the first server has read it", async || {
        two.chain.hq.log().contains("the token keys were read again").then_some(())
    })
    .await;
    for _ in 0..5 {
        session.renew(&two.chain.hq.url).await;
        assert_eq!(kid(&session.access), before, "the other one does not have it");
        let there = Client::new(&two.other.url).with_token(&session.access);
        assert_eq!(there.get("/auth/me").await.status, 200);
    }
    fs::copy(two.chain.hq.dir.join("token.key"), two.other.dir.join("token.key")).expect("a copy");
    let (session, servers) = (Mutex::new(session), [two.chain.hq.url.clone(), two.other.url.clone()]);
    eventually("both sign with the new one", async || {
        let mut session = session.lock().await;
        let mut kids = Vec::new();
        for url in &servers {
            session.renew(url).await;
            kids.push(kid(&session.access));
        }
        (kids[0] != before && kids[0] == kids[1]).then_some(())
    })
    .await;
    assert_eq!(two.at_other.get("/auth/me").await.status, 200, "the one before is good still");

    let mut stranger = two.chain.hq.beside();
    stranger.dir = stranger.dir.with_extension("stranger");
    fs::create_dir_all(&stranger.dir).expect("a directory");
    fs::copy(two.chain.hq.dir.join("pin.key"), stranger.dir.join("pin.key")).expect("a copy");
    let refusal = stranger.refuses_to_start();
    assert!(refusal.contains("token.key lacks the key") && refusal.contains("copy token.key"), "{refusal}");
}

/// A session that is renewed at any server.
struct Renewed {
    access: String,
    refresh: String,
}

impl Renewed {
    async fn begin(url: &str) -> Self {
        let (username, pin) = ADMIN;
        Self::new(&Client::new(url).post("/auth/login", json!({"username": username, "pin": pin})).await.data())
    }

    async fn renew(&mut self, url: &str) {
        *self = Self::new(&Client::new(url).post("/auth/refresh", json!({"refreshToken": self.refresh})).await.data());
    }

    fn new(answer: &Value) -> Self {
        let text = |key: &str| answer[key].as_str().expect(key).to_owned();
        Self { access: text("accessToken"), refresh: text("refreshToken") }
    }
}

/// A new key for tokens of people, in front of those that the server has.
fn rotate_keys(of: &Process) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tillkeep"));
    let done = command.args(["keys", "rotate", "--data-dir"]).arg(&of.dir).output().expect("the program runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// The key that signed a token.
fn kid(token: &str) -> String {
    let header = token.split('.').next().and_then(|header| URL_SAFE_NO_PAD.decode(header).ok()).expect("a header");
    serde_json::from_slice::<Value>(&header).expect("json")["kid"].as_str().expect("a kid").to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_copies_of_a_store_are_noticed_though_each_is_answered_by_a_server_of_its_own() {
    let mut two = Two::start(&[]).await;
    let mut site = two.chain.store().await;
    site.admin().await;
    site.process.stop();
    let dir = site.process.dir.with_extension("twin");
    let own = [("SYNC_TOKEN", site.sync_token.as_str()), ("HQ_URL", &two.other.url), ("SYNC_INTERVAL_MS", "200")];
    let mut twin = Process::prepared("store", &dir, &own);
    for file in fs::read_dir(&site.process.dir).expect("files") {
        let file = file.expect("a file");
        fs::copy(file.path(), dir.join(file.file_name())).expect("a copy");
    }
    site.process.restart();
    let here = site.admin().await;
    eventually("it has shaken hands", async || {
        (here.get("/sync/status").await.data()["line"]["connected"] == true).then_some(())
    })
    .await;
    twin.start_prepared();
    for client in [&two.chain.admin, &two.at_other] {
        eventually("each server shows it", async || {
            row(client, &site).await["runsTwiceSince"].is_string().then_some(())
        })
        .await;
    }
    let there = Client::new(&twin.url).sign_in(ADMIN.0, ADMIN.1).await.expect("the copy knows its people");
    let customer = json!({"lastName": "Refused", "allowDuplicate": true});
    eventually("the copy sells nothing", async || {
        let said = there.post("/customers", customer.clone()).await;
        (said.status == 409 && said.body["code"] == "store_runs_elsewhere").then_some(())
    })
    .await;
    here.post("/customers", customer).await.data();
    // What the copy made before it knew is the fault of the copying alone.
    site.broken_on_purpose = true;
    two.chain.broken_on_purpose = true;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_sockets_of_a_store_at_two_servers_the_newer_one_is_left_and_shown_by_both() {
    let mut two = Two::start(&[]).await;
    let site = two.store_at_other().await;
    let url = format!("{}/api/v1/sync/ws?sync_token={}", two.chain.hq.url.replacen("http", "ws", 1), site.sync_token);
    let (mut newer, _) = connect_async(url).await.expect("a socket at the first server");
    // The store's own socket is closed then. It comes again, and this one is the older one of the two.
    let code = async {
        while let Some(message) = newer.next().await {
            if let Message::Close(Some(frame)) = message.expect("a message") {
                return u16::from(frame.code);
            }
        }
        panic!("it ended without a word");
    };
    let code = timeout(Duration::from_secs(90), code).await.expect("in time");
    assert_eq!(code, 4409);
    drop(newer);
    for client in [&two.chain.admin, &two.at_other] {
        eventually("the store is shown where it is", async || {
            let row = row(client, &site).await;
            (row["node"] == "south" && row["connection"]["connected"] == true && row["endedBecause"].is_null())
                .then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_a_wrong_clock_says_that_it_is_the_one_and_blames_no_store() {
    let mut two = Two::start_with(&[], &[("CLOCK_OFFSET_MS", "600000")]).await;
    let site = two.store_at_other().await;
    for client in [&two.chain.admin, &two.at_other] {
        eventually("both servers show which clock is off", async || {
            let nodes = client.get("/sync/dashboard").await.data()["nodes"].clone();
            let off = |name: &str| nodes.as_array()?.iter().find(|node| node["name"] == name).cloned();
            let (north, south) = (off("north")?, off("south")?);
            let ahead = south["clockOffsetMs"].as_i64()?;
            let shown = north["clockWarning"] == false && south["clockWarning"] == true;
            (shown && (595_000..=605_000).contains(&ahead)).then_some(())
        })
        .await;
        let (shown, offset) = eventually("the store has shaken hands", async || {
            let shown = row(client, &site).await;
            shown["clockOffsetMs"].as_i64().map(|offset| (shown, offset))
        })
        .await;
        assert!(offset.abs() < 5_000 && shown["clockWarning"] == false, "{shown}");
        assert_eq!(shown["outboxStuck"], false, "{shown}");
    }
    let at_store = site.admin().await.get("/sync/status").await.data()["line"]["clockOffsetMs"].as_i64();
    assert!(at_store.is_some_and(|offset| offset.abs() < 5_000), "{at_store:?}");
    let said = "the clock of this server of headquarters is not that of the database";
    assert!(two.other.log().contains(said) && !two.chain.hq.log().contains(said));
    let ahead = metric(&two.other.url, "tillkeep_hq_clock_offset_seconds").await.expect("a figure");
    assert!((595.0..=605.0).contains(&ahead), "{ahead}");
}
