//! The web client, answered from inside of the binary: one page for every address of its own, and the files beside it.
//!
//! `make web` compresses each file where it is built, so that neither a build nor a request does it here, and the binary
//! holds it once. Every browser takes gzip, over plain HTTP too; for who does not, it is unpacked.

#![warn(unreachable_pub)]

use std::borrow::Cow;
use std::io::Read;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use flate2::read::GzDecoder;
use rust_embed::Embed;
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

/// What the compressed form of a file ends with; it stands in the place of the file.
const GZIP: &str = ".gz";

/// What files are, by how their names end.
const KINDS: [(&str, &str); 6] = [
    ("css", "text/css; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("md", "text/markdown; charset=utf-8"),
    ("svg", "image/svg+xml; charset=utf-8"),
    ("woff2", "font/woff2"),
];

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
    if name.ends_with(GZIP) {
        return Err(unknown());
    }
    let packed = Files::get(&format!("{name}{GZIP}"));
    let is_packed = packed.is_some();
    let file = packed.or_else(|| Files::get(name)).ok_or_else(unknown)?;
    let unpack = is_packed && !accepts(headers, "gzip");
    // Of what is sent, since the same file in two codings is not the same.
    let form = if unpack { "-unpacked" } else { "" };
    let tag = HeaderValue::from_str(&format!("\"{}{form}\"", hex::encode(&file.metadata.sha256_hash()[..16])));
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
    let bytes = match file.data {
        data if unpack => unpacked(&data).map_err(|error| Error::internal(error))?,
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    };
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static(kind(name)));
    let mut response = (Extension(AsItIs), about, [kind], bytes).into_response();
    if is_packed && !unpack {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(response)
}

fn unpacked(packed: &[u8]) -> std::io::Result<Bytes> {
    let mut bytes = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut bytes)?;
    Ok(bytes.into())
}

fn kind(name: &str) -> &'static str {
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    KINDS.iter().find(|(known, _)| *known == end).map_or("application/octet-stream", |(_, kind)| kind)
}
