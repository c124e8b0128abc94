//! The sync server. Specification, sections 3 to 6; the rules are in `docs/sync.md`.

mod completeness;
pub mod dashboard;
mod ending;
pub mod errors;
mod handshake;
mod heads;
mod history;
mod hub;
mod kept;
pub mod mark;
pub mod notify;
mod own_documents;
mod pages;
mod pull;
mod push;
mod queue;
mod retry;
mod rollout;
mod socket;
mod store_caller;
mod streams;
mod times;
pub mod tracker;
mod versions;
mod waiting;

pub use completeness::completeness;
pub use errors::list as error_list;
pub use handshake::handshake;
pub use heads::Heads;
pub use history::history;
pub use hub::{Connection, Hub, Next};
pub use mark::Mark;
pub use notify::{Broker, BrokerUrl, NotificationQueue};
pub use own_documents::own_documents;
pub use pages::Pages;
pub use pull::pull;
pub use push::push;
pub use queue::PushQueue;
pub use retry::{ToTell, resolve, retry, retry_all};
pub use rollout::rollout;
pub use socket::socket;
pub use store_caller::{StoreCache, StoreCaller};
pub use streams::Streams;
pub use times::Times;
pub use tracker::Tracker;
pub use versions::versions;

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tillkeep_http::describe::{Operation, Reply};
use utoipa::ToSchema;

/// Counts what somebody said that this server does not know, and leaves it aside. `docs/sync.md`, rule D11.
fn ignored(what: &'static str) {
    metrics::counter!("tillkeep_sync_ignored_total", "what" => what).increment(1);
}

/// A plain object of the machine protocol.
pub struct Machine<T>(pub T);

impl<T: ToSchema> Reply for Machine<T> {
    fn describe(operation: &mut Operation) {
        let plain = operation.schema::<T>();
        operation.answer(200, "Done.", plain);
        operation.header("Tillkeep-Protocol", "The version of the machine protocol.");
    }
}

impl<T: Serialize> IntoResponse for Machine<T> {
    fn into_response(self) -> Response {
        Json(self.0).into_response()
    }
}
