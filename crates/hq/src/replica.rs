//! Lists and figures that may be somewhat behind are read from a replica, while it is there and not too old; else from the
//! primary, as without one. `docs/operations.md`, *A read replica*.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use tillkeep_http::DatabaseUrl;
use tillkeep_http::describe::{Operation, Reply};
use tillkeep_http::error::Result;
use tillkeep_model::Instant;
use tillkeep_storage::replica::Replica;
use tillkeep_storage::{Connection, DbErr};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::Hq;
use crate::live::followed::Followed;

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A replica that takes so long for a list is not waited for.
const READS_WITHIN: Duration = Duration::from_secs(10);

static UP_TO: HeaderName = HeaderName::from_static("tillkeep-figures-up-to");

/// Follows the replica at `url` until the server stops.
pub async fn follow(hq: &Arc<Hq>, url: &DatabaseUrl, connections: u32, longest: Duration) -> Result<(), DbErr> {
    let replica = Replica::at(url.expose(), connections, &hq.epoch)?;
    let followed = Followed::new(replica, longest);
    followed.look(&hq.databases).await;
    if hq.replica.set(followed).is_err() {
        return Err(DbErr::Custom("there is a read replica already".to_owned()));
    }
    let hq = hq.clone();
    tokio::spawn(async move {
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while let Some(followed) = hq.replica.get() {
            tokio::select! {
                _ = looks.tick() => followed.look(&hq.databases).await,
                () = hq.stop.cancelled() => return,
            }
        }
    });
    Ok(())
}

/// An answer, with the moment up to which its figures go when that is not now.
pub struct Figures<T> {
    answer: T,
    up_to: Option<Instant>,
}

impl<T> Figures<T> {
    /// The same with its answer made of what was read, and of the moment up to which that goes when it is not now.
    pub fn map<U>(self, answer: impl FnOnce(T, Option<Instant>) -> U) -> Figures<U> {
        Figures { answer: answer(self.answer, self.up_to), up_to: self.up_to }
    }
}

impl<T: IntoResponse> IntoResponse for Figures<T> {
    fn into_response(self) -> Response {
        let mut response = self.answer.into_response();
        if let Some(up_to) = self.up_to.and_then(|up_to| HeaderValue::from_str(&up_to.to_string()).ok()) {
            response.headers_mut().insert(UP_TO.clone(), up_to);
        }
        response
    }
}

impl<T: Reply> Reply for Figures<T> {
    fn describe(operation: &mut Operation) {
        T::describe(operation);
        let text = "When a read replica has answered: what happened later may be missing.";
        operation.header("Tillkeep-Figures-Up-To", text);
    }
}

impl Hq {
    /// Reads from the replica when there is one that may be asked. What goes wrong there is the primary's to answer.
    pub async fn figures<T, F>(&self, read: impl Fn(Connection) -> F) -> Result<Figures<T>>
    where
        F: Future<Output = Result<T>>,
    {
        if let Some((followed, up_to)) = self.replica.get().and_then(|followed| Some((followed, followed.up_to()?))) {
            match timeout(READS_WITHIN, read(followed.reader().clone())).await {
                Ok(Ok(answer)) => return Ok(Figures { answer, up_to: Some(up_to) }),
                // No other request would be answered otherwise.
                Ok(Err(error)) if error.code().status() < 500 => return Err(error),
                Ok(Err(error)) => followed.lose(&error.to_string()),
                Err(_) => followed.warn("a list took too long"),
            }
        }
        Ok(Figures { answer: read(self.databases.reader().clone()).await?, up_to: None })
    }
}
