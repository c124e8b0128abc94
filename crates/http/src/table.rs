//! The body of a request that is a table: a CSV file, larger and slower than other bodies. One server takes one at a time, so that
//! its memory is that of one file.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequest, Request};
use axum::http::header;
use bytes::Bytes;
use tillkeep_model::ErrorCode;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::auth::{Auth, HasAuth};
use crate::error::{Error, Result};
use crate::extract;
use crate::operation::{Argument, Operation};

/// The routes that take one, below `/api/v1`.
pub const ROUTES: [&str; 3] = ["/customers/import", "/products/import", "/store-prices/import"];
/// Bytes of a file at the most.
pub const MOST: usize = 64 << 20;
/// So many times as long as other requests may one with a file take.
const TIMES_AS_LONG: u32 = 4;
/// How long one waits for the one before.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long a request with a file may take, where others may take `usual`.
pub(crate) fn limit(usual: Duration) -> Duration {
    usual * TIMES_AS_LONG
}

/// Held from before the body is read until the request is answered.
#[derive(Clone)]
pub(crate) struct Turn {
    _permit: Arc<OwnedSemaphorePermit>,
}

/// Waits for the turn of this request. Only who was let in may ask for one: a stranger could keep it from everybody.
pub(crate) async fn turn(auth: &Auth) -> Result<Turn> {
    let Ok(permit) = timeout(PATIENCE, auth.tables.0.clone().acquire_owned()).await else {
        let text = "another file is being taken here; send this one again in a moment";
        return Err(Error::new(ErrorCode::Unavailable, text).retry_after(5));
    };
    let permit = permit.map_err(Error::internal)?;
    Ok(Turn { _permit: Arc::new(permit) })
}

/// A CSV file as it was sent.
pub struct Table {
    pub file: Bytes,
    _turn: Turn,
}

impl<S: HasAuth> FromRequest<S> for Table {
    type Rejection = Error;

    async fn from_request(mut request: Request, state: &S) -> Result<Self> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("text/csv") {
            let text = "send the file itself, with Content-Type: text/csv";
            return Err(Error::new(ErrorCode::UnsupportedMediaType, text));
        }
        let turn = match request.extensions_mut().remove::<Turn>() {
            Some(turn) => turn,
            None => turn(state.auth()).await?,
        };
        let file = extract::read(request, state).await?;
        Ok(Self { file, _turn: turn })
    }
}

impl Argument for Table {
    fn describe(operation: &mut Operation) {
        operation.table("A CSV file in UTF-8 of at most 64 MiB and 100 000 rows; its first line names the columns.");
    }
}
