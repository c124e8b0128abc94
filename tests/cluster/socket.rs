//! The socket of the specification, section 6, by hand.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::kit::TestCluster;

pub type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

pub fn address(chain: &TestCluster, query: &str) -> String {
    format!("{}/api/v1/sync/ws{query}", chain.hq.url.replacen("http", "ws", 1))
}

/// The next text, past pings.
pub async fn text(socket: &mut Socket) -> Value {
    let next = async {
        loop {
            if let Message::Text(text) = socket.next().await.expect("open").expect("message") {
                return serde_json::from_str(&text).expect("json");
            }
        }
    };
    timeout(Duration::from_secs(90), next).await.expect("a message in time")
}

/// The close code that ends the socket.
async fn close_code(socket: &mut Socket) -> u16 {
    let next = async {
        loop {
            match socket.next().await.expect("a close frame") {
                Ok(Message::Close(Some(frame))) => return frame.code.into(),
                Ok(_) => {}
                Err(error) => panic!("no close frame: {error}"),
            }
        }
    };
    timeout(Duration::from_secs(90), next).await.expect("a close in time")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_is_notified_of_edits_and_of_its_own_pushes() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut site = chain.store().await;
    // The store's own server would take the place of this socket.
    site.process.stop();
    let (mut socket, _) =
        connect_async(address(&chain, &format!("?sync_token={}", site.sync_token))).await.expect("connect");
    let beat = json!({"type": "heartbeat", "storeCode": "S01", "uptime": 5, "timestamp": "2026-11-20T10:00:00Z"});
    socket.send(Message::Text(beat.to_string().into())).await.expect("send");

    chain.admin.patch(&format!("/products/{product}"), json!({"price": 1100})).await.data();
    let notice = text(&mut socket).await;
    assert_eq!((&notice["type"], &notice["entityType"]), (&json!("sync:notify"), &json!("products")));

    let id = uuid::Uuid::now_v7();
    let envelope = json!({
        "store_id": site.id, "entity_type": "inventory_adjustments", "entity_id": id, "action": "create",
        "timestamp": "2026-11-20T10:00:00.000Z",
        "data": {"id": id, "productId": product, "reason": "found", "quantityChange": 1},
    });
    chain.machine(&site).post("/sync/push", json!({"envelopes": [envelope]})).await;
    assert_eq!(text(&mut socket).await["entityType"], "store_product_dynamic");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_message_may_carry_the_token_and_bad_ones_are_told_apart() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut site = chain.store().await;
    site.process.stop();
    let auth = |token: &str| Message::Text(json!({"type": "auth", "sync_token": token}).to_string().into());

    let (mut good, _) = connect_async(address(&chain, "")).await.expect("connect");
    good.send(auth(&site.sync_token)).await.expect("send");
    crate::kit::eventually("connected", async || {
        let dashboard = chain.admin.get("/sync/dashboard").await.data();
        (dashboard["summary"]["connected"] == 1).then_some(())
    })
    .await;
    chain.admin.patch(&format!("/products/{product}"), json!({"price": 1200})).await.data();
    assert_eq!(text(&mut good).await["entityType"], "products");

    let (mut bad, _) = connect_async(address(&chain, "")).await.expect("connect");
    bad.send(auth("nonsense")).await.expect("send");
    assert_eq!(close_code(&mut bad).await, 4401);
    let (mut unreadable, _) = connect_async(address(&chain, "")).await.expect("connect");
    unreadable.send(Message::Text("{".into())).await.expect("send");
    assert_eq!(close_code(&mut unreadable).await, 1007);
    let refused = connect_async(address(&chain, "?sync_token=nonsense")).await.expect_err("refused");
    assert!(matches!(refused, Error::Http(response) if response.status() == 401), "before the upgrade");

    // A second socket of the same store takes the place of the first; revoking the token closes it.
    let (mut newer, _) =
        connect_async(address(&chain, &format!("?sync_token={}", site.sync_token))).await.expect("connect");
    assert_eq!(close_code(&mut good).await, 4409);
    chain.admin.post(&format!("/stores/{}/revoke-token", site.id), json!({})).await;
    assert_eq!(close_code(&mut newer).await, 4403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_is_no_socket_is_judged_by_its_token_first() {
    let mut chain = TestCluster::new().await;
    let site = chain.store().await;
    let anybody = crate::kit::Client::new(&chain.hq.url);
    for client in [anybody.clone(), anybody.with_token("nonsense")] {
        let reply = client.get("/sync/ws").await;
        let answer = (reply.status.as_u16(), reply.text.as_str());
        assert_eq!(answer, (401, r#"{"success":false,"error":"Unauthorized"}"#));
    }
    assert_eq!(chain.machine(&site).get("/sync/ws").await.refused(426), "upgrade_required");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_down_says_so() {
    let mut chain = TestCluster::new().await;
    let mut site = chain.store().await;
    site.process.stop();
    let (mut socket, _) =
        connect_async(address(&chain, &format!("?sync_token={}", site.sync_token))).await.expect("connect");
    let stopping = std::thread::spawn(move || {
        chain.hq.stop();
        chain
    });
    assert_eq!(close_code(&mut socket).await, 1001);
    // The store before headquarters, as the checker needs both.
    drop((site, stopping.join().expect("stopped")));
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_messages_of_a_socket_are_ignored_and_counted() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut site = chain.store().await;
    site.process.stop();
    let (mut socket, _) =
        connect_async(address(&chain, &format!("?sync_token={}", site.sync_token))).await.expect("connect");
    let said = [
        Message::Binary(vec![1, 2, 3].into()),
        Message::Text(json!({"type": "greeting"}).to_string().into()),
        Message::Text("x".repeat(65 << 10).into()),
    ];
    for message in said {
        socket.send(message).await.expect("send");
    }
    let metrics = format!("{}/metrics", chain.hq.url);
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    crate::kit::eventually("all of it is counted", async || {
        let page = client.get(&metrics).send().await.ok()?.text().await.ok()?;
        let counted = |what: &str| page.contains(&format!("tillkeep_sync_ignored_total{{what=\"{what}\"}} 1\n"));
        ["socket_binary", "socket_message", "socket_large"].iter().all(|what| counted(what)).then_some(())
    })
    .await;
    // And it goes on.
    chain.admin.patch(&format!("/products/{product}"), json!({"price": 1100})).await.data();
    assert_eq!(text(&mut socket).await["entityType"], "products");
}
