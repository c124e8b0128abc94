//! I7: what a store keeps to verify people of whom it asked headquarters is of people as they are, and not for longer than it may be.

use std::collections::HashMap;

use sea_orm::{DbErr, EntityTrait};
use uuid::Uuid;

use super::finding::Found;
use super::source::Source;
use crate::Side;
use crate::entity::{kept_verifier, user};
use crate::many::select_in;

/// A day more than an operator may ask for.
const LONGEST_MS: i64 = 31 * 24 * 3600 * 1000;

pub(super) async fn verifiers(source: &Source, found: &mut Found) -> Result<(), DbErr> {
    if source.side == Side::Hq {
        return Ok(());
    }
    let all = kept_verifier::Entity::find().all(&source.conn).await?;
    let ids = all.iter().map(|kept| kept.user_id).collect::<Vec<_>>();
    let people = select_in(&source.conn, user::Entity::find(), user::Column::Id, ids).await?;
    let people: HashMap<Uuid, user::Model> = people.into_iter().map(|person| (person.id, person)).collect();
    for kept in all {
        let text = match people.get(&kept.user_id) {
            None => "is of no user who is here",
            Some(person) if !person.is_active || person.deleted_at.is_some() => "is of a user who is not active",
            Some(person) if person.pin_changed_at != kept.pin_changed_at => "is of a PIN that was changed",
            Some(person) if person.updated_at != kept.updated_at => "is of a user who was changed since",
            Some(person) if person.pin_hash.is_some() => "is of a user whom the store verifies itself",
            Some(_) if kept.roles.is_empty() => "is of a user without a role here",
            Some(_) if is_long_over(&kept) => "is kept for longer than anything may be",
            Some(_) => continue,
        };
        found.add(source.store, "kept_verifiers", kept.user_id, text);
    }
    Ok(())
}

/// No store keeps one for so long. How late it is only the store's own clock tells, which may have been another one since.
fn is_long_over(kept: &kept_verifier::Model) -> bool {
    kept.expires_at.millis_since(kept.kept_at) > LONGEST_MS
}
