//! Tags: a random id of each commit that raised a counter. A version says how far a store is in HQ's history, its tag in
//! which history: an HQ that lost its last seconds gives the same versions once more, and other tags. `docs/sync.md`, rule D8.

use std::collections::{BTreeMap, BTreeSet};

use sea_orm::{ConnectionTrait, DbErr, Value};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::db::{Row, execute, placeholders, query};
use crate::many::execute_rows;
use crate::registry::{self, SyncType};
use crate::versions::Change;

/// The newest version of a counter, and its tag. Without one the version is from before there were tags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Head {
    pub version: i64,
    pub tag: Option<Uuid>,
}

/// Heads by type and scope.
pub type Heads = BTreeMap<(String, Uuid), Head>;

/// Gives `changes`, which this transaction has just stamped, one tag, and writes it beside each counter that was raised.
pub(crate) async fn write(conn: &impl ConnectionTrait, changes: &mut [Change]) -> Result<(), DbErr> {
    // The time in it lets old ones be found; what is random in it tells two histories apart.
    let tag = Uuid::now_v7();
    let mut raised = BTreeSet::new();
    for change in changes {
        change.tag = Some(tag);
        let Some(entity) = registry::find(change.entity_type) else { continue };
        raised.insert((entity.name, registry::counter_scope(entity, change.store.unwrap_or_default()), change.version));
    }
    let sql = "INSERT INTO sync_tags (entity_type, scope, version, tag) VALUES $rows";
    let rows = raised.into_iter().map(|(name, scope, version)| [name.into(), scope.into(), version.into()]);
    execute_rows(conn, sql, &[tag.into()], "(?, ?, ?, $1)", rows).await?;
    Ok(())
}

/// The tag of a version: that of the first commit that reached it, as a page may end inside of a commit. `None` when
/// it is not known.
pub async fn tag_of(
    conn: &impl ConnectionTrait,
    entity: &SyncType,
    store: Uuid,
    version: i64,
) -> Result<Option<Uuid>, DbErr> {
    if version == 0 {
        return Ok(None);
    }
    let sql = "SELECT tag FROM sync_tags WHERE entity_type = $1 AND scope = $2 AND version >= $3 \
               ORDER BY version LIMIT 1";
    let scope = registry::counter_scope(entity, store);
    let row = query(conn, sql, [entity.name.into(), scope.into(), version.into()]).await?;
    row.first().map(|row| row.try_get("", "tag")).transpose()
}

const HEADS: &str = "SELECT c.entity_type, c.scope, c.value, t.tag FROM sync_counters c LEFT JOIN sync_tags t \
                     ON t.entity_type = c.entity_type AND t.scope = c.scope AND t.version = c.value";

/// Every head.
pub async fn heads(conn: &impl ConnectionTrait) -> Result<Heads, DbErr> {
    read(&query(conn, HEADS, []).await?)
}

/// The heads of these types, in these scopes or in all of them.
pub async fn heads_of(
    conn: &impl ConnectionTrait,
    types: &BTreeSet<&'static str>,
    scopes: Option<&BTreeSet<Uuid>>,
) -> Result<Heads, DbErr> {
    let mut sql = format!("{HEADS} WHERE c.entity_type IN ({})", placeholders(1, types.len()));
    let mut values: Vec<Value> = types.iter().map(|name| (*name).into()).collect();
    if let Some(scopes) = scopes {
        sql = format!("{sql} AND c.scope IN ({})", placeholders(values.len() + 1, scopes.len()));
        values.extend(scopes.iter().map(|scope| Value::from(*scope)));
    }
    read(&query(conn, &sql, values).await?)
}

fn read(rows: &[Row]) -> Result<Heads, DbErr> {
    let one = |row: &Row| {
        let head = Head { version: row.try_get("", "value")?, tag: row.try_get("", "tag")? };
        Ok(((row.try_get("", "entity_type")?, row.try_get("", "scope")?), head))
    };
    rows.iter().map(one).collect()
}

/// So long a tag stays after its version was overtaken: longer than a store keeps what it sent.
const KEEP_MS: i64 = 100 * 24 * 3600 * 1000;

/// Whether two tags of one version are of two histories. One that is so old that it may be forgotten here says nothing:
/// the next one that is kept stands in its place.
pub fn differ(presented: Option<Uuid>, known: Option<Uuid>, now: Instant) -> bool {
    let Some((presented, known)) = presented.zip(known) else { return false };
    presented != known && presented >= first_of(now.plus_millis(-KEEP_MS))
}

/// What sorts before every tag that was made from `moment` on.
fn first_of(moment: Instant) -> Uuid {
    let millis = u128::try_from(moment.millis()).unwrap_or_default();
    Uuid::from_u128(millis << 80)
}

/// Forgets the tags of versions that were overtaken long before `now`. The newest tag of each counter stays, however old it
/// is.
pub async fn forget(conn: &impl ConnectionTrait, now: Instant) -> Result<u64, DbErr> {
    let bound = first_of(now.plus_millis(-KEEP_MS));
    let sql = "DELETE FROM sync_tags WHERE tag < $1 AND $1 > (SELECT n.tag FROM sync_tags n \
               WHERE n.entity_type = sync_tags.entity_type AND n.scope = sync_tags.scope \
               AND n.version > sync_tags.version ORDER BY n.version LIMIT 1)";
    execute(conn, sql, [bound.into()]).await
}
