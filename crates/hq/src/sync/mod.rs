//! The sync server. Specification, sections 3 to 6; the rules are in `docs/sync.md`.

mod completeness;
pub mod dashboard;
mod errors;
mod handshake;
mod heads;
mod hub;
pub mod mark;
mod own_documents;
mod pull;
mod push;
mod queue;
mod socket;
mod store_caller;
pub mod tracker;

pub use completeness::completeness;
pub use errors::{ToTell, list as error_list, resolve, retry, retry_all};
pub use handshake::{handshake, versions};
pub use heads::Heads;
pub use hub::{Connection, Hub, Next};
pub use mark::Mark;
pub use own_documents::own_documents;
pub use pull::pull;
pub use push::push;
pub use queue::PushQueue;
pub use socket::socket;
pub use store_caller::{StoreCache, StoreCaller};
pub use tracker::Tracker;

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tillkeep_http::describe::{Operation, Reply};
use utoipa::ToSchema;

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
