//! Stores: their settings, whether they are in use, and how they get their sync token.

mod fields;
mod lifecycle;
mod tokens;

pub use tokens::{Standing, standing, token_version_ok};

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::describe::{Change, Draft, Write};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Fields;
use tillkeep_http::{Answer, Body, Caller, Created, Id};
use tillkeep_model::permission::Requirement;
use tillkeep_model::permission::code::{StoresCreate, StoresEdit, StoresView};
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::entity::store::{Entity, Model};
use tillkeep_storage::entity::{sale, store_node, sync_status};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use tillkeep_storage::{Tx, sync_log};
use utoipa::ToSchema;
use uuid::Uuid;

use super::rows;
use crate::Hq;
use crate::routes::Routes;
use fields::KIND;

/// A store with what is known of its synchronisation.
#[derive(Serialize, ToSchema)]
#[schema(as = StoreWithSync)]
pub struct StoreView {
    #[serde(flatten)]
    store: Model,
    sync: SyncState,
}

/// A store as it is written.
pub struct Settings;

impl Write for Settings {
    type Row = Entity;
    const FIELDS: Fields = KIND.fields();
    type More = ();

    fn name() -> Cow<'static, str> {
        "Store".into()
    }
}

#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StoreSync)]
pub(super) struct SyncState {
    pub last_success_at: Option<Instant>,
    /// Pending or failed entries that HQ knows of.
    pub pending_count: i64,
    /// What the store itself last said of its outbox.
    pub outbox_pending: i64,
    pub dead_lettered: i64,
    pub last_seen_at: Option<Instant>,
    pub connected: bool,
}

pub(super) async fn sync_state(hq: &Hq, store_id: Uuid) -> Result<SyncState> {
    // What the store did in the last second is still in memory.
    hq.tracker.flush(hq).await?;
    let conn = hq.db().snapshot().await?;
    let status = sync_status::Entity::find().filter(sync_status::Column::StoreId.eq(store_id)).all(&conn).await?;
    let node = store_node::Entity::find_by_id(store_id).one(&conn).await?.unwrap_or_default();
    let heard = hq.tracker.heard(store_id, &node, hq.nodes.id);
    let connected = hq.is_connected(store_id, &heard);
    let told = heard.outbox.map(|(_, outbox)| outbox).unwrap_or_default();
    let sent = status.iter().filter(|row| row.direction == sync_log::PUSH);
    Ok(SyncState {
        last_success_at: status.iter().filter_map(|row| row.last_success_at).max(),
        pending_count: sent.map(|row| i64::from(row.pending_count)).sum(),
        outbox_pending: told.pending,
        dead_lettered: told.dead_lettered,
        last_seen_at: heard.at,
        connected,
    })
}

async fn view(hq: &Hq, store: Model) -> Result<StoreView> {
    Ok(StoreView { sync: sync_state(hq, store.id).await?, store })
}

/// The store of a route about one store, refused before it is looked up: who may not act there does not learn whether
/// it exists.
async fn of_caller<P: Requirement>(caller: &Caller<P>, id: Uuid) -> Result<Model> {
    caller.at_store(id)?;
    rows::find::<Entity>(caller.db().reader(), &KIND, id).await
}

pub async fn get(caller: Caller<StoresView>, State(hq): State<Arc<Hq>>, Id(id): Id) -> Result<Answer<StoreView>> {
    let store = of_caller(&caller, id).await?;
    view(&hq, store).await.map(Answer)
}

/// A new store is not in use before it is provisioned or activated.
pub async fn create(
    caller: Caller<StoresCreate>,
    State(hq): State<Arc<Hq>>,
    Body(body): Body<Draft<Settings>>,
) -> Result<Created<Model>> {
    caller.everywhere()?;
    let check = async |_: &mut Tx, new: &mut Model| {
        new.sync_token_version = 1;
        fields::check(None, new, true)
    };
    rows::create::<Entity, _>(&hq, &caller, &KIND, body.keys, check, async |_, _| Ok(())).await
}

pub async fn edit(
    caller: Caller<StoresEdit>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    Body(body): Body<Change<Settings>>,
) -> Result<Answer<Model>> {
    caller.at_store(id)?;
    let sends_exponent = body.keys.contains_key("currencyExponent");
    let check = async |tx: &mut Tx, old: &Model, new: &mut Model| {
        if old.code != new.code && old.provisioned_at.is_some() {
            let text = "the code is part of receipt numbers and of the sync token; it is fixed once provisioned";
            return Err(Error::new(ErrorCode::CodeLocked, text).at("code"));
        }
        let currency = |row: &Model| (row.currency_code.clone(), row.currency_exponent);
        if currency(old) != currency(new) && has_sales(tx, old.id).await? {
            let text = "this store has sold in its currency; that cannot change any more";
            return Err(Error::new(ErrorCode::CurrencyLocked, text).at("currencyCode"));
        }
        fields::check(Some(old), new, sends_exponent)
    };
    rows::change::<Entity, _>(&hq, &caller, &KIND, id, body.keys, check, async |_, _, _| Ok(())).await.map(Answer)
}

async fn has_sales(tx: &Tx, store_id: Uuid) -> Result<bool> {
    Ok(sale::Entity::find().filter(sale::Column::StoreId.eq(store_id)).count(tx).await? > 0)
}

/// The routes of stores; those that only read a list are in `tillkeep_http::directory`.
pub fn routes(routes: Routes) -> Routes {
    use ErrorCode::{
        AlreadyProvisioned, CodeLocked, CurrencyLocked, DuplicateCode, IdReused, PendingData, VersionConflict,
    };
    routes
        .get("/stores/{id}", get)
        .about("One store with the state of its synchronisation.")
        .post("/stores", create)
        .about("Make a store; it is not in use before it is activated or provisioned.")
        .fails(&[IdReused, DuplicateCode])
        .patch("/stores/{id}", edit)
        .about("Change the settings of a store.")
        .fails(&[VersionConflict, DuplicateCode, CodeLocked, CurrencyLocked])
        .post("/stores/{id}/activate", lifecycle::activate)
        .about("Take a store into use.")
        .post("/stores/{id}/deactivate", lifecycle::deactivate)
        .about("Take a store out of use.")
        .fails(&[PendingData])
        .post("/stores/{id}/provision", tokens::provision)
        .about("Give a store its sync token, shown this once.")
        .fails(&[AlreadyProvisioned])
        .post("/stores/{id}/revoke-token", tokens::revoke_token)
        .about("End the sync token of a store.")
}
