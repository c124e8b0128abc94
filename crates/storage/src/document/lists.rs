//! JSON lists of documents that only grow: a store that was set up again, or goes on from a copy, does not know what it once said.

use std::collections::{HashMap, HashSet};

use serde_json::Value as Json;

/// What an element is known by.
const KNOWN_BY: [&str; 2] = ["receiptId", "id"];

/// What tells `element` from others: its id, and of one without an id all of it.
fn name(element: &Json) -> String {
    let id = KNOWN_BY.into_iter().find(|key| !element[*key].is_null());
    id.map_or_else(|| element.to_string(), |key| format!("{key} {}", element[key]))
}

/// The elements of a list as a column has it; none of what is no list.
pub(crate) fn read(text: Option<&str>) -> Vec<Json> {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Both lists as one: of an element that is in both the one that was `sent`, and no element is lost.
pub(crate) fn union(old: Option<&str>, sent: Option<&str>) -> String {
    let mut all = read(old);
    let mut places: HashMap<String, usize> = HashMap::new();
    for (place, element) in all.iter().enumerate() {
        places.entry(name(element)).or_insert(place);
    }
    for element in read(sent) {
        let name = name(&element);
        if let Some(place) = places.get(&name) {
            all[*place] = element;
        } else {
            places.insert(name, all.len());
            all.push(element);
        }
    }
    Json::Array(all).to_string()
}

/// The elements of a list among which others are looked for.
pub(crate) struct Said(HashSet<String>);

impl Said {
    pub(crate) fn new(text: Option<&str>) -> Self {
        Self(read(text).iter().map(name).collect())
    }

    pub(crate) fn has(&self, element: &Json) -> bool {
        self.0.contains(&name(element))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_lists_no_element_is_lost_and_none_is_there_twice() {
        let (old, sent) = (r#"[{"id":"a","n":1},{"id":"b"},{"at":1},7]"#, r#"[{"at":1},{"id":"a","n":2},{"id":"c"}]"#);
        let both = r#"[{"id":"a","n":2},{"id":"b"},{"at":1},7,{"id":"c"}]"#;
        assert_eq!(union(Some(old), Some(sent)), both);
        assert_eq!(union(Some(both), Some(sent)), both, "however often it is sent");
        assert_eq!(union(None, Some("no list")), "[]");
        assert!(Said::new(Some(sent)).has(&serde_json::json!({"id": "a"})));
        assert!(!Said::new(Some(sent)).has(&serde_json::json!({"id": "b"})));
    }
}
