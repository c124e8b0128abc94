//! The store behind a sync token. Specification, section 5, item 4: the token is verified, its type is `store_sync`, it
//! holds a store id, and that store exists and is active.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use tillkeep_http::auth::bearer;
use tillkeep_http::describe::{Argument, Operation};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::request::Guest;
use tillkeep_http::tokens::STORE_SYNC;
use tillkeep_model::Instant;
use tillkeep_storage::entity::store;
use tillkeep_storage::envelope::Sender;
use tillkeep_storage::sea_orm::sea_query::Expr;
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::heard_elsewhere;
use super::standing::{Standing, standing, token_version_ok};
use crate::Hq;

/// The bodies of a 401, as the description names them.
pub(super) const REFUSALS: &[&str] = &["Unauthorized", "InvalidSyncTokenType", "StoreNotFoundOrInactive"];

/// A store that may sync.
pub(super) struct StoreCaller {
    pub store: Arc<store::Model>,
    /// The version of the token that was presented.
    pub token_version: i32,
}

impl StoreCaller {
    pub(super) fn id(&self) -> Uuid {
        self.store.id
    }

    pub(super) fn sender(&self) -> Sender {
        Sender::of_store(self.store.id, self.store.code.clone())
    }
}

/// The row of a store with a token of version `tv`, from memory while this server hears of the changes of others.
async fn cached(hq: &Hq, id: Uuid, tv: i32) -> Result<Option<Arc<store::Model>>> {
    let store = hq.stores.get(hq.sync_db(), id, hq.is_alone() || hq.nodes.are_followed()).await?;
    if store.as_ref().is_none_or(|store| tv <= store.sync_token_version) {
        return Ok(store);
    }
    // The token is signed and a later one: another server gave it a moment ago, and the store is quicker than word of it.
    Ok(hq.stores.get(hq.sync_db(), id, false).await?)
}

/// The store of `token`, or the exact refusal of the specification.
pub(super) async fn store_of(hq: &Hq, token: Option<&str>) -> Result<StoreCaller> {
    let now = hq.clock.now();
    let claims = token.and_then(|token| hq.auth.tokens.sync(token, now)).ok_or_else(Error::unauthorized)?;
    let store_id = claims.store_id.filter(|_| claims.kind == STORE_SYNC);
    let store_id = store_id.ok_or_else(Error::not_a_sync_token)?;
    let store = cached(hq, store_id, claims.tv).await?.ok_or_else(Error::no_such_store)?;
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
pub(super) async fn standing_now(hq: &Hq, caller: &StoreCaller) -> Result<Standing> {
    match cached(hq, caller.id(), caller.token_version).await? {
        Some(store) if store.is_active && store.deleted_at.is_none() => {
            standing(hq.sync_db(), &store, caller.token_version, hq.clock.now()).await
        }
        _ => Ok(Standing::Refused),
    }
}

/// Bookkeeping of HQ alone: the row's version does not move.
async fn first_seen(hq: &Hq, store_id: Uuid, now: Instant) -> Result<()> {
    let tx = hq.sync_db().begin().await?;
    #[expect(clippy::disallowed_methods, reason = "the row's version does not move")]
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
        heard_elsewhere::heed(hq, caller.id(), &parts.headers).await?;
        Ok(caller)
    }
}
