//! The accept loop: connections with a time limit on their headers, and a stop that lets running requests finish.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Half-sent headers are dropped after this; a client that sends nothing holds no memory for ever.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long running requests may take when the server stops.
const DRAIN: Duration = Duration::from_secs(10);

/// Binds `listen`, tells where on the standard output and in the file `address` of the data directory.
pub async fn bind(listen: &str, data_dir: &Path) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {listen}: {error}")))?;
    let address = listener.local_addr()?;
    tokio::fs::write(data_dir.join("address"), format!("http://{address}\n")).await?;
    Ok((listener, address))
}

/// Serves until `stop`, then lets running requests finish.
pub async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        match accepted {
            Ok((stream, peer)) => connection(stream, peer, router.clone(), &graceful),
            Err(error) => {
                // Out of file handles, most likely: the next connection may fare better.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(DRAIN, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in {} s and were dropped", DRAIN.as_secs());
    }
}

fn connection(stream: TcpStream, peer: SocketAddr, router: Router, graceful: &GracefulShutdown) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection went away at once");
    }
    let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(ConnectInfo(peer));
        let answer = tokio::spawn(router.clone().oneshot(request));
        // A task of its own: when the other side hangs up, what was begun still ends, and what follows a commit (caches,
        // heads, sockets) follows it.
        async move {
            match answer.await {
                Ok(Ok(response)) => Ok(response),
                Ok(Err(never)) => match never {},
                Err(error) => Err(error),
            }
        }
    });
    let mut builder = Builder::new(TokioExecutor::new()).http1_only();
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned();
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::trace!(%error, "a connection ended early");
        }
    });
}
