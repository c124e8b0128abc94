//! How much a store may say of itself in a handshake: what headquarters keeps of it and looks up for it has an end. No store
//! comes near it.

use std::collections::BTreeMap;

use super::handshake::{HandshakeRequest, Number};

/// Characters of an id, a name, a hash or a version.
const NAME: usize = 128;
/// Characters of the alarms of a store, each with its moment: far more than there are.
const ALARMS: usize = 4_000;
/// Types that travel, and those of a release to come.
const TYPES: usize = 500;
/// Databases that a store has had: one more each time that it is restored or cloned.
const DATABASES: usize = 10_000;
/// Series of numbers: some for each register that there ever was.
const SERIES: usize = 10_000;

/// A part of a handshake that is larger than it may be: its name, and what it may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    pub field: String,
    pub message: String,
}

impl HandshakeRequest {
    /// The first part that is larger than any store says it.
    pub fn excess(&self) -> Option<Excess> {
        self.long_text().or_else(|| self.long_list()).or_else(|| self.long_name())
    }

    fn long_text(&self) -> Option<Excess> {
        let text = |field: &str, text: Option<&str>, most: usize| longer(field, text.unwrap_or_default(), most);
        text("epoch", self.epoch.as_deref(), NAME)
            .or_else(|| text("ticket", self.ticket.as_deref(), NAME))
            .or_else(|| text("nodeEpoch", Some(&self.node_epoch), NAME))
            .or_else(|| text("storeVersion", Some(&self.store_version), NAME))
            .or_else(|| text("pinKeyId", self.pin_key_id.as_deref(), NAME))
            .or_else(|| text("alarms", Some(&self.alarms), ALARMS))
            .or_else(|| text("audit.hash", self.audit.as_ref().map(|head| head.hash.as_str()), NAME))
    }

    fn long_list(&self) -> Option<Excess> {
        more("cursors", self.cursors.len(), TYPES)
            .or_else(|| more("fingerprints", self.fingerprints.len(), TYPES))
            .or_else(|| more("sent", self.sent.len(), DATABASES))
            .or_else(|| more("dead", self.dead.len(), Number::MOST))
            .or_else(|| more("lost", self.lost.len(), SERIES))
            .or_else(|| more("series", self.series.as_ref().map_or(0, BTreeMap::len), SERIES))
    }

    /// A text within a list.
    fn long_name(&self) -> Option<Excess> {
        named("cursors", self.cursors.keys())
            .or_else(|| named("fingerprints", self.fingerprints.keys().chain(self.fingerprints.values())))
            .or_else(|| named("series", self.series.iter().flat_map(BTreeMap::keys)))
            .or_else(|| placed("sent", "nodeEpoch", self.sent.iter().map(|range| &range.node_epoch)))
            .or_else(|| placed("dead", "nodeEpoch", self.dead.iter().map(|number| &number.node_epoch)))
            .or_else(|| placed("lost", "series", self.lost.iter().map(|range| &range.series)))
    }
}

fn named<'a>(field: &str, mut texts: impl Iterator<Item = &'a String>) -> Option<Excess> {
    texts.find_map(|text| longer(field, text, NAME))
}

fn placed<'a>(list: &str, key: &str, texts: impl Iterator<Item = &'a String>) -> Option<Excess> {
    texts.enumerate().find_map(|(place, text)| longer(&format!("{list}[{place}].{key}"), text, NAME))
}

fn longer(field: &str, text: &str, most: usize) -> Option<Excess> {
    // No text has more characters than bytes.
    let is_longer = text.len() > most && text.chars().count() > most;
    is_longer.then(|| Excess { field: field.to_owned(), message: format!("must have at most {most} characters") })
}

fn more(field: &str, count: usize, most: usize) -> Option<Excess> {
    (count > most).then(|| Excess { field: field.to_owned(), message: format!("must have at most {most} entries") })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    /// What is too much in the handshake of a store when `key` is `value` in it.
    fn excess(key: &str, value: Json) -> Option<Excess> {
        let mut body = json!({"nodeEpoch": "e"});
        body[key] = value;
        serde_json::from_value::<HandshakeRequest>(body).expect("a handshake").excess()
    }

    #[test]
    fn each_text_and_each_list_of_a_handshake_has_an_end_that_is_named() {
        let long = |letters: usize| "ü".repeat(letters);
        for key in ["epoch", "ticket", "nodeEpoch", "storeVersion", "pinKeyId"] {
            assert_eq!(excess(key, json!(long(NAME))), None, "{key}");
            assert_eq!(excess(key, json!(long(NAME + 1))).expect(key).field, key);
        }
        let range = |epoch: &str| json!({"nodeEpoch": epoch, "first": 1, "last": 2, "recent": 2});
        let lost = |series: &str| json!({"series": series, "from": 1, "to": 2, "noticedAt": "2026-11-20T12:00:00Z"});
        let (epoch, too_long) = (long(NAME), long(NAME + 1));
        let many = |value: Json, count: usize| Json::Array(vec![value; count]);
        let names = |count: usize, value: Json| -> Json {
            (0..count).map(|number| (format!("n{number}"), value.clone())).collect::<serde_json::Map<_, _>>().into()
        };
        for (key, value, field) in [
            ("alarms", json!(long(ALARMS)), None),
            ("alarms", json!(long(ALARMS + 1)), Some("alarms")),
            ("audit", json!({"seq": 1, "hash": too_long}), Some("audit.hash")),
            ("cursors", json!({(too_long.clone()): 1}), Some("cursors")),
            ("cursors", names(TYPES, json!(1)), None),
            ("cursors", names(TYPES + 1, json!(1)), Some("cursors")),
            ("fingerprints", json!({"products": too_long}), Some("fingerprints")),
            ("fingerprints", names(TYPES + 1, json!("x")), Some("fingerprints")),
            ("series", json!({(too_long.clone()): 1}), Some("series")),
            ("series", names(SERIES + 1, json!(1)), Some("series")),
            ("sent", json!([range("a"), range(&epoch)]), None),
            ("sent", json!([range("a"), range(&too_long)]), Some("sent[1].nodeEpoch")),
            ("sent", many(range("a"), DATABASES + 1), Some("sent")),
            ("dead", many(json!({"seq": 1, "nodeEpoch": "a"}), Number::MOST), None),
            ("dead", many(json!({"seq": 1, "nodeEpoch": "a"}), Number::MOST + 1), Some("dead")),
            ("dead", json!([{"seq": 1, "nodeEpoch": too_long}]), Some("dead[0].nodeEpoch")),
            ("lost", json!([lost(&too_long)]), Some("lost[0].series")),
            ("lost", many(lost("a"), SERIES + 1), Some("lost")),
        ] {
            assert_eq!(excess(key, value).map(|excess| excess.field), field.map(str::to_owned), "{key}");
        }
    }
}
