//! Where a server answers its description: the document, and a page to read it with. Everything the page loads is in
//! the binary; its answers bring the policy that keeps it so.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use sha2::{Digest, Sha256};
use tillkeep_model::ErrorCode;
use utoipa_swagger_ui::Config;

use super::document::{About, document};
use crate::error::Error;
use crate::extract::Segment;
use crate::representation::is_known;
use crate::route::Route;

/// Only from this server, and no script but the files beside the page. The styles are written by the script.
const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

const PAGE: &str = include_str!("page.html");
const START: &str = include_str!("page.js");

/// The description of a server, serialised once.
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

/// Adds `GET /api/v1/openapi.json` and `GET /docs`, which describe `table`.
pub fn served<S>(router: Router<S>, about: About, table: &[Route]) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let text = text(about, table);
    // Weak: the same in every coding, of which the layer around all answers decides.
    let tag = format!("W/\"{}\"", hex::encode(&Sha256::digest(text.as_bytes())[..16]));
    let tag = HeaderValue::from_str(&tag).unwrap_or(HeaderValue::from_static("W/\"\""));
    let document = Arc::new(Document { text: text.into(), tag });
    let json = move |headers: HeaderMap| async move { document.answer(&headers) };
    router
        .route("/api/v1/openapi.json", get(json))
        .route("/docs", get(async || with_policy(Html(PAGE).into_response())))
        .route("/docs/{file}", get(asset))
}

impl Document {
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
    let unknown = || Error::new(ErrorCode::NotFound, "there is no such file");
    if name == "page.js" {
        return Ok(with_policy(file("text/javascript", Cow::Borrowed(START.as_bytes()))));
    }
    if !["swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png"].contains(&name.as_str()) {
        return Err(unknown());
    }
    let found = utoipa_swagger_ui::serve(&name, Arc::new(Config::from("/api/v1/openapi.json")))
        .map_err(|error| Error::internal(error.to_string()))?;
    let found = found.ok_or_else(unknown)?;
    Ok(with_policy(file(&found.content_type, found.bytes)))
}

fn file(kind: &str, bytes: Cow<'static, [u8]>) -> Response {
    let bytes = match bytes {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    let cache = HeaderValue::from_static("max-age=3600");
    let kind = HeaderValue::from_str(kind).unwrap_or(HeaderValue::from_static("application/octet-stream"));
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, cache)], bytes).into_response()
}

fn with_policy(mut response: Response) -> Response {
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}
