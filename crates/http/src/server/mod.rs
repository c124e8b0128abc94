//! The accept loop: connections with limits on number and time, TLS, and a stop that lets running requests finish.

mod limits;
mod paced;
mod places;
mod rest;
pub mod tls;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::http::{HeaderValue, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

pub use limits::Limits;
use paced::{Pace, Paced};
use places::{Permit, Places};
pub use tls::Tls;

use crate::request::{Guest, Patience, Transport};

/// Bytes of a request's line and headers at the most, which is what a slow client can make this server keep.
const LARGEST_HEAD: usize = 64 << 10;
/// Bytes of an answer that the system keeps for a client at the most (it doubles them): what is more waits here, where it is
/// seen how slowly it is taken.
const UNTAKEN: u32 = 64 << 10;
/// Connections that the system keeps until they are accepted.
const BACKLOG: u32 = 1024;
/// How long running requests may take when the server stops.
pub const DRAIN: Duration = Duration::from_secs(10);

/// A server that listens and does not serve yet.
pub struct Listener {
    tcp: TcpListener,
    tls: Option<Tls>,
    /// Where to reach it, such as `http://127.0.0.1:8080`.
    pub url: String,
}

impl Listener {
    /// Where to reach it, when that is on this machine alone: such an address is the same for all who can use it.
    pub fn on_this_machine(&self) -> Option<&str> {
        let address = self.tcp.local_addr().ok()?;
        address.ip().is_loopback().then_some(&*self.url)
    }
}

/// Binds `listen`, and tells where in the file `address` of the data directory.
pub async fn bind(listen: &str, data_dir: &Path, tls: Option<Tls>) -> io::Result<Listener> {
    let listener = self::listen(listen, tls).await?;
    tokio::fs::write(data_dir.join("address"), format!("{}\n", listener.url)).await?;
    Ok(listener)
}

/// Binds `listen`.
pub async fn listen(listen: &str, tls: Option<Tls>) -> io::Result<Listener> {
    let tcp = open(listen)
        .await
        .map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {listen}: {error}")))?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{}", tcp.local_addr()?);
    Ok(Listener { tcp, tls, url })
}

/// As [`TcpListener::bind`], with little room for what a client does not take.
async fn open(listen: &str) -> io::Result<TcpListener> {
    let mut failed = io::Error::new(io::ErrorKind::InvalidInput, "it names no address");
    for address in tokio::net::lookup_host(listen).await? {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        // Each connection has what its listener has.
        socket.set_send_buffer_size(UNTAKEN)?;
        match socket.bind(address).and_then(|()| socket.listen(BACKLOG)) {
            Ok(tcp) => return Ok(tcp),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// How a server ends.
#[derive(Clone, Default)]
pub struct Ending {
    /// Each connection ends with its next answer: whoever asks again is to find another server.
    pub leaving: CancellationToken,
    /// No connection is let in any more, and running requests end.
    pub stop: CancellationToken,
}

impl From<CancellationToken> for Ending {
    fn from(stop: CancellationToken) -> Self {
        Self { stop, ..Self::default() }
    }
}

/// Serves until the server stops, then lets running requests finish.
pub async fn serve(listener: Listener, router: Router, limits: Limits, ending: impl Into<Ending>) {
    let Ending { leaving, stop } = ending.into();
    let Listener { tcp, tls, .. } = listener;
    let connections = TaskTracker::new();
    let places = Places::new(&limits);
    let limits = Arc::new(limits);
    if let Some(tls) = &tls {
        tokio::spawn(tls.clone().renew(stop.clone()));
    }
    loop {
        // Who comes gets the place of the oldest stranger when there is no other. While all places are held by those who are
        // known, the system keeps the next ones in its queue.
        let accepted = tokio::select! {
            accepted = async {
                let accepted = tcp.accept().await;
                (places.one().await, accepted)
            } => accepted,
            () = stop.cancelled() => break,
        };
        match accepted {
            (Some(one), Ok((stream, peer))) => {
                let Some(place) = places.give(one, peer.ip()) else {
                    tracing::debug!(%peer, "this address has too many connections; one was closed");
                    continue;
                };
                let ending = Ending { leaving: leaving.clone(), stop: stop.clone() };
                let (router, limits, connections) = (router.clone(), limits.clone(), connections.clone());
                let server = Server { router, limits, peer, connections, ending };
                server.welcome(stream, tls.as_ref(), place);
            }
            (_, Err(error)) => {
                // Out of file handles, most likely: the next connection may fare better.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            (None, _) => break,
        }
    }
    drop(tcp);
    connections.close();
    if timeout(DRAIN, connections.wait()).await.is_err() {
        tracing::warn!("some requests did not finish in {} s and were dropped", DRAIN.as_secs());
    }
}

/// What one connection is served with.
struct Server {
    router: Router,
    limits: Arc<Limits>,
    peer: SocketAddr,
    /// Those that are waited for when the server stops.
    connections: TaskTracker,
    ending: Ending,
}

impl Server {
    fn welcome(self, stream: TcpStream, tls: Option<&Tls>, place: Permit) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection went away at once");
        }
        let Some(tls) = tls else {
            self.converse(stream, Transport { tls: false }, place);
            return;
        };
        let acceptor = tls.acceptor();
        let connections = self.connections.clone();
        connections.spawn(async move {
            let evicted = place.evicted();
            let shaken = tokio::select! {
                () = evicted => return,
                shaken = timeout(self.limits.handshake, acceptor.accept(stream)) => shaken,
                // Nothing was asked yet: the end does not wait for this one.
                () = self.ending.stop.cancelled() => return,
            };
            match shaken {
                Ok(Ok(stream)) => self.converse(stream, Transport { tls: true }, place),
                Ok(Err(error)) => tracing::debug!(peer = %self.peer, %error, "a TLS handshake failed"),
                Err(_) => tracing::debug!(peer = %self.peer, "a TLS handshake took too long"),
            }
        });
    }

    fn converse<T>(self, stream: T, transport: Transport, taken: Permit)
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { router, limits, peer, connections, ending: Ending { leaving, stop } } = self;
        let pace = Pace::new();
        let (seat, evicted, known) = (taken.seat(), taken.evicted(), pace.clone());
        let guest = Guest::new(move || {
            known.is_known();
            seat.is_known();
        });
        let stream = Paced::new(stream, pace.clone(), &limits, taken);
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            let busy = pace.busy();
            let is_held_back = request.headers().contains_key(header::EXPECT);
            let (head, body) = request.into_parts();
            let (body, rest) = rest::watched(body, is_held_back);
            let mut request = Request::from_parts(head, body);
            let extensions = request.extensions_mut();
            extensions.insert(ConnectInfo(peer));
            extensions.insert(transport);
            extensions.insert(guest.clone());
            extensions.insert(Patience { request: limits.request, stall: limits.stall, rate: limits.rate });
            let (answer, leaving) = (router.clone().oneshot(request), leaving.clone());
            async move {
                let answer = match answer.await {
                    Ok(answer) => answer,
                    Err(never) => match never {},
                };
                let (mut head, body) = answer.into_parts();
                if head.status == StatusCode::SWITCHING_PROTOCOLS {
                    busy.upgraded();
                    return Ok::<_, Infallible>(hyper::Response::from_parts(head, axum::body::Body::empty()));
                }
                // After a body that is not read to its end hyper hangs up: whoever asks next is not to find out by
                // that.
                if leaving.is_cancelled() || rest.remains().await {
                    head.headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                let body = axum::body::Body::new(busy.until_sent(body));
                Ok(hyper::Response::from_parts(head, body))
            }
        });
        let mut builder = Builder::new();
        // The stream counts the time itself: hyper's own limit knows no difference between slow headers and silence.
        builder.header_read_timeout(None).max_buf_size(LARGEST_HEAD).max_header_size(LARGEST_HEAD);
        let connection = builder.serve_connection(TokioIo::new(stream), service).with_upgrades();
        connections.spawn(async move {
            let mut connection = pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = evicted => return,
                () = stop.cancelled() => {
                    // The request that runs is the last one.
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = ended {
                tracing::trace!(%error, "a connection ended early");
            }
        });
    }
}
