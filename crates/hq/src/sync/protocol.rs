//! What the routes of the machine protocol have in common: answers are plain objects, and what this server does not know is
//! left aside.

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tillkeep_http::describe::{Operation, Reply};
use utoipa::ToSchema;

/// Counts what a client said that this server does not know, and leaves it aside. `docs/sync.md`, rule D11.
pub(super) fn ignored(what: &'static str) {
    metrics::counter!("tillkeep_sync_ignored_total", "what" => what).increment(1);
}

/// A plain object of the machine protocol.
pub(super) struct Machine<T>(pub T);

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
