//! First PINs: made here for a user, shown once, and worth nothing when their owner does not come to change them.

use serde_json::json;
use tillkeep_model::{Instant, fields};
use tillkeep_storage::entity::user;
use tillkeep_storage::{DbErr, audit, user_pins};
use uuid::Uuid;

use super::found::end_wholly;
use super::{Access, Auth, Home, Revocation};

/// Why the sessions of such a PIN ended.
const EXPIRED: &str = "the first PIN was not changed in time";

impl Auth {
    /// What a PIN that is typed for `user` is held against now: nothing when they are not active, or when their first
    /// PIN is over. A store has what headquarters gives it.
    pub(crate) async fn hash_of(&self, user: &user::Model) -> Result<Option<String>, DbErr> {
        let life = self.first_pin_ms.filter(|_| self.home == Home::Hq);
        let is_over = match life {
            Some(life) => user_pins::is_expired(self.db.reader(), user, life, self.clock.now()).await?,
            None => false,
        };
        Ok(user.pin_hash.clone().filter(|_| user.is_active && !is_over))
    }

    /// When the first PIN of a user ends, if theirs is one and such PINs end.
    pub fn first_pin_ends(
        &self,
        user: &user::Model,
        pin: &tillkeep_storage::entity::user_pin::Model,
    ) -> Option<Instant> {
        Some(user_pins::first_since(user, pin)?.plus_millis(self.first_pin_ms?))
    }

    /// Active people with a first PIN that is over.
    pub async fn expired_first_pins(&self) -> Result<Vec<user::Model>, DbErr> {
        let Some(life) = self.first_pin_ms else { return Ok(Vec::new()) };
        user_pins::expired(self.db.reader(), self.clock.now().plus_millis(-life), false).await
    }

    /// Digits of a new PIN of a user at the least.
    pub fn least_digits(&self, person: &Access) -> usize {
        if person.reaches_beyond_a_till() { self.pin_min_length_beyond_a_till } else { self.pin_min_length }
    }
}

/// Ends the first PINs that are over, so that stores get nothing any more that verifies them.
pub async fn end_expired(auth: &Auth) -> Result<(), DbErr> {
    let (Home::Hq, Some(life)) = (auth.home, auth.first_pin_ms) else { return Ok(()) };
    let now = auth.clock.now();
    let tx = auth.db.begin().await?;
    user_pins::note_unknown(&tx, now).await?;
    tx.commit().await?;
    let over = user_pins::expired(auth.db.reader(), now.plus_millis(-life), true).await?;
    for user in over {
        end_one(auth, user.id, life, now).await?;
    }
    Ok(())
}

async fn end_one(auth: &Auth, user_id: Uuid, life: i64, now: Instant) -> Result<(), DbErr> {
    use tillkeep_storage::db::{Turn, take_turn};
    use tillkeep_storage::sea_orm::{EntityTrait, QuerySelect};
    let mut tx = auth.db.begin().await?;
    take_turn(&tx, Turn::Pin).await?;
    // They may have changed it, or got another one, since.
    let user = user::Entity::find_by_id(user_id).lock_exclusive().one(&tx).await?;
    let Some(user) = user else { return Ok(()) };
    if user.pin_hash.is_none() || !user_pins::is_expired(&tx, &user, life, now).await? {
        return Ok(());
    }
    end_wholly(&mut tx, user_id, EXPIRED, now).await?;
    let entry = audit::Entry {
        action: "pin.expired",
        entity_type: Some(fields::user::BOOK.table),
        entity_id: Some(user_id.to_string()),
        details: json!({"username": user.username}),
        ..audit::Entry::default()
    };
    audit::record(&tx, entry, now).await?;
    auth.commit(tx).await?;
    auth.ended(Revocation::AllOf(user_id));
    Ok(())
}
