//! Reading the object of a pushed row: only members that its type knows are kept, where they were read, so that whatever
//! else an envelope is filled with takes no memory.

use std::collections::HashMap;
use std::fmt::{self, Write};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use tillkeep_model::Instant;
use tillkeep_model::wire::camel;

use super::columns::Had;
use super::keys::{Keys, plain};
use super::limits::{Fitting, Limits};

use crate::document::{Beyond, Pushed};
use crate::registry::SyncType;
use crate::rows::{Row, SyncTable};

/// The members that the objects of a type may have.
pub(crate) struct Shape {
    table: &'static dyn SyncTable,
    /// By their names without regard to the spelling.
    members: HashMap<String, Member>,
    limits: Limits,
    beyond: Beyond,
    /// The objects of its lines, in the registry's order.
    pub lines: Vec<Self>,
}

struct Member {
    /// The column, or the key of a list of lines.
    name: &'static str,
    /// As the row reads it; a list of lines is no part of the row.
    key: Option<String>,
}

impl Shape {
    pub(crate) fn new(entity: &SyncType, pushed: &Pushed) -> Self {
        let of_table = |table, book| Self::of_table(table, Limits::new(table, book), pushed.beyond);
        let mut shape = of_table(entity.table, entity.book);
        for child in entity.children {
            shape.members.insert(plain(child.key), Member { name: child.key, key: None });
            shape.lines.push(of_table(child.table, Some(child.book)));
        }
        shape
    }

    fn of_table(table: &'static dyn SyncTable, limits: Limits, beyond: Beyond) -> Self {
        let member = |name| (plain(name), Member { name, key: Some(camel(name)) });
        let members = table.columns().into_iter().map(member).collect();
        Self { table, members, limits, beyond, lines: Vec::new() }
    }

    /// The members of the object in `json`; of one that comes twice the last.
    pub(crate) fn read<'a>(&self, json: &'a str) -> Result<Members<'a>, String> {
        let members = self.deserialize(&mut serde_json::Deserializer::from_str(json));
        members.map_err(|error| format!("must be an object: {error}"))
    }

    /// What is wrong with what was written into `row`, where the type refuses that.
    pub(crate) fn problem(
        &self,
        row: &dyn Row,
        keys: &Keys,
        owned: &[&str],
        had: Option<&Had>,
        now: Instant,
    ) -> Option<String> {
        if self.beyond == Beyond::Refuse { self.limits.problem(row, keys, owned, had, now) } else { None }
    }

    /// The row of those of these members that can be read.
    pub(crate) fn readable(&self, members: &Members<'_>) -> Option<Box<dyn Row>> {
        let mut row = self.table.decode("{}").ok()?;
        for Member { name, key } in self.members.values() {
            let (Some(key), Some(value)) = (key, members.values.get(name)) else { continue };
            let alone = self.table.decode(&format!("{{\"{key}\":{}}}", value.get())).ok();
            if let Some(value) = alone.and_then(|alone| alone.get(name)) {
                row.set(name, value);
            }
        }
        Some(row)
    }

    /// The row of these members. What is beyond a limit is cut off where the type says so. The error names the field.
    pub(crate) fn row(&self, members: &Members<'_>) -> Result<(Box<dyn Row>, Keys), String> {
        let mut keys = Keys::new(members.unknown);
        let mut json = String::from("{");
        for Member { name, key } in self.members.values() {
            let Some(value) = members.values.get(name).map(|value| value.get()) else { continue };
            let fitting = match self.beyond {
                Beyond::Cut => self.limits.fitting(name, value),
                Beyond::Refuse => Fitting::All,
            };
            if !matches!(fitting, Fitting::All) {
                keys.cut.push(name);
            }
            let value = match &fitting {
                Fitting::All => value,
                Fitting::Beginning(value) => value,
                // As if it had not been sent.
                Fitting::Nothing => continue,
            };
            keys.add(name);
            if let Some(key) = key {
                let comma = if json.len() > 1 { "," } else { "" };
                write!(json, "{comma}\"{key}\":{value}").map_err(|error| error.to_string())?;
            }
        }
        json.push('}');
        Ok((self.table.decode(&json)?, keys))
    }
}

impl<'de> DeserializeSeed<'de> for &Shape {
    type Value = Members<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &Shape {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut members = Members::default();
        while let Some(key) = object.next_key::<String>()? {
            if let Some(member) = self.members.get(&plain(&key)) {
                members.values.insert(member.name, object.next_value()?);
            } else {
                object.next_value::<IgnoredAny>()?;
                members.unknown += 1;
            }
        }
        Ok(members)
    }
}

/// What an object says, where it was read.
#[derive(Default)]
pub(crate) struct Members<'a> {
    values: HashMap<&'static str, &'a RawValue>,
    /// How many members its type does not know.
    unknown: usize,
}

impl<'a> Members<'a> {
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.values.get(name).copied()
    }

    /// The member that takes the most room, and how many bytes that are.
    pub(crate) fn largest(&self) -> Option<(&'static str, usize)> {
        let sizes = self.values.iter().map(|(name, value)| (*name, value.get().len()));
        sizes.max_by_key(|(_, size)| *size)
    }
}
