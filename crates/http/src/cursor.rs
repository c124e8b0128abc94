//! Keyset paging: a cursor says behind which row the next page of a list begins, so that a page far back costs what the first
//! one does, and none is skipped or comes twice when others come or go meanwhile. `docs/api.md`, "Lists".

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value as Json;
use tillkeep_model::Instant;
use tillkeep_storage::sea_orm::{ColumnTrait, ColumnType, Condition, EntityTrait, ModelTrait, Order, Value};
use uuid::Uuid;

use crate::error::{Error, Result};

/// Characters of a cursor at the most.
pub const LONGEST: usize = 4000;

/// The columns that a list is in the order of, each once, its key at the end.
pub type Ordering<E> = Vec<(<E as EntityTrait>::Column, Order)>;

/// Where a page begins.
pub struct Cursor {
    /// Its number, if nobody came or went.
    pub page: u64,
    /// What the last row before it has in the columns of the order.
    last: Vec<Json>,
}

impl Cursor {
    /// Reads what [`after`] wrote for a list in the order of `sort`.
    pub fn read(text: &str, sort: &str) -> Result<Self> {
        let wrong = |message: &str| Error::field("cursor", message);
        let unread = || wrong("is none that this list gave; take `nextCursor` of an answer, or leave it out to begin");
        if text.len() > LONGEST {
            return Err(unread());
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| unread())?;
        let (of, page, last): (String, u64, Vec<Json>) = serde_json::from_slice(&bytes).map_err(|_| unread())?;
        // No list has so many pages, and there is always a number after this one.
        if page == 0 || page > u64::from(u32::MAX) {
            return Err(unread());
        }
        if of != sort {
            return Err(wrong("is of a list in another order; send the `sort` that it was given for"));
        }
        Ok(Self { page, last })
    }

    /// The rows of the list from here on.
    pub fn rest<E: EntityTrait>(&self, ordering: &Ordering<E>) -> Result<Condition> {
        let wrong = || Error::field("cursor", "is not of this list; leave it out to begin");
        if ordering.len() != self.last.len() {
            return Err(wrong());
        }
        let values = ordering.iter().zip(&self.last).map(|((column, _), json)| match json {
            Json::Null => Ok(None),
            json => value(column.def().get_column_type(), json).map(Some).ok_or_else(wrong),
        });
        let values: Vec<Option<Value>> = values.collect::<Result<_>>()?;
        Ok(behind::<E>(ordering, &values))
    }
}

/// The cursor of what comes after `row`, on page `page` of a list in the order of `sort`.
pub fn after<M: ModelTrait>(row: &M, sort: &str, page: u64, ordering: &Ordering<M::Entity>) -> String {
    let last: Vec<Json> = ordering.iter().map(|(column, _)| json(row.get(*column))).collect();
    URL_SAFE_NO_PAD.encode(serde_json::json!([sort, page, last]).to_string())
}

/// Rows that come later in this order than `row` does.
pub fn behind_row<M: ModelTrait>(row: &M, ordering: &Ordering<M::Entity>) -> Condition {
    let values: Vec<Option<Value>> = ordering
        .iter()
        .map(|(column, _)| {
            let value = row.get(*column);
            (json(value.clone()) != Json::Null).then_some(value)
        })
        .collect();
    behind::<M::Entity>(ordering, &values)
}

/// Rows with more in the first column, or as much there and more in the next, and so on. What is missing is less than
/// everything else, as lists have it.
fn behind<E: EntityTrait>(ordering: &Ordering<E>, values: &[Option<Value>]) -> Condition {
    let mut any = Condition::any();
    let mut same = Condition::all();
    for ((column, order), value) in ordering.iter().zip(values) {
        let later = match (order, value) {
            (Order::Desc, None) => None,
            (Order::Desc, Some(value)) => {
                let less = Condition::any().add(column.lt(value.clone()));
                Some(if column.def().is_null() { less.add(column.is_null()) } else { less })
            }
            (_, None) => Some(Condition::any().add(column.is_not_null())),
            (_, Some(value)) => Some(Condition::any().add(column.gt(value.clone()))),
        };
        if let Some(later) = later {
            any = any.add(same.clone().add(later));
        }
        same = same.add(value.as_ref().map_or_else(|| column.is_null(), |value| column.eq(value.clone())));
    }
    // What an index of the first column can begin at, which it cannot at one of several conditions.
    let from = match (ordering.first(), values.first()) {
        (Some((column, Order::Desc)), Some(Some(value))) if !column.def().is_null() => Some(column.lte(value.clone())),
        (Some((column, Order::Asc)), Some(Some(value))) => Some(column.gte(value.clone())),
        _ => None,
    };
    from.map_or_else(Condition::all, |from| Condition::all().add(from)).add(any)
}

/// What a column has, in a cursor.
fn json(value: Value) -> Json {
    match value {
        Value::Bool(value) => value.into(),
        Value::SmallInt(value) => value.into(),
        Value::Int(value) => value.into(),
        Value::BigInt(value) => value.into(),
        Value::String(value) => value.into(),
        Value::Uuid(value) => value.map(|id| id.to_string()).into(),
        Value::ChronoDateTimeUtc(value) => value.map(|at| Instant::from(at).to_string()).into(),
        _ => Json::Null,
    }
}

/// What a cursor says of a column of this kind, unless it cannot be of it.
fn value(kind: &ColumnType, json: &Json) -> Option<Value> {
    let text = json.as_str();
    Some(match kind {
        ColumnType::Uuid => text?.parse::<Uuid>().ok()?.into(),
        ColumnType::Boolean => json.as_bool()?.into(),
        ColumnType::SmallInteger | ColumnType::Integer | ColumnType::BigInteger => json.as_i64()?.into(),
        ColumnType::DateTime | ColumnType::Timestamp | ColumnType::TimestampWithTimeZone => {
            Instant::parse(text?)?.into()
        }
        _ => text.filter(|text| !text.contains('\0'))?.into(),
    })
}
