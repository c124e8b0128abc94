//! Arguments of a request with one way to refuse them: the field is named, and how to mend it.

use std::convert::Infallible;
use std::marker::PhantomData;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri, header};
use serde::de::DeserializeOwned;
use tillkeep_model::{ByName, ErrorCode};
use uuid::Uuid;

use crate::error::Error;
use crate::nesting::{MAX_DEPTH, too_deep};
use crate::parameters::Parameters;
use crate::request::TooSlow;

/// Bytes of a body at the most, but for the routes that say otherwise.
pub const MAX_BODY: usize = 1 << 20;
/// The same before anybody has signed in: what a stranger may have this server keep.
pub const MAX_BODY_OF_STRANGERS: usize = 16 << 10;

/// A JSON body.
pub struct Body<T>(pub T);

impl<S, T> FromRequest<S> for Body<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        require_json(request.headers())?;
        let bytes = read(request, state).await?;
        parse(&bytes).map(Self)
    }
}

/// A JSON body that may be left out.
pub struct OptionalBody<T>(pub T);

impl<S, T> FromRequest<S> for OptionalBody<T>
where
    S: Send + Sync,
    T: DeserializeOwned + Default,
{
    type Rejection = Error;

    async fn from_request(request: Request, state: &S) -> Result<Self, Error> {
        let headers = request.headers().clone();
        let bytes = read(request, state).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        require_json(&headers)?;
        parse(&bytes).map(Self)
    }
}

/// The whole body, within the limit of its route.
pub(crate) async fn read<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Error> {
    Bytes::from_request(request, state).await.map_err(|rejection| {
        if rejection.status() == axum::http::StatusCode::PAYLOAD_TOO_LARGE {
            Error::new(ErrorCode::PayloadTooLarge, "the body is larger than this route takes")
        } else {
            unread(&rejection)
        }
    })
}

/// Why a body was not read to its end: too slow, or broken off. What the reader says of it goes to the log.
pub fn unread(error: &(dyn std::error::Error + 'static)) -> Error {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if error.is::<TooSlow>() {
            return too_slow();
        }
        // An I/O error shows what its inner error comes from, not that error itself.
        cause = match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        };
    }
    tracing::debug!(%error, "a body could not be read");
    Error::new(ErrorCode::IncompleteBody, "the body ended before its end; send it again")
}

/// 408.
pub fn too_slow() -> Error {
    Error::new(ErrorCode::RequestTimeout, "the body came too slowly; send it again")
}

pub fn require_json(headers: &HeaderMap) -> Result<(), Error> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") || essence.ends_with("+json") {
        return Ok(());
    }
    Err(Error::new(ErrorCode::UnsupportedMediaType, "send JSON with Content-Type: application/json"))
}

/// Reads JSON: what is not JSON is 400, what does not fit is 422 with the name of the field.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    if too_deep(bytes) {
        return Err(Error::new(ErrorCode::UnreadableJson, format!("the JSON is nested deeper than {MAX_DEPTH}")));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(ByName(&mut deserializer)).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        match inner.classify() {
            serde_json::error::Category::Data => {
                let text = inner.to_string();
                let text = text.split(" at line ").next().unwrap_or_default();
                let named = named_field(text);
                let field = match (path.as_str(), named) {
                    (".", Some(name)) => name.to_owned(),
                    (".", None) => "body".to_owned(),
                    (path, Some(name)) if !path.ends_with(name) => format!("{path}.{name}"),
                    (path, _) => path.to_owned(),
                };
                Error::field(field, in_words(text))
            }
            _ => Error::new(ErrorCode::UnreadableJson, format!("the body is not JSON: {inner}")),
        }
    })?;
    deserializer.end().map_err(|error| Error::new(ErrorCode::UnreadableJson, format!("after the JSON: {error}")))?;
    Ok(value)
}

/// What serde says of a value, as whoever typed it reads it.
fn in_words(text: &str) -> &str {
    let is_no_whole_number = text.starts_with("invalid type") && text.ends_with("expected i64");
    if is_no_whole_number { "must be a whole number; an amount is in minor units: 1999 for 19.99" } else { text }
}

/// The field that serde names in its text, where the path is that of the object: one that is missing, unknown or there
/// twice. The texts of bad values may have a part of the value in the same quotes.
fn named_field(text: &str) -> Option<&str> {
    let words = ["missing field", "unknown field", "duplicate field"];
    text.split('`').nth(1).filter(|_| words.iter().any(|words| text.starts_with(words)))
}

/// Query parameters. What the route does not know was refused before, or is left aside: see [`Parameters`].
pub struct Params<T>(pub T);

impl<S, T> FromRequestParts<S> for Params<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Error> {
        Unread::<T>::new(parts).read().map(Self)
    }
}

/// The query of a request as it came: who knows its text already need not read it.
pub struct Unread<T> {
    uri: Uri,
    parameters: Option<Parameters>,
    read: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Unread<T> {
    fn new(parts: &Parts) -> Self {
        Self { uri: parts.uri.clone(), parameters: parts.extensions.get().cloned(), read: PhantomData }
    }

    pub fn text(&self) -> &str {
        self.uri.query().unwrap_or_default()
    }

    /// The same refusals as of [`Params`].
    pub fn read(&self) -> Result<T, Error> {
        let known = self.parameters.as_ref().map(|parameters| parameters.known(self.text()));
        let query = known.unwrap_or(self.text().into());
        let query = serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()));
        serde_path_to_error::deserialize(query).map_err(|error| {
            let path = error.path().to_string();
            let text = error.into_inner().to_string();
            let named = named_field(&text).map_or(path, str::to_owned);
            let is_of_machines = self.parameters.as_ref().is_some_and(Parameters::are_of_machines);
            if text.starts_with("unknown field") {
                Error::new(ErrorCode::UnknownParameter, text).at(named)
            } else if is_of_machines {
                Error::new(ErrorCode::BadRequest, text).at(named)
            } else {
                Error::field(named, text)
            }
        })
    }
}

impl<S, T> FromRequestParts<S> for Unread<T>
where
    S: Send + Sync,
    T: DeserializeOwned,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::new(parts))
    }
}

/// A UUID in the path; anything else is 404, as no row has such an id.
pub struct Id(pub Uuid);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Path(id) = Path::<Uuid>::from_request_parts(parts, state).await.map_err(|_| Error::not_found("row"))?;
        Ok(Self(id))
    }
}

/// One segment of a path as text; what is no text names nothing.
pub struct Segment(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Segment {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Path(text) = Path::<String>::from_request_parts(parts, state).await.map_err(|_| Error::not_found("row"))?;
        Ok(Self(text))
    }
}

/// Two segments of a path as texts.
pub struct TwoSegments(pub String, pub String);

impl<S: Send + Sync> FromRequestParts<S> for TwoSegments {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Path((one, other)) =
            Path::<(String, String)>::from_request_parts(parts, state).await.map_err(|_| Error::not_found("row"))?;
        Ok(Self(one, other))
    }
}

/// Two UUIDs in the path; anything else is 404, as no row has such ids.
pub struct TwoIds(pub Uuid, pub Uuid);

impl<S: Send + Sync> FromRequestParts<S> for TwoIds {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Error> {
        let Path((one, other)) =
            Path::<(Uuid, Uuid)>::from_request_parts(parts, state).await.map_err(|_| Error::not_found("row"))?;
        Ok(Self(one, other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the parsing is of interest")]
    struct Line {
        price: i64,
    }

    #[test]
    fn a_refused_body_names_the_field() {
        let text = |body: &str| parse::<Line>(body.as_bytes()).expect_err("refused").to_string();
        for typed in [r#"{"price": 19.99}"#, r#"{"price": "19.99"}"#] {
            assert!(text(typed).starts_with("price: must be a whole number; an amount is in minor units"), "{typed}");
        }
        assert!(text("{}").starts_with("price: missing field"));
        assert!(text("[1]").starts_with("body: must be an object"));
        assert!(text(r#"{"price": 1, "pirce": 2}"#).starts_with("pirce: unknown field"));
        assert_eq!(parse::<Line>(b"{").expect_err("refused").code(), ErrorCode::UnreadableJson);
        assert_eq!(parse::<Line>(br#"{"price": 1} x"#).expect_err("refused").code(), ErrorCode::UnreadableJson);
    }
}
