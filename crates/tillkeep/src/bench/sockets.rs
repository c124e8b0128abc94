//! P4: stores with an open socket, and how soon all of them hear of a change.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures_util::StreamExt;
use futures_util::stream::{FuturesUnordered, SelectAll};
use rusqlite::Connection;
use serde_json::json;
use tillkeep_http::Clock;
use tillkeep_http::tokens::keys::GivenKeys;
use tillkeep_http::tokens::{STORE_SYNC, SyncClaims, Tokens};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use uuid::Uuid;

use super::Bench;
use super::chain::{Chain, process};
use super::figure::{Figure, Measurement, Sample};
use super::fill::{self, Copies};
use super::http::{Line, request};
use super::idle::Word;
use super::process::Standing;
use super::statistics::millis;

pub const COUNT: &str = "sockets";
pub const MEMORY: &str = "memory of each";
pub const CONNECTED: &str = "until connected, for each 1000";
pub const CPU: &str = "CPU of headquarters to connect each";
pub const NOTIFIED: &str = "until all are told";
pub const PULLED: &str = "until all have pulled";
/// Sockets that open at once, and stores that pull at once.
const AT_ONCE: usize = 32;
/// Files that both processes need besides.
pub const OTHER_FILES: usize = 300;
const PATIENCE: Duration = Duration::from_mins(1);
/// What is shown and what is to be reached, at one server and at two.
pub const FIGURES: [Figure; 6] = [
    Figure::shown(COUNT, "stores"),
    Figure::most(MEMORY, "KiB", 12.0),
    // 18 000 within ten seconds.
    Figure::most(CONNECTED, "ms", 556.0),
    Figure::shown(CPU, "µs"),
    Figure::most(NOTIFIED, "ms", 1000.0),
    Figure::most(PULLED, "ms", 5000.0),
];

pub const MEASUREMENT: Measurement =
    Measurement { id: "P4", title: "open sockets of stores", figures: &FIGURES, run: |bench| Box::pin(run(bench)) };

/// Stores as the first one, which does not run either.
pub const STORES: Copies = Copies {
    table: "stores",
    row: "code = 'S01'",
    but: &[
        fill::ID,
        fill::VERSION,
        ("code", "printf('N%06d', n.i + (SELECT MAX(rowid) FROM {table}))"),
        ("name", "printf('Store %d', n.i)"),
    ],
};

pub type Socket = WebSocketStream<TcpStream>;

async fn run(bench: &Bench) -> Result<Vec<Sample>> {
    let count = bench.sizes.sockets.min(files()?.saturating_sub(OTHER_FILES));
    let mut chain = Chain::start(bench).await?;
    let product = chain.products(1).await?.remove(0);
    chain.provision().await?;
    let chain = chain.restart(|path| write(path, count - 1)).await?;
    let tokens = tokens(&chain.dir.join("hq"), |_| true)?;
    let samples = hold(&chain.hq.url, &chain, &tokens, &product, || Standing::read(process(&chain.hq)?)).await?;
    chain.stop().await;
    Ok(samples)
}

/// Sockets of the stores of `tokens` at `url`, and a change of a product that all are notified of.
pub async fn hold(
    url: &str,
    chain: &Chain,
    tokens: &[String],
    product: &str,
    look: impl Fn() -> Result<Standing>,
) -> Result<Vec<Sample>> {
    let path = Word::load(&chain.admin.with(&tokens[0])).await?.pull("products");
    let before = look()?;
    let begun = Instant::now();
    let sockets = open(url, tokens).await?;
    let connected = begun.elapsed();
    let after = look()?;
    let mut all: SelectAll<Socket> = sockets.into_iter().collect();

    let change = json!({"price": 4711}).to_string();
    let mut line = Line::open(&chain.hq.url).await?;
    line.expect(&request("PATCH", &format!("/products/{product}"), &chain.admin.token, &change)).await?;
    let begun = Instant::now();
    let notified = tokio::time::timeout(PATIENCE, async {
        let mut notified = 0;
        while notified < tokens.len() {
            let message = all.next().await.context("a socket was closed")??;
            notified += usize::from(matches!(&message, Message::Text(text) if text.contains("\"products\"")));
        }
        anyhow::Ok(begun.elapsed())
    });
    let notified = notified.await.context("not every store was notified")??;
    let pulled = pull(url, tokens, &path).await?;
    drop(all);
    let count = tokens.len() as f64;
    let grown = after.memory.saturating_sub(before.memory) as f64 / 1024.0;
    let used = after.cpu.saturating_sub(before.cpu).as_secs_f64() * 1e6;
    Ok(vec![
        Sample::new(COUNT, count),
        Sample::new(MEMORY, grown / count),
        Sample::new(CONNECTED, millis(connected) * 1000.0 / count),
        Sample::new(CPU, used / count),
        Sample::new(NOTIFIED, millis(notified)),
        Sample::new(PULLED, millis(pulled)),
    ])
}

pub fn write(path: &Path, more: usize) -> Result<()> {
    STORES.write(path, more)?;
    fill::count_versions(path, STORES.table)?;
    Ok(())
}

/// A token for each of these stores of a headquarters, by code, signed with its key.
pub fn tokens(dir: &Path, which: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    let conn = Connection::open(dir.join("tillkeep.db"))?;
    let mut select = conn.prepare("SELECT id, code, sync_token_version FROM stores")?;
    let read = |row: &rusqlite::Row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, String>(1)?, row.get::<_, i32>(2)?));
    let stores = select.query_map([], read)?;
    let chosen = stores.filter(|store| store.as_ref().map_or(true, |(_, code, _)| which(code)));
    let rows = chosen.map(|store| {
        let (id, code, version) = store?;
        Ok((Uuid::from_slice(&id)?, code, version))
    });
    signed(dir, rows.collect::<Result<Vec<_>>>()?)
}

/// A token for each of these stores: id, code and version of the token.
pub fn signed(dir: &Path, stores: Vec<(Uuid, String, i32)>) -> Result<Vec<String>> {
    let now = Clock::default().now();
    let keys = Tokens::open(&dir.join("token.key"), GivenKeys::default(), now)?;
    let sign = |(id, code, version)| {
        let claims = SyncClaims {
            store_id: Some(id),
            store_code: code,
            kind: STORE_SYNC.to_owned(),
            tv: version,
            iat: now.millis() / 1000,
            jti: Some(Uuid::now_v7()),
        };
        keys.sign_sync(&claims).context("a sync token cannot be signed")
    };
    stores.into_iter().map(sign).collect()
}

/// A socket for each of these stores, so many opened at once.
pub async fn open(url: &str, tokens: &[String]) -> Result<Vec<Socket>> {
    let mut sockets = Vec::with_capacity(tokens.len());
    for some in tokens.chunks(AT_ONCE) {
        let mut opening: FuturesUnordered<_> = some.iter().map(|token| connect(url, token)).collect();
        while let Some(socket) = opening.next().await {
            sockets.push(socket?);
        }
    }
    Ok(sockets)
}

async fn connect(url: &str, token: &str) -> Result<Socket> {
    let address = url.strip_prefix("http://").context("plain HTTP is measured alone")?;
    let mut request = format!("ws://{address}/api/v1/sync/ws").into_client_request()?;
    request.headers_mut().insert("authorization", format!("Bearer {token}").parse()?);
    let config = WebSocketConfig::default().read_buffer_size(1024).write_buffer_size(1024);
    let stream = TcpStream::connect(address).await?;
    Ok(client_async_with_config(request, stream, Some(config)).await?.0)
}

/// How long it takes until each store has pulled the change, so many at once.
async fn pull(url: &str, tokens: &[String], path: &str) -> Result<Duration> {
    let mut pulls = tokio::task::JoinSet::new();
    let begun = Instant::now();
    for some in tokens.chunks(tokens.len().div_ceil(AT_ONCE)) {
        let (url, some, path) = (url.to_owned(), some.to_vec(), path.to_owned());
        pulls.spawn(async move {
            let mut line = Line::open(&url).await?;
            for token in some {
                let page = line.expect(&request("GET", &path, &token, "")).await?;
                if !page.windows(4).any(|four| four == b"4711") {
                    bail!("a pull without the change: {}", String::from_utf8_lossy(page));
                }
            }
            anyhow::Ok(())
        });
    }
    while let Some(done) = pulls.join_next().await {
        done??;
    }
    Ok(begun.elapsed())
}

/// How many files this process may have open, and the servers that it starts.
pub fn files() -> Result<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).context("no limit of open files")?;
    let soft = line.split_whitespace().next().unwrap_or_default();
    Ok(soft.parse().unwrap_or(usize::MAX))
}
