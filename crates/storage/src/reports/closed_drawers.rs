//! What drawers were over and short, and which reports of several drawers (ZZ) stores have made. Each is reckoned from the drawers
//! themselves: nothing else of them travels.

use std::collections::BTreeSet;

use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, Value};
use tillkeep_model::Money;
use tillkeep_model::state::SessionStatus;
use uuid::Uuid;

use super::sums::{amount, counted, summed};
use crate::db::{Row, placeholders, query};
use crate::entity::register_session::{Column, Entity, Model};

/// What was over and what was short: never netted, or a drawer that is over would hide one that is short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OverAndShort {
    /// Closed drawers.
    pub closes: i64,
    /// Those that were closed by force, of which nobody knows what was in them.
    pub forced: i64,
    /// Those of which the cash was counted.
    pub counted: i64,
    pub over: Money,
    /// Never above zero.
    pub short: Money,
}

impl OverAndShort {
    /// Both together, with their signs.
    #[must_use]
    pub fn variance(self) -> Money {
        Money::from_wide(i128::from(self.over.0) + i128::from(self.short.0))
    }

    /// The sum of what each drawer was off.
    #[must_use]
    pub fn absolute(self) -> Money {
        Money::from_wide(i128::from(self.over.0) - i128::from(self.short.0))
    }

    /// Of these drawers and of others.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let both = |one: Money, other: Money| Money::from_wide(i128::from(one.0) + i128::from(other.0));
        Self {
            closes: self.closes.saturating_add(other.closes),
            forced: self.forced.saturating_add(other.forced),
            counted: self.counted.saturating_add(other.counted),
            over: both(self.over, other.over),
            short: both(self.short, other.short),
        }
    }

    fn read(row: &Row) -> Result<Self, DbErr> {
        Ok(Self {
            closes: row.try_get("", "closes")?,
            forced: row.try_get("", "forced")?,
            counted: row.try_get("", "counted")?,
            over: amount(row, "over_by")?,
            short: amount(row, "short_by")?,
        })
    }
}

/// By what drawers are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Day,
    /// Whoever had the drawer when it was closed.
    Person,
    Store,
}

impl By {
    const fn column(self) -> &'static str {
        match self {
            Self::Day => "business_date",
            Self::Person => "person",
            Self::Store => "store_id",
        }
    }
}

/// The drawers of one day, person or store in one currency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variance {
    pub business_date: Option<String>,
    pub person: Option<Uuid>,
    pub store: Option<Uuid>,
    pub currency_code: String,
    pub currency_exponent: i16,
    pub sums: OverAndShort,
}

/// Drawers that count.
#[derive(Clone, Copy, Debug)]
pub struct Range<'a> {
    /// Business dates, both of them in it.
    pub from: &'a str,
    pub to: &'a str,
    /// `None` is all of them.
    pub stores: Option<&'a BTreeSet<Uuid>>,
    /// Only those of whoever had them when they were closed.
    pub person: Option<Uuid>,
}

/// The condition that a column names one of these stores, whose ids go to `values`.
pub(super) fn one_of(column: &str, stores: Option<&BTreeSet<Uuid>>, values: &mut Vec<Value>) -> String {
    let Some(stores) = stores else { return "TRUE".to_owned() };
    if stores.is_empty() {
        return "FALSE".to_owned();
    }
    let places = placeholders(values.len() + 1, stores.len());
    values.extend(stores.iter().copied().map(Value::from));
    format!("{column} IN ({places})")
}

/// Closed drawers, each with what it was over and short.
const DRAWERS: &str = "SELECT d.store_id, d.register_code, d.session_number, d.business_date, d.forced, d.cash_variance, \
     d.zz_number, d.store_zz_number, COALESCE(d.owner_id, d.opened_by) AS person, \
     CASE WHEN d.cash_variance > 0 THEN d.cash_variance ELSE 0 END AS over_by, \
     CASE WHEN d.cash_variance < 0 THEN d.cash_variance ELSE 0 END AS short_by \
     FROM register_sessions d WHERE d.status = $1";

fn sums() -> String {
    format!(
        "CAST(COUNT(*) AS BIGINT) AS closes, {} AS forced, {} AS counted, {}, {}",
        counted("c.forced"),
        counted("c.cash_variance IS NOT NULL"),
        summed("over_by", "TRUE"),
        summed("short_by", "TRUE"),
    )
}

/// What drawers were over and short, by what they are put together by; by day, the oldest first. Amounts of two currencies are
/// never added.
pub async fn variances(conn: &impl ConnectionTrait, by: By, range: Range<'_>) -> Result<Vec<Variance>, DbErr> {
    let mut values: Vec<Value> = vec![SessionStatus::Closed.word().into(), range.from.into(), range.to.into()];
    let here = one_of("d.store_id", range.stores, &mut values);
    let theirs = match range.person {
        Some(person) => {
            values.push(person.into());
            format!("COALESCE(d.owner_id, d.opened_by) = ${}", values.len())
        }
        None => "TRUE".to_owned(),
    };
    let key = by.column();
    let sql = format!(
        "SELECT c.{key}, s.currency_code, s.currency_exponent, {} FROM ({DRAWERS} AND d.business_date >= $2 \
         AND d.business_date <= $3 AND {here} AND {theirs}) c JOIN stores s ON s.id = c.store_id \
         GROUP BY c.{key}, s.currency_code, s.currency_exponent ORDER BY c.{key}, s.currency_code",
        sums()
    );
    let rows = query(conn, &sql, values).await?;
    rows.iter()
        .map(|row| {
            Ok(Variance {
                business_date: if by == By::Day { Some(row.try_get("", key)?) } else { None },
                person: if by == By::Person { Some(row.try_get("", key)?) } else { None },
                store: if by == By::Store { Some(row.try_get("", key)?) } else { None },
                currency_code: row.try_get("", "currency_code")?,
                currency_exponent: row.try_get("", "currency_exponent")?,
                sums: OverAndShort::read(row)?,
            })
        })
        .collect()
}

/// One report of several drawers: of a register, or of all those of a store, which is another series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zz {
    pub store: Uuid,
    /// `None`: of the whole store.
    pub register_code: Option<String>,
    pub number: i32,
    /// Of the drawers of one register.
    pub sessions: Option<(i32, i32)>,
    pub from_date: String,
    pub to_date: String,
    pub sums: OverAndShort,
}

/// Which reports are meant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// `None` is all of them.
    pub stores: Option<&'a BTreeSet<Uuid>>,
    /// Only those of this register.
    pub register_code: Option<&'a str>,
}

/// One page of them, the newest first, and how many there are.
pub async fn zz_page(
    conn: &impl ConnectionTrait,
    wanted: Wanted<'_>,
    limit: u64,
    offset: u64,
) -> Result<(Vec<Zz>, u64), DbErr> {
    let mut values: Vec<Value> = vec![SessionStatus::Closed.word().into()];
    let here = one_of("d.store_id", wanted.stores, &mut values);
    let of_register = match wanted.register_code {
        Some(code) => {
            values.push(code.into());
            format!("c.register_code = ${}", values.len())
        }
        None => "TRUE".to_owned(),
    };
    let of = |register: &str, number: &str, which: &str, group: &str| {
        format!(
            "SELECT c.store_id, {register} AS register_code, c.{number} AS number, MIN(c.session_number) AS from_number, \
             MAX(c.session_number) AS to_number, MIN(c.business_date) AS from_date, MAX(c.business_date) AS to_date, {} \
             FROM drawers c WHERE c.{number} IS NOT NULL AND {which} GROUP BY c.store_id, {group} c.{number}",
            sums()
        )
    };
    let registers = of("c.register_code", "zz_number", &of_register, "c.register_code,");
    let both = match wanted.register_code {
        Some(_) => registers,
        None => format!("{registers} UNION ALL {}", of("CAST(NULL AS TEXT)", "store_zz_number", "TRUE", "")),
    };
    let with = format!("WITH drawers AS ({DRAWERS} AND {here}), reports AS ({both})");
    let total =
        query(conn, &format!("{with} SELECT CAST(COUNT(*) AS BIGINT) AS n FROM reports"), values.clone()).await?;
    let total: i64 = total.first().map_or(Ok(0), |row| row.try_get("", "n"))?;
    let page = format!(
        "{with} SELECT * FROM reports ORDER BY to_date DESC, store_id, COALESCE(register_code, ''), number DESC \
         LIMIT {limit} OFFSET {offset}"
    );
    let rows = query(conn, &page, values).await?;
    let rows = rows.iter().map(zz).collect::<Result<_, _>>()?;
    Ok((rows, u64::try_from(total).unwrap_or_default()))
}

fn zz(row: &Row) -> Result<Zz, DbErr> {
    let register_code: Option<String> = row.try_get("", "register_code")?;
    let sessions = match register_code {
        Some(_) => Some((row.try_get("", "from_number")?, row.try_get("", "to_number")?)),
        None => None,
    };
    Ok(Zz {
        store: row.try_get("", "store_id")?,
        register_code,
        number: row.try_get("", "number")?,
        sessions,
        from_date: row.try_get("", "from_date")?,
        to_date: row.try_get("", "to_date")?,
        sums: OverAndShort::read(row)?,
    })
}

/// The drawers of one such report, in their order; none when there is no such report.
pub async fn of_zz(
    conn: &impl ConnectionTrait,
    store: Uuid,
    register_code: Option<&str>,
    number: i32,
) -> Result<Vec<Model>, DbErr> {
    let select =
        Entity::find().filter(Column::StoreId.eq(store)).filter(Column::Status.eq(SessionStatus::Closed.word()));
    let select = match register_code {
        Some(code) => select.filter(Column::RegisterCode.eq(code)).filter(Column::ZzNumber.eq(number)),
        None => select.filter(Column::StoreZzNumber.eq(number)),
    };
    select.order_by_asc(Column::RegisterCode).order_by_asc(Column::SessionNumber).all(conn).await
}
