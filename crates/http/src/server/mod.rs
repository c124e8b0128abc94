//! The accept loop: connections with limits on number and time, TLS, and a stop that lets running requests finish.

mod limits;
mod paced;
mod places;
pub mod tls;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::http::StatusCode;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

pub use limits::Limits;
use paced::{Pace, Paced};
use places::{Place, Places};
pub use tls::Tls;

use crate::request::{Patience, Transport};

/// Bytes of a request's line and headers at the most, which is what a slow client can make this server keep.
const LARGEST_HEAD: usize = 64 << 10;
/// How long running requests may take when the server stops.
const DRAIN: Duration = Duration::from_secs(10);

/// A server that listens and does not serve yet.
pub struct Listener {
    tcp: TcpListener,
    tls: Option<Tls>,
    /// Where to reach it, such as `http://127.0.0.1:8080`.
    pub url: String,
}

/// Binds `listen`, and tells where in the file `address` of the data directory.
pub async fn bind(listen: &str, data_dir: &Path, tls: Option<Tls>) -> io::Result<Listener> {
    let listener = self::listen(listen, tls).await?;
    tokio::fs::write(data_dir.join("address"), format!("{}\n", listener.url)).await?;
    Ok(listener)
}

/// Binds `listen`.
pub async fn listen(listen: &str, tls: Option<Tls>) -> io::Result<Listener> {
    let tcp = TcpListener::bind(listen)
        .await
        .map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {listen}: {error}")))?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let url = format!("{scheme}://{}", tcp.local_addr()?);
    Ok(Listener { tcp, tls, url })
}

/// Serves until `stop`, then lets running requests finish.
pub async fn serve(listener: Listener, router: Router, limits: Limits, stop: CancellationToken) {
    let Listener { tcp, tls, .. } = listener;
    let graceful = GracefulShutdown::new();
    let places = Places::new(&limits);
    let limits = Arc::new(limits);
    if let Some(tls) = &tls {
        tokio::spawn(tls.clone().renew(stop.clone()));
    }
    loop {
        // Without a free place nobody is accepted: the system keeps them in its queue, and who says nothing in time makes
        // room.
        let accepted = tokio::select! {
            accepted = async { (places.one().await, tcp.accept().await) } => accepted,
            () = stop.cancelled() => break,
        };
        match accepted {
            (Some(one), Ok((stream, peer))) => {
                let Some(place) = places.give(one, peer.ip()) else {
                    tracing::debug!(%peer, "this address has too many connections; one was closed");
                    continue;
                };
                let server = Server { router: router.clone(), limits: limits.clone(), peer };
                server.welcome(stream, tls.as_ref(), place, &graceful, &stop);
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
    if timeout(DRAIN, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in {} s and were dropped", DRAIN.as_secs());
    }
}

/// What one connection is served with.
struct Server {
    router: Router,
    limits: Arc<Limits>,
    peer: SocketAddr,
}

impl Server {
    fn welcome(
        self,
        stream: TcpStream,
        tls: Option<&Tls>,
        place: Place,
        graceful: &GracefulShutdown,
        stop: &CancellationToken,
    ) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection went away at once");
        }
        let Some(tls) = tls else {
            self.converse(stream, Transport { tls: false }, place, graceful.watcher());
            return;
        };
        let (acceptor, watcher, stop) = (tls.acceptor(), graceful.watcher(), stop.clone());
        tokio::spawn(async move {
            let shaken = tokio::select! {
                shaken = timeout(self.limits.handshake, acceptor.accept(stream)) => shaken,
                // Nothing was asked yet: nobody has to wait for this one.
                () = stop.cancelled() => return,
            };
            match shaken {
                Ok(Ok(stream)) => self.converse(stream, Transport { tls: true }, place, watcher),
                Ok(Err(error)) => tracing::debug!(peer = %self.peer, %error, "a TLS handshake failed"),
                Err(_) => tracing::debug!(peer = %self.peer, "a TLS handshake took too long"),
            }
        });
    }

    fn converse<T>(self, stream: T, transport: Transport, taken: Place, watcher: Watcher)
    where
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self { router, limits, peer } = self;
        let pace = Pace::new();
        let stream = Paced::new(stream, pace.clone(), &limits, taken);
        let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
            let busy = pace.busy();
            let mut request: Request = request.map(axum::body::Body::new);
            let extensions = request.extensions_mut();
            extensions.insert(ConnectInfo(peer));
            extensions.insert(transport);
            extensions.insert(Patience { request: limits.request, stall: limits.stall });
            let answer = router.clone().oneshot(request);
            async move {
                let answer = match answer.await {
                    Ok(answer) => answer,
                    Err(never) => match never {},
                };
                let (head, body) = answer.into_parts();
                if head.status == StatusCode::SWITCHING_PROTOCOLS {
                    busy.upgraded();
                    return Ok::<_, Infallible>(hyper::Response::from_parts(head, axum::body::Body::empty()));
                }
                let body = axum::body::Body::new(busy.until_sent(body));
                Ok(hyper::Response::from_parts(head, body))
            }
        });
        let mut builder = Builder::new(TokioExecutor::new()).http1_only();
        // The stream counts the time itself: hyper's own limit knows no difference between slow headers and silence.
        builder.http1().header_read_timeout(None).max_buf_size(LARGEST_HEAD);
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned();
        let connection = watcher.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::trace!(%error, "a connection ended early");
            }
        });
    }
}
