//! Pictures of products as both servers answer them: small JPEGs, named by a hash of what they show, so that who has one need
//! never ask for it again.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tillkeep_model::Instant;
use tillkeep_storage::entity::product_picture;
use utoipa::ToSchema;
use utoipa::openapi::{KnownFormat, SchemaFormat};

use crate::describe::{Operation, Reply};
use crate::error::{Error, Result};
use crate::operation::string;
use crate::representation::{AsItIs, is_known};

/// Pixels of a side.
pub const LARGE: i32 = 320;
pub const SMALL: i32 = 96;

pub const JPEG: &str = "image/jpeg";
/// How every JPEG begins.
pub const BEGINNING: [u8; 3] = [0xff, 0xd8, 0xff];
/// Bytes of a hash; in text it is twice as long.
const HASH: usize = 16;

/// What is behind this address never changes.
const FOR_EVER: &str = "private, max-age=31536000, immutable";
/// It is asked each time whether it did.
const ASK_AGAIN: &str = "private, no-cache";

/// The name of a picture, of what it shows in its sizes.
pub fn hash_of(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hex::encode(&hash.finalize()[..HASH])
}

/// Whether a text may be the hash of a picture.
pub fn is_a_hash(text: &str) -> bool {
    text.len() == 2 * HASH && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A row with this picture.
pub fn row(hash: &str, size: i32, picture: &[u8], now: Instant) -> product_picture::Model {
    product_picture::Model {
        hash: hash.to_owned(),
        size,
        content: STANDARD.encode(picture),
        created_at: now,
        unused_since: None,
    }
}

/// How large it is to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PictureSize)]
pub struct OfSize {
    /// Pixels of a side: 320 when not said, or 96.
    size: Option<i32>,
}

impl OfSize {
    pub fn size(&self) -> Result<i32> {
        one_of_ours(self.size)
    }
}

/// The size that is asked for.
pub fn one_of_ours(size: Option<i32>) -> Result<i32> {
    match size {
        None => Ok(LARGE),
        Some(size) if [LARGE, SMALL].contains(&size) => Ok(size),
        Some(_) => Err(Error::field("size", format!("must be {SMALL} or {LARGE}"))),
    }
}

/// There is none, or not yet.
pub fn unknown() -> Error {
    Error::not_found("picture").at("hash")
}

/// A picture, or that whoever asks has it.
pub struct Picture {
    jpeg: Option<Vec<u8>>,
    tag: HeaderValue,
    cache: &'static str,
}

impl Picture {
    /// `content` is that of its row; `is_fixed` when the address names the hash.
    pub fn new(headers: &HeaderMap, (hash, size): (&str, i32), content: &str, is_fixed: bool) -> Result<Self> {
        let tag = HeaderValue::try_from(format!("\"{hash}-{size}\"")).map_err(Error::internal)?;
        let is_there = is_known(headers, &tag);
        let jpeg = (!is_there).then(|| STANDARD.decode(content)).transpose();
        let jpeg = jpeg.map_err(|error| Error::internal(error.to_string()))?;
        Ok(Self { jpeg, tag, cache: if is_fixed { FOR_EVER } else { ASK_AGAIN } })
    }
}

impl IntoResponse for Picture {
    fn into_response(self) -> Response {
        let about = [(header::ETAG, self.tag), (header::CACHE_CONTROL, HeaderValue::from_static(self.cache))];
        let Some(jpeg) = self.jpeg else { return (StatusCode::NOT_MODIFIED, about).into_response() };
        let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(JPEG))];
        let mut response = (kind, about, jpeg).into_response();
        // Nothing makes a JPEG smaller.
        response.extensions_mut().insert(AsItIs);
        response
    }
}

impl Reply for Picture {
    fn describe(operation: &mut Operation) {
        let binary = string().format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)));
        operation.answer_as(200, "The picture, a square.", JPEG, binary);
        operation.empty(304, "Whoever asks has it already.");
        operation.header("ETag", "For `If-None-Match`.");
        operation.header("Cache-Control", "For a year where the address names the hash; else it is asked each time.");
        operation.asks_header("If-None-Match", string(), "The `ETag` of a former answer to this address.");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_known_by_its_form() {
        let hash = hash_of(&[b"large", b"small"]);
        assert!(is_a_hash(&hash) && hash != hash_of(&[b"large", b"other"]), "{hash}");
        for other in ["", "..", &hash[1..], &hash.to_uppercase(), &format!("{}/", &hash[1..])] {
            assert!(!is_a_hash(other), "{other}");
        }
    }
}
