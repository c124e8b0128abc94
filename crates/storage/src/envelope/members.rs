//! Reading the object of a pushed row: only members that its type knows are kept, where they were read, so that whatever
//! else an envelope is filled with takes no memory.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use tillkeep_model::Instant;
use tillkeep_model::fields::Rule;
use tillkeep_model::wire::camel;

use super::columns::{Columns, Had};
use super::keys::{Keys, plain};
use super::limits::{self, Fitting, Limits};

use crate::document::{Beyond, Pushed};
use crate::registry::SyncType;
use crate::rows::{Row, SyncTable};

/// The members that the objects of a type may have.
pub(crate) struct Shape {
    table: &'static dyn SyncTable,
    /// In the order of the columns, then the lists of lines: that in which rows are written.
    members: Vec<Member>,
    /// Their places by their names without regard to the spelling.
    places: HashMap<String, usize>,
    /// The names of the members, for the keys of each row.
    names: Arc<[&'static str]>,
    pub columns: Columns,
    limits: Limits,
    beyond: Beyond,
    /// The objects of its lines, in the registry's order.
    pub lines: Vec<Self>,
}

/// Members that are compared before one is looked up by its name.
const LOOKED_AHEAD: usize = 4;

struct Member {
    /// The column, or the key of a list of lines.
    name: &'static str,
    /// As a row is written and read.
    key: String,
    /// A list of lines is no part of the row.
    is_list: bool,
    /// What is cut off of more than that.
    rule: Option<Rule>,
}

impl Shape {
    pub(crate) fn new(entity: &SyncType, pushed: &Pushed) -> Self {
        let of_table = |table, book| Self::of_table(table, Limits::new(table, book), pushed.beyond);
        let mut shape = of_table(entity.table, entity.book);
        for child in entity.children {
            shape.add(Member { name: child.key, key: child.key.to_owned(), is_list: true, rule: None });
            shape.lines.push(of_table(child.table, Some(child.book)));
        }
        shape.names = shape.members.iter().map(|member| member.name).collect();
        shape
    }

    fn of_table(table: &'static dyn SyncTable, limits: Limits, beyond: Beyond) -> Self {
        let columns = Columns::new(table);
        let (members, places, names) = (Vec::new(), HashMap::new(), columns.names().into());
        let mut shape = Self { table, members, places, names, columns, limits, beyond, lines: Vec::new() };
        for name in table.columns() {
            let rule = if beyond == Beyond::Cut { shape.limits.rule(name) } else { None };
            shape.add(Member { name, key: camel(name), is_list: false, rule });
        }
        shape
    }

    fn add(&mut self, member: Member) {
        self.places.insert(plain(member.name), self.members.len());
        self.members.push(member);
    }

    /// The place of the member that is spelled like this; most come in their order, so that `next` is looked at first.
    fn place(&self, key: &str, next: usize) -> Option<usize> {
        // A few ahead: columns that each server keeps to itself are not sent.
        let near = self.members.iter().enumerate().skip(next).take(LOOKED_AHEAD);
        let near = near.into_iter().find(|(_, member)| member.key == key).map(|(place, _)| place);
        near.or_else(|| self.places.get(&plain(key)).copied())
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

    /// Each column with its place and what was sent of it.
    fn sent<'s, 'a>(&'s self, members: &'s Members<'a>) -> impl Iterator<Item = (usize, &'s Member, &'a str)> {
        let sent = self.members.iter().zip(&members.values).enumerate();
        sent.filter_map(|(place, (member, value))| Some((place, member, value.as_ref()?.get())))
    }

    /// The row of those of these members that can be read.
    pub(crate) fn readable(&self, members: &Members<'_>) -> Option<Box<dyn Row>> {
        let mut row = self.table.decode("{}").ok()?;
        for (_, Member { name, key, .. }, value) in self.sent(members).filter(|(_, member, _)| !member.is_list) {
            let alone = self.table.decode(&format!("{{\"{key}\":{value}}}")).ok();
            if let Some(value) = alone.and_then(|alone| alone.get(name)) {
                row.set(name, value);
            }
        }
        Some(row)
    }

    /// The row of these members. What is beyond a limit is cut off where the type says so. The error names the field.
    pub(crate) fn row(&self, members: &Members<'_>) -> Result<(Box<dyn Row>, Keys), String> {
        let mut keys = Keys::new(self.names.clone(), members.unknown);
        let mut json = String::with_capacity(members.length);
        json.push('{');
        for (place, Member { name, key, is_list, rule }, value) in self.sent(members) {
            let fitting = rule.map_or(Fitting::All, |rule| limits::fitting(rule, value));
            if !matches!(fitting, Fitting::All) {
                keys.cut.push(name);
            }
            let value = match &fitting {
                Fitting::All => value,
                Fitting::Beginning(value) => value,
                // As if it had not been sent.
                Fitting::Nothing => continue,
            };
            keys.add(place);
            if !is_list {
                let begins = if json.len() > 1 { ",\"" } else { "\"" };
                for part in [begins, key, "\":", value] {
                    json.push_str(part);
                }
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
        let mut members = Members { values: vec![None; self.members.len()], unknown: 0, length: 2 };
        let mut next = 0;
        while let Some(place) = object.next_key_seed(Key { shape: self, next })? {
            if let Some(place) = place {
                let value: &RawValue = object.next_value()?;
                // With its key, quotes, colon and comma.
                members.length += value.get().len() + self.members[place].key.len() + 4;
                members.values[place] = Some(value);
                next = place + 1;
            } else {
                object.next_value::<IgnoredAny>()?;
                members.unknown += 1;
            }
        }
        Ok(members)
    }
}

/// Reads a key as the place of its member.
struct Key<'s> {
    shape: &'s Shape,
    next: usize,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.shape.place(key, self.next))
    }
}

/// What an object says, where it was read.
pub(crate) struct Members<'a> {
    /// By the places of the members.
    values: Vec<Option<&'a RawValue>>,
    /// How many members its type does not know.
    unknown: usize,
    /// Bytes of what it knows.
    length: usize,
}

impl<'a> Members<'a> {
    /// What was sent of a column or a list.
    pub(crate) fn get(&self, shape: &Shape, name: &str) -> Option<&'a RawValue> {
        let place = shape.members.iter().position(|member| member.name == name)?;
        self.values.get(place).copied().flatten()
    }

    /// The member that takes the most room, and how many bytes that are.
    pub(crate) fn largest(&self, shape: &Shape) -> Option<(&'static str, usize)> {
        shape.sent(self).map(|(_, member, value)| (member.name, value.len())).max_by_key(|(_, size)| *size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;

    #[test]
    fn each_member_of_what_stores_push_has_a_place_among_the_keys() {
        for (entity, pushed) in registry::pushed() {
            let shape = Shape::new(entity, pushed);
            for shape in std::iter::once(&shape).chain(&shape.lines) {
                let table = shape.table.name();
                assert!(shape.members.len() <= Keys::MOST, "{table} has more columns than `Keys` has bits");
                assert!(shape.names.iter().eq(shape.members.iter().map(|member| &member.name)), "{table}");
                assert!(shape.names.starts_with(shape.columns.names()), "{table}: columns come first, in their order");
            }
        }
    }
}
