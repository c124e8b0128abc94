//! What P3 is compared with: a server of its own with one handler that does nothing behind the check of the sync token.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use clap::Args;
use tillkeep_http::Clock;
use tillkeep_http::auth::bearer;
use tillkeep_http::tokens::Tokens;
use tillkeep_http::tokens::keys::GivenKeys;
use tokio::net::TcpListener;

use crate::output::say;
use crate::run::stop_on_signal;

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
    let router = Router::new().route("/api/v1/sync/versions", get(nothing)).with_state(Arc::new(tokens));
    let listener = TcpListener::bind(args.listen).await?;
    say!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await?;
    Ok(())
}

async fn nothing(State(tokens): State<Arc<Tokens>>, headers: HeaderMap) -> StatusCode {
    let known = bearer(&headers).and_then(|token| tokens.sync(token, Clock::default().now()));
    if known.is_some() { StatusCode::OK } else { StatusCode::UNAUTHORIZED }
}
