//! PINs that ended because somebody else knows them: both accounts, for a month.

use tillkeep_http::error::Result;
use tillkeep_storage::entity::audit_log::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use super::{Asked, Notice};

const KIND: &str = "pin_ended";
/// Somebody proposed a PIN that another one has.
const TAKEN: &str = "pin.taken";
/// Two people with one PIN came into one store.
const SHARED: &str = "pin.shared";
const SHOWN_MS: i64 = 30 * 24 * 3600 * 1000;
/// The newest are enough to look into.
const MOST: u64 = 50;

pub(super) async fn find(asked: &Asked<'_>) -> Result<Vec<Notice>> {
    let lines = Entity::find()
        .filter(Column::Action.is_in([TAKEN, SHARED]))
        .filter(Column::At.gt(asked.caller.now().plus_millis(-SHOWN_MS)))
        .order_by_desc(Column::Seq)
        .limit(MOST)
        .all(asked.caller.reader())
        .await?;
    let mut notices = Vec::new();
    for line in lines {
        notices.extend(notice(asked, &line).await?);
    }
    Ok(notices)
}

async fn notice(asked: &Asked<'_>, line: &Model) -> Result<Option<Notice>> {
    let owner = line.entity_id.as_deref().and_then(|id| id.parse::<Uuid>().ok());
    let with = line.details.0["with"].as_str().and_then(|id| id.parse().ok());
    let (other, text) = if line.action == TAKEN {
        let text = "The first of these two proposed the PIN that the second one had, and was told to choose another one. It ended at that \
                    moment; who has none now needs a new one.";
        (line.user_id, text)
    } else {
        (with, "These two had the same PIN and came into one store. Both PINs ended; who has none now needs a new one.")
    };
    let pair = [other, owner].map(Option::unwrap_or_default);
    let mut users = asked.people(pair).await?;
    if !users.iter().any(|user| Some(user.id) == owner || Some(user.id) == with) {
        return Ok(None);
    }
    users.sort_by_key(|user| user.id != pair[0]);
    Ok(Some(Notice { kind: KIND, at: line.at, count: None, users, stores: Vec::new(), text: text.to_owned() }))
}
