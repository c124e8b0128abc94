//! PINs that ended because another user knows them: both accounts, for a month.

use tillkeep_http::error::Result;
use tillkeep_storage::entity::audit_log::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use super::{Asked, Notice, OfUser};

const KIND: &str = "pin_ended";
/// A user proposed a PIN that another one has.
const TAKEN: &str = "pin.taken";
/// Two people with one PIN came into one store.
const SHARED: &str = "pin.shared";
const SHOWN_MS: i64 = 30 * 24 * 3600 * 1000;
/// The newest are enough to look into.
const MOST: u64 = 50;

pub(super) async fn find(asked: &Asked<'_>) -> Result<Vec<Notice>> {
    let mut lines = Entity::find()
        .filter(Column::Action.is_in([TAKEN, SHARED]))
        .filter(Column::At.gt(asked.caller.now().plus_millis(-SHOWN_MS)))
        .order_by_desc(Column::Seq)
        .limit(MOST)
        .all(asked.caller.reader())
        .await?;
    // Whoever found a PIN does not learn whose it is.
    let finder = Some(asked.caller.user_id);
    lines.retain(|line| line.action != TAKEN || line.user_id != finder);
    let ids: Vec<Uuid> = lines.iter().flat_map(pair).flatten().collect();
    let people = asked.people(ids).await?;
    Ok(lines.iter().filter_map(|line| notice(&people, line)).collect())
}

/// Whom a line is about: the other one, and the owner.
fn pair(line: &Model) -> [Option<Uuid>; 2] {
    let owner = line.entity_id.as_deref().and_then(|id| id.parse::<Uuid>().ok());
    let with = || line.details.0["with"].as_str().and_then(|id| id.parse::<Uuid>().ok());
    [if line.action == TAKEN { line.user_id } else { with() }, owner]
}

/// The notice of a line, where the owners of the PIN are among `people`.
fn notice(people: &[OfUser], line: &Model) -> Option<Notice> {
    let [other, owner] = pair(line);
    let is_taken = line.action == TAKEN;
    let has_ended = |user: &OfUser| Some(user.id) == owner || (!is_taken && Some(user.id) == other);
    if !people.iter().any(has_ended) {
        return None;
    }
    let text = if is_taken {
        "The first of these two proposed the PIN that the second one had, and was asked to choose another one. It ended at that \
         moment; who has none now needs a new one."
    } else {
        "These two had the same PIN and came into one store. Both PINs ended; who has none now needs a new one."
    };
    let both = people.iter().filter(|user| [other, owner].contains(&Some(user.id)));
    let mut users: Vec<OfUser> = both.cloned().collect();
    users.sort_by_key(|user| Some(user.id) != other);
    Some(Notice { kind: KIND, at: line.at, count: None, users, stores: Vec::new(), text: text.to_owned() })
}
