//! Reports in the form that is asked for: as JSON, as text and as a page that may be printed.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

use crate::Answer;
use crate::describe::{Operation, Reply};
use crate::error::{Error, Result};
use crate::operation::string;

const TEXT: &str = "text/plain; charset=utf-8";
const PAGE: &str = "text/html; charset=utf-8";

/// A form of a report that needs no printer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = ReportFormat)]
pub enum Form {
    #[default]
    Json,
    Text,
    Html,
}

impl Form {
    /// How wide it becomes: letters of a text, millimetres of a page.
    pub fn width(self, asked: Option<u32>) -> Result<u32> {
        let (known, text): (&[u32], _) = match self {
            Self::Json => (&[], "does not go with format=json"),
            Self::Text => (&[42, 32, 48], "must be 32, 42 or 48 letters"),
            Self::Html => (&[80, 58], "must be 58 or 80 millimetres"),
        };
        match asked {
            None => Ok(known.first().copied().unwrap_or_default()),
            Some(asked) if known.contains(&asked) => Ok(asked),
            Some(_) => Err(Error::field("width", text)),
        }
    }
}

/// A report in one of its forms.
pub enum Paper<T> {
    Json(Box<T>),
    Text(String),
    Page { page: String, style: &'static str },
}

impl<T: Serialize> IntoResponse for Paper<T> {
    fn into_response(self) -> Response {
        let of = |kind| (header::CONTENT_TYPE, HeaderValue::from_static(kind));
        match self {
            Self::Json(report) => Answer(*report).into_response(),
            Self::Text(text) => ([of(TEXT)], text).into_response(),
            Self::Page { page, style } => match HeaderValue::try_from(policy(style)) {
                Ok(policy) => ([of(PAGE), (header::CONTENT_SECURITY_POLICY, policy)], page).into_response(),
                Err(error) => Error::internal(error).into_response(),
            },
        }
    }
}

impl<T: ToSchema> Reply for Paper<T> {
    fn describe(operation: &mut Operation) {
        Answer::<T>::describe(operation);
        operation.also_as(200, "text/plain", string());
        operation.also_as(200, "text/html", string());
    }
}

/// A page with its own style and nothing else: no script, no file, no frame around it.
fn policy(style: &str) -> String {
    let hash = STANDARD.encode(Sha256::digest(style.as_bytes()));
    format!(
        "default-src 'self'; script-src 'none'; style-src 'sha256-{hash}'; object-src 'none'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    )
}
