//! The web clients, answered from inside of the binary: a page for the addresses of each, and the files beside it.
//!
//! Headquarters answers its own page alone, a store those of its people and of its tills: a server has no use for the page
//! of another one, whose interface it does not have.
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
use tillkeep_http::representation::{AsItIs, accepts, is_known, shows_pages};
use tillkeep_model::ErrorCode;

#[derive(Embed)]
#[folder = "../../web/dist"]
struct Files;

/// Headers in the place of those that every answer gets.
type Own = &'static [(&'static str, &'static str)];

/// A page that decides by its address what it shows.
struct Page {
    file: &'static str,
    at: &'static [&'static str],
    own: Own,
}

/// What one server answers.
struct Site {
    pages: &'static [Page],
    /// Files that are what their path says.
    files: &'static [(&'static str, Own)],
}

static HEADQUARTERS: Site = Site {
    pages: &[Page {
        file: "index.html",
        at: &["/", "/login", "/unauthorized", "/change-pin", "/second-factor", "/hq", "/hq/", "/hq/{*rest}"],
        own: &[],
    }],
    files: &[FAVICON, LICENCES, ASSETS],
};

static STORE: Site = Site {
    pages: &[
        Page { file: "store.html", at: &["/store", "/store/", "/store/{*rest}"], own: &[] },
        Page { file: "till.html", at: &["/till", "/till/", "/till/display"], own: TILL },
    ],
    files: &[
        FAVICON,
        LICENCES,
        ASSETS,
        ("/till-sw.js", WORKER),
        ("/till.webmanifest", &[]),
        ("/till-192.png", &[]),
        ("/till-512.png", &[]),
    ],
};

const FAVICON: (&str, Own) = ("/favicon.svg", &[]);
const LICENCES: (&str, Own) = ("/licences.md", &[]);
const ASSETS: (&str, Own) = ("/assets/{*file}", &[]);

/// Where people of a store begin.
const STORE_BEGINS: &str = "/store";

/// A till does what no other page does: it reads codes by the camera, for which it compiles WebAssembly that the store
/// itself serves, and shows pictures that it asks for with its token, which are no address but an object of the page.
const TILL: Own = &[
    (
        "content-security-policy",
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; manifest-src 'self'; \
         img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
    (
        "permissions-policy",
        "camera=(self), display-capture=(), geolocation=(), microphone=(), payment=(), serial=(), usb=()",
    ),
];

/// What keeps the files of a till does so for the till alone, not for the pages of the store beside it.
const WORKER: Own = &[("service-worker-allowed", "/till")];

/// What the compressed form of a file ends with; it stands in the place of the file.
const GZIP: &str = ".gz";

/// What files are, by how their names end.
const KINDS: [(&str, &str); 9] = [
    ("css", "text/css; charset=utf-8"),
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("md", "text/markdown; charset=utf-8"),
    ("png", "image/png"),
    ("svg", "image/svg+xml; charset=utf-8"),
    // Compiled while it comes, which browsers do under no other name.
    ("wasm", "application/wasm"),
    ("webmanifest", "application/manifest+json"),
    ("woff2", "font/woff2"),
];

/// The name of a file below it says what is in it, so that it is never asked for again.
const NAMED_BY_CONTENT: &str = "assets/";

/// Adds the page of headquarters with its files.
pub fn headquarters<S>(router: Router<S>) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    HEADQUARTERS.served(router)
}

/// Adds the pages of a store and of its tills with their files. A browser that asks for `/` is sent to the pages of the
/// store; for anything else there is nothing at `/`.
pub fn store<S>(router: Router<S>) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let begin = async |headers: HeaderMap| {
        if shows_pages(&headers) {
            return Ok((StatusCode::SEE_OTHER, [(header::LOCATION, STORE_BEGINS)]));
        }
        Err(Error::new(ErrorCode::NotFound, "there is no such route"))
    };
    STORE.served(router).route("/", get(begin))
}

impl Site {
    fn served<S>(&'static self, router: Router<S>) -> Router<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        let pages = self.pages.iter().flat_map(|page| page.at.iter().map(move |path| (*path, page)));
        let router = pages.fold(router, |router, (path, page)| {
            router.route(path, get(move |headers: HeaderMap| async move { file(page.file, page.own, &headers) }))
        });
        self.files.iter().fold(router, |router, (path, own)| {
            let named = move |uri: Uri, headers: HeaderMap| async move {
                file(uri.path().trim_start_matches('/'), own, &headers)
            };
            router.route(path, get(named))
        })
    }
}

/// A file as the client takes it, with headers of its own.
fn file(name: &str, own: Own, headers: &HeaderMap) -> Result<Response, Error> {
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
    let mut response = if known {
        (StatusCode::NOT_MODIFIED, about).into_response()
    } else {
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
        response
    };
    for &(name, value) in own {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
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
