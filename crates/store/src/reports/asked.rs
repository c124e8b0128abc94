//! Which form of a report is asked for.

use serde::Deserialize;
use tillkeep_http::error::Result;
use tillkeep_model::paper::ReportPaper;
use tillkeep_storage::entity::{register, store};
use utoipa::ToSchema;

use crate::paper::{Form, Paper, report};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ReportQuery)]
pub(super) struct Asked {
    /// `json` when not said.
    format: Option<Form>,
    /// Of a text and for a printer 32, 42 or 48 letters (42 when not said); of a page 58 or 80 mm (80 when not said).
    width: Option<u32>,
}

impl Asked {
    pub(super) const fn new(format: Option<Form>, width: Option<u32>) -> Self {
        Self { format, width }
    }

    pub(super) fn shown<T: serde::Serialize>(
        &self,
        json: T,
        paper: impl FnOnce(T) -> ReportPaper,
        store: &store::Model,
        register: Option<&register::Model>,
    ) -> Result<Paper<T>> {
        report::shown(json, paper, store, (self.format.unwrap_or_default(), self.width), register)
    }
}
