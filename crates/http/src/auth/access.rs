//! What a person holds, from memory. A change of users, roles or permissions empties the cache at once.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant as Moment;

use tillkeep_model::{Instant, permission};
use tillkeep_storage::entity::{permission as permission_row, role, role_permission, user, user_store_role};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use tillkeep_storage::{Db, DbErr, Side, factors};
use uuid::Uuid;

use super::sessions::State;
use crate::cache::Cache;

/// One role of one person.
#[derive(Clone, Debug)]
pub struct Assignment {
    pub role_id: Uuid,
    pub role_code: String,
    pub role_name: String,
    /// `None` is everywhere.
    pub store_id: Option<Uuid>,
    pub codes: Arc<BTreeSet<String>>,
}

/// A person with their roles.
#[derive(Clone, Debug)]
pub struct Access {
    pub user: user::Model,
    pub assignments: Vec<Assignment>,
    /// Whether they have set up a second factor; known at headquarters.
    pub has_factor: bool,
    /// Whether it was cut to what a session opens that is bound to a store; see [`Access::within_a_store`].
    reached_beyond: bool,
    /// It is not older than this.
    pub read_at: Moment,
}

impl Access {
    /// A user who holds this, as of now.
    pub fn new(user: user::Model, assignments: Vec<Assignment>) -> Self {
        Self { user, assignments, has_factor: false, reached_beyond: false, read_at: Moment::now() }
    }

    pub fn is_active(&self) -> bool {
        is_active(&self.user)
    }

    /// Whether a session that began when the PIN and the bound of sessions were these is over; see [`is_outlived`].
    pub fn outlived(&self, pin_changed_at: Option<Instant>, sessions_valid_from: Option<Instant>) -> bool {
        is_outlived(&self.user, pin_changed_at, sessions_valid_from)
    }

    /// Whether `session` is over by what its user holds.
    pub fn ends(&self, session: &State) -> bool {
        !self.is_active() || self.outlived(session.pin_changed_at, session.sessions_valid_from)
    }

    /// Whether it ends a `session` that is newer than it: another server may have changed the person since, before a
    /// user signed in here, and this one does not know of it yet.
    pub fn is_older_than(&self, session: &State) -> bool {
        self.read_at <= session.read_at && self.ends(session)
    }

    /// The roles that count: all of them for a token without a store, else the global ones and those of that store.
    pub fn counting(&self, store_id: Option<Uuid>) -> impl Iterator<Item = &Assignment> {
        self.assignments.iter().filter(move |assignment| Self::counts(assignment, store_id))
    }

    /// Whether an assignment counts in `store_id` (`None`: for a token without a store).
    pub fn counts(assignment: &Assignment, store_id: Option<Uuid>) -> bool {
        store_id.is_none() || assignment.store_id.is_none() || assignment.store_id == store_id
    }

    /// The codes held in `store_id` (`None`: over all stores), sorted.
    pub fn codes(&self, store_id: Option<Uuid>) -> BTreeSet<&str> {
        self.counting(store_id).flat_map(|assignment| assignment.codes.iter().map(String::as_str)).collect()
    }

    /// Whether a user holds anything beyond one store: a role that counts everywhere, or a code that the default Store
    /// Manager lacks.
    pub fn reaches_beyond_a_store(&self) -> bool {
        self.reached_beyond
            || self.assignments.iter().any(|assignment| {
                assignment.store_id.is_none() || assignment.codes.iter().any(|code| permission::is_beyond_a_store(code))
            })
    }

    /// The same person without the codes that the default Store Manager lacks.
    pub(super) fn within_a_store(&self) -> Self {
        let bound = |assignment: &Assignment| {
            let codes = assignment.codes.iter().filter(|code| !permission::is_beyond_a_store(code)).cloned();
            Assignment { codes: Arc::new(codes.collect()), ..assignment.clone() }
        };
        Self {
            assignments: self.assignments.iter().map(bound).collect(),
            reached_beyond: self.reaches_beyond_a_store(),
            ..self.clone()
        }
    }

    /// Whether a user holds a code that the default Store Manager lacks, in whatever store.
    pub fn holds_beyond_a_store(&self) -> bool {
        self.assignments
            .iter()
            .any(|assignment| assignment.codes.iter().any(|code| permission::is_beyond_a_store(code)))
    }

    /// Whether a user holds a code that the default Cashier lacks, anywhere.
    pub fn reaches_beyond_a_till(&self) -> bool {
        self.assignments
            .iter()
            .flat_map(|assignment| assignment.codes.iter())
            .any(|code| permission::is_beyond_a_till(code))
    }

    /// Whether a user is an administrator of all stores.
    pub fn is_administrator(&self) -> bool {
        let everywhere = |given: &Assignment| given.role_code == permission::ADMINISTRATOR && given.store_id.is_none();
        self.assignments.iter().any(everywhere)
    }

    /// Whether one of `required` is held in `store_id` (`None`: anywhere).
    pub fn may(&self, required: &[&str], store_id: Option<Uuid>) -> bool {
        required.is_empty()
            || self
                .counting(store_id)
                .any(|assignment| permission::satisfied(required, assignment.codes.iter().map(String::as_str)))
    }

    /// The stores where one of `required` is held; `None` is all of them.
    pub fn stores(&self, required: &[&str], store_id: Option<Uuid>) -> Option<BTreeSet<Uuid>> {
        let mut stores = BTreeSet::new();
        for assignment in self.counting(store_id) {
            if permission::satisfied(required, assignment.codes.iter().map(String::as_str)) {
                stores.insert(assignment.store_id?);
            }
        }
        Some(stores)
    }
}

/// Whether a user may do anything at all.
pub(crate) fn is_active(user: &user::Model) -> bool {
    user.is_active && user.deleted_at.is_none()
}

/// Whether a session of `user` that began when the PIN and the bound of sessions were these is over: one that was changed elsewhere
/// ends the sessions from before here too, whatever the clocks say.
pub(crate) fn is_outlived(
    user: &user::Model,
    pin_changed_at: Option<Instant>,
    sessions_valid_from: Option<Instant>,
) -> bool {
    user.pin_changed_at != pin_changed_at || user.sessions_valid_from != sessions_valid_from
}

/// [`Access`] by user.
#[derive(Default)]
pub struct AccessCache(Cache<Uuid, Arc<Access>>);

impl AccessCache {
    pub fn clear(&self) {
        self.0.clear();
    }

    /// The person `user_id`, deleted or not; `None` when there never was one.
    pub async fn get(&self, db: &Db, user_id: Uuid) -> Result<Option<Arc<Access>>, DbErr> {
        self.get_unless(db, user_id, |_| false).await
    }

    /// As [`AccessCache::get`], read again when what is kept `is_old`.
    pub async fn get_unless(
        &self,
        db: &Db,
        user_id: Uuid,
        is_old: impl FnOnce(&Access) -> bool,
    ) -> Result<Option<Arc<Access>>, DbErr> {
        let (kept, turn) = self.0.get(&user_id);
        if kept.as_deref().is_some_and(|kept| !is_old(kept)) {
            return Ok(kept);
        }
        let access = load(db, user_id).await?.map(Arc::new);
        if let Some(access) = &access {
            self.0.keep(user_id, access.clone(), turn);
        }
        Ok(access)
    }
}

async fn load(db: &Db, user_id: Uuid) -> Result<Option<Access>, DbErr> {
    let read_at = Moment::now();
    let conn = db.snapshot().await?;
    let Some(user) = user::Entity::find_by_id(user_id).one(&conn).await? else { return Ok(None) };
    let assigned = user_store_role::Entity::find()
        .filter(user_store_role::Column::UserId.eq(user_id))
        .filter(user_store_role::Column::DeletedAt.is_null())
        .all(&conn)
        .await?;
    let ids: Vec<Uuid> = assigned.iter().map(|row| row.role_id).collect();
    let roles: HashMap<Uuid, role::Model> = role::Entity::find()
        .filter(role::Column::Id.is_in(ids.iter().copied()))
        .filter(role::Column::DeletedAt.is_null())
        .all(&conn)
        .await?
        .into_iter()
        .map(|role| (role.id, role))
        .collect();
    let grants = role_permission::Entity::find().filter(role_permission::Column::RoleId.is_in(ids)).all(&conn).await?;
    let codes: HashMap<Uuid, String> =
        permission_row::Entity::find().all(&conn).await?.into_iter().map(|row| (row.id, row.code)).collect();
    let mut by_role: HashMap<Uuid, BTreeSet<String>> = HashMap::new();
    for grant in grants {
        if let Some(code) = codes.get(&grant.permission_id) {
            by_role.entry(grant.role_id).or_default().insert(code.clone());
        }
    }
    let by_role: HashMap<Uuid, Arc<BTreeSet<String>>> =
        by_role.into_iter().map(|(role, codes)| (role, Arc::new(codes))).collect();
    let assignments = assigned
        .into_iter()
        .filter_map(|row| {
            let role = roles.get(&row.role_id)?;
            Some(Assignment {
                role_id: role.id,
                role_code: role.code.clone(),
                role_name: role.name.clone(),
                store_id: row.store_id,
                codes: by_role.get(&role.id).cloned().unwrap_or_default(),
            })
        })
        .collect();
    let has_factor = db.side() == Side::Hq && factors::has(&conn, user_id).await?;
    Ok(Some(Access { user, assignments, has_factor, reached_beyond: false, read_at }))
}
