//! A TCP proxy that fails on purpose.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::sleep;

/// What the line does. It holds for connections made under it; all others are cut when it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// No request gets through; standing connections are cut.
    Down,
    /// Requests get through, and the line breaks before the first byte of an answer.
    LoseAnswers,
    /// Each part of an answer comes so much later.
    Delay(Duration),
    /// A connection is cut after so many bytes of requests.
    CutRequest(usize),
    /// A connection is cut after so many bytes of answers.
    CutAnswer(usize),
    /// Connections are accepted and everything on them is swallowed, for ever: also after the fault is over.
    HalfOpen,
    /// A connection is reset when the first request comes.
    Reset,
    /// Each request is delivered twice.
    Duplicate,
    /// So many bytes a second in each direction.
    Throttle(usize),
    /// Up for so long, then down for so long.
    Flapping(Duration),
    /// Whatever is asked is answered with a page, as in a hotel.
    Portal,
    /// Each push is answered by the proxy with this status, and everything else gets through.
    Gateway(u16),
    /// Everything gets through but the headers that no other program knows, in both directions.
    DropsHeaders,
}

pub struct Proxy {
    pub url: String,
    fault: watch::Sender<Fault>,
    upstream: Arc<Mutex<SocketAddr>>,
    hits: Arc<AtomicU64>,
}

fn address(url: &str) -> SocketAddr {
    url.trim_start_matches("http://").parse().expect("address")
}

impl Proxy {
    /// A proxy in front of `upstream` (`http://host:port`).
    pub async fn start(upstream: &str) -> Self {
        let upstream = Arc::new(Mutex::new(address(upstream)));
        let target = upstream.clone();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("listen");
        let url = format!("http://{}", listener.local_addr().expect("address"));
        let (fault, watched) = watch::channel(Fault::None);
        let hits = Arc::new(AtomicU64::new(0));
        let counter = hits.clone();
        let begun = Instant::now();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let upstream = *target.lock().expect("a lock");
                tokio::spawn(carry(client, upstream, watched.clone(), counter.clone(), begun));
            }
        });
        Self { url, fault, upstream, hits }
    }

    /// New connections go to another server from now on.
    pub fn send_to(&self, upstream: &str) {
        *self.upstream.lock().expect("a lock") = address(upstream);
    }

    /// From now on, for standing connections too.
    pub fn set(&self, fault: Fault) {
        self.fault.send_replace(fault);
    }

    /// How often a fault struck: answers lost, connections cut, requests delivered twice.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    pub fn lost_answers(&self) -> u64 {
        self.hits()
    }
}

async fn carry(
    client: TcpStream,
    upstream: SocketAddr,
    mut watched: watch::Receiver<Fault>,
    hits: Arc<AtomicU64>,
    begun: Instant,
) {
    let fault = *watched.borrow_and_update();
    let hit = || {
        hits.fetch_add(1, Ordering::Relaxed);
    };
    if fault == Fault::HalfOpen {
        hit();
        return swallow(client).await;
    }
    // A connection lives until the fault changes, then it is cut.
    tokio::select! {
        () = under(fault, client, upstream, begun, &hit) => {}
        _ = watched.changed() => {}
    }
}

async fn under(fault: Fault, mut client: TcpStream, upstream: SocketAddr, begun: Instant, hit: &impl Fn()) {
    match fault {
        Fault::Down => return hit(),
        Fault::Reset => {
            // What was never read makes the system answer the close with a reset.
            drop(client.readable().await);
            return hit();
        }
        Fault::Portal => {
            hit();
            return portal(client).await;
        }
        _ => {}
    }
    let Ok(mut server) = TcpStream::connect(upstream).await else { return };
    let all = usize::MAX;
    match fault {
        Fault::LoseAnswers => {
            let (mut from_client, _to_client) = client.split();
            let (mut from_server, mut to_server) = server.split();
            let mut answer = [0; 1];
            tokio::select! {
                _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
                // The server has answered, so whatever it did is done; no client will hear of it.
                read = from_server.read(&mut answer) => if read.is_ok_and(|count| count > 0) { hit() },
            }
            drop(to_server.shutdown().await);
        }
        Fault::CutRequest(bytes) => both(client, server, (bytes, all), Duration::ZERO, Pace::AtOnce, hit).await,
        Fault::CutAnswer(bytes) => both(client, server, (all, bytes), Duration::ZERO, Pace::AtOnce, hit).await,
        Fault::Delay(by) => both(client, server, (all, all), by, Pace::AtOnce, hit).await,
        Fault::Throttle(rate) => both(client, server, (all, all), Duration::ZERO, Pace::PerSecond(rate), hit).await,
        Fault::Duplicate => twice(client, server, upstream, hit).await,
        Fault::DropsHeaders => {
            let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
            tokio::select! {
                () = without_headers(from_client, to_server, hit) => {}
                () = without_headers(from_server, to_client, hit) => {}
            }
        }
        Fault::Gateway(status) => gateway(client, server, status, hit).await,
        Fault::Flapping(period) => {
            let turns = begun.elapsed().as_millis() / period.as_millis().max(1);
            if turns % 2 == 1 {
                return hit();
            }
            tokio::select! {
                _ = copy_bidirectional(&mut client, &mut server) => {}
                () = sleep(period) => hit(),
            }
        }
        _ => drop(copy_bidirectional(&mut client, &mut server).await),
    }
}

async fn swallow(mut client: TcpStream) {
    drop(tokio::io::copy(&mut client, &mut tokio::io::sink()).await);
}

async fn portal(mut client: TcpStream) {
    let mut asked = [0; 4096];
    while client.read(&mut asked).await.is_ok_and(|count| count > 0) {
        let page = "<!doctype html><title>Welcome to our network</title><p>Accept our terms to go on.";
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
            page.len()
        );
        if client.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Answers pushes itself: with the errors of a program in JSON or with the page of a web server.
async fn gateway(client: TcpStream, server: TcpStream, status: u16, hit: &impl Fn()) {
    let (mut from_client, mut to_client) = client.into_split();
    let (from_server, mut to_server) = server.into_split();
    let requests = async {
        let (mut buffer, mut part) = (Vec::new(), vec![0; 16 * 1024]);
        loop {
            let Ok(count @ 1..) = from_client.read(&mut part).await else { return false };
            buffer.extend_from_slice(&part[..count]);
            while let Some((length, upgrades)) = request_in(&buffer) {
                let request: Vec<u8> = buffer.drain(..length).collect();
                if request.starts_with(b"POST /api/v1/sync/push") {
                    return true;
                }
                if to_server.write_all(&request).await.is_err() {
                    return false;
                }
                if upgrades {
                    drop(tokio::io::copy(&mut from_client, &mut to_server).await);
                    return false;
                }
            }
        }
    };
    let pushes = tokio::select! {
        pushes = requests => pushes,
        _ = one_way(from_server, &mut to_client, usize::MAX, Duration::ZERO, Pace::AtOnce) => false,
    };
    if pushes {
        hit();
        let (kind, body) = match status {
            413 => ("text/html", "<!doctype html><title>413 Request Entity Too Large</title><h1>nginx</h1>"),
            _ => ("application/json", r#"{"error":"upstream failed","code":"validation"}"#),
        };
        let head = format!("HTTP/1.1 {status} -\r\ncontent-type: {kind}\r\ncontent-length: {}", body.len());
        drop(to_client.write_all(format!("{head}\r\nconnection: close\r\n\r\n{body}").as_bytes()).await);
    }
}

/// Gives the headers of this program another name, which no program knows either. A head comes in one piece.
async fn without_headers(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, hit: &impl Fn()) {
    const HEADER: &[u8] = b"\r\ntillkeep-";
    let mut part = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut part).await {
        for at in 0..count.saturating_sub(HEADER.len()) {
            if part[at..].starts_with(HEADER) {
                part[at + 2] = b'x';
                hit();
            }
        }
        if to.write_all(&part[..count]).await.is_err() {
            return;
        }
    }
}

#[derive(Clone, Copy)]
enum Pace {
    AtOnce,
    PerSecond(usize),
}

/// Carries both ways until one side ends or has carried its limit.
async fn both(
    client: TcpStream,
    server: TcpStream,
    (of_request, of_answer): (usize, usize),
    delay: Duration,
    pace: Pace,
    hit: &impl Fn(),
) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let cut = tokio::select! {
        cut = one_way(from_client, to_server, of_request, Duration::ZERO, pace) => cut,
        cut = one_way(from_server, to_client, of_answer, delay, pace) => cut,
    };
    if cut {
        hit();
    }
}

/// Whether the limit was reached.
async fn one_way(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut left: usize,
    delay: Duration,
    pace: Pace,
) -> bool {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let most = match pace {
            Pace::AtOnce => buffer.len(),
            Pace::PerSecond(rate) => (rate / 20).clamp(1, buffer.len()),
        };
        let Ok(count @ 1..) = from.read(&mut buffer[..most]).await else { return false };
        let carried = count.min(left);
        if !delay.is_zero() {
            sleep(delay).await;
        }
        if matches!(pace, Pace::PerSecond(_)) {
            sleep(Duration::from_millis(50)).await;
        }
        if to.write_all(&buffer[..carried]).await.is_err() {
            return false;
        }
        left -= carried;
        if left == 0 {
            return true;
        }
    }
}

/// Sends each whole request on, and once more over a connection of its own, without a reader of its answer.
async fn twice(client: TcpStream, server: TcpStream, upstream: SocketAddr, hit: &impl Fn()) {
    let (mut from_client, to_client) = client.into_split();
    let (from_server, mut to_server) = server.into_split();
    let requests = async {
        let (mut buffer, mut part) = (Vec::new(), vec![0; 16 * 1024]);
        loop {
            let Ok(count @ 1..) = from_client.read(&mut part).await else { return };
            buffer.extend_from_slice(&part[..count]);
            while let Some((length, upgrades)) = request_in(&buffer) {
                let request: Vec<u8> = buffer.drain(..length).collect();
                if to_server.write_all(&request).await.is_err() {
                    return;
                }
                if upgrades {
                    // What follows are no requests.
                    drop(to_server.write_all(&buffer).await);
                    drop(tokio::io::copy(&mut from_client, &mut to_server).await);
                    return;
                }
                hit();
                tokio::spawn(async move {
                    let Ok(mut again) = TcpStream::connect(upstream).await else { return };
                    if again.write_all(&request).await.is_ok() {
                        let mut answer = [0; 1024];
                        drop(again.read(&mut answer).await);
                    }
                });
            }
        }
    };
    tokio::select! {
        () = requests => {}
        _ = one_way(from_server, to_client, usize::MAX, Duration::ZERO, Pace::AtOnce) => {}
    }
}

/// The length of the whole request at the beginning of `bytes`, and whether it asks for another protocol. HTTP/1 with a
/// length, as stores speak.
fn request_in(bytes: &[u8]) -> Option<(usize, bool)> {
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    let body = value("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    (bytes.len() >= head + body).then_some((head + body, value("upgrade").is_some()))
}
