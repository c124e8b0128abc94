//! What is wrong with the value of a field, and how that is said.

use serde_json::Value as Json;

use super::field::{Field, Rule};
use super::shape::Shape;
use super::value::Value;
use crate::{Instant, Qty};

/// What is wrong with a field, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub field: String,
    pub message: String,
}

impl Field {
    /// What is wrong with this value; a field of a list within the value is named by its place.
    pub fn problems(&self, value: Value, now: Instant) -> Vec<Problem> {
        let found = self.rule.problems(value, now);
        let named = |(place, message): (String, String)| Problem { field: format!("{}{place}", self.name), message };
        found.into_iter().map(named).collect()
    }
}

impl Rule {
    /// What is wrong with `value`, each with the place within it: empty for the value itself, `[2].name` in a list.
    pub fn problems(&self, value: Value, now: Instant) -> Vec<(String, String)> {
        let whole = |message: Option<String>| message.map(|message| (String::new(), message)).into_iter().collect();
        match (self, value) {
            (_, Value::Null) => Vec::new(),
            (Self::Texts { each, .. }, Value::Text(list)) => self.in_list(list, |item| each.problems(item.into(), now)),
            (Self::Objects { fields, .. }, Value::Text(list)) => {
                self.in_list(list, |item| in_object(item, fields, now))
            }
            (Self::Object { fields }, Value::Text(object)) => {
                in_object(&serde_json::from_str(object).unwrap_or_default(), fields, now)
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

    /// What is wrong in a JSON list, which a row keeps as text.
    fn in_list(&self, list: &str, problems: impl Fn(&Json) -> Vec<(String, String)>) -> Vec<(String, String)> {
        let Ok(Json::Array(items)) = serde_json::from_str(list) else {
            return vec![(String::new(), "must be a list".to_owned())];
        };
        if let Some(problem) = self.problem_of_length(items.len()) {
            return vec![(String::new(), problem)];
        }
        let placed = |(index, item): (usize, &Json)| {
            problems(item).into_iter().map(move |(place, message)| (format!("[{index}]{place}"), message))
        };
        items.iter().enumerate().flat_map(placed).collect()
    }

    /// What is wrong with a list of so many entries.
    pub fn problem_of_length(&self, entries: usize) -> Option<String> {
        let (least, most) = match self {
            Self::Texts { most, .. } => (0, *most),
            Self::Objects { least, most, .. } => (*least, *most),
            _ => return Some(self.kind().to_owned()),
        };
        match least {
            _ if (least..=most).contains(&entries) => None,
            0 => Some(format!("must have at most {most} entries")),
            least => Some(format!("must have {least} to {most} entries")),
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
            Self::Object { .. } => "must be an object",
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
