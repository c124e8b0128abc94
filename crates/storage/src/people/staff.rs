//! Which PINs a store can verify: those of the people with roles that count there; and who sold what last.

use std::collections::{HashMap, HashSet};

use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect, QueryTrait,
};
use serde::{Deserialize, Serialize};
use tillkeep_model::{Instant, permission};
use uuid::Uuid;

use crate::db::{placeholders, query};
use crate::entity::{session, store, store_node, user, user_store_role};
use crate::many::find_in;
use crate::{Tx, settings};

/// Where the PINs of people with roles in every store can be verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GlobalPeople {
    /// At headquarters alone, which a store asks while there is a line, and in the stores that another role of theirs names.
    #[default]
    Online,
    /// Only in the stores that another role of theirs names.
    Named,
    /// Everywhere.
    All,
}

impl GlobalPeople {
    const KEY: &'static str = "global_people_at_stores";
    const WORDS: [(Self, &'static str); 3] = [(Self::Online, "online"), (Self::Named, "named"), (Self::All, "all")];

    async fn kept(conn: &impl ConnectionTrait) -> Result<Option<Self>, DbErr> {
        let kept = settings::get(conn, Self::KEY).await?;
        Ok(Self::WORDS.into_iter().find(|(_, word)| kept.as_deref() == Some(word)).map(|(kept, _)| kept))
    }

    /// What the operator decided.
    pub async fn load(conn: &impl ConnectionTrait) -> Result<Self, DbErr> {
        Ok(Self::kept(conn).await?.unwrap_or_default())
    }

    /// Keeps the operator's decision; when it is another one than before, the people concerned travel once more, so that
    /// what verifies their PINs leaves the stores or comes.
    pub async fn decide(self, tx: &mut Tx) -> Result<(), DbErr> {
        let kept = Self::kept(&**tx).await?;
        if kept == Some(self) {
            return Ok(());
        }
        let word = Self::WORDS.into_iter().find(|(other, _)| *other == self).map_or("online", |(_, word)| word);
        settings::set(&**tx, Self::KEY, word).await?;
        // Before there was anything to decide they were everywhere.
        if kept.unwrap_or(Self::All) == self {
            return Ok(());
        }
        let global = user_store_role::Entity::find()
            .select_only()
            .column(user_store_role::Column::UserId)
            .filter(user_store_role::Column::DeletedAt.is_null())
            .filter(user_store_role::Column::StoreId.is_null());
        let concerned = user::Column::Id.in_subquery(global.into_query());
        tx.update::<user::Entity>(|people| people.filter(concerned)).await?;
        Ok(())
    }

    /// Whether `store` has what verifies them all. One of a release that cannot ask headquarters goes on as before.
    async fn are_at(conn: &impl ConnectionTrait, store: Uuid) -> Result<bool, DbErr> {
        Ok(match Self::load(conn).await? {
            Self::All => true,
            Self::Named => false,
            Self::Online => {
                store_node::Entity::find_by_id(store).one(conn).await?.is_some_and(|node| node.never_asks())
            }
        })
    }
}

/// Whoever reaches beyond a store: by a role that counts everywhere, or one with a code that the default Store Manager lacks.
pub async fn beyond_a_store(conn: &impl ConnectionTrait) -> Result<HashSet<Uuid>, DbErr> {
    let within: Vec<_> = permission::ALL.iter().filter(|code| !permission::is_beyond_a_store(code)).collect();
    let sql = format!(
        "SELECT DISTINCT a.user_id FROM user_store_roles a JOIN roles r ON r.id = a.role_id AND r.deleted_at IS NULL \
         WHERE a.deleted_at IS NULL AND (a.store_id IS NULL OR EXISTS (SELECT 1 FROM role_permissions g \
         JOIN permissions p ON p.id = g.permission_id WHERE g.role_id = a.role_id AND p.code NOT IN ({})))",
        placeholders(1, within.len())
    );
    let rows = query(conn, &sql, within.into_iter().map(|code| (*code).into())).await?;
    rows.iter().map(|row| row.try_get("", "user_id")).collect()
}

/// How a PIN begins that release 0.1.0 made, with one key for the whole chain.
pub const FORMER_PIN: &str = "$argon2id$";

/// People with a PIN from release 0.1.0.
pub async fn former_pins(conn: &impl ConnectionTrait) -> Result<u64, DbErr> {
    user::Entity::find()
        .filter(user::Column::PinHash.starts_with(FORMER_PIN))
        .filter(user::Column::DeletedAt.is_null())
        .count(conn)
        .await
}

/// Stores in use with a server of release 0.1.0, as it said in its last handshake: they verify PINs of that release alone.
pub async fn former_stores(conn: &impl ConnectionTrait) -> Result<u64, DbErr> {
    let former = store_node::Entity::find()
        .select_only()
        .column(store_node::Column::StoreId)
        .filter(store_node::Column::StoreVersion.starts_with("0.1."));
    store::Entity::find()
        .filter(store::Column::Id.in_subquery(former.into_query()))
        .filter(store::Column::IsActive.eq(true))
        .filter(store::Column::DeletedAt.is_null())
        .count(conn)
        .await
}

/// The people that `store` verifies itself. What cannot be read is no user: better no verifier than one too many.
pub async fn of_store(conn: &impl ConnectionTrait, store: Uuid) -> Result<HashSet<Uuid>, DbErr> {
    let counts =
        if GlobalPeople::are_at(conn, store).await? { "(store_id IS NULL OR store_id = $1)" } else { "store_id = $1" };
    let sql = format!("SELECT DISTINCT user_id FROM user_store_roles WHERE deleted_at IS NULL AND {counts}");
    let rows = query(conn, &sql, [store.into()]).await?;
    Ok(rows.iter().filter_map(|row| row.try_get("", "user_id").ok()).collect())
}

/// Whether a role of a user counts in `store`, one that counts everywhere included.
pub async fn counts_in(conn: &impl ConnectionTrait, store: Uuid, user_id: Uuid) -> Result<bool, DbErr> {
    let of_store = user_store_role::Column::StoreId;
    let here = Condition::any().add(of_store.eq(store)).add(of_store.is_null());
    let roles = user_store_role::Entity::find()
        .filter(user_store_role::Column::UserId.eq(user_id))
        .filter(user_store_role::Column::DeletedAt.is_null())
        .filter(here);
    Ok(roles.one(conn).await?.is_some())
}

/// A sale of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastSale {
    pub store_id: Uuid,
    pub store_code: String,
    pub completed_at: Instant,
}

/// The newest sale of each of these people, at headquarters.
pub async fn last_sales(conn: &impl ConnectionTrait, people: &[Uuid]) -> Result<HashMap<Uuid, LastSale>, DbErr> {
    // One look at the index for each, however much they sold.
    let sql = "SELECT s.cashier_user_id, s.store_id, t.code, s.completed_at FROM users u \
               JOIN sales s ON s.id = (SELECT l.id FROM sales l WHERE l.cashier_user_id = u.id \
               ORDER BY l.completed_at DESC, l.id DESC LIMIT 1) \
               JOIN stores t ON t.id = s.store_id WHERE u.id IN ($list)";
    find_in(conn, sql, &[], people.iter().copied())
        .await?
        .iter()
        .map(|row| {
            let sale = LastSale {
                store_id: row.try_get("", "store_id")?,
                store_code: row.try_get("", "code")?,
                completed_at: row.try_get("", "completed_at")?,
            };
            Ok((row.try_get("", "cashier_user_id")?, sale))
        })
        .collect()
}

/// Ends the sessions of people who are not active any more: a store learns of that with the pull of `users`.
pub(crate) async fn end_sessions_of_inactive(tx: &Tx, now: Instant) -> Result<(), DbErr> {
    use session::Column;
    let gone = user::Entity::find()
        .select_only()
        .column(user::Column::Id)
        .filter(Condition::any().add(user::Column::IsActive.eq(false)).add(user::Column::DeletedAt.is_not_null()));
    session::Entity::update_many()
        .col_expr(Column::RevokedAt, Expr::value(now))
        .col_expr(Column::Reason, Expr::value("the user is not active any more"))
        .filter(Column::UserId.in_subquery(gone.into_query()))
        .filter(Column::RevokedAt.is_null())
        .exec(tx)
        .await?;
    Ok(())
}
