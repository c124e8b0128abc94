//! Pages of other origins that may call a server from a browser: those that its operator names, and no other one.

use std::time::Duration;

use axum::Router;
use axum::http::{HeaderName, HeaderValue, Method, header};
use tower_http::cors::{AllowOrigin, CorsLayer};

use super::REQUEST_ID;
use crate::auth::device;
use crate::idempotency;

/// A browser asks again so often whether it may.
const ASK_AGAIN: Duration = Duration::from_hours(1);

const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Lets pages of `origins` call `router`, as browsers name them: scheme, host and port. Without credentials: a token goes in a
/// header, and no cookie of this server is worth anything there.
pub fn for_origins<'a>(router: Router, origins: impl IntoIterator<Item = &'a str>) -> Router {
    let origins: Vec<HeaderValue> =
        origins.into_iter().filter_map(|origin| HeaderValue::from_str(origin).ok()).collect();
    if origins.is_empty() {
        return router;
    }
    let asks = [
        header::AUTHORIZATION,
        header::CONTENT_TYPE,
        header::IF_NONE_MATCH,
        HeaderName::from_static("last-event-id"),
        device::HEADER.clone(),
        idempotency::KEY.clone(),
        REQUEST_ID.clone(),
    ];
    let gets = [header::ETAG, header::RETRY_AFTER, idempotency::REPLAYED.clone(), REQUEST_ID.clone()];
    let layer = CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods(METHODS)
        .allow_headers(asks)
        .expose_headers(gets)
        // A page of the internet calls the server of a shop.
        .allow_private_network(true)
        .max_age(ASK_AGAIN);
    router.layer(layer)
}
