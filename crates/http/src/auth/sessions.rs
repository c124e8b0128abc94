//! Sign-ins. An access token is good only while its session lives; the state is kept in memory and on disk.

#![expect(clippy::disallowed_methods, reason = "sessions stay at their server")]

use std::time::{Duration, Instant as Moment};

use tillkeep_model::Instant;
use tillkeep_storage::entity::second_factor;
use tillkeep_storage::entity::session::{Column, Entity, Model};
use tillkeep_storage::sea_orm::sea_query::{Expr, IntoCondition};
use tillkeep_storage::sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
};
use tillkeep_storage::{Db, DbErr};
use uuid::Uuid;

use super::last_used::LastUsed;
use crate::cache::{Cache, Turn};

/// What a request must know of its session.
#[derive(Clone, Copy, Debug)]
pub struct State {
    pub user_id: Uuid,
    /// The store that it was opened for.
    store_id: Option<Uuid>,
    /// The enrolled till that it was opened at; at headquarters the known place of a browser.
    pub(super) device_id: Option<Uuid>,
    pub pin_changed_at: Option<Instant>,
    pub sessions_valid_from: Option<Instant>,
    pub revoked: bool,
    /// When the second factor was shown last.
    pub factor_at: Option<Instant>,
    /// Opened by a PIN and nothing else that the person has.
    pub by_pin_alone: bool,
    /// As it was read; a refresh moves it on disk alone.
    expires_at: Instant,
    pub read_at: Moment,
}

impl State {
    /// Whether it was opened at an enrolled till.
    pub(super) const fn is_at_a_device(&self) -> bool {
        self.device_id.is_some()
    }
}

/// The sessions seen since the start.
pub struct Sessions {
    states: Cache<Uuid, State>,
    used: LastUsed,
}

/// A session that a new one replaced.
#[derive(Debug)]
pub struct Replaced {
    pub row: Model,
    used: Option<Instant>,
}

/// Why a session ended that a new one replaced, as the database and the log have it; a refresh is answered with the
/// code of this name.
pub const REPLACED: &str = "session_replaced";

/// Which sessions end.
#[derive(Clone, Copy, Debug)]
pub enum Revocation {
    One(Uuid),
    AllOf(Uuid),
    /// All of a person but one.
    OthersOf {
        user: Uuid,
        but: Uuid,
    },
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
const OF_A_PERSON: usize = 50;

impl Default for Sessions {
    fn default() -> Self {
        Self { states: Cache::with_room(KEPT), used: LastUsed::default() }
    }
}

impl Sessions {
    /// To be taken before a session is read or written that is to be remembered.
    pub fn turn(&self) -> Turn {
        self.states.turn()
    }

    /// The state of `sid`, from memory or the database.
    pub async fn get(&self, db: &Db, sid: Uuid) -> Result<Option<State>, DbErr> {
        let (kept, turn) = self.states.get(&sid);
        // A file has one server, which knows of every end.
        if let Some(state) = kept.filter(|state| db.is_embedded() || state.read_at.elapsed() < GOOD_FOR) {
            return Ok(Some(state));
        }
        self.read_since(db, sid, turn).await
    }

    /// The state of `sid` as the database has it.
    pub(super) async fn read(&self, db: &Db, sid: Uuid) -> Result<Option<State>, DbErr> {
        self.read_since(db, sid, self.turn()).await
    }

    async fn read_since(&self, db: &Db, sid: Uuid, turn: Turn) -> Result<Option<State>, DbErr> {
        let Some(row) = Entity::find_by_id(sid).one(db.reader()).await? else { return Ok(None) };
        self.remember(&row, turn);
        Ok(Some(State::from(&row)))
    }

    /// Notes in a living session that the second factor was shown; whether it is there. [`Sessions::changed`] puts it in force.
    pub(crate) async fn factor_shown(conn: &impl ConnectionTrait, sid: Uuid, now: Instant) -> Result<bool, DbErr> {
        let shown = Entity::update_many()
            .col_expr(Column::FactorAt, Expr::value(now))
            .filter(Column::Id.eq(sid))
            .filter(Column::RevokedAt.is_null())
            .exec(conn)
            .await?;
        Ok(shown.rows_affected == 1)
    }

    /// The row of a session was changed and committed.
    pub(crate) fn changed(&self, sid: Uuid) {
        self.states.change(|states| {
            states.remove(&sid);
        });
    }

    /// Notes a session that was made or read since `turn`, unless one was revoked in between: it may have been this one.
    pub fn remember(&self, row: &Model, turn: Turn) {
        self.states.keep(row.id, State::from(row), turn);
    }

    /// Writes the end of sessions; [`Sessions::ended`] puts it in force once the transaction is committed.
    pub async fn revoke(
        conn: &impl ConnectionTrait,
        which: Revocation,
        reason: &str,
        now: Instant,
    ) -> Result<(), DbErr> {
        let filter = match which {
            Revocation::One(sid) => Column::Id.eq(sid).into_condition(),
            Revocation::AllOf(user) => Column::UserId.eq(user).into_condition(),
            Revocation::OthersOf { user, but } => Condition::all().add(Column::UserId.eq(user)).add(Column::Id.ne(but)),
            Revocation::AtStore(store) => Column::StoreId.eq(store).into_condition(),
            Revocation::AtDevice(device) => Column::DeviceId.eq(device).into_condition(),
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

    /// Ends the sessions that people with a second factor opened with name and PIN where no factor was asked for.
    pub(super) async fn revoke_without_factor(conn: &impl ConnectionTrait, now: Instant) -> Result<(), DbErr> {
        let have = second_factor::Entity::find().select_only().column(second_factor::Column::UserId);
        Entity::update_many()
            .col_expr(Column::RevokedAt, Expr::value(now))
            .col_expr(Column::Reason, Expr::value("a second factor is asked for"))
            .filter(Column::ByPinAlone.eq(true))
            // Only a sign-in with a name can be refreshed; without one it opened no more than it does now.
            .filter(Column::CurrentJtiHash.is_not_null())
            .filter(Column::RevokedAt.is_null())
            .filter(Column::UserId.in_subquery(have.into_query()))
            .exec(conn)
            .await?;
        Ok(())
    }

    /// A request came with a token of this session, which is good.
    pub(super) fn used(&self, sid: Uuid, now: Instant) {
        self.used.used(sid, now);
    }

    /// Writes down which sessions were used.
    pub async fn note_uses(&self, db: &Db, now: Instant) -> Result<(), DbErr> {
        self.used.note(db, now).await
    }

    /// Ends what a new session takes the place of: that of the same person at the same terminal, and of more than
    /// [`OF_A_PERSON`] those that were used least recently. One that was never used has been used least of all, or whatever
    /// signs in again and again would throw out who works. The newest always stays: its user stands at the till.
    pub async fn replace(
        &self,
        conn: &impl ConnectionTrait,
        newest: &Model,
        fresh_ms: i64,
        now: Instant,
    ) -> Result<Vec<Replaced>, DbErr> {
        let mut others: Vec<Replaced> = Entity::find()
            .filter(Column::UserId.eq(newest.user_id))
            .filter(Column::Id.ne(newest.id))
            .filter(Column::RevokedAt.is_null())
            .filter(Column::ExpiresAt.gt(now))
            .order_by_asc(Column::IssuedAt)
            .order_by_asc(Column::Id)
            // Those of before the limit go little by little.
            .limit(1000)
            .all(conn)
            .await?
            .into_iter()
            .map(|row| Replaced { used: self.last_use(&row, fresh_ms, now), row })
            .collect();
        let same = |other: &Replaced| {
            let (old, new) = (&other.row, newest);
            new.terminal_id.is_some()
                && (old.terminal_id.as_ref(), old.store_id) == (new.terminal_id.as_ref(), new.store_id)
        };
        let mut gone: Vec<Replaced> = others.extract_if(.., |other| same(other)).collect();
        others.sort_by_key(|other| other.used);
        let too_many = others.len().saturating_sub(OF_A_PERSON - 1);
        gone.extend(others.drain(..too_many));
        if !gone.is_empty() {
            Entity::update_many()
                .col_expr(Column::RevokedAt, Expr::value(now))
                .col_expr(Column::Reason, Expr::value(REPLACED))
                .filter(Column::Id.is_in(gone.iter().map(|replaced| replaced.row.id)))
                .exec(conn)
                .await?;
        }
        Ok(gone)
    }

    /// When a session was used last, as far as this server knows.
    fn last_use(&self, row: &Model, fresh_ms: i64, now: Instant) -> Option<Instant> {
        // Its first request may be on its way, or have come to another server that has not said so yet.
        let begun = Some(row.issued_at).filter(|at| (0..fresh_ms).contains(&now.millis_since(*at)));
        // Whatever a clock that was ahead has written.
        let known = [row.last_used_at, row.rotated_at, begun].into_iter().flatten().map(|at| at.min(now)).max();
        self.used.at(row.id).max(known)
    }

    /// All that is remembered is read again.
    pub fn forget(&self) {
        self.states.clear();
    }

    /// The sessions of `which` are over, on the next request.
    pub(super) fn ended(&self, which: Revocation) {
        self.states.change(|states| match which {
            Revocation::One(sid) => {
                states.remove(&sid);
            }
            Revocation::AllOf(user) => states.retain(|_, state| state.user_id != user),
            Revocation::OthersOf { user, but } => states.retain(|sid, state| state.user_id != user || *sid == but),
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
        self.states.amend(|states| states.retain(|_, state| state.expires_at > now));
        self.used.forget_old(now);
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
            factor_at: row.factor_at,
            by_pin_alone: row.by_pin_alone,
            expires_at: row.expires_at,
            read_at: Moment::now(),
        }
    }
}
