//! The journal of business days for bookkeepers: an entry of each store, day and currency, whose debits equal its credits.
//! `docs/integrate.md`, "Accounting".

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use axum::extract::State;
use chrono::Days;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tillkeep_http::documents::csv::{self, Cell, Csv, Listed};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::Money;
use tillkeep_model::accounting::{AccountKind, Chart};
use tillkeep_model::permission::code::ReportsZReport;
use tillkeep_storage::entity::store;
use tillkeep_storage::reports::journal::{self, Range};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tillkeep_storage::{Transaction, audit, settings};
use utoipa::ToSchema;
use uuid::Uuid;

use super::currencies::Currencies;
use super::posting::{Books, CARRIED_DAYS};
use super::variance::date;
use crate::Hq;
use crate::replica::Figures;
use crate::scope::OfReports;

/// Days of one answer at the most: a month.
const LONGEST: u64 = 31;
/// Different lines that are sold on them at the most, each day of each store by itself.
const MOST_LINES: u64 = 200_000;
/// Drawers of them at the most, with those of a month before that may carry movements of the safe.
const MOST_DRAWERS: u64 = 50_000;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = JournalQuery)]
pub(super) struct Query {
    /// The first business date.
    #[schema(format = Date)]
    from: String,
    /// The last one; at most 31 days of them.
    #[schema(format = Date)]
    to: String,
    /// Of this store alone.
    store_id: Option<Uuid>,
    /// `json` when not said.
    format: Option<Format>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = JournalFormat)]
enum Format {
    #[default]
    Json,
    Csv,
}

/// Entries of business days.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Journal)]
pub(super) struct Journal {
    from: String,
    to: String,
    /// The oldest day first, its stores by code. A day without any amount has none, unless a drawer is open.
    entries: Vec<Entry>,
}

/// The day of one store in one currency.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JournalEntry)]
struct Entry {
    business_date: String,
    store_id: Uuid,
    store_code: String,
    currency_code: String,
    currency_exponent: i16,
    /// Drawers of that day that are not closed yet: the entry may change.
    open_drawers: i64,
    /// What its lines come to, on either side.
    total: Money,
    lines: Vec<Line>,
}

/// What is booked on one account for one reason.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JournalLine)]
struct Line {
    account: String,
    /// What it is, such as `revenue`, `tax` or `cash`.
    kind: &'static str,
    /// Of the tax rates, the tender or the reason; null where there is none.
    code: Option<String>,
    /// One of the two is 0.
    debit: Money,
    credit: Money,
}

impl Line {
    fn new(chart: &Chart, (kind, code, sum): (AccountKind, Option<&str>, i128)) -> Self {
        Self {
            account: chart.account(kind, code).to_owned(),
            kind: kind.word(),
            code: code.map(str::to_owned),
            debit: Money::from_wide(sum.max(0)),
            credit: Money::from_wide(-sum.min(0)),
        }
    }
}

/// From which day on drawers may carry what is booked later.
fn check(query: &Query) -> Result<String> {
    let (from, to) = (date("from", &query.from)?, date("to", &query.to)?);
    if to < from {
        return Err(Error::field("to", "must not be before from"));
    }
    if from.checked_add_days(Days::new(LONGEST - 1)).is_some_and(|last| to > last) {
        return Err(Error::field("to", format!("must be within {LONGEST} days of from")));
    }
    Ok(from.checked_sub_days(Days::new(CARRIED_DAYS)).unwrap_or(from).to_string())
}

/// `GET /reports/journal`
pub(super) async fn get(
    caller: Caller<ReportsZReport>,
    State(hq): State<Arc<Hq>>,
    Params(query): Params<Query>,
) -> Result<Figures<Listed<Answer<Journal>>>> {
    let carried_from = check(&query)?;
    let scope = OfReports::of(&caller).narrowed(query.store_id)?;
    let range = Range { from: &query.from, to: &query.to, stores: scope.stores() };
    let as_file = query.format.unwrap_or_default() == Format::Csv;
    let carried_from = carried_from.as_str();
    let found = hq
        .figures(|conn| async move {
            // Documents, their lines and what was paid for them are of one moment.
            let conn = conn.begin().await?;
            let entries = entries(&conn, range, carried_from).await?;
            if as_file {
                return file(&entries).map(Listed::File);
            }
            let (from, to) = (range.from.to_owned(), range.to.to_owned());
            Ok(Listed::Json(Answer(Journal { from, to, entries })))
        })
        .await?;
    if as_file {
        let details = json!({"query": {"from": query.from, "to": query.to, "storeId": query.store_id}});
        caller.begin().await?.done(audit::Entry { details, ..caller.audit("journal.export") }).await?;
    }
    Ok(found)
}

fn fits(found: usize, most: u64) -> Result<()> {
    if u64::try_from(found).is_ok_and(|found| found > most) {
        let text = "so much was sold on these days that no journal has all of it: ask for fewer days, or for one store";
        return Err(Error::field("to", text));
    }
    Ok(())
}

async fn entries(conn: &Transaction, range: Range<'_>, carried_from: &str) -> Result<Vec<Entry>> {
    let mut books = Books::default();
    books.documents(&journal::documents(conn, range).await?);
    let lines = journal::lines(conn, range, MOST_LINES + 1).await?;
    fits(lines.len(), MOST_LINES)?;
    books.lines(&lines);
    books.payments(&journal::payments(conn, range).await?);
    let drawers = journal::drawers(conn, range, carried_from, MOST_DRAWERS + 1).await?;
    fits(drawers.len(), MOST_DRAWERS)?;
    books.drawers(&drawers, (range.from, range.to));

    let chart: Chart = match settings::get(conn, settings::ACCOUNTS).await? {
        Some(text) => serde_json::from_str(&text)?,
        None => Chart::default(),
    };
    let ids: BTreeSet<Uuid> = books.entries().map(|(day, _)| day.store).collect();
    let stores = store::Entity::find().filter(store::Column::Id.is_in(ids)).all(conn).await?;
    let currencies = Currencies::of(&stores);
    let codes: HashMap<Uuid, String> = stores.into_iter().map(|store| (store.id, store.code)).collect();
    let mut entries: Vec<Entry> = books
        .entries()
        .map(|(day, of)| Entry {
            business_date: day.business_date.clone(),
            store_id: day.store,
            store_code: codes.get(&day.store).cloned().unwrap_or_default(),
            currency_exponent: currencies.exponent(&day.currency_code),
            currency_code: day.currency_code.clone(),
            open_drawers: of.open_drawers,
            total: Money::from_wide(of.lines().map(|(_, _, sum)| sum.max(0)).sum()),
            lines: of.lines().map(|line| Line::new(&chart, line)).collect(),
        })
        // A day that is open is seen before anything is booked on it.
        .filter(|entry| !entry.lines.is_empty() || entry.open_drawers > 0)
        .collect();
    entries.sort_by(|one, other| place(one).cmp(&place(other)));
    Ok(entries)
}

fn place(entry: &Entry) -> (&str, &str, Uuid, &str) {
    (&entry.business_date, &entry.store_code, entry.store_id, &entry.currency_code)
}

/// The columns of a file; `docs/integrate.md` says what stands in them.
const COLUMNS: [&str; 9] =
    ["businessDate", "storeCode", "account", "kind", "code", "currencyCode", "debit", "credit", "openDrawers"];

fn file(entries: &[Entry]) -> Result<Csv> {
    let rows: usize = entries.iter().map(|entry| entry.lines.len()).sum();
    csv::fits(u64::try_from(rows).unwrap_or(u64::MAX))?;
    let mut file = Csv::new("journal", &COLUMNS);
    for (entry, line) in entries.iter().flat_map(|entry| entry.lines.iter().map(move |line| (entry, line))) {
        let side = |amount: Money| Cell::money(Some(amount).filter(|amount| amount.0 != 0), entry.currency_exponent);
        let cells: [Cell<'_>; COLUMNS.len()] = [
            Cell::Text(&entry.business_date),
            Cell::Text(&entry.store_code),
            Cell::Text(&line.account),
            Cell::Text(line.kind),
            Cell::text(line.code.as_deref()),
            Cell::Text(&entry.currency_code),
            side(line.debit),
            side(line.credit),
            Cell::Plain(entry.open_drawers.to_string()),
        ];
        file.row(&cells);
    }
    Ok(file)
}
