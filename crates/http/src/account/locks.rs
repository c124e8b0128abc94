//! What is blocked after wrong PINs, and a manager who lifts it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tillkeep_model::permission::Requirement;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::attempts;
use tillkeep_storage::entity::pin_attempt::{Column, Model};
use tillkeep_storage::entity::{device, user};
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter};
use tillkeep_storage::{DbErr, audit, user_pins};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{List, NoContent, PageOnly};
use crate::auth::people::staff;
use crate::auth::throttle;
use crate::auth::{Caller, Home};
use crate::error::{Error, Result};
use crate::extract::{Body, Params};

/// Something that is blocked now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lock {
    id: Uuid,
    /// `device`, `unknown_devices`, `headquarters`, `headquarters_anywhere`, `account`, `account_anywhere`, `login_address`,
    /// `second_factor`, `proposal`, `proposal_refused`, `proposal_accepted`, `unlock` or `store_sign_in`.
    kind: String,
    /// What a manager knows it by. A name without an account was never kept.
    label: String,
    /// Where the PINs were typed, of an `account` and at headquarters: the name of an enrolled till, an address, or whose browser it
    /// is.
    place: Option<String>,
    store_id: Option<Uuid>,
    user_id: Option<Uuid>,
    wrong_today: i32,
    until: Instant,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Unlock {
    id: Uuid,
}

/// What the caller may see and lift: everything at a store and for a caller with the right everywhere, else what
/// belongs to their stores and the people in them.
fn scope<P: Requirement>(caller: &Caller<P>) -> Condition {
    match (caller.auth().home, caller.stores()) {
        (Home::Store(_), _) | (_, None) => Condition::all(),
        (Home::Hq, Some(stores)) => Condition::any()
            .add(Column::StoreId.is_in(stores.iter().copied()))
            .add(Column::UserId.in_subquery(staff(stores, false))),
    }
}

/// `GET /auth/locks`
pub async fn locks<P: Requirement>(caller: Caller<P>, Params(page): Params<PageOnly>) -> Result<List<Lock>> {
    let paging = page.paging()?;
    let conn = caller.snapshot().await?;
    let (rows, total) = attempts::locks(&conn, scope(&caller), caller.now(), paging.offset(), paging.size).await?;
    Ok(List::new(labelled(caller.auth().home, &conn, rows).await?, total, paging))
}

/// `POST /auth/unlock`: the counters start over. A person lifts only a few locks a day: else who lifts those of their
/// own guesses would have no limit.
pub async fn unlock<P: Requirement>(caller: Caller<P>, Body(body): Body<Unlock>) -> Result<NoContent> {
    let now = caller.now();
    let act = caller.begin().await?;
    let found = attempts::unlock(&act, scope(&caller), body.id, now).await?;
    let row = found.ok_or_else(|| Error::not_found("lock"))?;
    refuse_own(&caller, &row, now).await?;
    if let Some(refusal) = attempts::count(&act, &[throttle::unlock_bucket(caller.user_id)], now).await? {
        let text = "you have lifted as many locks as one person may in a day; wait, or ask another manager";
        return Err(Error::new(ErrorCode::TooManyAttempts, text).retry_after(refusal.seconds(now)));
    }
    let lock = labelled(caller.auth().home, &**act, vec![row]).await?.pop().ok_or_else(|| Error::not_found("lock"))?;
    let entry = audit::Entry {
        entity_id: Some(lock.id.to_string()),
        details: json!({
            "kind": lock.kind, "label": lock.label, "place": lock.place, "storeId": lock.store_id, "userId": lock.user_id,
            "wrongToday": lock.wrong_today,
        }),
        ..caller.audit("login.unlock")
    };
    act.done(entry).await?;
    Ok(NoContent)
}

/// A person lifts neither what was counted of themselves nor of an account that they made. What is counted of proposed
/// PINs only an administrator lifts: whoever makes accounts would lift the locks of those.
async fn refuse_own<P: Requirement>(caller: &Caller<P>, row: &Model, now: Instant) -> Result<()> {
    let Some(counted) = row.user_id else { return Ok(()) };
    if row.kind.starts_with("proposal") && !caller.access.is_administrator() {
        let text = "who proposed too many PINs is let go on by an administrator of all stores";
        return Err(Error::new(ErrorCode::Scope, text));
    }
    // New PINs are proposed at headquarters, which alone knows who made whom.
    let answers = match caller.auth().home {
        Home::Hq => user_pins::counts_for(caller.reader(), &caller.access.user, now).await?,
        Home::Store(_) => caller.user_id,
    };
    if [caller.user_id, answers].contains(&counted) {
        return Err(Error::new(ErrorCode::SelfDeactivation, "this was counted of you; another manager may lift it"));
    }
    Ok(())
}

/// The rows as a manager knows what they are about.
async fn labelled(home: Home, conn: &impl ConnectionTrait, rows: Vec<Model>) -> Result<Vec<Lock>, DbErr> {
    let users = rows.iter().filter_map(|row| row.user_id);
    let users = user::Entity::find().filter(user::Column::Id.is_in(users)).all(conn).await?;
    let users: HashMap<Uuid, String> = users.into_iter().map(|row| (row.id, row.username)).collect();
    let devices = devices(home, conn, &rows).await?;
    let named = |origin: &str| devices.get(origin).cloned().unwrap_or_else(|| origin.to_owned());
    let label = |row: &Model| match row.kind.as_str() {
        "store_sign_in" => "people of whom a store asks".to_owned(),
        "headquarters" | "headquarters_anywhere" => "a PIN alone at headquarters".to_owned(),
        "account" | "account_anywhere" | "second_factor" | "proposal" | "proposal_refused" | "proposal_accepted"
        | "unlock" => {
            row.user_id.and_then(|id| users.get(&id).cloned()).unwrap_or_else(|| "a name that nobody has".to_owned())
        }
        _ => named(&row.subject),
    };
    let browser = |user_id: &Uuid| users.get(user_id).map(|name| format!("a browser of {name}"));
    let place = |row: &Model| match (row.kind.as_str(), row.subject.split_once(' ')) {
        ("headquarters", _) => row.user_id.as_ref().and_then(browser).or_else(|| Some(row.subject.clone())),
        // At headquarters nothing but a browser has an id.
        ("account" | "second_factor", Some((_, origin))) if home == Home::Hq && origin.parse::<Uuid>().is_ok() => {
            row.user_id.as_ref().and_then(browser)
        }
        (_, Some((_, origin))) => Some(named(origin)),
        (_, None) => None,
    };
    let shown = |row: Model| Lock {
        id: row.id,
        label: label(&row),
        place: place(&row),
        kind: row.kind,
        store_id: row.store_id,
        user_id: row.user_id,
        wrong_today: row.wrong_today,
        until: row.blocked_until.unwrap_or_default(),
    };
    Ok(rows.into_iter().map(shown).collect())
}

/// The names of enrolled tills among what `rows` are about, by their ids as text.
async fn devices(home: Home, conn: &impl ConnectionTrait, rows: &[Model]) -> Result<HashMap<String, String>, DbErr> {
    if home == Home::Hq {
        return Ok(HashMap::new());
    }
    let ids = rows.iter().filter_map(|row| row.subject.rsplit(' ').next()?.parse::<Uuid>().ok());
    let devices = device::Entity::find().filter(device::Column::Id.is_in(ids)).all(conn).await?;
    Ok(devices.into_iter().map(|row| (row.id.to_string(), row.name)).collect())
}
