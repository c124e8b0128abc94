//! What of a drawer is shown to whom. In a store that closes blind the figures of a drawer are for those who may close
//! one: who counts it must not learn what should be in it.

use serde_json::Value as Json;
use tillkeep_model::JsonText;
use tillkeep_model::approvable::CLOSING;
use tillkeep_storage::entity::register_session::Model;

use crate::describe::More;

/// Who closes without asking anybody; whoever else sells at a till needs an approval.
pub static MAY_CLOSE: &[&str] = CLOSING.holders;

/// What both servers take of a list of drawers besides columns.
pub const MORE: &[(&str, More)] = &[("businessDateFrom", More::Date), ("businessDateTo", More::Date)];

/// `session` as it is shown to a user who `knows` its figures or does not.
#[must_use]
pub fn shown(session: Model, knows: bool) -> Model {
    if knows {
        return session;
    }
    Model {
        expected_cash: None,
        cash_variance: None,
        running_total: None,
        totals: None,
        counts: session.counts.map(counted_only),
        ..session
    }
}

/// What was counted is known to whoever counted it.
fn counted_only(mut counts: JsonText) -> JsonText {
    for row in counts.0.as_array_mut().into_iter().flatten().filter_map(Json::as_object_mut) {
        row.retain(|key, _| !matches!(key.as_str(), "expected" | "variance"));
    }
    counts
}
