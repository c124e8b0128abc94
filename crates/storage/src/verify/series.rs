//! I6: the series of a store are not below what it has given, else it would give numbers again; and the time of its last
//! entry is no time to come, which all later ones would have to be after (rule U8).

use sea_orm::DbErr;
use tillkeep_model::Instant;

use super::finding::{Found, Options};
use super::source::Source;
use crate::db::query;
use crate::numbers::document_numbers;
use crate::series::{OUTBOX, OUTBOX_TIME};
use crate::{Side, outbox, series};

const TABLE: &str = "number_series";

/// How far beyond the newest entry, and beyond now, the time of the last one may be: clocks are put right by hours, and days
/// of them by hand.
const AHEAD_MS: i64 = 2 * 24 * 3600 * 1000;

/// Series that exist only once a number was taken from them.
const UNCOUNTED: [&str; 2] = ["po", "transfer"];

/// Documents that this very database made, and none that came back from headquarters or by hand.
const MADE_HERE: &str = "AND id IN (SELECT entity_id FROM sync_outbox WHERE action = 'create' \
     UNION SELECT entity_id FROM sync_outbox_sent WHERE action = 'create')";

pub(super) async fn last(source: &Source, options: &Options, found: &mut Found) -> Result<(), DbErr> {
    if source.side != Side::Store {
        return Ok(());
    }
    let series = series::all(&source.conn).await?;
    let last = |name: &str| series.get(name).copied().unwrap_or_default();
    let code = "SELECT code FROM stores WHERE id = $1";
    let mut given = match query(&source.conn, code, [source.store.into()]).await?.first() {
        Some(row) => {
            let code: String = row.try_get("", "code")?;
            document_numbers::load_of(&source.conn, source.store, &code, MADE_HERE).await?
        }
        None => return Ok(()),
    };
    given.insert(OUTBOX.to_owned(), outbox::highest(&source.conn).await?);
    // No route makes orders and transfers yet: where they are, they may not have been counted.
    given.retain(|name, _| series.contains_key(name) || !UNCOUNTED.contains(&name.as_str()));
    for (name, number) in given.into_iter().filter(|(name, number)| last(name) < *number) {
        let text = format!("the series ends at {}, and {number} was given", last(&name));
        found.add(source.store, TABLE, name, text);
    }
    let Some(newest) = newest(source).await? else { return Ok(()) };
    let time = last(OUTBOX_TIME);
    if time < newest.millis() {
        found.add(source.store, TABLE, OUTBOX_TIME, "the newest entry is later");
    }
    if let Some(now) = options.now
        && time > newest.max(now).plus_millis(AHEAD_MS).millis()
    {
        found.add(
            source.store,
            TABLE,
            OUTBOX_TIME,
            "no entry is as late, and it is days ahead: so would be all new ones",
        );
    }
    Ok(())
}

/// The time of the newest entry, sent or not.
async fn newest(source: &Source) -> Result<Option<Instant>, DbErr> {
    let sql = "SELECT MAX(at) AS newest FROM (SELECT MAX(timestamp) AS at FROM sync_outbox \
               UNION ALL SELECT MAX(timestamp) FROM sync_outbox_sent) e";
    let rows = query(&source.conn, sql, []).await?;
    rows.first().map_or(Ok(None), |row| row.try_get("", "newest"))
}
