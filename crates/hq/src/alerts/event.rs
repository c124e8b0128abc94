//! What is posted of an alert. `docs/operations.md`, "Alerts by webhook".

use serde::Serialize;
use tillkeep_model::Instant;
use tillkeep_storage::alerts::FIRING;
use tillkeep_storage::entity::alert;
use uuid::Uuid;

/// What a test is called, in place of a kind and a subject.
const TEST: &str = "test";

/// The body of a post.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the words of the body")]
struct Event<'a> {
    /// The same for every try: receivers leave aside what they have seen.
    event: Uuid,
    /// Of the alert: the same when it begins and when it ends.
    id: Uuid,
    kind: &'a str,
    severity: &'a str,
    state: &'a str,
    subject: &'a str,
    store_id: Option<Uuid>,
    text: &'a str,
    since: Instant,
    at: Instant,
    /// Where this headquarters is, as far as it knows.
    headquarters: Option<&'a str>,
}

fn written(event: &Event<'_>) -> String {
    // There is nothing in it that JSON cannot say.
    serde_json::to_string(event).unwrap_or_default()
}

/// The body about `alert`, as it stands now.
pub(super) fn body(alert: &alert::Model, event: Uuid, headquarters: Option<&str>) -> String {
    written(&Event {
        event,
        id: alert.id,
        kind: &alert.kind,
        severity: &alert.severity,
        state: &alert.state,
        subject: &alert.subject,
        store_id: alert.store_id,
        text: &alert.text,
        since: alert.since,
        at: alert.at,
        headquarters,
    })
}

/// The body of a test.
pub(super) fn test(event: Uuid, headquarters: Option<&str>, now: Instant) -> String {
    written(&Event {
        event,
        id: event,
        kind: TEST,
        severity: TEST,
        state: FIRING,
        subject: TEST,
        store_id: None,
        text: "This is a test. Nothing is wrong.",
        since: now,
        at: now,
        headquarters,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_the_keys_of_the_docs() {
        let body: serde_json::Value =
            serde_json::from_str(&body(&alert::Model::default(), Uuid::nil(), None)).expect("JSON");
        let keys: Vec<&str> = body.as_object().expect("an object").keys().map(String::as_str).collect();
        let docs = include_str!("../../../../docs/operations.md");
        for key in &keys {
            assert!(docs.contains(&format!("\"{key}\":")), "{key} is not in docs/operations.md");
        }
        assert_eq!(keys.len(), 11);
    }
}
