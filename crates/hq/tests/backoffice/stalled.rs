//! Clients that take nothing: pulls without a limit, sockets that say nothing. `docs/sync.md`, "Pulls without a limit".

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{Request, header};
use axum::response::Response;
use http_body_util::BodyExt;
use serde_json::Value as Json;
use tillkeep_hq::live::Times;
use tillkeep_hq::testing::Databases as _;
use tillkeep_http::server::Limits;
use tillkeep_model::wire::close;
use tillkeep_storage::entity::customer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::kit::Kit;

/// Short enough to be waited for, and far from each other.
fn short() -> Times {
    let millis = Duration::from_millis;
    Times {
        auth_within: millis(200),
        ping_every: millis(100),
        pong_within: millis(4000),
        place_within: millis(200),
        take_within: millis(1500),
    }
}

#[test]
fn headquarters_waits_for_stores_as_long_as_the_specification_says() {
    let times = Times::default();
    assert_eq!(times.auth_within, Duration::from_secs(10));
    assert_eq!(times.pong_within, Duration::from_secs(40));
    assert!(times.ping_every * 2 < times.pong_within, "one lost ping is no silence");
    assert_eq!((times.place_within, times.take_within), (Duration::from_secs(2), Duration::from_secs(5)));
}

/// More customers than fit in between a reader that reads nothing and the database.
async fn crowd(kit: &Kit, count: usize) {
    let now = kit.clock.now();
    let person = |number: usize| customer::Model {
        id: Uuid::now_v7(),
        customer_number: format!("C{number}"),
        first_name: Some("x".repeat(90)),
        created_at: now,
        updated_at: now,
        synced: true,
        ..customer::Model::default()
    };
    let mut tx = kit.hq.db().begin().await.expect("begin");
    tx.insert_all::<customer::Entity>((0..count).map(person).collect()).await.expect("customers");
    kit.hq.commit(tx).await.expect("commit");
}

/// All customers, as they begin to come.
async fn pull(kit: &Kit, token: &str) -> Response {
    let request = Request::get("/api/v1/sync/pull?entity_type=customers&since_version=0")
        .header(header::AUTHORIZATION, format!("Bearer {token}"));
    kit.answer(request.body(Body::empty()).expect("request")).await
}

/// The customers of an answer that is read to its end.
async fn read(answer: Response) -> Option<usize> {
    let bytes = answer.into_body().collect().await.ok()?.to_bytes();
    let body: Json = serde_json::from_slice(&bytes).expect("JSON");
    body["rows"].as_array().map(Vec::len)
}

#[tokio::test]
async fn a_pull_without_a_limit_does_not_wait_for_a_store_that_reads_nothing() {
    // Time enough for all to come while the first ones still have their places.
    let kit = Kit::waiting(Times { take_within: Duration::from_secs(15), ..short() }).await;
    crowd(&kit, 250).await;
    // Two connections are left to everybody else.
    let places = kit.settings.database.sync_readers(kit.hq.db().is_embedded()).saturating_sub(2).max(1);
    let mut tokens = Vec::new();
    for number in 0..places + 2 {
        tokens.push(kit.sync_token(kit.store(&format!("S{number:02}")).await));
    }
    // Two that take nothing keep no other store waiting.
    let mut idle = vec![pull(&kit, &tokens[0]).await, pull(&kit, &tokens[1]).await];
    assert!(idle.iter().all(|answer| answer.status() == 200));
    assert_eq!(read(pull(&kit, &tokens[2]).await).await, Some(250));
    // A store has a place of its own, and no second one.
    let begun = Instant::now();
    let second = pull(&kit, &tokens[0]).await;
    assert_eq!(second.status(), 503);
    assert!(second.headers().contains_key(header::RETRY_AFTER));
    println!("refused after {:?}", begun.elapsed());
    assert!(begun.elapsed() >= short().place_within);
    // So many that no place is left: who comes then is refused, and gets one when their patience is over.
    let mut turned_away = 0;
    for token in &tokens[2..] {
        let answer = pull(&kit, token).await;
        if answer.status() == 503 {
            assert!(answer.headers().contains_key(header::RETRY_AFTER));
            turned_away += 1;
        } else {
            idle.push(answer);
        }
    }
    assert_eq!((idle.len(), turned_away), (places, 2));
    let again = async {
        loop {
            let answer = pull(&kit, &tokens[0]).await;
            if answer.status() == 200 {
                return read(answer).await;
            }
        }
    };
    assert_eq!(timeout(Duration::from_secs(90), again).await.expect("a place"), Some(250));
    // Who reads on after all is not made to believe that this was all.
    assert_eq!(read(idle.remove(0)).await, None);
}

/// A socket by hand: what the library of a store does by itself is what these tests leave out.
struct Wire(TcpStream);

impl Wire {
    async fn open(address: SocketAddr, token: Option<&str>) -> Self {
        let mut line = TcpStream::connect(address).await.expect("connect");
        let token = token.map_or_else(String::new, |token| format!("Authorization: Bearer {token}\r\n"));
        let request = format!(
            "GET /api/v1/sync/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{token}\r\n"
        );
        line.write_all(request.as_bytes()).await.expect("send");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(line.read_u8().await.expect("an answer"));
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        Self(line)
    }

    /// The next frame: its kind and what is in it.
    async fn frame(&mut self) -> (u8, Vec<u8>) {
        let read = async {
            let (kind, length) = (self.0.read_u8().await?, self.0.read_u8().await?);
            let mut payload = vec![0; length.into()];
            self.0.read_exact(&mut payload).await?;
            std::io::Result::Ok((kind & 0x0f, payload))
        };
        timeout(Duration::from_mins(1), read).await.expect("in time").expect("a frame")
    }

    /// The code that it is closed with, past pings that are not answered.
    async fn closed(&mut self) -> u16 {
        loop {
            match self.frame().await {
                (8, payload) => return u16::from_be_bytes([payload[0], payload[1]]),
                (kind, _) => assert_eq!(kind, 9, "a ping"),
            }
        }
    }
}

async fn listening() -> (Kit, SocketAddr, CancellationToken) {
    let kit = Kit::waiting(short()).await;
    let stop = CancellationToken::new();
    let address = kit.listen(Limits::default(), &stop).await;
    (kit, address, stop)
}

#[tokio::test]
async fn a_store_that_answers_no_ping_is_dropped_after_the_silence_and_one_that_does_stays() {
    let (kit, address, _stop) = listening().await;
    let (silent, alive) = (kit.store("S01").await, kit.store("S02").await);
    let mut lively = Wire::open(address, Some(&kit.sync_token(alive))).await;
    // The silence begins while the socket is opened.
    let opening = Instant::now();
    let mut mute = Wire::open(address, Some(&kit.sync_token(silent))).await;
    let begun = Instant::now();
    let answers = async {
        // Twice the silence: each pong begins it again.
        while begun.elapsed() < short().pong_within * 2 {
            if let (9, _) = lively.frame().await {
                lively.0.write_all(&[0x8a, 0x80, 0, 0, 0, 0]).await.expect("a pong");
            }
        }
    };
    let silence = async {
        let code = mute.closed().await;
        (code, opening.elapsed(), begun.elapsed())
    };
    let ((), (code, at_most, at_least)) = tokio::join!(answers, silence);
    assert_eq!(code, close::GOING_AWAY);
    println!("dropped after {at_least:?} to {at_most:?}");
    assert!(at_most >= short().pong_within && at_least < short().pong_within * 10, "{at_least:?} to {at_most:?}");
    assert!(kit.hq.hub.get(alive).is_some(), "it has answered every ping");
    assert!(kit.hq.hub.get(silent).is_none());
}

#[tokio::test]
async fn a_socket_that_says_nothing_is_closed_when_its_time_for_the_token_is_over() {
    let (_kit, address, _stop) = listening().await;
    let begun = Instant::now();
    assert_eq!(Wire::open(address, None).await.closed().await, close::AUTH_TIMEOUT);
    assert!(begun.elapsed() >= short().auth_within);
}
