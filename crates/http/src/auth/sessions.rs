//! Sign-ins. An access token is good only while its session lives; the state is kept in memory and on disk.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use tillkeep_model::Instant;
use tillkeep_storage::entity::session::{Column, Entity, Model};
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use tillkeep_storage::{Db, DbErr};
use uuid::Uuid;

/// What a request must know of its session.
#[derive(Clone, Copy, Debug)]
pub struct State {
    pub user_id: Uuid,
    pub issued_at: Instant,
    pub revoked: bool,
}

/// The sessions seen since the start.
#[derive(Default)]
pub struct Sessions(RwLock<HashMap<Uuid, State>>);

/// Which sessions end.
#[derive(Clone, Copy, Debug)]
pub enum Revocation {
    One(Uuid),
    AllOf(Uuid),
}

/// Sessions kept in memory at the most; the rest is read again when it is asked for.
const KEPT: usize = 100_000;

impl Sessions {
    /// The state of `sid`, from memory or the database.
    pub async fn of(&self, db: &Db, sid: Uuid) -> Result<Option<State>, DbErr> {
        if let Some(state) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&sid) {
            return Ok(Some(*state));
        }
        let Some(row) = Entity::find_by_id(sid).one(db.reader()).await? else { return Ok(None) };
        self.remember(&row);
        Ok(Some(state(&row)))
    }

    /// Notes a session that was made or read. A revocation that came first stays.
    pub fn remember(&self, row: &Model) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEPT {
            known.retain(|_, state| state.revoked);
        }
        known.entry(row.id).or_insert_with(|| state(row));
    }

    /// Writes the end of sessions; [`Sessions::ended`] puts it in force once the transaction is committed.
    pub async fn revoke(
        conn: &impl ConnectionTrait,
        which: Revocation,
        reason: &str,
        now: Instant,
    ) -> Result<(), DbErr> {
        let filter = match which {
            Revocation::One(sid) => Column::Id.eq(sid),
            Revocation::AllOf(user) => Column::UserId.eq(user),
        };
        Entity::update_many()
            .col_expr(Column::RevokedAt, Expr::value(now))
            .col_expr(Column::Reason, Expr::value(reason))
            .filter(filter)
            .filter(Column::RevokedAt.is_null())
            .exec(conn)
            .await?;
        Ok(())
    }

    /// The sessions of `which` are over, on the next request.
    pub fn ended(&self, which: Revocation) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for (sid, state) in known.iter_mut() {
            let hit = match which {
                Revocation::One(one) => *sid == one,
                Revocation::AllOf(user) => state.user_id == user,
            };
            state.revoked |= hit;
        }
    }
}

const fn state(row: &Model) -> State {
    State { user_id: row.user_id, issued_at: row.issued_at, revoked: row.revoked_at.is_some() }
}
