//! Lists that are kept as files: who takes names and amounts by the thousand is in the audit log.

use serde_json::json;
use tillkeep_http::Caller;
use tillkeep_http::error::Result;
use tillkeep_http::resource::Query;
use tillkeep_model::permission::Requirement;
use tillkeep_storage::audit;

/// Notes what the caller asked for.
pub(super) async fn kept<P: Requirement>(caller: &Caller<P>, action: &'static str, query: &Query) -> Result<()> {
    let details = json!({"query": query});
    caller.begin().await?.done(audit::Entry { details, ..caller.audit(action) }).await
}
