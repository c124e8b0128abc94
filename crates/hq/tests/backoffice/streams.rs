//! `GET /sync/dashboard/stream` over a real line.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use tillkeep_http::server::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::dashboard::{odd_sale, orphan};
use super::kit::{Kit, Person, column};

/// Shorter than any of these tests: a stream has no such end.
fn short() -> Limits {
    let millis = Duration::from_millis;
    Limits { header: millis(300), idle: millis(300), request: millis(300), stall: millis(300), ..Limits::default() }
}

struct Stream {
    line: TcpStream,
    text: String,
}

impl Stream {
    async fn open(address: SocketAddr, who: &Person) -> Self {
        let mut line = TcpStream::connect(address).await.expect("connect");
        let request = format!(
            "GET /api/v1/sync/dashboard/stream HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip, zstd\r\n\
             Authorization: Bearer {}\r\n\r\n",
            who.token
        );
        line.write_all(request.as_bytes()).await.expect("send");
        Self { line, text: String::new() }
    }

    /// Reads on until `end`; what stood before it, and false when the stream ended instead.
    async fn until(&mut self, end: &str) -> (String, bool) {
        let mut buffer = [0; 4096];
        let read = async {
            loop {
                if let Some(at) = self.text.find(end) {
                    let rest = self.text.split_off(at + end.len());
                    return (std::mem::replace(&mut self.text, rest), true);
                }
                match self.line.read(&mut buffer).await {
                    Ok(0) | Err(_) => return (std::mem::take(&mut self.text), false),
                    Ok(count) => self.text.push_str(&String::from_utf8_lossy(&buffer[..count])),
                }
            }
        };
        timeout(Duration::from_mins(1), read).await.expect("in time")
    }

    /// The data of the next event called `name`, past all others.
    async fn event(&mut self, name: &str) -> Json {
        assert!(self.until(&format!("event: {name}\ndata: ")).await.1, "the stream ended before {name}");
        // An event may be cut into several chunks: their lengths stand on lines of their own.
        let (text, there) = self.until("\n\n").await;
        assert!(there, "{text}");
        serde_json::from_str(text.trim_end()).unwrap_or_else(|error| panic!("{error}: {text}"))
    }
}

struct Site {
    kit: Kit,
    admin: Person,
    address: SocketAddr,
    one: Uuid,
    two: Uuid,
    stop: CancellationToken,
}

async fn site() -> Site {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let (one, two) = (kit.store("S01").await, kit.store("S02").await);
    let stop = CancellationToken::new();
    let address = kit.listen(short(), &stop).await;
    Site { kit, admin, address, one, two, stop }
}

/// Waits until the server has seen the end of all streams.
async fn no_stream_is_left(site: &Site) {
    for _ in 0..1000 {
        if site.kit.hq.board.streams() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} streams are left", site.kit.hq.board.streams());
}

#[tokio::test]
async fn a_stream_begins_with_everything_and_goes_on_with_what_changes() {
    let site = site().await;
    let mut stream = Stream::open(site.address, &site.admin).await;
    let (head, _) = stream.until("\r\n\r\n").await;
    let head = head.to_lowercase();
    assert!(head.starts_with("http/1.1 200") && head.contains("content-type: text/event-stream"), "{head}");
    assert!(!head.contains("content-encoding") && head.contains("x-accel-buffering: no"), "{head}");
    let snapshot = stream.event("snapshot").await;
    assert_eq!(column(&snapshot["stores"], "storeCode"), ["S01", "S02"]);
    assert_eq!(snapshot["summary"]["failed"], 0);
    // Longer than a request, a pause or an idle line may take at this server.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let begun = Instant::now();
    site.kit.push(&site.kit.sync_token(site.one), &[orphan(site.one, 1), odd_sale(site.one, 2)]).await;
    let change = stream.event("change").await;
    println!("sent after {:?}", begun.elapsed());
    assert_eq!(column(&change["stores"], "storeCode"), ["S01"]);
    let changed = &change["stores"][0];
    assert_eq!((&changed["errorCount"], &changed["warnings"]), (&json!(1), &json!(1)));
    assert_eq!(column(&change["failed"], "code"), ["missing_parent"]);
    assert_eq!((&change["failed"][0]["storeCode"], &change["failed"][0]["envelope"]), (&json!("S01"), &Json::Null));
    // The same entry again is no new one, and of the store only what changed is sent.
    site.kit.push(&site.kit.sync_token(site.one), &[odd_sale(site.one, 3)]).await;
    let change = stream.event("change").await;
    assert_eq!((&change["failed"], column(&change["stores"][0]["sync"], "entityType")), (&json!([]), vec!["sales"]));
    // A second one is shown what is there by now.
    let mut late = Stream::open(site.address, &site.admin).await;
    assert_eq!(late.event("snapshot").await["summary"]["failed"], 1);
}

#[tokio::test]
async fn a_stream_tells_of_the_own_stores_only() {
    let site = site().await;
    site.kit.role(&site.admin, "lead", &["stores.view"]).await;
    let lead = site.kit.person("lea", &[("lead", Some(site.two))]).await;
    let mut stream = Stream::open(site.address, &lead).await;
    assert_eq!(column(&stream.event("snapshot").await["stores"], "storeCode"), ["S02"]);
    site.kit.push(&site.kit.sync_token(site.one), &[orphan(site.one, 1)]).await;
    // Gathered with the one before, or a second later: never with the other store.
    site.kit.push(&site.kit.sync_token(site.two), &[orphan(site.two, 1)]).await;
    let change = stream.event("change").await;
    assert_eq!(
        (column(&change["stores"], "storeCode"), column(&change["failed"], "storeCode")),
        (vec!["S02"], vec!["S02"])
    );
}

#[tokio::test]
async fn a_stream_ends_with_the_right_to_see_it() {
    let site = site().await;
    site.kit.role(&site.admin, "lead", &["stores.view"]).await;
    let mut people = Vec::new();
    for name in ["gone", "stripped", "out"] {
        let person = site.kit.person(name, &[("lead", None)]).await;
        let mut stream = Stream::open(site.address, &person).await;
        stream.event("snapshot").await;
        people.push((person, stream));
    }
    let [(gone, first), (stripped, second), (out, third)] = people.as_mut_slice() else { panic!("three") };
    let begun = Instant::now();
    site.kit.post(&site.admin, &format!("/users/{}/deactivate", gone.id), json!({})).await.is(200);
    let roles = site.kit.get(&site.admin, &format!("/users/{}/roles", stripped.id)).await.data();
    let role = roles[0]["id"].as_str().expect("id").to_owned();
    site.kit.delete(&site.admin, &format!("/users/{}/roles/{role}", stripped.id)).await.is(204);
    site.kit.post(out, "/auth/logout", json!({})).await.is(204);
    for (stream, code) in [(first, "unauthorized"), (second, "forbidden"), (third, "unauthorized")] {
        assert_eq!(stream.event("end").await["code"], code);
        println!("{code} after {:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn a_viewer_who_gets_another_store_is_shown_it() {
    let site = site().await;
    let role = site.kit.role(&site.admin, "lead", &["stores.view"]).await;
    let lead = site.kit.person("lea", &[("lead", Some(site.two))]).await;
    let mut stream = Stream::open(site.address, &lead).await;
    assert_eq!(column(&stream.event("snapshot").await["stores"], "storeCode"), ["S02"]);
    let grant = json!({"roleId": role, "storeId": site.one});
    let status = site.kit.post(&site.admin, &format!("/users/{}/roles", lead.id), grant).await.status;
    assert!((200..300).contains(&status));
    assert_eq!(column(&stream.event("snapshot").await["stores"], "storeCode"), ["S01", "S02"]);
}

#[tokio::test]
async fn streams_are_counted_and_given_back() {
    let site = site().await;
    let mut streams = Vec::new();
    for number in 0..16 {
        // Four of each: no viewer takes the places of all.
        let person = site.kit.person(&format!("viewer{number}"), &[("administrator", None)]).await;
        for _ in 0..4 {
            let mut stream = Stream::open(site.address, &person).await;
            stream.event("snapshot").await;
            streams.push(stream);
        }
        let got = site.kit.get(&person, "/sync/dashboard/stream").await;
        got.refused(503, "unavailable");
        assert!(got.retry_after() > 0);
    }
    site.kit.get(&site.admin, "/sync/dashboard/stream").await.refused(503, "unavailable");
    streams.clear();
    no_stream_is_left(&site).await;
    // What was shown is forgotten with the last one: the next one sees what happened in between.
    site.kit.push(&site.kit.sync_token(site.one), &[orphan(site.one, 1)]).await;
    let mut stream = Stream::open(site.address, &site.admin).await;
    assert_eq!(stream.event("snapshot").await["summary"]["failed"], 1);
}

#[tokio::test]
async fn who_comes_back_at_once_is_shown_what_happened_in_between() {
    let site = site().await;
    let token = site.kit.sync_token(site.one);
    let mut failed = 0;
    for _ in 0..3 {
        let mut stream = Stream::open(site.address, &site.admin).await;
        assert_eq!(stream.event("snapshot").await["summary"]["failed"], failed);
        // What is sent here begins the pause in which nothing is read, and nothing is forgotten either.
        failed += 1;
        site.kit.push(&token, &[orphan(site.one, failed)]).await;
        stream.event("change").await;
        drop(stream);
        no_stream_is_left(&site).await;
        failed += 1;
        site.kit.push(&token, &[orphan(site.one, failed)]).await;
    }
}

#[tokio::test]
async fn a_server_that_stops_ends_its_streams() {
    let site = site().await;
    let mut stream = Stream::open(site.address, &site.admin).await;
    stream.event("snapshot").await;
    let begun = Instant::now();
    site.kit.hq.stop.cancel();
    site.stop.cancel();
    assert_eq!(stream.event("end").await["code"], "unavailable");
    assert!(!stream.until("never").await.1);
    println!("ended after {:?}", begun.elapsed());
}

#[tokio::test]
async fn without_a_token_there_is_no_stream() {
    let site = site().await;
    let anonymous = Person { id: Uuid::nil(), token: "nonsense".to_owned() };
    site.kit.get(&anonymous, "/sync/dashboard/stream").await.is(401);
    let cashier = site.kit.person("carl", &[("cashier", None)]).await;
    site.kit.get(&cashier, "/sync/dashboard/stream").await.refused(403, "forbidden");
}
