//! What a store keeps of people of whom it asked headquarters, so that they sign in there without a line too. Whatever headquarters
//! changes of them (their PIN, that they are active, their roles) takes it away, in the transaction in which that arrives.
//! `docs/security.md`, PINs.

use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, IntoActiveModel, Iterable, QueryFilter, QueryOrder,
};
use tillkeep_model::Instant;
use uuid::Uuid;

use crate::Tx;
use crate::entity::kept_verifier::{Column, Entity, Model};
use crate::entity::{user, user_store_role};
use crate::rows::Row;
use crate::settings;

/// For how many days headquarters said that it is kept; until it says so, this many.
const DAYS: &str = "keep_verifier_days";
pub const USUAL_DAYS: i64 = 7;
const DAY_MS: i64 = 24 * 3600 * 1000;
/// Who signed in here within so long keeps what headquarters withdraws from all stores.
const SEEN_WITHIN_MS: i64 = 30 * DAY_MS;

/// Notes what headquarters said; what is kept beyond it goes.
pub async fn keep_for(tx: &Tx, days: i64, now: Instant) -> Result<(), DbErr> {
    if days_of(tx).await? != days {
        settings::set(&**tx, DAYS, &days.to_string()).await?;
    }
    let old = Column::KeptAt.lte(now.plus_millis(-days * DAY_MS));
    Entity::delete_many().filter(old).exec(tx).await?;
    Ok(())
}

/// Whether headquarters may know a user by a PIN that nothing here verifies: where it hands all of them to the store, or none
/// signs in there who is not named for it, nothing is kept, and nothing is to be asked.
pub async fn are_kept(conn: &impl ConnectionTrait) -> Result<bool, DbErr> {
    Ok(days_of(conn).await? > 0)
}

async fn days_of(conn: &impl ConnectionTrait) -> Result<i64, DbErr> {
    Ok(settings::get(conn, DAYS).await?.and_then(|text| text.parse().ok()).unwrap_or(USUAL_DAYS))
}

/// Keeps for `days` what verifies `person` at `store`, whose PIN was right a moment ago; false where that is not for this store any more.
pub async fn keep(
    tx: &Tx,
    store: Uuid,
    person: &user::Model,
    (pin_hash, pin_lookup): (String, String),
    days: i64,
    now: Instant,
) -> Result<bool, DbErr> {
    let Some(roles) = roles_of(tx, store, person.id).await?.filter(|_| days > 0) else { return Ok(false) };
    let row = Model {
        user_id: person.id,
        pin_hash,
        pin_lookup,
        pin_changed_at: person.pin_changed_at,
        updated_at: person.updated_at,
        roles,
        kept_at: now,
        expires_at: now.plus_millis(days * DAY_MS),
    };
    let changing = Column::iter().filter(|column| !matches!(column, Column::UserId));
    Entity::insert(row.into_active_model())
        .on_conflict(OnConflict::column(Column::UserId).update_columns(changing).to_owned())
        .exec_without_returning(tx)
        .await?;
    Ok(true)
}

/// The roles of a user that count in `store`, as one text; `None` without any.
async fn roles_of(conn: &impl ConnectionTrait, store: Uuid, user_id: Uuid) -> Result<Option<String>, DbErr> {
    use user_store_role::Column as Of;
    let rows = user_store_role::Entity::find()
        .filter(Of::UserId.eq(user_id))
        .filter(Of::DeletedAt.is_null())
        .filter(Condition::any().add(Of::StoreId.is_null()).add(Of::StoreId.eq(store)))
        .order_by_asc(Of::Id)
        .all(conn)
        .await?;
    let words = rows.iter().map(|row| format!("{} {}", row.role_id, row.store_id.unwrap_or_default()));
    Ok(Some(words.collect::<Vec<_>>().join(",")).filter(|text| !text.is_empty()))
}

/// What verifies this person here, of what was kept.
pub async fn of_person(conn: &impl ConnectionTrait, user_id: Uuid, now: Instant) -> Result<Option<String>, DbErr> {
    let kept = Entity::find_by_id(user_id).filter(Column::ExpiresAt.gt(now)).one(conn).await?;
    Ok(kept.map(|kept| kept.pin_hash))
}

/// Who is kept under one of these look-up keys.
pub async fn of_lookup(
    conn: &impl ConnectionTrait,
    lookup: &[String],
    now: Instant,
) -> Result<Option<(Uuid, String)>, DbErr> {
    let select = Entity::find().filter(Column::PinLookup.is_in(lookup)).filter(Column::ExpiresAt.gt(now));
    let mut kept = select.all(conn).await?;
    // Of several none is taken for another.
    let kept = kept.pop().filter(|_| kept.is_empty());
    Ok(kept.map(|kept| (kept.user_id, kept.pin_hash)))
}

/// Rows of people are about to be written that came without what verifies them, as headquarters does not hand it to this store any
/// more: of those with roles that count everywhere, who signed in here lately, what is here is kept, their PIN being the same.
pub(crate) async fn withdrawn(tx: &Tx, store: Uuid, rows: &[Box<dyn Row>], now: Instant) -> Result<(), DbErr> {
    let without = rows.iter().filter(|row| row.text("pin_hash").is_none() && row.instant("deleted_at").is_none());
    let ids: Vec<Uuid> = without.filter_map(|row| row.uuid("id")).collect();
    let days = if ids.is_empty() { 0 } else { days_of(tx).await? };
    if days <= 0 {
        return Ok(());
    }
    let lately = user::Entity::find()
        .filter(user::Column::PinHash.is_not_null())
        .filter(user::Column::LastLoginAt.gt(now.plus_millis(-SEEN_WITHIN_MS)));
    for person in lately.all(tx).await?.into_iter().filter(|person| ids.contains(&person.id)) {
        let row = rows.iter().find(|row| row.uuid("id") == Some(person.id));
        let same_pin = row.is_some_and(|row| {
            row.instant("pin_changed_at") == person.pin_changed_at
                && row.instant("updated_at") == Some(person.updated_at)
        });
        let (Some(hash), Some(lookup)) = (person.pin_hash.clone(), person.pin_lookup.clone()) else { continue };
        if same_pin && is_everywhere(tx, person.id).await? {
            keep(tx, store, &person, (hash, lookup), days, now).await?;
        }
    }
    Ok(())
}

async fn is_everywhere(conn: &impl ConnectionTrait, user_id: Uuid) -> Result<bool, DbErr> {
    use user_store_role::Column as Of;
    let rows = user_store_role::Entity::find().filter(Of::UserId.eq(user_id)).filter(Of::DeletedAt.is_null());
    Ok(rows.filter(Of::StoreId.is_null()).one(conn).await?.is_some())
}

/// After rows of people or of their roles were written: what is kept of people who are not what they were goes.
pub(crate) async fn changed(tx: &Tx, store: Uuid) -> Result<(), DbErr> {
    for kept in Entity::find().all(tx).await? {
        let person = user::Entity::find_by_id(kept.user_id).one(tx).await?;
        let same = match person {
            // With a verifier of their own nothing need be kept.
            Some(person) => is_same(&person, &kept) && roles_of(tx, store, person.id).await? == Some(kept.roles),
            None => false,
        };
        if !same {
            Entity::delete_by_id(kept.user_id).exec(tx).await?;
        }
    }
    Ok(())
}

/// Whether what is kept is of the person as they are.
pub(crate) fn is_same(person: &user::Model, kept: &Model) -> bool {
    // A PIN that ended changes nothing that is seen here, but when its person was changed.
    let same = person.pin_changed_at == kept.pin_changed_at && person.updated_at == kept.updated_at;
    same && person.is_active && person.deleted_at.is_none() && person.pin_hash.is_none()
}

/// Forgets what is over.
pub async fn prune(tx: &Tx, now: Instant) -> Result<(), DbErr> {
    Entity::delete_many().filter(Column::ExpiresAt.lte(now)).exec(tx).await?;
    Ok(())
}
