//! The store behind a sync token. Specification, section 5, item 4: the token is verified, its type is `store_sync`, it
//! holds a store id, and that store exists and is active.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tillkeep_http::auth::bearer;
use tillkeep_http::describe::{Argument, Operation};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::request::Guest;
use tillkeep_http::tokens::STORE_SYNC;
use tillkeep_model::Instant;
use tillkeep_storage::entity::store;
use tillkeep_storage::push::Sender;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::told;
use crate::Hq;
use crate::backoffice::stores::{Standing, standing, token_version_ok};

/// The bodies of a 401, as the description names them.
pub const REFUSALS: &[&str] = &["Unauthorized", "InvalidSyncTokenType", "StoreNotFoundOrInactive"];

/// A store that may sync.
pub struct StoreCaller {
    pub store: Arc<store::Model>,
    /// The version of the token that was presented.
    pub token_version: i32,
}

impl StoreCaller {
    pub fn id(&self) -> Uuid {
        self.store.id
    }

    pub fn sender(&self) -> Sender {
        Sender::of_store(self.store.id, self.store.code.clone())
    }
}

/// The rows of the stores that were asked for, until one of them changes.
#[derive(Default)]
pub struct StoreCache(RwLock<Cached>);

#[derive(Default)]
struct Cached {
    generation: u64,
    rows: HashMap<Uuid, Arc<store::Model>>,
}

impl StoreCache {
    pub fn clear(&self) {
        let mut cached = self.0.write().unwrap_or_else(PoisonError::into_inner);
        cached.generation += 1;
        cached.rows.clear();
    }

    /// A store was heard of for the first time: nothing else of its row changed, and nothing of the others.
    fn first_seen(&self, id: Uuid, at: Instant) {
        let mut cached = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // One that is being read now may still lack it: then this is written once more, and changes nothing.
        if let Some(row) = cached.rows.get_mut(&id) {
            Arc::make_mut(row).first_seen_at = Some(at);
        }
    }

    async fn of(&self, hq: &Hq, id: Uuid) -> Result<Option<Arc<store::Model>>> {
        let generation = {
            let cached = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(row) = cached.rows.get(&id).filter(|_| hq.is_alone() || hq.nodes.are_followed()) {
                return Ok(Some(row.clone()));
            }
            cached.generation
        };
        let Some(row) = store::Entity::find_by_id(id).one(hq.sync_db().reader()).await?.map(Arc::new) else {
            return Ok(None);
        };
        let mut cached = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if cached.generation == generation {
            cached.rows.insert(id, row.clone());
        }
        Ok(Some(row))
    }
}

/// The store of `token`, or the exact refusal of the specification.
pub async fn store_of(hq: &Hq, token: Option<&str>) -> Result<StoreCaller> {
    let now = hq.clock.now();
    let claims = token.and_then(|token| hq.auth.tokens.sync(token, now)).ok_or_else(Error::unauthorized)?;
    let store_id = claims.store_id.filter(|_| claims.kind == STORE_SYNC);
    let store_id = store_id.ok_or_else(Error::not_a_sync_token)?;
    let store = hq.stores.of(hq, store_id).await?.ok_or_else(Error::no_such_store)?;
    if !store.is_active || store.deleted_at.is_some() || !token_version_ok(hq.sync_db(), &store, claims.tv, now).await?
    {
        return Err(Error::no_such_store());
    }
    if store.first_seen_at.is_none() {
        first_seen(hq, store_id, now).await?;
    }
    hq.tracker.seen(store_id, now);
    Ok(StoreCaller { store, token_version: claims.tv })
}

/// How the token of `caller` stands by now: a socket outlives the moment in which its token was judged.
pub async fn standing_now(hq: &Hq, caller: &StoreCaller) -> Result<Standing> {
    match hq.stores.of(hq, caller.id()).await? {
        Some(store) if store.is_active && store.deleted_at.is_none() => {
            standing(hq.sync_db(), &store, caller.token_version, hq.clock.now()).await
        }
        _ => Ok(Standing::Refused),
    }
}

/// Bookkeeping of HQ alone: the row's version does not move.
async fn first_seen(hq: &Hq, store_id: Uuid, now: Instant) -> Result<()> {
    let tx = hq.sync_db().begin().await?;
    store::Entity::update_many()
        .col_expr(store::Column::FirstSeenAt, Expr::value(now))
        .filter(store::Column::Id.eq(store_id))
        .filter(store::Column::FirstSeenAt.is_null())
        .exec(&tx)
        .await?;
    tx.commit().await?;
    hq.stores.first_seen(store_id, now);
    Ok(())
}

impl Argument for StoreCaller {
    fn describe(operation: &mut Operation) {
        operation.token("syncToken", Vec::new(), REFUSALS);
    }
}

impl FromRequestParts<Arc<Hq>> for StoreCaller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, hq: &Arc<Hq>) -> Result<Self> {
        let caller = store_of(hq, bearer(&parts.headers)).await?;
        Guest::is_known(&parts.extensions);
        told::heed(hq, caller.id(), &parts.headers).await?;
        Ok(caller)
    }
}
