//! The head version of every type, in memory: a store asks for them every cycle, and that must cost no query.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{PoisonError, RwLock};

use tillkeep_storage::registry::{self, Scope};
use tillkeep_storage::{Change, Db, DbErr, versions};
use uuid::Uuid;

/// Scopes that a query names at the most; of more, all are read.
const MANY: usize = 500;

/// Heads by type and scope; transfers have one counter, whoever may see them.
pub struct Heads(RwLock<HashMap<(&'static str, Uuid), i64>>);

impl Heads {
    pub async fn load(db: &Db) -> Result<Self, DbErr> {
        let heads = versions::heads(db.reader()).await?;
        let known = heads
            .into_iter()
            .filter_map(|((name, scope), value)| Some(((registry::find(&name)?.name, scope), value)))
            .collect();
        Ok(Self(RwLock::new(known)))
    }

    /// Takes note of committed changes; commits may be noted in any order.
    pub fn raise(&self, changes: &[Change]) {
        let mut heads = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for change in changes {
            let scoped = registry::find(change.entity_type).is_some_and(|entity| entity.scope == Scope::Store);
            let scope = change.store.filter(|_| scoped).unwrap_or_default();
            let head = heads.entry((change.entity_type, scope)).or_default();
            *head = change.version.max(*head);
        }
    }

    /// What the database has beyond these heads: changes that were committed though the commit was answered with an
    /// error, as when the line to the database breaks in that moment.
    pub async fn missed(&self, db: &Db) -> Result<Vec<Change>, DbErr> {
        Ok(self.beyond(versions::heads(db.reader()).await?))
    }

    /// As [`Heads::missed`], of the types and stores that `hints` name alone.
    pub async fn missed_of(&self, db: &Db, hints: &[Change]) -> Result<Vec<Change>, DbErr> {
        let types: BTreeSet<&'static str> = hints.iter().map(|hint| hint.entity_type).collect();
        let scope_of = |hint: &Change| {
            let entity = registry::find(hint.entity_type)?;
            match (entity.scope, hint.store) {
                (Scope::Store, None) => None,
                (_, store) => Some(registry::counter_scope(entity, store.unwrap_or_default())),
            }
        };
        // One that is for every store asks for all of them, and so do many.
        let scopes: Option<BTreeSet<Uuid>> = hints.iter().map(scope_of).collect();
        let scopes = scopes.filter(|scopes| scopes.len() <= MANY);
        Ok(self.beyond(versions::heads_of(db.reader(), types, scopes).await?))
    }

    /// What of `there` is beyond these heads.
    fn beyond(&self, there: BTreeMap<(String, Uuid), i64>) -> Vec<Change> {
        let heads = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let missed = there.into_iter().filter_map(|((name, scope), version)| {
            let entity_type = registry::find(&name)?.name;
            let known = heads.get(&(entity_type, scope)).copied().unwrap_or_default();
            let store = (!scope.is_nil()).then_some(scope);
            (version > known).then_some(Change { entity_type, store, version })
        });
        missed.collect()
    }

    /// The heads in the scope of one store.
    pub fn of_store(&self, store_id: Uuid) -> BTreeMap<String, i64> {
        let heads = self.0.read().unwrap_or_else(PoisonError::into_inner);
        registry::pulled()
            .map(|entity| {
                let scope = registry::counter_scope(entity, store_id);
                (entity.name.to_owned(), heads.get(&(entity.name, scope)).copied().unwrap_or_default())
            })
            .collect()
    }

    /// A number that rises with every change.
    pub fn sum(&self) -> i64 {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    /// The head of one type in the scope of one store.
    pub fn of(&self, entity: &registry::SyncType, store_id: Uuid) -> i64 {
        let scope = registry::counter_scope(entity, store_id);
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&(entity.name, scope)).copied().unwrap_or_default()
    }
}
