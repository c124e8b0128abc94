//! A server with a few routes, and a client that misbehaves.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde_json::{Value, json};
use tempfile::TempDir;
use tillkeep_http::describe::{self, About};
use tillkeep_http::request::Guest;
use tillkeep_http::server::{Limits, Tls, bind, serve};
use tillkeep_http::{Answer, Body, Error, extract, layers};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Long enough for anything that is to happen at all.
const PATIENCE: Duration = Duration::from_mins(1);

pub struct Server {
    pub address: SocketAddr,
    /// Lets the waiting route go on.
    pub go_on: Arc<Notify>,
    /// Says that the waiting route went on.
    pub went_on: Arc<Notify>,
    pub dir: TempDir,
    stop: DropGuard,
    done: JoinHandle<()>,
}

impl Server {
    pub async fn start(limits: Limits) -> Self {
        Self::start_with(limits, |_| None).await
    }

    pub async fn start_with(limits: Limits, tls: impl FnOnce(&TempDir) -> Option<Tls>) -> Self {
        let dir = tempfile::tempdir().expect("dir");
        let (go_on, went_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let listener = bind("127.0.0.1:0", dir.path(), tls(&dir)).await.expect("listen");
        let written = std::fs::read_to_string(dir.path().join("address")).expect("address");
        assert_eq!(written.trim_end(), listener.url);
        let address = listener.url.split_once("://").expect("url").1.parse().expect("address");
        let stop = CancellationToken::new();
        let router = layers::wrap(routes(&go_on, &went_on));
        let done = tokio::spawn(serve(listener, router, limits, stop.clone()));
        Self { address, go_on, went_on, dir, stop: stop.drop_guard(), done }
    }

    /// Stops, and waits for the end.
    pub async fn stop(self) {
        drop(self.stop);
        self.done.await.expect("served");
    }

    pub async fn connect(&self) -> Client<TcpStream> {
        Client(TcpStream::connect(self.address).await.expect("connect"))
    }

    /// One request on a connection of its own.
    pub async fn ask(&self, method: &str, path: &str) -> Reply {
        let mut client = self.connect().await;
        client.send(&format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).await;
        client.reply().await
    }
}

/// Bytes of an answer that no buffer on the way holds.
pub const LARGE: usize = 32 << 20;

fn routes(go_on: &Arc<Notify>, went_on: &Arc<Notify>) -> Router {
    let (go_on, went_on) = (go_on.clone(), went_on.clone());
    let waiting = move || {
        let (go_on, went_on) = (go_on.clone(), went_on.clone());
        async move {
            go_on.notified().await;
            went_on.notify_one();
            Answer(json!("done"))
        }
    };
    describe::served(Router::new(), About { title: "A server", text: "It says hello.", examples: "{}" }, Vec::new)
        .route("/api/v1/hello", get(|| async { Answer(json!("hello")) }))
        .route("/api/v1/known", get(async |guest: Guest| guest.now_known()))
        .route("/api/v1/echo", post(|Body(body): Body<Value>| async { Answer(body) }))
        .route("/api/v1/waiting", get(waiting.clone()).post(waiting))
        .route("/api/v1/large", get(|| async { vec![b'x'; LARGE] }))
        .route("/api/v1/broken", get(broken))
        .route("/api/v1/broken-later", get(broken_later))
        .route("/api/v1/page", get(page))
        .route("/api/v1/sync/push", post(pushed))
}

async fn page() -> impl IntoResponse {
    ([("content-security-policy", "img-src data:"), ("permissions-policy", "camera=(self)")], "a page")
}

#[expect(clippy::panic, reason = "what a panic is answered with is what is tested")]
async fn broken() -> Answer<Value> {
    panic!("at column 7 of src/secrets.rs")
}

/// By then it runs in a task of its own.
async fn broken_later() -> Answer<Value> {
    tokio::task::yield_now().await;
    broken().await
}

async fn pushed(body: axum::body::Body) -> Result<Answer<usize>, Error> {
    let read = axum::body::to_bytes(body, 1 << 20).await;
    let bytes: Bytes = read.map_err(|error| extract::unread(&error))?;
    Ok(Answer(bytes.len()))
}

/// An answer as it came over the line.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Value,
    pub text: String,
}

impl Reply {
    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or_default();
        let body = serde_json::from_str(body).unwrap_or_default();
        Self { status, head: head.to_owned(), body, text: text.clone() }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&str| line.split(':').next().is_some_and(|key| key.eq_ignore_ascii_case(name));
        Some(self.head.lines().skip(1).find(named)?.split_once(':')?.1.trim())
    }

    /// The code of a refusal in the one form.
    #[track_caller]
    pub fn refused(&self, status: u16) -> &str {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(self.body["success"], false, "{}", self.text);
        assert!(self.body["error"].as_str().is_some_and(|text| !text.is_empty()), "{}", self.text);
        assert_eq!(self.body["requestId"].as_str(), self.header("x-request-id"), "{}", self.text);
        self.body["code"].as_str().expect("a code")
    }
}

/// A client that says what it likes, as slowly as it likes.
pub struct Client<T>(pub T);

impl<T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin> Client<T> {
    pub async fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.expect("send");
    }

    /// All that comes until the server closes the connection.
    pub async fn rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // A connection that is reset has ended too.
        drop(timeout(PATIENCE, self.0.read_to_end(&mut bytes)).await.expect("the server closes the connection"));
        bytes
    }

    pub async fn reply(&mut self) -> Reply {
        Reply::read(&self.rest().await)
    }

    /// The answer to one request on a connection that stays open; its body must have a length.
    pub async fn answer(&mut self) -> Reply {
        let mut bytes = Vec::new();
        let whole = async {
            loop {
                bytes.push(self.0.read_u8().await.expect("an answer"));
                let text = String::from_utf8_lossy(&bytes);
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = Reply::read(head.as_bytes()).header("content-length").expect("length").parse();
                if body.len() == length.unwrap_or(0_usize) {
                    return Reply::read(&bytes);
                }
            }
        };
        timeout(PATIENCE, whole).await.expect("an answer in time")
    }
}

/// As from a caller with a good token.
pub const KNOWN: &str = "GET /api/v1/known HTTP/1.1\r\nHost: x\r\n\r\n";
pub const HELLO: &str = "GET /api/v1/hello HTTP/1.1\r\nHost: x\r\n\r\n";

/// Limits that a test need not wait long for.
pub fn short() -> Limits {
    let millis = Duration::from_millis;
    Limits {
        handshake: millis(300),
        header: millis(300),
        idle: millis(900),
        request: millis(600),
        stall: millis(600),
        // Bytes of a body or of an answer are counted in tests of their own.
        rate: 1,
        ..Limits::default()
    }
}
