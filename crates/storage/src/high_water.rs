//! The highest numbers that HQ has of a store, so that a store that was put back or made anew gives none twice.
//! `docs/sync.md`, rule D8.

use std::collections::BTreeMap;

use sea_orm::{ConnectionTrait, DbErr};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::db::query;
use crate::push::FOREIGN_NUMBER;

/// The series that has the time of the last entry of the outbox, in milliseconds since 1970.
pub const OUTBOX_TIME: &str = "outbox_time";

/// Numbers as texts that end in `-` and the number, one series for each value of `by`.
struct Numbered {
    series: &'static str,
    table: &'static str,
    number: &'static str,
    store: &'static str,
    /// Column whose value ends the name of the series.
    by: Option<&'static str>,
    /// What stands between the store's code and the number.
    infix: &'static str,
}

const NUMBERED: &[Numbered] = &[
    Numbered {
        series: "receipt:",
        table: "sales",
        number: "receipt_number",
        store: "store_id",
        by: Some("register_code"),
        infix: "-",
    },
    Numbered {
        series: "customer",
        table: "customers",
        number: "customer_number",
        store: "origin_store_id",
        by: None,
        infix: "-",
    },
    Numbered {
        series: "transfer",
        table: "transfers",
        number: "transfer_number",
        store: "from_store_id",
        by: None,
        infix: "-TR-",
    },
    Numbered {
        series: "po",
        table: "purchase_orders",
        number: "po_number",
        store: "store_id",
        by: None,
        infix: "-PO-",
    },
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
    let sql = "SELECT MAX(seq) AS last FROM sync_log WHERE store_id = $1 AND node_epoch = $2";
    for row in query(conn, sql, [store.into(), node_epoch.into()]).await? {
        if let Some(last) = row.try_get::<Option<i64>>("", "last")? {
            out.insert("outbox".to_owned(), last);
        }
    }
    for Numbered { series, table, number, store: column, by, infix } in NUMBERED {
        let (part, group) = by.map_or(("''", String::new()), |by| (by, format!("{by}, ")));
        // Text sorts like its number only among texts of one length.
        let sql = format!(
            "SELECT {part} AS part, MAX({number}) AS last FROM {table} WHERE {column} = $1 AND {number} LIKE $2 \
             GROUP BY {group}LENGTH({number}) ORDER BY LENGTH({number})"
        );
        for row in query(conn, &sql, [store.into(), format!("{store_code}{infix}%").into()]).await? {
            let (part, last): (String, String) = (row.try_get("", "part")?, row.try_get("", "last")?);
            let digits: Option<i64> = last.rsplit('-').next().and_then(|digits| digits.parse().ok());
            if let Some(last) = digits {
                let highest: &mut i64 = out.entry(format!("{series}{part}")).or_default();
                *highest = last.max(*highest);
            }
        }
    }
    // A store that forgot the time of its last entry would date its next ones before what HQ has applied (rule U8).
    let sql = "SELECT MAX(envelope_at) AS last FROM sync_log WHERE store_id = $1";
    for row in query(conn, sql, [store.into()]).await? {
        if let Some(last) = row.try_get::<Option<Instant>>("", "last")? {
            out.insert(OUTBOX_TIME.to_owned(), last.millis());
        }
    }
    let sql = format!(
        "SELECT register_code, MAX(session_number) AS last FROM register_sessions WHERE store_id = $1 \
         AND flags NOT LIKE '%\"{FOREIGN_NUMBER}\"%' GROUP BY register_code"
    );
    for row in query(conn, &sql, [store.into()]).await? {
        let (register, last): (String, i32) = (row.try_get("", "register_code")?, row.try_get("", "last")?);
        out.insert(format!("session:{register}"), i64::from(last));
    }
    Ok(out)
}
