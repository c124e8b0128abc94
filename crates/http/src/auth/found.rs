//! A PIN that two people have in one store. Whoever proposes a PIN that another user has knows it from then on, and a
//! user who comes into a store where another one has the same would be taken for them: what is known to another is
//! worth nothing from that moment on, and no answer says whose it was. `docs/security.md`, PINs.

use serde_json::json;
use tillkeep_model::{Instant, fields};
use tillkeep_storage::db::{Turn, take_turn};
use tillkeep_storage::entity::user::{Column, Entity, Model};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, Select};
use tillkeep_storage::{DbErr, Tx, audit, factors, user_pins};
use uuid::Uuid;

use super::{Auth, Home, PinLogin, Revocation, Sessions};

/// Why the sessions of a user ended whose PIN did, as the database has it.
const ENDED: &str = "the PIN is somebody else's as well";

/// The active people who have a PIN with one of these look-up keys and sign in with it alone.
pub(super) fn holders<'a>(lookups: impl IntoIterator<Item = &'a str>) -> Select<Entity> {
    Entity::find()
        .filter(Column::PinLookup.is_in(lookups))
        .filter(Column::DeletedAt.is_null())
        .filter(Column::IsActive.eq(true))
}

/// Those of them who could be meant where `user_id` types theirs: in one store, or anywhere where headquarters looks up everybody.
pub(super) async fn rivals<'a>(
    auth: &Auth,
    conn: &impl ConnectionTrait,
    user_id: Uuid,
    lookups: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<Model>, DbErr> {
    let mut found = holders(lookups).filter(Column::Id.ne(user_id)).all(conn).await?;
    let looks_up_everybody = auth.home == Home::Hq && auth.pin_login_at_hq == PinLogin::All;
    if !found.is_empty() && !looks_up_everybody {
        let ids: Vec<Uuid> = found.iter().map(|user| user.id).collect();
        let near = user_pins::in_one_store(conn, user_id, &ids).await?;
        found.retain(|user| near.contains(&user.id));
    }
    Ok(found)
}

/// The PIN of `owner` opens nothing from now on; where a second factor is asked for, which its finder does not have, nothing but
/// headquarters with it. Whether their sessions ended with it.
async fn end(auth: &Auth, tx: &mut Tx, owner: &Model, now: Instant) -> Result<bool, DbErr> {
    if auth.is_asked_for_factor(factors::has(&**tx, owner.id).await?) {
        tx.update::<Entity>(|people| {
            people
                .col_expr(Column::PinLookup, Expr::value(user_pins::withheld(owner.id)))
                .col_expr(Column::UpdatedAt, Expr::value(now))
                .filter(Column::Id.eq(owner.id))
        })
        .await?;
        return Ok(false);
    }
    end_wholly(tx, owner.id, ENDED, now).await?;
    Ok(true)
}

/// Nothing verifies the PIN of `user_id` any more, at whatever server, and their sessions end.
pub(super) async fn end_wholly(tx: &mut Tx, user_id: Uuid, reason: &str, now: Instant) -> Result<(), DbErr> {
    tx.update::<Entity>(|people| {
        people
            .col_expr(Column::PinHash, Expr::value(Option::<String>::None))
            .col_expr(Column::PinLookup, Expr::value(Option::<String>::None))
            .col_expr(Column::SessionsValidFrom, Expr::value(now))
            .col_expr(Column::UpdatedAt, Expr::value(now))
            .filter(Column::Id.eq(user_id))
    })
    .await?;
    Sessions::revoke(&**tx, Revocation::AllOf(user_id), reason, now).await
}

/// Whether another one knows the PIN of `user_id`, and nothing but a second factor keeps that one out.
pub async fn is_known(tx: &Tx, user_id: Uuid) -> Result<bool, DbErr> {
    let lookup = Entity::find_by_id(user_id).one(tx).await?.and_then(|user| user.pin_lookup);
    Ok(lookup.is_some_and(|lookup| user_pins::is_withheld(&lookup)))
}

/// Ends the PIN of `user_id`, whose second factors go, where another one knows it; whether it did. Of two that happen at one moment, a
/// hit and this, [`Turn::Pin`] is to make one wait for the other.
pub async fn end_known(tx: &mut Tx, user_id: Uuid, now: Instant) -> Result<bool, DbErr> {
    let is_known = is_known(tx, user_id).await?;
    if is_known {
        end_wholly(tx, user_id, ENDED, now).await?;
    }
    Ok(is_known)
}

/// What ended. Where it is committed, [`Ended::tell`] puts it in force.
#[derive(Debug, Default)]
pub struct Ended {
    /// The user whose sessions end.
    people: Vec<Uuid>,
    /// To be written last, as all lines of the audit log.
    pub lines: Vec<audit::Entry>,
}

impl Ended {
    /// The sessions of these people are over, on the next request.
    pub fn tell(&self, auth: &Auth) {
        for user_id in &self.people {
            auth.ended(Revocation::AllOf(*user_id));
        }
    }
}

/// Ends the PINs of `owners`, which another user knows; `entry` is written for each.
pub(super) async fn hit(
    auth: &Auth,
    tx: &mut Tx,
    owners: &[Model],
    entry: &audit::Entry,
    now: Instant,
) -> Result<Ended, DbErr> {
    let mut ended = Ended::default();
    for owner in owners {
        tracing::warn!(owner = %owner.id, "another user has or proposed the PIN of this person: it is worth nothing any more");
        metrics::counter!("tillkeep_pins_exposed_total").increment(1);
        let wholly = end(auth, tx, owner, now).await?;
        ended.people.extend(wholly.then_some(owner.id));
        let mut line = entry.clone();
        line.entity_type = Some(fields::user::BOOK.table);
        line.entity_id = Some(owner.id.to_string());
        line.details["ended"] = json!(if wholly { "pin" } else { "pin_alone" });
        ended.lines.push(line);
    }
    Ok(ended)
}

/// Parts `user_id`, who comes into stores, from those there who have the same PIN. Either would be signed in as the other, and
/// whoever learns of it alone would know the other's: both PINs end. `entry` is written for each pair.
pub async fn part(auth: &Auth, tx: &mut Tx, user_id: Uuid, entry: &audit::Entry, now: Instant) -> Result<Ended, DbErr> {
    take_turn(&*tx, Turn::Pin).await?;
    let comer = Entity::find_by_id(user_id).filter(Column::IsActive.eq(true)).one(&*tx).await?;
    let Some((comer, lookup)) = comer.and_then(|comer| Some((comer.clone(), comer.pin_lookup?))) else {
        return Ok(Ended::default());
    };
    let owners = rivals(auth, &*tx, user_id, [lookup.as_str()]).await?;
    if owners.is_empty() {
        return Ok(Ended::default());
    }
    let mut entry = entry.clone();
    entry.details = json!({"with": user_id});
    let mut ended = hit(auth, tx, &owners, &entry, now).await?;
    if end(auth, tx, &comer, now).await? {
        ended.people.push(user_id);
    }
    Ok(ended)
}
