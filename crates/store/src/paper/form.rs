//! The forms in which a paper is answered: those of both servers, and the bytes of a printer.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use tillkeep_http::describe::{Operation, Reply};
use tillkeep_http::documents::papers;
use tillkeep_http::error::Result;
use tillkeep_http::operation::string;
use utoipa::ToSchema;

const BYTES: &str = "application/octet-stream";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = PaperFormat)]
pub(crate) enum Form {
    #[default]
    Json,
    Text,
    Html,
    Escpos,
}

impl Form {
    /// How wide it becomes: bytes are as wide as text.
    pub(crate) fn width(self, asked: Option<u32>) -> Result<u32> {
        let like = match self {
            Self::Json => papers::Form::Json,
            Self::Text | Self::Escpos => papers::Form::Text,
            Self::Html => papers::Form::Html,
        };
        like.width(asked)
    }
}

/// A paper in one of its forms; `T` is its JSON.
pub(crate) enum Paper<T> {
    Shown(papers::Paper<T>),
    Bytes(Vec<u8>),
}

impl<T: Serialize> IntoResponse for Paper<T> {
    fn into_response(self) -> Response {
        match self {
            Self::Shown(paper) => paper.into_response(),
            Self::Bytes(bytes) => ([(header::CONTENT_TYPE, HeaderValue::from_static(BYTES))], bytes).into_response(),
        }
    }
}

impl<T: Serialize + ToSchema> Reply for Paper<T> {
    fn describe(operation: &mut Operation) {
        papers::Paper::<T>::describe(operation);
        operation.also_as(200, BYTES, string());
    }
}
