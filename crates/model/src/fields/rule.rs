//! What a value must be, and how it is said when it is not.

use sea_orm::Value as Stored;
use serde_json::Value as Json;
use uuid::Uuid;

use super::{Field, Shape};
use crate::{Instant, Money, Qty};

/// What the values of a field must be. A field that is null has no rule to keep.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// `min` to `max` characters; from 1 on some that are no space. An empty text has no shape to keep where it may be
    /// empty.
    Text {
        min: usize,
        max: usize,
        shape: Option<&'static Shape>,
    },
    Word(&'static [&'static str]),
    Flag,
    /// A whole number; amounts in minor units, rates in their own.
    Whole {
        min: i64,
        max: i64,
    },
    /// A quantity, in thousandths.
    Quantity {
        min: i64,
        max: i64,
    },
    Id,
    Instant,
    /// Any JSON, of at most `max` bytes.
    Json {
        max: usize,
    },
    /// A JSON list of at most `most` texts.
    Texts {
        most: usize,
        each: &'static Self,
    },
    /// A JSON list of at most `most` objects with these fields.
    Objects {
        most: usize,
        fields: &'static [Field],
    },
}

/// A value to check: of a typed row or of JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Flag(bool),
    Number(i64),
    Text(&'a str),
    Id(Uuid),
    /// What no rule is for.
    Other,
}

impl<'a> From<&'a Stored> for Value<'a> {
    fn from(value: &'a Stored) -> Self {
        match value {
            Stored::Bool(Some(flag)) => Self::Flag(*flag),
            Stored::SmallInt(Some(number)) => Self::Number((*number).into()),
            Stored::Int(Some(number)) => Self::Number((*number).into()),
            Stored::BigInt(Some(number)) => Self::Number(*number),
            Stored::String(Some(text)) => Self::Text(text),
            Stored::Uuid(Some(id)) => Self::Id(*id),
            value if *value == value.as_null() => Self::Null,
            _ => Self::Other,
        }
    }
}

impl<'a> From<&'a Json> for Value<'a> {
    fn from(value: &'a Json) -> Self {
        match value {
            Json::Null => Self::Null,
            Json::Bool(flag) => Self::Flag(*flag),
            Json::Number(number) => number.as_i64().map_or(Self::Other, Self::Number),
            Json::String(text) => Self::Text(text),
            Json::Array(_) | Json::Object(_) => Self::Other,
        }
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

macro_rules! numbers {
    ($($name:ty),*) => {$(
        impl From<$name> for Value<'_> {
            fn from(number: $name) -> Self { Self::Number(number.0.into()) }
        }
    )*};
}
numbers!(Money, Qty);

impl From<i32> for Value<'_> {
    fn from(number: i32) -> Self {
        Self::Number(number.into())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value<'_> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl Rule {
    /// The characters of a text at the most.
    pub const fn max_chars(&self) -> Option<usize> {
        if let Self::Text { max, .. } = self { Some(*max) } else { None }
    }

    /// What is wrong with `value`, each with the place within it: empty for the value itself, `[2].name` in a list.
    pub fn problems(&self, value: Value, now: Instant) -> Vec<(String, String)> {
        let whole = |message: Option<String>| message.map(|message| (String::new(), message)).into_iter().collect();
        match (self, value) {
            (_, Value::Null) => Vec::new(),
            (Self::Texts { most, each }, Value::Text(list)) => {
                in_list(list, *most, |item| each.problems(item.into(), now))
            }
            (Self::Objects { most, fields }, Value::Text(list)) => {
                in_list(list, *most, |item| in_object(item, fields, now))
            }
            _ => whole(self.problem(value, now)),
        }
    }

    fn problem(&self, value: Value, now: Instant) -> Option<String> {
        match (self, value) {
            (Self::Text { min, max, shape }, Value::Text(text)) => text_problem(text, (*min, *max), *shape, now),
            (Self::Word(words), Value::Text(text)) => {
                (!words.contains(&text)).then(|| format!("must be one of {}", words.join(", ")))
            }
            (Self::Whole { min, max }, Value::Number(number)) => {
                (!(*min..=*max).contains(&number)).then(|| format!("must be between {min} and {max}"))
            }
            (Self::Quantity { min, max }, Value::Number(number)) => {
                let text = || format!("must be between {} and {}", Qty(*min), Qty(*max));
                (!(*min..=*max).contains(&number)).then(text)
            }
            (Self::Json { max }, Value::Text(json)) => {
                (json.len() > *max).then(|| format!("must have at most {max} bytes"))
            }
            (Self::Flag, Value::Flag(_)) | (Self::Instant, Value::Other) => None,
            (Self::Id, Value::Id(id)) => id.is_nil().then(|| "must not be the nil UUID".to_owned()),
            _ => Some(self.kind().to_owned()),
        }
    }

    /// What is said to a value of another type.
    const fn kind(&self) -> &'static str {
        match self {
            Self::Text { .. } | Self::Word(_) => "must be a text",
            Self::Flag => "must be true or false",
            Self::Whole { .. } => "must be a whole number",
            Self::Quantity { .. } => "must be a number with at most three decimals",
            Self::Id => "must be a UUID",
            Self::Instant => "must be an instant like 2026-11-20T12:34:56.789Z",
            Self::Texts { .. } | Self::Objects { .. } => "must be a list",
            Self::Json { .. } => "must be JSON",
        }
    }
}

fn text_problem(text: &str, (min, max): (usize, usize), shape: Option<&Shape>, now: Instant) -> Option<String> {
    if text.contains('\0') {
        return Some("must not contain the NUL character".to_owned());
    }
    if let Some(shape) = shape {
        let is_empty = min == 0 && text.is_empty();
        let fits = is_empty || (text.chars().count() <= max && (shape.is)(text, now));
        return (!fits).then(|| shape.says.to_owned());
    }
    let long = text.chars().count() > max;
    match min {
        0 => long.then(|| format!("must have at most {max} characters")),
        min => (long || text.trim().chars().count() < min).then(|| format!("must have {min} to {max} characters")),
    }
}

/// What is wrong in a JSON list, which a row keeps as text.
fn in_list(list: &str, most: usize, problems: impl Fn(&Json) -> Vec<(String, String)>) -> Vec<(String, String)> {
    let Ok(Json::Array(items)) = serde_json::from_str(list) else {
        return vec![(String::new(), "must be a list".to_owned())];
    };
    if items.len() > most {
        return vec![(String::new(), format!("must have at most {most} entries"))];
    }
    let placed = |(index, item): (usize, &Json)| {
        problems(item).into_iter().map(move |(place, message)| (format!("[{index}]{place}"), message))
    };
    items.iter().enumerate().flat_map(placed).collect()
}

fn in_object(object: &Json, fields: &[Field], now: Instant) -> Vec<(String, String)> {
    let Json::Object(entries) = object else { return vec![(String::new(), "must be an object".to_owned())] };
    let unknown = entries.keys().filter(|key| fields.iter().all(|field| field.name != key.as_str()));
    let mut found: Vec<_> = unknown.map(|key| (format!(".{key}"), "is unknown here".to_owned())).collect();
    for field in fields {
        match entries.get(field.name) {
            None | Some(Json::Null) if field.required => {
                found.push((format!(".{}", field.name), "is required".to_owned()));
            }
            None => {}
            Some(value) => {
                let problems = field.problems(value.into(), now).into_iter();
                found.extend(problems.map(|problem| (format!(".{}", problem.field), problem.message)));
            }
        }
    }
    found
}
