//! What headquarters says of an envelope.

use tillkeep_model::wire::Applied;

use super::rejection::clip;

/// HQ's word on one envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Taken; with what a user should look at.
    Taken {
        applied: Applied,
        warnings: Vec<String>,
        /// Decided by the envelope alone, so that its time says nothing of what HQ has (rule U7).
        left: bool,
    },
    Refused {
        code: &'static str,
        error: String,
    },
    /// Not now: no verdict, which says why.
    Later(String),
}

impl Verdict {
    pub(crate) fn left(applied: Applied) -> Self {
        Self::Taken { applied, warnings: Vec::new(), left: true }
    }

    pub(crate) fn refused(code: &'static str, error: impl AsRef<str>) -> Self {
        Self::Refused { code, error: clip(error.as_ref()) }
    }
}
