//! A receiver of webhooks: it keeps what is posted to it, and answers as a test wants it.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use aws_lc_rs::hmac;
use serde_json::Value as Json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// What it does with a post.
#[derive(Clone, Copy, Debug)]
pub enum Does {
    /// Answers with this status.
    Says(u16),
    /// Answers with a redirect to itself.
    LeadsOn,
    /// Hangs up without an answer.
    Cuts,
}

/// Something that was posted.
#[derive(Clone, Debug)]
pub struct Posted {
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Posted {
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.body).expect("JSON")
    }

    /// Which event it is.
    pub fn event(&self) -> &str {
        &self.headers["tillkeep-event-id"]
    }

    /// Whether it is signed with `secret`, as a receiver finds out.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let (time, mac) = self.headers["tillkeep-signature"].split_once(",v1=").expect("two parts");
        let time = time.strip_prefix("t=").expect("a time");
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let mac = hex::decode(mac).expect("hex");
        hmac::verify(&key, format!("{time}.{}", self.body).as_bytes(), &mac).is_ok()
    }
}

#[derive(Default)]
struct State {
    posted: Vec<Posted>,
    next: VecDeque<Does>,
}

/// Listens on this machine until the test is over.
pub struct Receiver {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

impl Receiver {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let state: Arc<Mutex<State>> = Arc::default();
        let kept = state.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(take(stream, kept.clone()));
            }
        });
        Self { address, state }
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    /// What it does with the next posts; 200 with every further one.
    pub fn will(&self, does: impl IntoIterator<Item = Does>) {
        self.lock().next.extend(does);
    }

    pub fn posted(&self) -> Vec<Posted> {
        self.lock().posted.clone()
    }
}

/// One connection, with one post.
async fn take(stream: TcpStream, state: Arc<Mutex<State>>) {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    if stream.read_line(&mut line).await.unwrap_or_default() == 0 {
        return;
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.expect("a header");
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers["content-length"].parse().expect("a length");
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.expect("the body");
    let posted = Posted { path, headers, body: String::from_utf8(body).expect("a text") };
    let does = {
        let mut state = state.lock().expect("no panic");
        state.posted.push(posted);
        state.next.pop_front().unwrap_or(Does::Says(200))
    };
    let answer = match does {
        Does::Says(status) => format!("HTTP/1.1 {status} X\r\ncontent-length: 5\r\nconnection: close\r\n\r\nheard"),
        Does::LeadsOn => {
            "HTTP/1.1 302 X\r\nlocation: /elsewhere\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned()
        }
        Does::Cuts => return,
    };
    stream.write_all(answer.as_bytes()).await.expect("an answer");
    stream.shutdown().await.unwrap_or_default();
}
