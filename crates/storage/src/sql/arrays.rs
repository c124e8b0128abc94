//! Lists of any length as one value of a statement, for `PostgreSQL`: it reads and plans a text once for each number of places
//! that it has, and with one place for each value there is another text for each number of rows. An array is sent as a text,
//! which can say of each element that there is none.

use std::fmt::Write as _;

use sea_orm::sea_query::{Alias, Expr, ExprTrait, Func, Query, SelectStatement};
use sea_orm::{DbErr, Value};

/// The values of one column.
pub(super) struct Array {
    text: String,
    kind: &'static str,
}

impl Array {
    /// Of values that are all of the type of the first one.
    pub(super) fn new<'v>(values: impl IntoIterator<Item = &'v Value>) -> Result<Self, DbErr> {
        let (mut text, mut kind) = ("{".to_owned(), "text");
        for (place, value) in values.into_iter().enumerate() {
            if place > 0 {
                text.push(',');
            }
            let of_this = push(&mut text, value)?;
            if place > 0 && of_this != kind {
                return Err(DbErr::Type(format!("an array of {kind} has no {of_this}")));
            }
            kind = of_this;
        }
        text.push('}');
        Ok(Self { text, kind })
    }

    /// The type of the array, as a cast names it.
    pub(super) fn cast(&self, place: usize) -> String {
        format!("CAST(${place} AS {}[])", self.kind)
    }

    pub(super) fn value(self) -> Value {
        self.text.into()
    }

    /// Its elements as rows, for a statement of the ORM. With `= ANY` each row of a table that is read as a whole, as one is that was
    /// small when the statement was planned, would be compared with each element: 180 sales/s in place of 896 were pushed so.
    pub(super) fn rows(self) -> SelectStatement {
        let array = Expr::val(self.text).cast_as(Alias::new(format!("{}[]", self.kind)));
        Query::select().expr(Func::cust("UNNEST").arg(array)).take()
    }
}

/// Appends an element; the name of its type.
fn push(text: &mut String, value: &Value) -> Result<&'static str, DbErr> {
    let (kind, written) = match value {
        Value::String(value) => {
            if let Some(value) = value {
                quoted(text, value);
            }
            ("text", value.is_some())
        }
        Value::Uuid(value) => ("uuid", plain(text, value.as_ref())),
        Value::Bool(value) => ("boolean", plain(text, value.as_ref())),
        Value::SmallInt(value) => ("smallint", plain(text, value.as_ref())),
        Value::Int(value) => ("integer", plain(text, value.as_ref())),
        Value::BigInt(value) => ("bigint", plain(text, value.as_ref())),
        Value::ChronoDateTimeUtc(value) => {
            let at = value.map(|at| at.to_rfc3339());
            if let Some(at) = &at {
                quoted(text, at);
            }
            ("timestamptz", at.is_some())
        }
        other => return Err(DbErr::Type(format!("no array has elements such as {other:?}"))),
    };
    if !written {
        text.push_str("NULL");
    }
    Ok(kind)
}

fn plain(text: &mut String, value: Option<&impl std::fmt::Display>) -> bool {
    value.is_some_and(|value| write!(text, "{value}").is_ok())
}

fn quoted(text: &mut String, value: &str) {
    text.push('"');
    for letter in value.chars() {
        if matches!(letter, '"' | '\\') {
            text.push('\\');
        }
        text.push(letter);
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use tillkeep_model::Instant;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn what_is_none_is_not_the_text_null_and_no_letter_ends_an_element() {
        let of = |values: &[Value]| Array::new(values).map(|array| (array.text, array.kind)).expect("an array");
        let texts = ["NULL", "", "a,b", "{}", "\"", "\\", "ä\n "].map(Value::from);
        assert_eq!(of(&texts), (r#"{"NULL","","a,b","{}","\"","\\","#.to_owned() + "\"ä\n \"}", "text"));
        assert_eq!(of(&[None::<String>.into(), "x".into()]), (r#"{NULL,"x"}"#.to_owned(), "text"));
        assert_eq!(of(&[7_i64.into(), None::<i64>.into()]), ("{7,NULL}".to_owned(), "bigint"));
        assert_eq!(of(&[Uuid::nil().into()]), ("{00000000-0000-0000-0000-000000000000}".to_owned(), "uuid"));
        assert_eq!(of(&[true.into()]), ("{true}".to_owned(), "boolean"));
        let at = Instant::parse("2026-11-20T12:34:56.789Z").expect("an instant");
        assert_eq!(of(&[at.into()]), (r#"{"2026-11-20T12:34:56.789+00:00"}"#.to_owned(), "timestamptz"));
        assert!(Array::new([&Value::from(1.5_f64)]).is_err());
        assert!(Array::new([&Value::from(1_i32), &Value::from(1_i64)]).is_err(), "of one type");
    }
}
