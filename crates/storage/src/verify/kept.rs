//! I7: what a store keeps to verify people of whom it asked headquarters is of people as they are, and not for longer than it may be.

use sea_orm::{DbErr, EntityTrait};
use tillkeep_model::Instant;

use super::finding::{Found, Options};
use super::source::Source;
use crate::Side;
use crate::entity::{kept_verifier, user};

/// It is removed every ten minutes, by a server that runs.
const REMOVED_WITHIN_MS: i64 = 3600 * 1000;

pub(super) async fn verifiers(source: &Source, options: &Options, found: &mut Found) -> Result<(), DbErr> {
    if source.side == Side::Hq {
        return Ok(());
    }
    for kept in kept_verifier::Entity::find().all(&source.conn).await? {
        let person = user::Entity::find_by_id(kept.user_id).one(&source.conn).await?;
        let text = match person {
            None => "is of nobody who is here",
            Some(person) if !person.is_active || person.deleted_at.is_some() => "is of somebody who is not active",
            Some(person) if person.pin_changed_at != kept.pin_changed_at => "is of a PIN that was changed",
            Some(person) if person.updated_at != kept.updated_at => "is of somebody who was changed since",
            Some(person) if person.pin_hash.is_some() => "is of somebody whom the store verifies itself",
            Some(_) if kept.roles.is_empty() => "is of somebody without a role here",
            Some(_) if is_long_over(&kept, options.now) => "should have been removed",
            Some(_) => continue,
        };
        found.add(source.store, "kept_verifiers", kept.user_id, text);
    }
    Ok(())
}

fn is_long_over(kept: &kept_verifier::Model, now: Option<Instant>) -> bool {
    // Of a store whose server stood still only the length tells.
    let day_ms = 24 * 3600 * 1000;
    let length = kept.expires_at.millis_since(kept.kept_at);
    length > 31 * day_ms || now.is_some_and(|now| kept.kept_at.millis_since(now) > REMOVED_WITHIN_MS)
}
