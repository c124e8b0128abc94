//! Whose PIN this is. The one place where a PIN is guessed without a name: what slows guesses down stands in front of
//! [`user_of_pin`].

use tillkeep_model::ErrorCode;
use tillkeep_storage::audit;
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::Auth;
use crate::error::{Error, Result};

/// Who guesses: the terminal whose guesses are counted, and how a wrong one stands in the audit log.
pub struct Guess<'a> {
    pub terminal_id: &'a str,
    pub refused: audit::Entry,
}

/// The active user with this PIN, else 401. The look-up key finds at most one candidate, whose own hash decides: two
/// slow hashes, however many users there are, hit or miss.
pub async fn user_of_pin(auth: &Auth, pin: &str, guess: Guess<'_>) -> Result<user::Model> {
    tracing::trace!(terminal = guess.terminal_id, "a PIN is looked up");
    let lookup = auth.pins.lookup(pin).await?;
    let alive =
        || user::Entity::find().filter(user::Column::DeletedAt.is_null()).filter(user::Column::IsActive.eq(true));
    let candidate = alive().filter(user::Column::PinLookup.eq(lookup.as_str())).one(auth.db.reader()).await?;
    if let Some(user) = matching(auth, candidate, pin).await? {
        return Ok(user);
    }
    // Rows from before the look-up key: the specification's scan over all active users, which fills it.
    let old = alive()
        .filter(user::Column::PinLookup.is_null())
        .filter(user::Column::PinHash.is_not_null())
        .all(auth.db.reader())
        .await?;
    for user in old {
        if auth.pins.verify(pin, user.pin_hash.clone()).await? {
            fill_lookup(auth, user.id, &lookup).await?;
            return Ok(user);
        }
    }
    Err(refused(auth, guess.refused).await?)
}

/// The user, when the PIN is theirs; a decoy is verified when there is none, so that a miss costs what a hit costs.
pub(super) async fn matching(auth: &Auth, user: Option<user::Model>, pin: &str) -> Result<Option<user::Model>> {
    let hash = user.as_ref().filter(|user| user.is_active).and_then(|user| user.pin_hash.clone());
    let matches = auth.pins.verify(pin, hash).await?;
    Ok(user.filter(|_| matches))
}

/// One answer for unknown, inactive and wrong, once it stands in the audit log.
pub(super) async fn refused(auth: &Auth, entry: audit::Entry) -> Result<Error> {
    let tx = auth.db.begin().await?;
    audit::record(&tx, entry, auth.clock.now()).await?;
    tx.commit().await?;
    Ok(Error::new(ErrorCode::InvalidCredentials, "the name or the PIN is wrong"))
}

async fn fill_lookup(auth: &Auth, user_id: Uuid, lookup: &str) -> Result<()> {
    let tx = auth.db.begin().await?;
    user::Entity::update_many()
        .col_expr(user::Column::PinLookup, Expr::value(lookup))
        .filter(user::Column::Id.eq(user_id))
        .exec(&tx)
        .await?;
    tx.commit().await?;
    Ok(())
}
