//! Headquarters that leaves: balancers and stores hear of it first, and whoever asks meanwhile is answered.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::kit::{Client, TestCluster, eventually, id};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// The status of the readiness of the server at `url`.
async fn readiness(url: &str) -> u16 {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    client.get(format!("{url}/ready")).send().await.expect("an answer").status().as_u16()
}

/// Sockets of this many stores, of which nothing else runs.
async fn sockets(chain: &TestCluster, count: usize) -> Vec<Socket> {
    let mut sockets = Vec::new();
    for number in 0..count {
        let store = json!({"code": format!("L{number:02}"), "name": "Leaves", "timezone": "America/New_York"});
        let store = id(&chain.admin.post("/stores", store).await.data());
        let token = chain.admin.post(&format!("/stores/{store}/provision"), json!({})).await.data();
        let token = token["syncToken"].as_str().expect("a token").to_owned();
        let url = format!("{}/api/v1/sync/ws?sync_token={token}", chain.hq.url.replacen("http", "ws", 1));
        sockets.push(connect_async(url).await.expect("a socket").0);
    }
    sockets
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_leaves_says_so_at_once_sends_its_stores_away_one_by_one_and_answers_until_the_end() {
    let mut chain = TestCluster::with(&[("LEAVE_SECONDS", "10")]).await;
    let sockets = sockets(&chain, 12).await;
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let token = chain.admin.token.clone().expect("a token");
    let stream = client.get(format!("{}/sync/dashboard/stream", chain.admin.base)).bearer_auth(&token);
    let mut stream = stream.send().await.expect("a stream");
    stream.chunk().await.expect("a stream").expect("the snapshot");
    // One that is still on its way when the server stops.
    let address = chain.hq.url.trim_start_matches("http://");
    let mut slow = TcpStream::connect(address).await.expect("a connection");
    let body = json!({"code": "SLOW", "name": "Slow"}).to_string();
    let head = format!(
        "POST /api/v1/departments HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: \
         application/json\r\ncontent-length: {}\r\n\r\n{}",
        body.len(),
        &body[..5]
    );
    slow.write_all(head.as_bytes()).await.expect("half a request");
    assert_eq!(readiness(&chain.hq.url).await, 200);

    let asked = Instant::now();
    chain.hq.ask_to_stop();
    eventually("the readiness is off", async || (readiness(&chain.hq.url).await == 503).then_some(())).await;
    assert!(asked.elapsed() < Duration::from_secs(10), "it said so after {:?}", asked.elapsed());
    let ended = sockets.into_iter().map(|mut socket| async move {
        loop {
            match socket.next().await {
                Some(Ok(Message::Close(Some(frame)))) => return (asked.elapsed(), u16::from(frame.code)),
                Some(Ok(_)) => {}
                other => panic!("a socket ended without a word: {other:?}"),
            }
        }
    });
    let ended = tokio::spawn(futures_util::future::join_all(ended));
    // Whoever comes all the same is answered, and their connection ends with the answer.
    let reply = client.get(format!("{}/departments", chain.admin.base)).bearer_auth(&token).send().await;
    let reply = reply.expect("an answer");
    assert_eq!((reply.status().as_u16(), reply.headers()["connection"].as_bytes()), (200, &b"close"[..]));
    let again = chain.admin.try_call(Method::GET, "/sync/ws", None).await.expect("an answer");
    assert_eq!(again.refused(503), "unavailable");
    let ended = ended.await.expect("every socket was closed");
    assert_eq!(ended.iter().map(|(_, code)| *code).collect::<BTreeSet<_>>(), [1001].into());
    let (first, last) =
        (ended.iter().map(|(at, _)| at.as_millis()).min(), ended.iter().map(|(at, _)| at.as_millis()).max());
    let (first, last) = (first.expect("sockets"), last.expect("sockets"));
    assert!(last > first + 700, "all sockets were closed between {first} and {last} ms");

    // What began before the end is answered after it, and streams end with a word.
    let mut events = String::new();
    while let Some(piece) = stream.chunk().await.expect("a stream that ends") {
        events.push_str(&String::from_utf8_lossy(&piece));
    }
    assert!(events.contains("event: end\n"), "{events}");
    assert!(asked.elapsed() >= Duration::from_secs(10), "the stream ended after {:?}", asked.elapsed());
    slow.write_all(&body.as_bytes()[5..]).await.expect("the rest");
    let mut answer = String::new();
    slow.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    chain.hq.has_stopped();
    println!("it took {:?}", asked.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_ends_the_leaving_and_a_server_that_need_not_leave_stops_at_once() {
    for (seconds, signals) in [("200", 2), ("0", 1)] {
        let mut chain = TestCluster::with(&[("LEAVE_SECONDS", seconds)]).await;
        let asked = Instant::now();
        chain.hq.ask_to_stop();
        if signals == 2 {
            eventually("it leaves", async || (readiness(&chain.hq.url).await == 503).then_some(())).await;
            Client::new(&chain.hq.url).get("/auth/me").await.refused(401);
            chain.hq.ask_to_stop();
        }
        chain.hq.has_stopped();
        println!("it took {:?}", asked.elapsed());
        assert!(asked.elapsed() < Duration::from_secs(150), "it took {:?}", asked.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_of_everything_that_runs_when_the_server_stops_is_ended_in_full() {
    let mut chain = TestCluster::new().await;
    let site = chain.store().await;
    for number in 0..200 {
        let long = "x".repeat(4000);
        let body = json!({
            "sku": format!("P{number}"), "name": "Long", "description": long, "price": 100, "cost": 50,
            "departmentId": chain.department, "taxGroupId": chain.tax_group,
        });
        chain.admin.post("/products", body).await.data();
    }
    let address = chain.hq.url.trim_start_matches("http://").to_owned();
    // One that takes little at a time.
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("little room");
    let mut pull = socket.connect(address.parse().expect("an address")).await.expect("a connection");
    let head = format!(
        "GET /api/v1/sync/pull?entity_type=products&since_version=0 HTTP/1.1\r\nhost: {address}\r\nconnection: \
         close\r\nauthorization: Bearer {}\r\n\r\n",
        site.sync_token
    );
    pull.write_all(head.as_bytes()).await.expect("a request");
    let mut first = [0; 64];
    pull.read_exact(&mut first).await.expect("the beginning of an answer");
    chain.hq.ask_to_stop();
    eventually("no connection is taken any more", async || TcpStream::connect(&address).await.is_err().then_some(()))
        .await;
    let mut rest = String::new();
    pull.read_to_string(&mut rest).await.expect("the rest of the answer");
    assert!(rest.contains("\"has_more\":false"), "the answer is cut off after {} bytes", rest.len());
    chain.hq.has_stopped();
}
