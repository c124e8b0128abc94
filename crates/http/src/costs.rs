//! What a product costs the chain is shown to those alone who work with it. Costs have a type ([`Cost`]), which leaves them
//! out of every answer to anybody else; the machine protocol has answers of its own and keeps them.

use std::cell::Cell;

use axum::body::Bytes;
use serde_json::Value as Json;
use serde_json::value::RawValue;
use tillkeep_model::Cost;
use tillkeep_storage::registry::COST_KEYS;

/// Whoever holds one of these is shown them.
pub const CODES: [&str; 4] = ["products.view", "inventory.adjust", "purchase_orders.view", "reports.profit_margin"];

tokio::task_local! {
    /// Whether the answer to this request may show them.
    static SHOWN: Cell<bool>;
}

/// Answers a request. Nothing is shown before it is known who asks.
pub(crate) async fn within<F: Future>(work: F) -> F::Output {
    SHOWN.scope(Cell::new(false), work).await
}

/// Says whether whoever asks may see them.
pub(crate) fn show(may: bool) {
    // Outside of a request there is no answer.
    SHOWN.try_with(|shown| shown.set(may)).unwrap_or_default();
}

fn are_shown() -> bool {
    SHOWN.try_with(Cell::get).unwrap_or_default()
}

/// Runs `write`, which serialises something of an answer, as whoever asks may see it.
pub fn as_answered<T>(write: impl FnOnce() -> T) -> T {
    Cost::without(!are_shown(), write)
}

/// JSON that was stored, as whoever asks may see it: what it was made of is gone, so that costs are found by the keys that
/// they have in rows.
pub(crate) fn stored(mut json: Json) -> Json {
    if !are_shown() {
        strip(&mut json);
    }
    json
}

/// The same for JSON that was kept as text, none of which is parsed without need.
pub(crate) fn stored_text(text: String) -> Bytes {
    if are_shown() || !COST_KEYS.iter().any(|key| text.contains(key)) {
        return text.into();
    }
    serde_json::from_str(&text).map_or_else(|_| Bytes::new(), |json| stored(json).to_string().into())
}

/// The same for a document inside of an answer; nothing, when it is no JSON.
#[must_use]
pub fn stored_document(text: String) -> Option<Box<RawValue>> {
    RawValue::from_string(String::from_utf8(stored_text(text).into()).ok()?).ok()
}

/// A text that may tell a cost anywhere in it.
#[must_use]
pub fn seen_whole(text: Option<String>) -> Option<String> {
    text.filter(|_| are_shown())
}

fn strip(value: &mut Json) {
    match value {
        Json::Object(entries) => {
            entries.retain(|key, _| !COST_KEYS.contains(key));
            entries.values_mut().for_each(strip);
        }
        Json::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn costs_are_left_out_of_stored_json_wherever_they_stand_unless_they_may_be_shown() {
        let answer = json!({"price": 5, "cost": 3, "lines": [{"unitCost": 3, "details": {"minPrice": 4}}]});
        let public = json!({"price": 5, "lines": [{"details": {}}]});
        assert_eq!(stored(answer.clone()), public);
        within(async {
            assert_eq!(stored(answer.clone()), public);
            assert_eq!(stored_text(answer.to_string()), Bytes::from(public.to_string()));
            assert_eq!(stored_document(answer.to_string()).expect("a document").get(), public.to_string());
            show(true);
            assert_eq!(stored(answer.clone()), answer);
            assert_eq!(stored_text(answer.to_string()), Bytes::from(answer.to_string()));
        })
        .await;
    }

    #[test]
    fn stored_costs_have_the_keys_that_costs_have_in_rows() {
        let keys = ["averageCost", "averageCostAfter", "cost", "costAmount", "minPrice", "receivedCost", "unitCost"];
        assert!(COST_KEYS.iter().eq(keys), "{:?}", *COST_KEYS);
    }
}
