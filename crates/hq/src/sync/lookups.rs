//! Look-up keys of stores. Each is a slow hash with the salt of one store: what was made is kept, and what is missing is made beside
//! the pull that needs it, a few at a time.

use std::collections::HashMap;

use tillkeep_http::error::Result;
use tillkeep_http::pins::is_former;
use tillkeep_storage::store_lookups::{self, Made};
use tillkeep_storage::{DbErr, Transaction, db, nodes};
use uuid::Uuid;

use crate::Hq;

/// Look-ups that are made for one page at the most: a page must come while the store waits for it, and the next one goes on.
const FOR_A_PAGE: usize = 16;

/// What a page of people for one store is made with.
pub(super) struct Lookups {
    /// By person; nobody's for a store that makes its look-ups without a salt.
    pub own: HashMap<Uuid, String>,
    /// Rows of the page, so that each has its look-up.
    pub limit: u64,
}

/// The look-ups of a page of people above `since`.
pub(super) async fn of_page(
    hq: &Hq,
    conn: &Transaction,
    store: Uuid,
    since: i64,
    limit: u64,
) -> std::result::Result<Lookups, DbErr> {
    let node = nodes::find(conn, store).await?.unwrap_or_default();
    if !node.has_own_salt() {
        return Ok(Lookups { own: HashMap::new(), limit });
    }
    let staff = tillkeep_storage::staff::of_store(conn, store).await?;
    let mut people = store_lookups::above(conn, since, limit).await?;
    // One of release 0.1.0 travels as it is: it has no look-up here that could be missing.
    people.retain(|person| staff.contains(&person.id) && !is_former(&person.hash));
    let made = store_lookups::made(conn, store, people.iter().map(|person| person.id)).await?;
    let is_made =
        |person: &store_lookups::Person| made.get(&person.id).is_some_and(|made| made.source == source(&person.hash));
    let mut missing = people.iter().filter(|person| !is_made(person));
    let now: Vec<_> = missing.by_ref().take(FOR_A_PAGE).map(|person| (person.id, person.hash.clone())).collect();
    let limit = match missing.next() {
        Some(first) => store_lookups::between(conn, since, first.version).await?.clamp(1, limit),
        None => limit,
    };
    let mut own: HashMap<Uuid, String> = people
        .iter()
        .filter(|person| is_made(person))
        .filter_map(|person| Some((person.id, made.get(&person.id)?.lookup.clone())))
        .collect();
    own.extend(make(hq, store, now).await.map_err(|error| DbErr::Custom(error.to_string()))?);
    Ok(Lookups { own, limit })
}

/// The look-ups of these people, by the hashes that headquarters has of them; nobody's for a store without a salt.
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
    own.extend(make(hq, store, missing).await?);
    Ok(own)
}

/// Makes and keeps what is missing.
async fn make(hq: &Hq, store: Uuid, people: Vec<(Uuid, String)>) -> Result<HashMap<Uuid, String>> {
    if people.is_empty() {
        return Ok(HashMap::new());
    }
    let (ids, hashes): (Vec<Uuid>, Vec<String>) = people.into_iter().unzip();
    let sources: Vec<String> = hashes.iter().map(|hash| source(hash)).collect();
    let lookups = hq.auth.pins.own_lookups(store, hashes).await?;
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
