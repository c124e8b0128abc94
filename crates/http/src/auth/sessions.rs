//! Sign-ins. An access token is good only while its session lives; the state is kept in memory and on disk.

#![expect(clippy::disallowed_methods, reason = "sessions stay at their server")]

use std::time::{Duration, Instant as Moment};

use tillkeep_model::Instant;
use tillkeep_storage::entity::session::{Column, Entity, Model};
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
};
use tillkeep_storage::{Db, DbErr};
use uuid::Uuid;

use crate::cache::{Cache, Turn};

/// What a request must know of its session.
#[derive(Clone, Copy, Debug)]
pub struct State {
    pub user_id: Uuid,
    /// The store that it was opened for.
    store_id: Option<Uuid>,
    /// The enrolled till that it was opened at.
    device_id: Option<Uuid>,
    pub pin_changed_at: Option<Instant>,
    pub sessions_valid_from: Option<Instant>,
    pub revoked: bool,
    /// As it was read; a refresh moves it on disk alone.
    expires_at: Instant,
    pub read_at: Moment,
}

/// The sessions seen since the start.
pub struct Sessions(Cache<Uuid, State>);

/// Which sessions end.
#[derive(Clone, Copy, Debug)]
pub enum Revocation {
    One(Uuid),
    AllOf(Uuid),
    /// Those that were opened for a store.
    AtStore(Uuid),
    /// Those that were opened at an enrolled till.
    AtDevice(Uuid),
}

/// Sessions kept in memory at the most; the rest is read again when it is asked for.
const KEPT: usize = 100_000;
/// Where another server may have ended a session, what was read of it is good for so long.
const GOOD_FOR: Duration = Duration::from_secs(3);
/// Sessions of one person at once: more than there are tills and browsers that one works at.
const OF_A_PERSON: u64 = 20;

impl Default for Sessions {
    fn default() -> Self {
        Self(Cache::with_room(KEPT))
    }
}

impl Sessions {
    /// To be taken before a session is read or written that is to be remembered.
    pub fn turn(&self) -> Turn {
        self.0.turn()
    }

    /// The state of `sid`, from memory or the database.
    pub async fn get(&self, db: &Db, sid: Uuid) -> Result<Option<State>, DbErr> {
        let (kept, turn) = self.0.get(&sid);
        // A file has one server, which knows of every end.
        if let Some(state) = kept.filter(|state| db.is_embedded() || state.read_at.elapsed() < GOOD_FOR) {
            return Ok(Some(state));
        }
        let Some(row) = Entity::find_by_id(sid).one(db.reader()).await? else { return Ok(None) };
        self.remember(&row, turn);
        Ok(Some(State::from(&row)))
    }

    /// Notes a session that was made or read since `turn`, unless one was revoked in between: it may have been this one.
    pub fn remember(&self, row: &Model, turn: Turn) {
        self.0.keep(row.id, State::from(row), turn);
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
            Revocation::AtStore(store) => Column::StoreId.eq(store),
            Revocation::AtDevice(device) => Column::DeviceId.eq(device),
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

    /// Ends the sessions of people who are not active any more: a store learns of that with the pull of `users`.
    pub async fn revoke_of_inactive(conn: &impl ConnectionTrait, now: Instant) -> Result<(), DbErr> {
        let gone = user::Entity::find()
            .select_only()
            .column(user::Column::Id)
            .filter(Condition::any().add(user::Column::IsActive.eq(false)).add(user::Column::DeletedAt.is_not_null()));
        Entity::update_many()
            .col_expr(Column::RevokedAt, Expr::value(now))
            .col_expr(Column::Reason, Expr::value("the user is not active any more"))
            .filter(Column::UserId.in_subquery(gone.into_query()))
            .filter(Column::RevokedAt.is_null())
            .exec(conn)
            .await?;
        Ok(())
    }

    /// Ends the oldest sessions of a person who has more than [`OF_A_PERSON`]; which these are. The newest sign-in always
    /// works: somebody stands at the till.
    pub async fn revoke_oldest(conn: &impl ConnectionTrait, newest: &Model, now: Instant) -> Result<Vec<Uuid>, DbErr> {
        let oldest: Vec<Uuid> = Entity::find()
            .select_only()
            .column(Column::Id)
            .filter(Column::UserId.eq(newest.user_id))
            // Whatever a clock that was ahead has written into the others.
            .filter(Column::Id.ne(newest.id))
            .filter(Column::RevokedAt.is_null())
            .filter(Column::ExpiresAt.gt(now))
            .order_by_desc(Column::IssuedAt)
            .order_by_desc(Column::Id)
            .offset(OF_A_PERSON - 1)
            // Those of before the limit go little by little.
            .limit(1000)
            .into_tuple()
            .all(conn)
            .await?;
        if !oldest.is_empty() {
            Entity::update_many()
                .col_expr(Column::RevokedAt, Expr::value(now))
                .col_expr(Column::Reason, Expr::value("the person has newer sessions"))
                .filter(Column::Id.is_in(oldest.iter().copied()))
                .exec(conn)
                .await?;
        }
        Ok(oldest)
    }

    /// All that is remembered is read again.
    pub fn forget(&self) {
        self.0.clear();
    }

    /// The sessions of `which` are over, on the next request.
    pub(super) fn ended(&self, which: Revocation) {
        self.0.change(|states| match which {
            Revocation::One(sid) => {
                states.remove(&sid);
            }
            Revocation::AllOf(user) => states.retain(|_, state| state.user_id != user),
            Revocation::AtStore(store) => states.retain(|_, state| state.store_id != Some(store)),
            Revocation::AtDevice(device) => states.retain(|_, state| state.device_id != Some(device)),
        });
    }

    /// Removes the sessions that are expired: so are all of their tokens.
    pub async fn prune(conn: &impl ConnectionTrait, now: Instant) -> Result<u64, DbErr> {
        Ok(Entity::delete_many().filter(Column::ExpiresAt.lte(now)).exec(conn).await?.rows_affected)
    }

    /// Lets go of memory that sessions take which are expired, or were refreshed and are read again.
    pub fn forget_expired(&self, now: Instant) {
        self.0.amend(|states| states.retain(|_, state| state.expires_at > now));
    }
}

impl From<&Model> for State {
    fn from(row: &Model) -> Self {
        Self {
            user_id: row.user_id,
            store_id: row.store_id,
            device_id: row.device_id,
            pin_changed_at: row.pin_changed_at,
            sessions_valid_from: row.sessions_valid_from,
            revoked: row.revoked_at.is_some(),
            expires_at: row.expires_at,
            read_at: Moment::now(),
        }
    }
}
