//! Changes that were made from a version of a row that is not the present one.

use serde_json::{Map, Value as Json};
use tillkeep_model::ErrorCode;

use crate::costs;
use crate::error::{Error, Result};

/// Refuses a change that was made from another version of a row than the present one.
pub fn refuse_outdated(expected: Option<i64>, version: i64, current: impl FnOnce() -> Result<Json>) -> Result<()> {
    if expected.is_none_or(|expected| expected == version) {
        return Ok(());
    }
    let text = "somebody else changed this row in the meantime; read it again and decide once more";
    Err(Error::new(ErrorCode::VersionConflict, text).with("current", costs::as_answered(current)?))
}

/// `?expectedVersion=` of a change without an object as its body: the version of the row that it was made from.
#[derive(serde::Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expected {
    /// The `syncVersion` that the change is based on; another one is refused.
    #[serde(default)]
    pub expected_version: Option<i64>,
}

/// The keys of `expectedVersion` and the rest of a change.
pub fn take_expected_version(body: &mut Map<String, Json>) -> Result<Option<i64>> {
    match body.remove("expectedVersion") {
        None | Some(Json::Null) => Ok(None),
        Some(value) => {
            value.as_i64().map(Some).ok_or_else(|| Error::field("expectedVersion", "must be a whole number"))
        }
    }
}
