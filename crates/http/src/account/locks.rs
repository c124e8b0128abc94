//! What is blocked after wrong PINs, and a manager who lifts it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tillkeep_model::permission::code::UsersEdit;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::attempts;
use tillkeep_storage::entity::pin_attempt::{Column, Model};
use tillkeep_storage::entity::{store, user};
use tillkeep_storage::sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter};
use tillkeep_storage::{DbErr, audit};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::answer::{List, NoContent, PageOnly};
use crate::auth::people::staff;
use crate::auth::{Caller, Home};
use crate::error::{Error, Result};
use crate::extract::{Body, Params};

/// Something that is blocked now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lock {
    id: Uuid,
    /// `terminal`, `unknown_terminals`, `store`, `pin_address`, `account`, `login_address` or `proposal`.
    kind: String,
    /// What a manager knows it by. The name of an account that nobody has was never kept.
    label: String,
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

/// What the caller may see and lift: everything at a store and for somebody with the right everywhere, else what
/// belongs to their stores and the people in them.
fn scope(caller: &Caller<UsersEdit>) -> Condition {
    match (caller.auth().home, caller.stores()) {
        (Home::Store(_), _) | (_, None) => Condition::all(),
        (Home::Hq, Some(stores)) => Condition::any()
            .add(Column::StoreId.is_in(stores.iter().copied()))
            .add(Column::UserId.in_subquery(staff(stores, false))),
    }
}

/// `GET /auth/locks`
pub async fn locks(caller: Caller<UsersEdit>, Params(page): Params<PageOnly>) -> Result<List<Lock>> {
    let paging = page.paging()?;
    let conn = caller.db().snapshot().await?;
    let (rows, total) = attempts::locks(&conn, scope(&caller), caller.now(), paging.offset(), paging.size).await?;
    Ok(List { rows: labelled(&conn, rows).await?, total, paging })
}

/// `POST /auth/unlock`: the counters begin anew.
pub async fn unlock(caller: Caller<UsersEdit>, Body(body): Body<Unlock>) -> Result<NoContent> {
    let now = caller.now();
    let tx = caller.db().begin().await?;
    let found = attempts::unlock(&tx, scope(&caller), body.id, now).await?;
    let row = found.ok_or_else(|| Error::not_found("lock"))?;
    if row.kind == "proposal" && row.user_id == Some(caller.user_id) {
        return Err(Error::new(ErrorCode::SelfDeactivation, "this was counted of you; somebody else may lift it"));
    }
    let lock = labelled(&tx, vec![row]).await?.pop().ok_or_else(|| Error::not_found("lock"))?;
    let entry = audit::Entry {
        entity_id: Some(lock.id.to_string()),
        details: json!({
            "kind": lock.kind, "label": lock.label, "storeId": lock.store_id, "userId": lock.user_id,
            "wrongToday": lock.wrong_today,
        }),
        ..caller.audit("login.unlock")
    };
    audit::record(&tx, entry, now).await?;
    tx.commit().await?;
    Ok(NoContent)
}

async fn labelled(conn: &impl ConnectionTrait, rows: Vec<Model>) -> Result<Vec<Lock>, DbErr> {
    let stores = rows.iter().filter_map(|row| row.store_id);
    let stores = store::Entity::find().filter(store::Column::Id.is_in(stores)).all(conn).await?;
    let stores: HashMap<Uuid, String> = stores.into_iter().map(|row| (row.id, row.code)).collect();
    let users = rows.iter().filter_map(|row| row.user_id);
    let users = user::Entity::find().filter(user::Column::Id.is_in(users)).all(conn).await?;
    let users: HashMap<Uuid, String> = users.into_iter().map(|row| (row.id, row.username)).collect();
    let label = |row: &Model| match row.kind.as_str() {
        "store" => row.store_id.and_then(|id| stores.get(&id).cloned()).unwrap_or_else(|| "a store".to_owned()),
        "unknown_terminals" => "terminals that are not registered".to_owned(),
        "account" | "proposal" => {
            row.user_id.and_then(|id| users.get(&id).cloned()).unwrap_or_else(|| "a name that nobody has".to_owned())
        }
        _ => row.subject.clone(),
    };
    let shown = |row: Model| Lock {
        id: row.id,
        label: label(&row),
        kind: row.kind,
        store_id: row.store_id,
        user_id: row.user_id,
        wrong_today: row.wrong_today,
        until: row.blocked_until.unwrap_or_default(),
    };
    Ok(rows.into_iter().map(shown).collect())
}
