//! The numbers of documents: how far those that HQ has say that the series of a store are. `docs/sync.md`, rule D8.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr};
use uuid::Uuid;

use super::given::{Given, SESSIONS_OF_A_LETTER, series_name};
use crate::db::query;
use crate::document::flags::FOREIGN_NUMBER;
use crate::document::{Form, Numbering};
use crate::registry;
use crate::rows::Row;

/// What the documents of a store say of its series, believed or not.
pub(crate) async fn load(
    conn: &impl ConnectionTrait,
    store: Uuid,
    store_code: &str,
) -> Result<BTreeMap<String, i64>, DbErr> {
    load_of(conn, store, store_code, "").await
}

/// As [`load`], of the documents that `and_which` leaves, a condition with its `AND`.
pub(crate) async fn load_of(
    conn: &impl ConnectionTrait,
    store: Uuid,
    store_code: &str,
    and_which: &str,
) -> Result<BTreeMap<String, i64>, DbErr> {
    let mut highest = BTreeMap::new();
    for numbering in registry::pushed().filter_map(|(_, pushed)| pushed.number) {
        let found = match numbering.form {
            Form::Text { infix } => texts(conn, store, numbering, &format!("{store_code}{infix}"), and_which).await?,
            Form::Whole => whole(conn, store, numbering, and_which).await?,
        };
        for (series, number) in found {
            let last: &mut i64 = highest.entry(series).or_default();
            *last = number.max(*last);
        }
    }
    Ok(highest)
}

/// Numbers as texts that begin with `begin` and end in `-` and the number.
async fn texts(
    conn: &impl ConnectionTrait,
    store: Uuid,
    numbering: &Numbering,
    begin: &str,
    and_which: &str,
) -> Result<Vec<(String, i64)>, DbErr> {
    let Numbering { kind, table, column: number, store: column, register, .. } = numbering;
    let (part, group) = register.map_or(("''", String::new()), |register| (register, format!("{register}, ")));
    let prefix = format!("RTRIM({number}, '0123456789')");
    // Text sorts like its number only among texts of one beginning and one length.
    let sql = format!(
        "SELECT {part} AS part, {prefix} AS prefix, MAX({number}) AS last FROM {table} \
         WHERE {column} = $1 AND {number} LIKE $2 {and_which} GROUP BY {group}{prefix}, LENGTH({number})"
    );
    let mut found = Vec::new();
    for row in query(conn, &sql, [store.into(), format!("{begin}%").into()]).await? {
        let (part, last): (String, String) = (row.try_get("", "part")?, row.try_get("", "last")?);
        let prefix: String = row.try_get("", "prefix")?;
        if let Some(last) = last.get(prefix.len()..).and_then(|digits| digits.parse::<i64>().ok()) {
            found.push((series_name(kind, &part, letter_in(&prefix, begin, &part)), last));
        }
    }
    Ok(found)
}

/// Whole numbers, one series for each register and letter.
async fn whole(
    conn: &impl ConnectionTrait,
    store: Uuid,
    numbering: &Numbering,
    and_which: &str,
) -> Result<Vec<(String, i64)>, DbErr> {
    let Numbering { kind, table, column: number, store: column, register, .. } = numbering;
    let part = register.unwrap_or("''");
    let sql = format!(
        "SELECT {part} AS part, MAX({number}) AS last FROM {table} WHERE {column} = $1 \
         AND flags NOT LIKE '%\"{FOREIGN_NUMBER}\"%' {and_which} GROUP BY {part}, {number} / {SESSIONS_OF_A_LETTER}"
    );
    let mut found = Vec::new();
    for row in query(conn, &sql, [store.into()]).await? {
        let (part, last): (String, i32) = (row.try_get("", "part")?, row.try_get("", "last")?);
        let Given { letter, number } = Given::session(last.into());
        found.push((series_name(kind, &part, &letter), number));
    }
    Ok(found)
}

/// The number that a row brings from its store, with its series; none that begins otherwise than the store's do.
pub(crate) fn brought(numbering: &Numbering, row: &dyn Row, store_code: &str) -> Option<(String, i64)> {
    let part = || numbering.register.map_or_else(|| Some(String::new()), |register| row.text(register));
    let Form::Text { infix } = numbering.form else {
        let Given { letter, number } = Given::session(row.integer(numbering.column)?);
        return Some((series_name(numbering.kind, &part()?, &letter), number));
    };
    let text = row.text(numbering.column)?;
    let begin = format!("{store_code}{infix}");
    let prefix = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let digits = text.get(prefix.len()..).filter(|digits| !digits.is_empty() && prefix.starts_with(&begin))?;
    let part = part()?;
    // Longer than any number is further ahead than any.
    let number = digits.parse().unwrap_or(i64::MAX);
    Some((series_name(numbering.kind, &part, letter_in(prefix, &begin, &part)), number))
}

/// The letter of a series in the text before a number: `S01-02A-` of register `02`, `S01-A`.
fn letter_in<'a>(prefix: &'a str, begin: &str, part: &str) -> &'a str {
    let rest = prefix.strip_prefix(begin).and_then(|rest| rest.strip_prefix(part)).unwrap_or_default();
    let letters = if part.is_empty() { rest } else { rest.trim_end_matches('-') };
    if letters.bytes().all(|byte| byte.is_ascii_uppercase()) { letters } else { "" }
}
