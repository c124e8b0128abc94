//! Examples of the description: what the tests asked a route and were answered, so that they are true (`tests/contract/examples.rs`
//! records them and compares them).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;
use utoipa::openapi::RefOr;
use utoipa::openapi::content::Content;

use crate::operation::{JSON, Operation};
use crate::route::Route;

/// Of one route.
#[derive(Deserialize)]
struct Example {
    #[serde(default)]
    request: Option<Json>,
    status: u16,
    #[serde(default)]
    answer: Option<Json>,
}

/// By method and path: `POST /products`.
pub(super) struct Examples(BTreeMap<String, Example>);

impl Examples {
    /// Those of the file; none where it cannot be read, which a test finds.
    pub(super) fn read(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }

    /// Adds those of `route` to what is said of it.
    pub(super) fn show(&self, route: &Route, operation: &mut Operation) {
        let Some(example) = self.0.get(&format!("{} {}", route.method, route.path)) else { return };
        if let Some(body) = &mut operation.body {
            put(body.content.get_mut(JSON), example.request.as_ref());
        }
        if let Some(answer) = operation.answers.get_mut(&example.status) {
            put(answer.content.get_mut(JSON), example.answer.as_ref());
        }
    }
}

fn put(content: Option<&mut RefOr<Content>>, example: Option<&Json>) {
    if let (Some(RefOr::T(content)), Some(example)) = (content, example) {
        content.example = Some(example.clone());
    }
}
