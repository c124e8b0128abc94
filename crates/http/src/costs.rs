//! What a product costs the chain is shown to those alone who work with it. One place takes it out of every answer to
//! anybody else; the machine protocol has answers of its own and keeps it.

use std::cell::Cell;

use axum::body::Bytes;
use serde_json::Value as Json;

/// Keys of an answer that tell a cost, or the floor of a price.
pub const KEYS: [&str; 6] = ["cost", "averageCost", "averageCostAfter", "minPrice", "unitCost", "costAmount"];

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
    // Outside of a request nobody is answered.
    SHOWN.try_with(|shown| shown.set(may)).unwrap_or_default();
}

fn are_shown() -> bool {
    SHOWN.try_with(Cell::get).unwrap_or_default()
}

/// `answer` as whoever asks may see it: the keys are left out, wherever they stand.
pub(crate) fn seen(mut answer: Json) -> Json {
    if !are_shown() {
        strip(&mut answer);
    }
    answer
}

/// The same for an answer that was kept as text.
pub(crate) fn seen_text(answer: String) -> Bytes {
    if are_shown() || !KEYS.iter().any(|key| answer.contains(key)) {
        return answer.into();
    }
    serde_json::from_str(&answer).map_or_else(|_| Bytes::new(), |answer| seen(answer).to_string().into())
}

/// A text that may tell a cost anywhere in it.
#[must_use]
pub fn seen_whole(text: Option<String>) -> Option<String> {
    text.filter(|_| are_shown())
}

fn strip(value: &mut Json) {
    match value {
        Json::Object(entries) => {
            entries.retain(|key, _| !KEYS.contains(&key.as_str()));
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
    async fn costs_are_left_out_wherever_they_stand_unless_they_may_be_shown() {
        let answer = json!({"price": 5, "cost": 3, "lines": [{"unitCost": 3, "details": {"minPrice": 4}}]});
        let public = json!({"price": 5, "lines": [{"details": {}}]});
        assert_eq!(seen(answer.clone()), public);
        within(async {
            assert_eq!(seen(answer.clone()), public);
            assert_eq!(seen_text(answer.to_string()), Bytes::from(public.to_string()));
            show(true);
            assert_eq!(seen(answer.clone()), answer);
            assert_eq!(seen_text(answer.to_string()), Bytes::from(answer.to_string()));
        })
        .await;
    }
}
