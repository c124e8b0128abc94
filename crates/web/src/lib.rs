//! The web client, answered from inside of the binary: one page for every address of its own, and the files beside it.
//!
//! `make web` compresses each file where it is built, so that neither a build nor a request does it here: who takes
//! another coding, or asks for a font, gets the file itself.

use std::borrow::Cow;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use rust_embed::{Embed, EmbeddedFile};
use tillkeep_http::error::Error;
use tillkeep_http::representation::{AsItIs, accepts, is_known};
use tillkeep_model::ErrorCode;

#[derive(Embed)]
#[folder = "../../web/dist"]
struct Files;

/// Where the page decides what it shows.
const PAGES: [&str; 7] = ["/", "/login", "/unauthorized", "/change-pin", "/hq", "/hq/", "/hq/{*rest}"];

/// Files of the client, which are what their path says.
const FILES: [&str; 3] = ["/favicon.svg", "/licences.md", "/assets/{*file}"];

/// A coding and what its file ends with, the smaller one first.
const CODINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// The name of a file below it says what is in it, so that it is never asked for again.
const NAMED_BY_CONTENT: &str = "assets/";

/// Adds the pages and the files of the web client.
pub fn served<S>(router: Router<S>) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let page = async |headers: HeaderMap| file("index.html", &headers);
    let named = async |uri: Uri, headers: HeaderMap| file(uri.path().trim_start_matches('/'), &headers);
    let router = PAGES.iter().fold(router, |router, path| router.route(path, get(page)));
    FILES.iter().fold(router, |router, path| router.route(path, get(named)))
}

/// A file as the client takes it.
fn file(name: &str, headers: &HeaderMap) -> Result<Response, Error> {
    let unknown = || Error::new(ErrorCode::NotFound, "there is no such file");
    if CODINGS.iter().any(|(_, end)| name.ends_with(end)) {
        return Err(unknown());
    }
    let plain = Files::get(name).ok_or_else(unknown)?;
    let kind = kind(&plain);
    let mut coded = CODINGS.iter().filter_map(|(coding, end)| Some((*coding, Files::get(&format!("{name}{end}"))?)));
    let (coding, sent) =
        coded.find(|(coding, _)| accepts(headers, coding)).map_or((None, plain), |(coding, file)| (Some(coding), file));
    // Of what is sent, since the same file in two codings is not the same.
    let tag = HeaderValue::from_str(&format!("\"{}\"", hex::encode(&sent.metadata.sha256_hash()[..16])));
    let tag = tag.map_err(|error| Error::internal(error))?;
    let cache = if name.starts_with(NAMED_BY_CONTENT) { "public, max-age=31536000, immutable" } else { "no-cache" };
    let known = is_known(headers, &tag);
    let about = [
        (header::ETAG, tag),
        (header::CACHE_CONTROL, HeaderValue::from_static(cache)),
        (header::VARY, HeaderValue::from_static("accept-encoding")),
    ];
    if known {
        return Ok((StatusCode::NOT_MODIFIED, about).into_response());
    }
    let bytes = match sent.data {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    let mut response = (Extension(AsItIs), about, [(header::CONTENT_TYPE, kind)], bytes).into_response();
    if let Some(coding) = coding {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    Ok(response)
}

fn kind(file: &EmbeddedFile) -> HeaderValue {
    let kind = file.metadata.mimetype();
    let charset = if kind.starts_with("text/") { "; charset=utf-8" } else { "" };
    HeaderValue::from_str(&format!("{kind}{charset}")).unwrap_or(HeaderValue::from_static("application/octet-stream"))
}
