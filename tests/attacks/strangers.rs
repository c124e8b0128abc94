//! What a caller can do without any token, or one person's. `docs/security.md`, "Requests".

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::kit::{ADMIN, Client, Process, TestCluster, eventually};

fn address(server: &Process) -> SocketAddr {
    server.url.trim_start_matches("http://").parse().expect("an address")
}

async fn connect(server: &Process) -> TcpStream {
    TcpStream::connect(address(server)).await.expect("a connection")
}

/// A connection from this address of this machine.
async fn connect_from(server: &Process, from: u8) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from(([127, 0, 0, from], 0))).expect("an address");
    socket.connect(address(server)).await.expect("a connection")
}

fn memory(server: &Process) -> u64 {
    server.footprint().0 / 1024
}

/// As many files for this test as it may have: a thousand connections are more than the usual.
fn many_files() {
    let me = std::process::id().to_string();
    let raised = std::process::Command::new("prlimit").args(["--pid", &me, "--nofile=8192:"]).status();
    assert!(raised.expect("prlimit").success());
}

/// How often strangers come: once in every run, again and again for a long proof (`make attacks`), in which what is not given
/// back adds up.
fn rounds() -> usize {
    std::env::var("ATTACK_ROUNDS").ok().map_or(1, |number| number.parse().expect("ATTACK_ROUNDS: a number"))
}

/// What a thousand strangers take that do this each and no more, in MiB.
async fn held_by_a_thousand(server: &Process, hold: impl AsyncFn() -> TcpStream) -> u64 {
    let before = memory(server);
    let lines = join_all((0..1000).map(|_| hold())).await;
    // A caller is served, and the server has read what it will.
    Client::new(&server.url).sign_in(ADMIN.0, ADMIN.1).await.expect("signed in");
    let most = memory(server).saturating_sub(before);
    drop(lines);
    most
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_half_sent_sign_ins_or_socket_messages_take_little_memory_and_give_it_back() {
    many_files();
    let chain = TestCluster::new().await;
    let before = memory(&chain.hq);
    let letters = "x".repeat(1_000_000);
    let sign_in = |length: usize, sent: usize| {
        format!(
            "POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{{\"username\": \"{}",
            &letters[..sent]
        )
    };
    let halves = [sign_in(1 << 20, 1_000_000), sign_in(16 << 10, 16_000)];
    for half in halves.iter().cycle().take(2 * rounds()) {
        let hold = async || {
            let mut line = connect(&chain.hq).await;
            // Who says too much is hung up on in the middle of it.
            drop(line.write_all(half.as_bytes()).await);
            line
        };
        let most = held_by_a_thousand(&chain.hq, hold).await;
        println!("1000 half-sent sign-ins of {} bytes: {most} MiB", half.len());
        assert!(most <= 64, "{most} MiB");
    }
    let upgrade = "GET /api/v1/sync/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    // A text in one frame, with its length in eight bytes and masked with nothing; its end does not come.
    let mut frame = [&[0x81, 0xff][..], &1_048_576_u64.to_be_bytes(), &[0; 4]].concat();
    frame.extend(letters.as_bytes());
    let hold = async || {
        let mut line = connect(&chain.hq).await;
        line.write_all(upgrade.as_bytes()).await.expect("sent");
        let mut answer = [0; 12];
        line.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 101");
        drop(line.write_all(&frame).await);
        line
    };
    for _ in 0..rounds() {
        let most = held_by_a_thousand(&chain.hq, &hold).await;
        println!("1000 half-sent socket messages: {most} MiB");
        assert!(most <= 64, "{most} MiB");
    }
    let gone = Instant::now();
    eventually("the memory is given back", async || (memory(&chain.hq) <= before + 16).then_some(())).await;
    println!("{} MiB more than before after {:?}", memory(&chain.hq).saturating_sub(before), gone.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn with_thousands_of_idle_connections_a_till_is_served_at_once() {
    many_files();
    let mut chain = TestCluster::new().await;
    let site = chain.store().await;
    let till = site.admin().await;
    let mut idle = Vec::new();
    for from in (1..=8).cycle().take(2300) {
        idle.push(connect_from(&site.process, from).await);
    }
    // One that has shown who it is kept its connection; who comes later gets the place of the oldest stranger.
    let begun = Instant::now();
    till.get("/auth/me").await.data();
    let stands = begun.elapsed();
    let begun = Instant::now();
    let fresh = Client::new(&site.process.url).with_token(till.token.as_deref().expect("a token"));
    fresh.get("/auth/me").await.data();
    let comes = begun.elapsed();
    let begun = Instant::now();
    Client::new(&site.process.url).sign_in(ADMIN.0, ADMIN.1).await.expect("signed in");
    println!("served in {stands:?}, on a new connection in {comes:?}, signed in in {:?}", begun.elapsed());
    // A connection that gets no place gets none for as long as the idle ones rest, which is a minute and more.
    assert!(stands.max(comes) < Duration::from_secs(10), "{stands:?}, {comes:?}");
    // Not those of the newest went.
    let mut newest = idle.pop().expect("idle ones");
    newest.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n").await.expect("sent");
    assert!(newest.read(&mut [0; 16]).await.is_ok_and(|read| read > 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_person_has_four_streams_and_fifty_sessions() {
    let chain = TestCluster::new().await;
    let http = reqwest::Client::builder().no_proxy().build().expect("a client");
    let url = format!("{}/sync/dashboard/stream", chain.admin.base);
    let token = chain.admin.token.as_deref().expect("a token");
    let open = || async { http.get(&url).bearer_auth(token).send().await.expect("an answer") };
    let streams = join_all((0..4).map(|_| open())).await;
    assert!(streams.iter().all(|stream| stream.status() == 200), "four of them");
    let fifth = open().await;
    assert_eq!(fifth.status(), 503);
    assert!(fifth.headers().contains_key("retry-after"));
    drop(streams);
    eventually("a place is given back", async || (open().await.status() == 200).then_some(())).await;

    let anybody = Client::new(&chain.hq.url);
    let mut sessions = vec![chain.admin.clone()];
    for _ in 0..50 {
        sessions.push(anybody.sign_in(ADMIN.0, ADMIN.1).await.expect("the newest sign-in always works"));
    }
    assert_eq!(sessions[1].get("/auth/me").await.status, 401, "the oldest of the unused ones has ended");
    for session in sessions[2..].iter().chain([&sessions[0]]) {
        session.get("/auth/me").await.data();
    }
    let listed = sessions[50].get("/auth/sessions").await.data();
    let live = |list: &Value| list.as_array().map_or(0, Vec::len);
    assert!(live(&listed) <= 50, "{}", json!(listed));
}

#[tokio::test]
async fn what_a_proxy_passes_on_reads_no_figures_and_closed_docs_are_not_there() {
    let chain = TestCluster::with(&[("DOCS", "false")]).await;
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let status = async |path: &str, more: Option<(&str, &str)>| {
        let mut request = client.get(format!("{}{path}", chain.hq.url));
        if let Some((name, value)) = more {
            request = request.header(name, value);
        }
        request.send().await.expect("an answer").status().as_u16()
    };
    assert_eq!(status("/metrics", None).await, 200, "from this very machine");
    for forwarded in [("X-Forwarded-For", "127.0.0.1"), ("Forwarded", "for=127.0.0.1")] {
        assert_eq!(status("/metrics", Some(forwarded)).await, 404, "{forwarded:?}");
    }
    for path in ["/docs", "/docs/page.js", "/api/v1/openapi.json"] {
        assert_eq!(status(path, None).await, 404, "{path}");
    }
    assert_eq!(status("/", None).await, 200, "the web client is there");
}
