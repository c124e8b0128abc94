//! Long lists of which only the beginning is wanted: the rest is counted and takes no memory.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The first elements of a list of JSON texts, where they were read, and how many there were.
#[derive(Debug, Default)]
pub struct FirstOf<'a> {
    pub first: Vec<&'a RawValue>,
    pub count: usize,
}

impl<'a> FirstOf<'a> {
    /// Reads the list in `json`; of `null` nothing.
    pub fn read(json: &'a RawValue, most: usize) -> serde_json::Result<Self> {
        if json.get() == "null" {
            return Ok(Self::default());
        }
        First { most }.deserialize(&mut serde_json::Deserializer::from_str(json.get()))
    }

    /// Whether there were more than are kept.
    pub fn is_cut(&self) -> bool {
        self.count > self.first.len()
    }
}

/// Reads a list up to `most` elements.
pub struct First {
    pub most: usize,
}

impl<'de> DeserializeSeed<'de> for First {
    type Value = FirstOf<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for First {
    type Value = FirstOf<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut all = FirstOf::default();
        while all.first.len() < self.most {
            let Some(element) = list.next_element()? else { break };
            all.first.push(element);
        }
        all.count = all.first.len();
        while list.next_element::<IgnoredAny>()?.is_some() {
            all.count += 1;
        }
        Ok(all)
    }
}
