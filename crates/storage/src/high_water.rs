//! The highest numbers that HQ has of a store, so that a store that was put back or made anew gives none twice.
//! `docs/sync.md`, rule D8.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::db::query;
use crate::known_numbers::{self, OUTBOX};
use crate::nodes;
use crate::numbers::{Given, SESSIONS_OF_A_LETTER, series_name};
use crate::push::FOREIGN_NUMBER;
use crate::registry::Row;

/// The series that has the time of the last entry of the outbox, in milliseconds since 1970.
pub const OUTBOX_TIME: &str = "outbox_time";

/// Numbers as texts that end in `-` and the number, one series for each value of `by`.
struct Numbered {
    kind: &'static str,
    table: &'static str,
    number: &'static str,
    store: &'static str,
    /// Column that has the register, whose series it is.
    by: Option<&'static str>,
    /// What stands between the store's code and the number.
    infix: &'static str,
}

const NUMBERED: &[Numbered] = &[
    Numbered {
        kind: "receipt",
        table: "sales",
        number: "receipt_number",
        store: "store_id",
        by: Some("register_code"),
        infix: "-",
    },
    Numbered {
        kind: "customer",
        table: "customers",
        number: "customer_number",
        store: "origin_store_id",
        by: None,
        infix: "-",
    },
    Numbered {
        kind: "transfer",
        table: "transfers",
        number: "transfer_number",
        store: "from_store_id",
        by: None,
        infix: "-TR-",
    },
    Numbered { kind: "po", table: "purchase_orders", number: "po_number", store: "store_id", by: None, infix: "-PO-" },
];

/// By the store's names of its series: receipts and sessions of each register, customers, transfers, orders, the time of
/// the last entry, and the outbox of this very database (another one counts for itself). Numbers that begin with another
/// store's code are none of this one's.
pub async fn of_store(
    conn: &impl ConnectionTrait,
    store: Uuid,
    store_code: &str,
    node_epoch: &str,
) -> Result<BTreeMap<String, i64>, DbErr> {
    let mut out = BTreeMap::new();
    if let Some(last) = nodes::epochs(conn, store).await?.get(node_epoch) {
        out.insert(OUTBOX.to_owned(), *last);
    }
    out.extend(of_documents(conn, store, store_code).await?);
    out.extend(known_numbers::of_store(conn, store, None).await?.into_iter().filter(|(name, _)| name != OUTBOX));
    // A store that forgot the time of its last entry would date its next ones before what HQ has applied (rule U8).
    let sql = "SELECT MAX(last) AS last FROM (SELECT MAX(envelope_at) AS last FROM sync_log WHERE store_id = $1 \
               UNION ALL SELECT MAX(envelope_until) FROM sync_log_nodes WHERE store_id = $1) AS both_tables";
    for row in query(conn, sql, [store.into()]).await? {
        if let Some(last) = row.try_get::<Option<Instant>>("", "last")? {
            out.insert(OUTBOX_TIME.to_owned(), last.millis());
        }
    }
    Ok(out)
}

/// What the documents of a store say of its series, believed or not.
pub(crate) async fn of_documents(
    conn: &impl ConnectionTrait,
    store: Uuid,
    store_code: &str,
) -> Result<BTreeMap<String, i64>, DbErr> {
    let mut out = BTreeMap::new();
    for Numbered { kind, table, number, store: column, by, infix } in NUMBERED {
        let (part, group) = by.map_or(("''", String::new()), |by| (by, format!("{by}, ")));
        let prefix = format!("RTRIM({number}, '0123456789')");
        // Text sorts like its number only among texts of one beginning and one length.
        let sql = format!(
            "SELECT {part} AS part, {prefix} AS prefix, MAX({number}) AS last FROM {table} \
             WHERE {column} = $1 AND {number} LIKE $2 GROUP BY {group}{prefix}, LENGTH({number})"
        );
        let begin = format!("{store_code}{infix}");
        for row in query(conn, &sql, [store.into(), format!("{begin}%").into()]).await? {
            let (part, last): (String, String) = (row.try_get("", "part")?, row.try_get("", "last")?);
            let prefix: String = row.try_get("", "prefix")?;
            if let Some(last) = last.get(prefix.len()..).and_then(|digits| digits.parse::<i64>().ok()) {
                let letter = letter_in(&prefix, &begin, &part);
                let highest: &mut i64 = out.entry(series_name(kind, &part, letter)).or_default();
                *highest = last.max(*highest);
            }
        }
    }
    let sql = format!(
        "SELECT register_code, MAX(session_number) AS last FROM register_sessions WHERE store_id = $1 \
         AND flags NOT LIKE '%\"{FOREIGN_NUMBER}\"%' GROUP BY register_code, session_number / {SESSIONS_OF_A_LETTER}"
    );
    for row in query(conn, &sql, [store.into()]).await? {
        let (register, last): (String, i32) = (row.try_get("", "register_code")?, row.try_get("", "last")?);
        let Given { letter, number } = Given::session(last.into());
        out.insert(series_name("session", &register, &letter), number);
    }
    Ok(out)
}

/// The number that a row brings from its store, with its series; none that begins otherwise than the store's do.
pub(crate) fn brought(table: &str, row: &dyn Row, store_code: &str) -> Option<(String, i64)> {
    if table == "register_sessions" {
        let Given { letter, number } = Given::session(row.integer("session_number")?);
        return Some((series_name("session", &row.text("register_code")?, &letter), number));
    }
    let Numbered { kind, number, by, infix, .. } = NUMBERED.iter().find(|numbered| numbered.table == table)?;
    let text = row.text(number)?;
    let begin = format!("{store_code}{infix}");
    let prefix = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let digits = text.get(prefix.len()..).filter(|digits| !digits.is_empty() && prefix.starts_with(&begin))?;
    let part = by.map_or_else(|| Some(String::new()), |by| row.text(by))?;
    // Longer than any number is further ahead than any.
    let number = digits.parse().unwrap_or(i64::MAX);
    Some((series_name(kind, &part, letter_in(prefix, &begin, &part)), number))
}

/// The letter of a series in the text before a number: `S01-02A-` of register `02`, `S01-A`.
fn letter_in<'a>(prefix: &'a str, begin: &str, part: &str) -> &'a str {
    let rest = prefix.strip_prefix(begin).and_then(|rest| rest.strip_prefix(part)).unwrap_or_default();
    let letters = if part.is_empty() { rest } else { rest.trim_end_matches('-') };
    if letters.bytes().all(|byte| byte.is_ascii_uppercase()) { letters } else { "" }
}
