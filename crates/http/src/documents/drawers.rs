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

/// `session` as it is shown to a user who `knows` its figures or does not. What was put into it and taken out stays: people typed
/// it, and no payment in cash follows from it. What goes from the safe to a bank is for those who see the safe.
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
        safe_movements: JsonText::empty_list(),
        counts: session.counts.map(counted_only),
        earlier_counts: counted_before(session.earlier_counts),
        ..session
    }
}

/// What was counted is known to whoever counted it.
fn counted_only(mut counts: JsonText) -> JsonText {
    leave_counted(&mut counts.0);
    counts
}

/// The same of each earlier count.
fn counted_before(mut earlier: JsonText) -> JsonText {
    for count in earlier.0.as_array_mut().into_iter().flatten() {
        if let Some(counts) = count.get_mut("counts") {
            leave_counted(counts);
        }
    }
    earlier
}

fn leave_counted(counts: &mut Json) {
    for row in counts.as_array_mut().into_iter().flatten().filter_map(Json::as_object_mut) {
        row.retain(|key, _| !matches!(key.as_str(), "expected" | "variance"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tillkeep_model::Money;

    use super::*;

    #[test]
    fn who_does_not_know_the_figures_sees_what_was_counted_and_nothing_that_was_reckoned() {
        let counts = json!([{"tenderCode": "CASH", "counted": 7, "expected": 4711, "variance": -4704}]);
        let session = Model {
            expected_cash: Some(Money(4711)),
            cash_variance: Some(Money(-4704)),
            running_total: Some(Money(4711)),
            totals: Some(JsonText(json!({"expectedCash": 4711}))),
            counts: Some(JsonText(counts.clone())),
            earlier_counts: JsonText(json!([{"countedBy": "x", "counts": counts}])),
            safe_movements: JsonText(json!([{"type": "deposit", "amount": 4711}])),
            cash_movements: JsonText(json!([{"type": "drop", "amount": 5}])),
            ..Model::default()
        };
        assert_eq!(shown(session.clone(), true), session);
        let blind = serde_json::to_string(&shown(session, false)).expect("JSON");
        assert!(!blind.contains("4711") && !blind.contains("4704"), "{blind}");
        for kept in [r#""counted":7"#, r#""countedBy":"x""#, r#""amount":5"#] {
            assert!(blind.contains(kept), "{kept} in {blind}");
        }
    }
}
