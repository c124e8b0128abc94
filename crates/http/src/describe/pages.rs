//! Where a server answers its description: the document, and a page to read it with. Everything the page loads is in
//! the binary, and the policy of all answers keeps it so.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use sha2::{Digest, Sha256};
use tillkeep_model::ErrorCode;

use super::document::{About, document};
use crate::error::Error;
use crate::extract::Segment;
use crate::representation::is_known;
use crate::route::Route;

const PAGE: &str = include_str!("page/page.html");

/// What the page loads: name, type and text.
const FILES: [(&str, &str, &str); 4] = [
    ("page.css", "text/css; charset=utf-8", include_str!("page/page.css")),
    ("page.js", "text/javascript; charset=utf-8", include_str!("page/page.js")),
    ("schema.js", "text/javascript; charset=utf-8", include_str!("page/schema.js")),
    ("icon.svg", "image/svg+xml; charset=utf-8", include_str!("page/icon.svg")),
];

/// The description of a server as it is answered.
struct Document {
    text: Bytes,
    tag: HeaderValue,
}

/// The description of a server with these routes, as it is answered and checked in.
pub fn text(about: About, routes: &[Route]) -> String {
    // Through a value, so that the order of all keys is that of the alphabet.
    let value = serde_json::to_value(document(about, routes)).unwrap_or_default();
    format!("{value:#}\n")
}

/// Adds `GET /api/v1/openapi.json` and `GET /docs`, which describe what `table` gives. Table and document are made for the
/// first who asks: most servers are never asked, and need neither start later nor keep the schemas of every route because
/// of it.
pub fn served<S>(router: Router<S>, about: About, table: impl FnOnce() -> Vec<Route> + Send + 'static) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let document = Arc::new(LazyLock::new(move || Document::new(text(about, &table()))));
    let json = move |headers: HeaderMap| async move { document.answer(&headers) };
    router
        .route("/api/v1/openapi.json", get(json))
        .route("/docs", get(async || Html(PAGE)))
        .route("/docs/{file}", get(asset))
}

impl Document {
    fn new(text: String) -> Self {
        // Weak: the same in every coding, of which the layer around all answers decides.
        let tag = format!("W/\"{}\"", hex::encode(&Sha256::digest(text.as_bytes())[..16]));
        let tag = HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("W/\"\""));
        Self { text: text.into(), tag }
    }

    fn answer(&self, headers: &HeaderMap) -> Response {
        let tag = (header::ETAG, self.tag.clone());
        let cache = (header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        if is_known(headers, &self.tag) {
            return (StatusCode::NOT_MODIFIED, [tag, cache]).into_response();
        }
        let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        ([kind, tag, cache], self.text.clone()).into_response()
    }
}

/// A file of the page.
async fn asset(Segment(name): Segment) -> Result<Response, Error> {
    let found = FILES.iter().find(|(known, _, _)| *known == name);
    let (_, kind, text) = found.ok_or_else(|| Error::new(ErrorCode::NotFound, "there is no such file"))?;
    let cache = (header::CACHE_CONTROL, HeaderValue::from_static("max-age=3600"));
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(kind)), cache], *text).into_response())
}
