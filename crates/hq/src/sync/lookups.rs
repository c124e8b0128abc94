//! Look-up keys of stores. Each is a slow hash with the salt of one store: what was made is kept, and what is missing is made
//! before the pull that needs it, a few at a time.

use std::collections::HashMap;
use std::time::Duration;

use tillkeep_http::error::{Error, Result};
use tillkeep_http::pins::{Pins, is_former};
use tillkeep_model::ErrorCode;
use tillkeep_storage::sea_orm::ConnectionTrait;
use tillkeep_storage::store_lookups::{self, Made, Person};
use tillkeep_storage::{DbErr, Transaction, db, nodes, staff};
use tokio::time::timeout;
use uuid::Uuid;

use crate::Hq;

/// Look-ups that are made for one page at the most: a page must come while the store waits for it, and the next one goes on.
const FOR_A_PAGE: usize = 16;

/// So long a page waits for the turn of its store: the store waits four times as long, and pulls its other types meanwhile when it is
/// asked to come again.
const FOR_A_TURN: Duration = Duration::from_secs(5);

/// What a page of people for one store is made with.
pub(super) struct Lookups {
    /// By person; none for a store that makes its look-ups without a salt.
    pub own: HashMap<Uuid, String>,
    /// Rows of the page, so that each has its look-up.
    pub limit: u64,
}

/// A user whose PIN the store verifies, with the look-up where it was made of the present hash.
struct Found {
    person: Person,
    lookup: Option<String>,
}

/// Those above `since`; none for a store that makes its look-ups without a salt.
async fn found(
    conn: &impl ConnectionTrait,
    store: Uuid,
    since: i64,
    limit: u64,
) -> std::result::Result<Vec<Found>, DbErr> {
    if !nodes::find(conn, store).await?.unwrap_or_default().has_own_salt() {
        return Ok(Vec::new());
    }
    let staff = staff::of_store(conn, store).await?;
    let mut people = store_lookups::above(conn, since, limit).await?;
    // One of release 0.1.0 travels as it is: it has no look-up here that could be missing.
    people.retain(|person| staff.contains(&person.id) && !is_former(&person.hash));
    let mut made = store_lookups::made(conn, store, people.iter().map(|person| person.id)).await?;
    let with_lookup = |person: Person| {
        let made = made.remove(&person.id).filter(|made| made.source == source(&person.hash));
        Found { lookup: made.map(|made| made.lookup), person }
    };
    Ok(people.into_iter().map(with_lookup).collect())
}

/// Makes what a pull of people above `since` needs and was not made yet: for a page a few, without a limit all. That is
/// before the pull has a connection, which is not to be held while slow hashes are made.
pub(super) async fn prepare(hq: &Hq, store: Uuid, since: i64, limit: Option<u64>) -> Result<()> {
    let missing = async || -> Result<Vec<(Uuid, String)>> {
        let found = found(hq.sync_db().reader(), store, since, limit.unwrap_or(u64::MAX)).await?;
        let missing = found.into_iter().filter(|found| found.lookup.is_none());
        Ok(missing.map(|found| (found.person.id, found.person.hash)).collect())
    };
    let mut before = usize::MAX;
    loop {
        let count = missing().await?.len();
        // What can be neither made nor kept is not tried again and again.
        if count == 0 || count >= before {
            return Ok(());
        }
        before = count;
        let turn = hq.auth.pins.turn_to_derive();
        let _turn = match limit {
            Some(_) => timeout(FOR_A_TURN, turn).await.map_err(|_| busy())?,
            None => turn.await,
        };
        // A pull that was given up, or one beside this, may have made them meanwhile.
        let mut people = missing().await?;
        people.truncate(FOR_A_PAGE);
        make(hq, &hq.auth.pins, store, people).await?;
        if limit.is_some() {
            return Ok(());
        }
    }
}

fn busy() -> Error {
    let text = "the look-up keys of other stores are being made at this moment; pull again";
    Error::new(ErrorCode::Unavailable, text).retry_after(2)
}

/// The look-ups of a page of people above `since`, which ends before the first one without a look-up.
pub(super) async fn of_page(
    hq: &Hq,
    conn: &Transaction,
    store: Uuid,
    since: i64,
    limit: u64,
) -> std::result::Result<Lookups, DbErr> {
    let found = found(conn, store, since, limit).await?;
    let (mut own, mut limit) = (HashMap::new(), limit);
    if let Some(Found { person, .. }) = found.iter().find(|found| found.lookup.is_none()) {
        let rows = store_lookups::between(conn, since, person.version).await?;
        if rows == 0 {
            // A page has one row at the least: this one changed since its look-up was made.
            let made = make(hq, &hq.auth.pins.for_stores(), store, vec![(person.id, person.hash.clone())]).await;
            own = made.map_err(|error| DbErr::Custom(error.to_string()))?;
        }
        limit = rows.clamp(1, limit);
    }
    own.extend(found.into_iter().filter_map(|found| Some((found.person.id, found.lookup?))));
    Ok(Lookups { own, limit })
}

/// The look-ups of these people, by the hashes that headquarters has of them; none for a store without a salt.
pub(super) async fn of(hq: &Hq, store: Uuid, people: &[(Uuid, String)]) -> Result<HashMap<Uuid, String>> {
    let conn = hq.sync_db().reader();
    if !nodes::find(conn, store).await?.unwrap_or_default().has_own_salt() {
        return Ok(HashMap::new());
    }
    let made = store_lookups::made(conn, store, people.iter().map(|(id, _)| *id)).await?;
    let (mut own, mut missing) = (HashMap::new(), Vec::new());
    for (id, hash) in people {
        match made.get(id).filter(|made| made.source == source(hash)) {
            Some(made) => drop(own.insert(*id, made.lookup.clone())),
            None => missing.push((*id, hash.clone())),
        }
    }
    // A person waits for it at a till: past the pages, in the place of what stores ask.
    own.extend(make(hq, &hq.auth.pins.for_stores(), store, missing).await?);
    Ok(own)
}

/// Makes and keeps what is missing, in the places of `pins`.
async fn make(hq: &Hq, pins: &Pins, store: Uuid, people: Vec<(Uuid, String)>) -> Result<HashMap<Uuid, String>> {
    if people.is_empty() {
        return Ok(HashMap::new());
    }
    let (ids, hashes): (Vec<Uuid>, Vec<String>) = people.into_iter().unzip();
    let sources: Vec<String> = hashes.iter().map(|hash| source(hash)).collect();
    let lookups = pins.own_lookups(store, hashes).await?;
    let made = ids.into_iter().zip(sources).zip(lookups);
    let made: Vec<(Uuid, Made)> =
        made.filter_map(|((id, source), lookup)| Some((id, Made { source, lookup: lookup? }))).collect();
    let kept = db::retry_serialization(async || {
        let tx = hq.sync_db().begin().await?;
        store_lookups::keep(&tx, store, &made).await?;
        tx.commit().await
    });
    if let Err(error) = kept.await {
        // They are right all the same, and made once more the next time.
        tracing::warn!(%error, "look-ups of a store could not be kept");
    }
    Ok(made.into_iter().map(|(id, made)| (id, made.lookup)).collect())
}

/// Which hash a look-up was made from.
fn source(hash: &str) -> String {
    tillkeep_http::auth::device::key_hash(hash)
}
