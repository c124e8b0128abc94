//! Lists that are kept as files: who takes names and amounts by the thousand is in the audit log.

use serde_json::json;
use tillkeep_http::Caller;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Query;
use tillkeep_model::permission::Requirement;
use tillkeep_storage::audit;

/// Notes what the caller asked for.
pub(super) async fn kept<P: Requirement>(caller: &Caller<P>, action: &'static str, query: &Query) -> Result<()> {
    let details = json!({"query": query});
    caller.begin().await?.done(audit::Entry { details, ..caller.audit(action) }).await
}

/// Refuses a file with deleted rows in it: it would not tell them from the others, and taken again it would make them anew.
pub(super) fn living(query: &Query) -> Result<()> {
    if query.get("includeDeleted").is_none_or(|value| value == "false") {
        return Ok(());
    }
    Err(Error::field("includeDeleted", "must be left out of a file, which has no deleted rows"))
}
