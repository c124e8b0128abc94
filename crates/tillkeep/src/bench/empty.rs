//! What P3 is compared with: hyper alone, which checks the signature of the sync token and answers nothing. No router, no layer,
//! no log and no metric stands between the connection and the check.

use std::convert::Infallible;
use std::future;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use http_body_util::Empty;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tillkeep_http::Clock;
use tillkeep_http::auth::bearer;
use tillkeep_http::tokens::Tokens;
use tillkeep_http::tokens::keys::GivenKeys;
use tokio::net::{TcpListener, TcpStream};

use crate::output::say;
use crate::signals::stop_on_signal;

/// The command that runs it, which no help shows.
pub const COMMAND: &str = "empty-handler";

#[derive(Args)]
pub struct EmptyArgs {
    #[arg(long)]
    data_dir: PathBuf,
    #[arg(long)]
    listen: String,
}

/// Serves with the keys in the data directory until a signal.
pub async fn serve(args: EmptyArgs) -> Result<()> {
    let stop = stop_on_signal()?;
    let tokens = Tokens::open(&args.data_dir.join("token.key"), GivenKeys::default(), Clock::default().now())
        .context("token.key")?;
    let tokens = Arc::new(tokens);
    let listener = TcpListener::bind(args.listen).await?;
    say!("listening on http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted?,
            () = stop.cancelled() => return Ok(()),
        };
        stream.set_nodelay(true)?;
        tokio::spawn(converse(stream, tokens.clone()));
    }
}

async fn converse(stream: TcpStream, tokens: Arc<Tokens>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let known = bearer(request.headers()).and_then(|token| tokens.sync(token, Clock::default().now()));
        let mut answer = Response::new(Empty::<Bytes>::new());
        if known.is_none() {
            *answer.status_mut() = StatusCode::UNAUTHORIZED;
        }
        future::ready(Ok::<_, Infallible>(answer))
    });
    if let Err(error) = Builder::new().serve_connection(TokioIo::new(stream), service).await {
        tracing::debug!(%error, "a connection ended early");
    }
}
