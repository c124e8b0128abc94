//! Servers with the line and the clock of a test.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::Value as Json;
use tillkeep_hq::Hq;
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::auth::SignInSettings;
use tillkeep_http::{Clock, server};
use tillkeep_storage::Opening;
use tillkeep_storage::staff::GlobalPeople;
use tillkeep_store::headquarters::{Http, Transport};
use tillkeep_store::sync::{Cycle, Round, Sender};
use tillkeep_store::{Chance, Store, World as Surroundings};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

use super::hand;

/// What goes on by itself is not begun, so that nothing follows the clock of the machine.
pub fn stopped() -> CancellationToken {
    let stop = CancellationToken::new();
    stop.cancel();
    stop
}

/// Opens the headquarters in `dir`, or with its database at `url`.
pub async fn open_hq(
    dir: &Path,
    url: Option<&str>,
    global_people: GlobalPeople,
    clock: &Clock,
    stop: CancellationToken,
) -> Arc<Hq> {
    let settings = tillkeep_hq::Settings {
        data_dir: dir.to_owned(),
        database_url: url.map(|url| url.to_owned().into()),
        database: Opening { accept_unsafe: true, ..Opening::default() },
        public_url: None,
        allow_insecure: false,
        node: String::new(),
        sign_in: SignInSettings::default(),
        global_people,
        broker: None,
        sync_log_days: 90,
        new_customers_per_hour: 1000,
    };
    Hq::open(&settings, clock.clone(), stop).await.expect("headquarters")
}

/// Opens the store in `dir`, with `line` to headquarters.
pub async fn open_store(dir: &Path, token: &str, line: Arc<dyn Transport>, clock: &Clock) -> Arc<Store> {
    let settings = tillkeep_store::Settings {
        data_dir: dir.to_owned(),
        sync_token: token.to_owned().into(),
        // Of the socket, which is not opened here.
        hq_url: "http://127.0.0.1:9".to_owned(),
        hq_ca_file: None,
        sync_interval: Duration::from_secs(30),
        sign_in: SignInSettings::default(),
        numbers_file: None,
    };
    let socket = Http::new(&settings.hq_url, &settings.sync_token, None).expect("a client");
    let surroundings = Surroundings { hq: line, clock: clock.clone(), chance: Chance::default() };
    Store::open_in(settings, socket, surroundings, stopped()).await.expect("a store")
}

/// The store and headquarters talk until both have everything.
pub async fn talk(store: &Store, clock: &Clock) {
    let (mut cycle, mut sender) = (Cycle::default(), Sender::default());
    for _ in 0..3 {
        cycle.step(store).await;
        while sender.step(store).await == Round::Sent {}
        clock.pass(30_000);
    }
}

/// Says `messages` on a socket to the headquarters in `dir`; what is said of a change of the tenders then.
pub async fn exchange(dir: &Path, url: Option<&str>, clock: &Clock, messages: &[Json]) -> Json {
    // One that is not stopped: it keeps sockets open.
    let stop = CancellationToken::new();
    let hq = open_hq(dir, url, GlobalPeople::All, clock, stop.clone()).await;
    let listener = server::bind("127.0.0.1:0", dir, None).await.expect("a port");
    let url = listener.url.replace("http://", "ws://") + "/api/v1/sync/ws";
    let router = tillkeep_hq::routes::router(hq.clone(), &tillkeep_store::routes::writes());
    tokio::spawn(server::serve(listener, router, server::Limits::default(), stop.clone()));
    let (mut socket, _) = connect_async(url).await.expect("a socket");
    for message in messages {
        socket.send(Message::text(message.to_string())).await.expect("a message");
    }
    crate::kit::until("the store is connected", async || hq.hub.len() == 1).await;
    let mut tx = hq.db().begin().await.expect("a transaction");
    hand::touch(&mut tx, "tenders").await;
    hq.commit(tx).await.expect("a commit");
    let notice = loop {
        if let Message::Text(text) = socket.next().await.expect("an open socket").expect("a message") {
            break serde_json::from_str(&text).expect("JSON");
        }
    };
    stop.cancel();
    notice
}
