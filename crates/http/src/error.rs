//! Every failure of a request, in the one form of the contract.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::panic::Location;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Map, Value};
use tillkeep_model::ErrorCode;
use tillkeep_model::approvable::Approvable;
use tillkeep_storage::{DbErr, db, idempotency, outbox};

use crate::{costs, refusals, request};

/// A failure with its answer. What it came from and where it was made are for the log, and never enter the answer.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    code: ErrorCode,
    text: String,
    details: Vec<FieldError>,
    extra: Map<String, Value>,
    retry_after: Option<u64>,
    source: Option<Source>,
    /// Where it was made, or where `?` made it of another error.
    place: &'static Location<'static>,
    /// A body that the specification fixes to the letter.
    exact: Option<(StatusCode, &'static str)>,
}

/// What is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct FieldError {
    pub field: String,
    pub message: String,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

type Source = Box<dyn StdError + Send + Sync>;

// Every constructor names its caller's place: `map_err(|error| Error::internal(error))` keeps it, and so does `?`;
// `map_err(Error::internal)` would name a place in the standard library.
impl Error {
    #[track_caller]
    pub fn new(code: ErrorCode, text: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            code,
            text: text.into(),
            details: Vec::new(),
            extra: Map::new(),
            retry_after: None,
            source: None,
            place: Location::caller(),
            exact: None,
        }))
    }

    /// 401 with exactly the specification's body (section 7).
    #[track_caller]
    pub fn unauthorized() -> Self {
        Self::exact(r#"{"success":false,"error":"Unauthorized"}"#)
    }

    /// 401 of a sync route for a token of another kind, with exactly the specification's body (section 7).
    #[track_caller]
    pub fn not_a_sync_token() -> Self {
        Self::exact(r#"{"error":"Invalid sync token type"}"#)
    }

    /// 401 of a sync route for a store that may not sync, with exactly the specification's body (section 7).
    #[track_caller]
    pub fn no_such_store() -> Self {
        Self::exact(r#"{"error":"Store not found or inactive"}"#)
    }

    #[track_caller]
    fn exact(body: &'static str) -> Self {
        let mut error = Self::new(ErrorCode::Unauthorized, "Unauthorized");
        error.0.exact = Some((StatusCode::UNAUTHORIZED, body));
        error
    }

    /// 422 for one field.
    #[track_caller]
    pub fn field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::fields(vec![FieldError { field: field.into(), message: message.into() }])
    }

    /// 422 for several fields.
    #[track_caller]
    pub fn fields(mut details: Vec<FieldError>) -> Self {
        for detail in &mut details {
            detail.field = clipped(&detail.field, LONGEST_FIELD).into_owned();
        }
        let text = details.iter().map(|detail| format!("{}: {}", detail.field, detail.message)).collect::<Vec<_>>();
        let mut error = Self::new(ErrorCode::Validation, text.join("; "));
        error.0.details = details;
        error
    }

    #[track_caller]
    pub fn not_found(what: &str) -> Self {
        Self::new(ErrorCode::NotFound, format!("{what} not found"))
    }

    /// 403 for a caller who holds none of `required`; says when an approver may approve it.
    #[track_caller]
    pub fn forbidden(required: &[&str]) -> Self {
        let error = Self::new(ErrorCode::Forbidden, format!("this needs one of: {}", required.join(", ")));
        let error = error.with("required", required);
        let approvable = required.iter().any(|code| Approvable::find(code).is_some());
        if approvable { error.with("approvable", true) } else { error }
    }

    /// 500 for `source`, of which the answer says nothing.
    #[track_caller]
    pub fn internal(source: impl Into<Source>) -> Self {
        Self::new(ErrorCode::Internal, "something went wrong here; the request id names it in the log").because(source)
    }

    /// Says for the log what it came from.
    #[must_use]
    pub fn because(mut self, source: impl Into<Source>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Adds a key to the answer.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Serialize) -> Self {
        let value = costs::as_answered(|| serde_json::to_value(value));
        self.0.extra.insert(key.to_owned(), value.unwrap_or_default());
        self
    }

    /// Names the field of a failure with another code than `validation`.
    #[must_use]
    pub fn at(mut self, field: impl Into<String>) -> Self {
        let message = self.0.text.clone();
        let field = clipped(&field.into(), LONGEST_FIELD).into_owned();
        self.0.details.push(FieldError { field, message });
        self
    }

    /// Of a part of a request: the fields that it names stand within `place` of the whole, but for those that begin with one of
    /// `beside`.
    #[must_use]
    pub fn within(mut self, place: &str, beside: &[&str]) -> Self {
        let is_within = |detail: &&mut FieldError| !beside.iter().any(|field| detail.field.starts_with(field));
        for detail in self.0.details.iter_mut().filter(is_within) {
            detail.field = clipped(&format!("{place}.{}", detail.field), LONGEST_FIELD).into_owned();
        }
        self
    }

    /// Seconds after which it may be tried again.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// The same failure under another code.
    #[must_use]
    pub fn as_code(mut self, code: ErrorCode) -> Self {
        self.0.code = code;
        self
    }

    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The fields that it names.
    pub fn details(&self) -> &[FieldError] {
        &self.0.details
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

impl From<DbErr> for Error {
    #[track_caller]
    fn from(error: DbErr) -> Self {
        if idempotency::is_taken(&error) {
            return Self::new(ErrorCode::InProgress, "another request with this Idempotency-Key was first")
                .retry_after(1);
        }
        if let Some(fields) = db::unique_violation(&error) {
            // A race that the check before the write could not see.
            tracing::debug!(%error, "a key that is taken");
            let text = "another row has the same key; read what is there and try again";
            return fields.into_iter().fold(Self::new(ErrorCode::Duplicate, text), Self::at).because(error);
        }
        if outbox::is_too_large(&error) {
            let text =
                "this takes more than headquarters stores of one document; shorten its texts, or make several of it";
            return Self::new(ErrorCode::DocumentTooLarge, text);
        }
        if db::is_data_fault(&error) {
            tracing::debug!(%error, "a value that the database cannot hold");
            return Self::new(ErrorCode::Validation, "a value of this request cannot be stored").because(error);
        }
        if db::is_passing(&error) {
            // A full disk as well: nothing was written, and it works again when there is room.
            let text = "the database is busy, full or away; try again";
            return Self::new(ErrorCode::Unavailable, text).because(error).retry_after(2);
        }
        Self::internal(error)
    }
}

impl From<serde_json::Error> for Error {
    #[track_caller]
    fn from(error: serde_json::Error) -> Self {
        Self::internal(error)
    }
}

/// Characters of what a refusal says of a request: a name that was sent is said back to be recognised, not in full.
const LONGEST_TEXT: usize = 2000;
const LONGEST_FIELD: usize = 100;

fn clipped(text: &str, longest: usize) -> Cow<'_, str> {
    match text.char_indices().nth(longest) {
        Some((at, _)) => Cow::Owned(format!("{}…", &text[..at])),
        None => Cow::Borrowed(text),
    }
}

/// The innermost cause of an error, which says most: what a client of HTTP says itself is that it could not send.
pub fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// An error and all that it came from, each once: many texts hold that of their cause already.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let (mut text, mut next) = (error.to_string(), error.source());
    while let Some(error) = next {
        let cause = error.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
        next = error.source();
    }
    text
}

impl Error {
    /// Says in the log what the answer does not.
    fn log(&self) {
        let Inner { code, text, source, place, .. } = &*self.0;
        let cause = source.as_deref().map(|source| chain(source));
        let request_id = request::current_id();
        match (code, cause) {
            (ErrorCode::Internal | ErrorCode::Unavailable, Some(cause)) => {
                tracing::error!(code = code.as_str(), cause, %place, request_id, "a request failed");
            }
            (ErrorCode::Internal, None) => {
                tracing::error!(code = code.as_str(), cause = text, %place, request_id, "a request failed");
            }
            // No failure: the server has enough to do.
            (ErrorCode::Unavailable, None) => {
                tracing::info!(code = code.as_str(), text, %place, request_id, "a request is turned away");
            }
            _ => {}
        }
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        self.log();
        let inner = *self.0;
        refusals::refused(inner.code, &inner.text);
        let answer = || {
            let mut body = Map::new();
            body.insert("success".into(), false.into());
            body.insert("error".into(), clipped(&inner.text, LONGEST_TEXT).into());
            body.insert("code".into(), inner.code.as_str().into());
            if !inner.details.is_empty() {
                body.insert("details".into(), serde_json::to_value(&inner.details).unwrap_or_default());
            }
            body.extend(inner.extra.clone());
            body.insert("requestId".into(), request::current_id().into());
            let status = StatusCode::from_u16(inner.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, Value::Object(body).to_string())
        };
        // Key order is part of "exactly": these bodies are texts.
        let (status, body) = inner.exact.map_or_else(answer, |(status, text)| (status, text.to_owned()));
        let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut response = (status, [kind], body).into_response();
        if let Some(seconds) = inner.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
