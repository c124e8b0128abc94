//! What is read of business days, in as many queries for many days as for one.

use std::collections::{BTreeMap, HashMap};

use sea_orm::sea_query::{Nullable, ValueType};
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, TryGetable, Value};
use tillkeep_model::receipt::ReceiptNumber;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::words::SaleType;
use uuid::Uuid;

use super::day::Figures;
use super::zz::LastZz;
use crate::db::{Row, placeholders, query};
use crate::document::flags::{FOREIGN_NUMBER, has_foreign_number};
use crate::entity::register_session;
use crate::many::find_by_rows;
use crate::numbers::Given;
use crate::numbers::lost::{self, Lost};
use crate::reports::sums::{amount, counted, summed};

/// Series of which the numbers before the first one are asked for.
const SERIES: usize = 1000;

/// Sums of one session on one day.
pub(super) struct Sums {
    pub date: String,
    pub register: String,
    pub session: Uuid,
    pub figures: Figures,
}

/// What was read.
pub(super) struct Facts {
    pub sessions: Vec<register_session::Model>,
    pub sums: Vec<Sums>,
    /// (business date, series, receipt number)
    pub receipts: Vec<(String, String, String)>,
    pub lost: Lost,
    /// Of each series: the last receipt before the first one that was read.
    pub receipt_before: HashMap<String, String>,
    pub session_before: HashMap<String, i64>,
    pub zz_before: LastZz,
}

impl Facts {
    /// Reads the days `dates` (rising) of `store`.
    pub(super) async fn read(conn: &impl ConnectionTrait, store: Uuid, dates: &[String]) -> Result<Self, DbErr> {
        let sessions = register_session::Entity::find()
            .filter(register_session::Column::StoreId.eq(store))
            .filter(register_session::Column::BusinessDate.is_in(dates))
            .order_by_asc(register_session::Column::RegisterCode)
            .order_by_asc(register_session::Column::SessionNumber)
            .all(conn)
            .await?;
        let sums = sums(conn, store, dates).await?;
        let receipts = receipts(conn, store, dates).await?;
        let receipt_before = receipt_before(conn, store, &receipts).await?;
        let session_before = session_before(conn, store, &sessions).await?;
        let zz_before = LastZz::before(conn, store, &sessions).await?;
        let lost = Lost::new(lost::all(conn, Some(store)).await?);
        Ok(Self { sessions, sums, receipts, lost, receipt_before, session_before, zz_before })
    }
}

fn on_days(store: Uuid, dates: &[String]) -> (String, Vec<Value>) {
    let values = std::iter::once(store.into()).chain(dates.iter().map(|date| date.as_str().into()));
    // Day by day: the index has the date first, for the reports of the chain.
    (format!("store_id = $1 AND business_date IN ({})", placeholders(2, dates.len())), values.collect())
}

async fn sums(conn: &impl ConnectionTrait, store: Uuid, dates: &[String]) -> Result<Vec<Sums>, DbErr> {
    // By no column of an index: SQLite would group along the index of all receipts of the store rather than read those of the days.
    let (filter, mut values) = on_days(store, dates);
    let (voided, refund, settlement) = (values.len() + 1, values.len() + 2, values.len() + 3);
    values.extend([
        SaleStatus::Voided.word().into(),
        SaleType::Refund.word().into(),
        SaleType::Settlement.word().into(),
    ]);
    let summed = |column: &str| summed(column, &format!("status <> ${voided}"));
    let sql = format!(
        "SELECT business_date, register_code || '' AS register_code, register_session_id, \
         {} AS sale_count, {} AS refunds, {} AS voids, {}, {}, {} FROM sales WHERE {filter} \
         GROUP BY business_date, register_code || '', register_session_id",
        counted(&format!("status <> ${voided} AND sale_type NOT IN (${refund}, ${settlement})")),
        counted(&format!("status <> ${voided} AND sale_type = ${refund}")),
        counted(&format!("status = ${voided}")),
        summed("net_amount"),
        summed("tax_amount"),
        summed("total_amount"),
    );
    let rows = query(conn, &sql, values).await?;
    rows.iter()
        .map(|row| {
            Ok(Sums {
                date: row.try_get("", "business_date")?,
                register: row.try_get("", "register_code")?,
                session: row.try_get("", "register_session_id")?,
                figures: Figures {
                    sale_count: row.try_get("", "sale_count")?,
                    refund_count: row.try_get("", "refunds")?,
                    void_count: row.try_get("", "voids")?,
                    net_amount: amount(row, "net_amount")?,
                    tax_amount: amount(row, "tax_amount")?,
                    total_amount: amount(row, "total_amount")?,
                },
            })
        })
        .collect()
}

async fn receipts(
    conn: &impl ConnectionTrait,
    store: Uuid,
    dates: &[String],
) -> Result<Vec<(String, String, String)>, DbErr> {
    let (filter, values) = on_days(store, dates);
    let sql = format!("SELECT business_date, register_code, receipt_number, flags FROM sales WHERE {filter}");
    let mut out = Vec::new();
    for row in query(conn, &sql, values).await? {
        // What another store's number says of this one is nothing; the sale itself counts in its sums.
        if !has_foreign_number(&row.try_get("", "flags")?) {
            let (register, receipt): (String, String) =
                (row.try_get("", "register_code")?, row.try_get("", "receipt_number")?);
            let series = ReceiptNumber::parse(&receipt).map(|receipt| receipt.register_code);
            let series = series.filter(|series| ReceiptNumber::register_of(series) == register).unwrap_or(register);
            out.push((row.try_get("", "business_date")?, series, receipt));
        }
    }
    Ok(out)
}

/// Of each series the last receipt before its first one here: one look into the index each.
async fn receipt_before(
    conn: &impl ConnectionTrait,
    store: Uuid,
    receipts: &[(String, String, String)],
) -> Result<HashMap<String, String>, DbErr> {
    let mut firsts: BTreeMap<&str, &str> = BTreeMap::new();
    for (_, register, receipt) in receipts {
        // Text sorts like its number only among texts of one length.
        let order = |text: &str| (text.len(), text.to_owned());
        let first = firsts.entry(register).or_insert(receipt);
        if order(receipt) < order(first) {
            *first = receipt;
        }
    }
    let firsts = firsts.into_iter().take(SERIES).map(|(series, first)| {
        // Only what begins as it does comes before it: not a number of another store.
        let own = ReceiptNumber::parse(first);
        let lowest = own.map_or_else(String::new, |own| format!("{}-{}-", own.store_code, own.register_code));
        [series.into(), ReceiptNumber::register_of(series).into(), lowest.into(), first.into()]
    });
    let sql = "WITH r (series, register, lowest, first) AS (VALUES $rows) \
               SELECT r.series, (SELECT s.receipt_number FROM sales s WHERE s.store_id = $1 AND s.register_code = r.register \
               AND s.receipt_number < r.first AND s.receipt_number >= r.lowest \
               AND LENGTH(s.receipt_number) = LENGTH(r.first) ORDER BY s.receipt_number DESC LIMIT 1) AS before FROM r";
    let row = "(CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT))";
    by_series(&find_by_rows(conn, sql, &[store.into()], row, firsts).await?)
}

/// Of each series the number of the last session before its first one here.
async fn session_before(
    conn: &impl ConnectionTrait,
    store: Uuid,
    sessions: &[register_session::Model],
) -> Result<HashMap<String, i64>, DbErr> {
    let mut firsts: BTreeMap<(&str, String), i64> = BTreeMap::new();
    for session in sessions.iter().filter(|session| !has_foreign_number(&session.flags)) {
        let Given { letter, number } = Given::session(session.session_number.into());
        let first = firsts.entry((&session.register_code, letter)).or_insert(number);
        *first = (*first).min(number);
    }
    let firsts = firsts.into_iter().take(SERIES).map(|((register, letter), first)| {
        let number = |number| Given { letter: letter.clone(), number }.of_session();
        [format!("{register}{letter}").into(), register.into(), number(0).into(), number(first).into()]
    });
    let sql = format!(
        "WITH r (series, register, lowest, first) AS (VALUES $rows) \
         SELECT r.series, (SELECT CAST(MAX(s.session_number) - r.lowest AS BIGINT) FROM register_sessions s \
         WHERE s.store_id = $1 AND s.register_code = r.register AND s.session_number < r.first \
         AND s.session_number > r.lowest AND s.flags NOT LIKE '%\"{FOREIGN_NUMBER}\"%') AS before FROM r"
    );
    let row = "(CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT))";
    by_series(&find_by_rows(conn, &sql, &[store.into()], row, firsts).await?)
}

/// What came before, of each series of which something did.
fn by_series<T: TryGetable + ValueType + Nullable>(rows: &[Row]) -> Result<HashMap<String, T>, DbErr> {
    let mut out = HashMap::new();
    for row in rows {
        if let Some(value) = row.try_get::<Option<T>>("", "before")? {
            out.insert(row.try_get("", "series")?, value);
        }
    }
    Ok(out)
}
