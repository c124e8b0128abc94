//! The head of every type with its tag, in memory: a store asks for them every cycle, and that must cost no query.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tillkeep_storage::registry::{self, Scope, SyncType};
use tillkeep_storage::tags::{self, Head};
use tillkeep_storage::{Change, Db, DbErr};
use uuid::Uuid;

/// Scopes that a query names at the most; of more, all are read.
const MANY: usize = 500;
/// How often heads are read that move while they are read.
const READS: usize = 5;

/// Type and scope; transfers have one counter, whoever may see them.
type Key = (&'static str, Uuid);

/// Heads by type and scope.
pub struct Heads(RwLock<KnownHeads>);

#[derive(Default)]
struct KnownHeads {
    heads: HashMap<Key, KnownHead>,
    /// Rises with everything that is noted.
    notes: u64,
    /// The note at which a head of this scope moved last.
    moved: HashMap<Uuid, u64>,
}

#[derive(Clone, Copy, Default)]
struct KnownHead {
    head: Head,
    /// The number of the note that it is from.
    at: u64,
}

/// Which heads a store was answered: with the same ones of them it is the same answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    everyone: u64,
    store: u64,
}

impl KnownHeads {
    fn note(&mut self, key: Key, head: KnownHead) {
        self.moved.insert(key.1, head.at);
        self.heads.insert(key, head);
    }
}

impl Heads {
    pub async fn load(db: &Db) -> Result<Self, DbErr> {
        let heads = Self(RwLock::default());
        heads.follow(db).await?;
        Ok(heads)
    }

    fn read(&self) -> RwLockReadGuard<'_, KnownHeads> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, KnownHeads> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of committed changes; commits may be noted in any order.
    pub fn raise(&self, changes: &[Change]) {
        let mut known = self.write();
        known.notes += 1;
        let at = known.notes;
        for change in changes {
            let Some(entity) = registry::find(change.entity_type) else { continue };
            let key = key(entity, change.store.unwrap_or_default());
            let head = known.heads.get(&key).copied().unwrap_or_default().head;
            let newer = change.version > head.version;
            if newer || (change.version == head.version && change.tag.is_some()) {
                known.note(key, KnownHead { head: Head { version: change.version, tag: change.tag }, at });
            }
        }
    }

    /// Makes these heads those of the database, also where they go back: it may be another one now, that lost its last
    /// seconds. What differed.
    pub async fn follow(&self, db: &Db) -> Result<Vec<Change>, DbErr> {
        let (mut changes, mut unsure) = (Vec::new(), None);
        for _ in 0..READS {
            let begun = self.read().notes;
            let there = match &unsure {
                None => tags::heads(db.reader()).await?,
                Some(keys) => read_of(db, keys).await?,
            };
            let there = known_types(there);
            let mut known = self.write();
            known.notes += 1;
            let at = known.notes;
            let keys: BTreeSet<Key> = match unsure.take() {
                None => known.heads.keys().chain(there.keys()).copied().collect(),
                Some(keys) => keys,
            };
            let mut moving = BTreeSet::new();
            for key in keys {
                let head = there.get(&key).copied().unwrap_or_default();
                let noted = known.heads.get(&key).copied().unwrap_or_default();
                if noted.head == head {
                    continue;
                }
                // A commit that was noted meanwhile may be one that this read did not see.
                if noted.at > begun && noted.head.version >= head.version {
                    moving.insert(key);
                    continue;
                }
                known.note(key, KnownHead { head, at });
                changes.push(change(key, head));
            }
            if moving.is_empty() {
                break;
            }
            unsure = Some(moving);
        }
        Ok(changes)
    }

    /// What the database has beyond these heads, of the types and stores that `hints` name.
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
        self.missed_in(db, &types, scopes.as_ref()).await
    }

    /// What the database has beyond these heads, of types by their names.
    pub async fn missed_of_types(&self, db: &Db, names: &[&str]) -> Result<Vec<Change>, DbErr> {
        let types: BTreeSet<&'static str> =
            names.iter().filter_map(|name| registry::find(name)).map(|entity| entity.name).collect();
        if types.is_empty() { Ok(Vec::new()) } else { self.missed_in(db, &types, None).await }
    }

    /// What heads that were read from the database have beyond these.
    pub fn beyond(&self, there: tags::Heads) -> Vec<Change> {
        let known = self.read();
        let beyond = |(key, head): (Key, Head)| {
            let here = known.heads.get(&key).copied().unwrap_or_default().head.version;
            (head.version > here).then(|| change(key, head))
        };
        known_types(there).into_iter().filter_map(beyond).collect()
    }

    async fn missed_in(
        &self,
        db: &Db,
        types: &BTreeSet<&'static str>,
        scopes: Option<&BTreeSet<Uuid>>,
    ) -> Result<Vec<Change>, DbErr> {
        // Of a commit of types that stores show together, no part is known without the rest.
        let types = registry::with_those_together(types.iter().copied());
        Ok(self.beyond(tags::heads_of(db.reader(), &types, scopes).await?))
    }

    /// Of each type how many counters are known and what they add up to, as [`tillkeep_storage::hq_nodes::sums`] has it.
    pub fn sums(&self) -> HashMap<&'static str, (i64, i64)> {
        let mut sums: HashMap<&'static str, (i64, i64)> = HashMap::new();
        for ((name, _), noted) in &self.read().heads {
            let (counters, total) = sums.entry(name).or_default();
            (*counters, *total) = (*counters + 1, *total + noted.head.version);
        }
        sums
    }

    /// When the heads in the scope of one store moved last. Who asks before it reads them never takes older ones for these.
    pub fn moved(&self, store_id: Uuid) -> Moved {
        let known = self.read();
        let [everyone, store] =
            [Uuid::nil(), store_id].map(|scope| known.moved.get(&scope).copied().unwrap_or_default());
        Moved { everyone, store }
    }

    /// The heads in the scope of one store.
    pub fn of_store(&self, store_id: Uuid) -> BTreeMap<&'static str, Head> {
        let known = self.read();
        registry::pulled()
            .map(|entity| (entity.name, known.heads.get(&key(entity, store_id)).copied().unwrap_or_default().head))
            .collect()
    }

    /// The head of one type in the scope of one store.
    pub fn get(&self, entity: &SyncType, store_id: Uuid) -> Head {
        self.read().heads.get(&key(entity, store_id)).copied().unwrap_or_default().head
    }
}

fn key(entity: &SyncType, store_id: Uuid) -> Key {
    (entity.name, registry::counter_scope(entity, store_id))
}

fn change((entity_type, scope): Key, head: Head) -> Change {
    Change { entity_type, store: (!scope.is_nil()).then_some(scope), version: head.version, tag: head.tag }
}

fn known_types(heads: tags::Heads) -> BTreeMap<Key, Head> {
    heads.into_iter().filter_map(|((name, scope), head)| Some(((registry::find(&name)?.name, scope), head))).collect()
}

async fn read_of(db: &Db, keys: &BTreeSet<Key>) -> Result<tags::Heads, DbErr> {
    let types = keys.iter().map(|(name, _)| *name).collect();
    let scopes: BTreeSet<Uuid> = keys.iter().map(|(_, scope)| *scope).collect();
    tags::heads_of(db.reader(), &types, (scopes.len() <= MANY).then_some(&scopes)).await
}
