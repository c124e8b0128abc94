//! Stores: their settings, whether they are in use, and how they get their sync token.

mod fields;
mod lifecycle;
mod pin_key;
mod tokens;
mod view;

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::State;
use tillkeep_http::describe::{Change, Draft, Write};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::Fields;
use tillkeep_http::{Answer, Body, Caller, Created, Id};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::{StoresCreate, StoresEdit, StoresView};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::sale;
use tillkeep_storage::entity::store::{Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use uuid::Uuid;

use super::chain::Defaults;
use super::rows;
use crate::Hq;
use crate::state::Routes;
use fields::KIND;
use view::{StoreView, of_caller, view};

/// A store as it is written.
pub(crate) struct Settings;

impl Write for Settings {
    type Row = Entity;
    const FIELDS: Fields = KIND.fields();
    type More = ();

    fn name() -> Cow<'static, str> {
        "Store".into()
    }
}

pub(crate) async fn get(
    caller: Caller<StoresView>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
) -> Result<Answer<StoreView>> {
    let store = of_caller(&caller, id).await?;
    view(&hq, caller.reader(), store).await.map(Answer)
}

/// A new store is not in use before it is provisioned or activated. It begins with what the chain has where it says nothing.
pub(crate) async fn create(caller: Caller<StoresCreate>, Body(body): Body<Draft<Settings>>) -> Result<Created<Model>> {
    caller.everywhere()?;
    let sent = body.keys.clone();
    let check = async |tx: &mut Tx, new: &mut Model| {
        new.sync_token_version = 1;
        Defaults::load(&*tx).await?.fill(new, &sent);
        fields::check(None, new, true)
    };
    rows::create::<Entity, _>(&caller, &KIND, body.keys, check, async |_, _| Ok(())).await
}

pub(crate) async fn edit(
    caller: Caller<StoresEdit>,
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
    rows::change::<Entity, _>(&caller, &KIND, id, body.keys, check, async |_, _, _| Ok(())).await.map(Answer)
}

async fn has_sales(tx: &Tx, store_id: Uuid) -> Result<bool> {
    Ok(sale::Entity::find().filter(sale::Column::StoreId.eq(store_id)).count(tx).await? > 0)
}

/// The routes of stores; those that only read a list are in `tillkeep_http::directory`.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{
        AlreadyProvisioned, CodeLocked, CurrencyLocked, DuplicateCode, IdReused, NotFound, PendingData, VersionConflict,
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
        .post("/stores/{id}/allow-pin-key", pin_key::allow)
        .about("Let a store have the key of its PINs once more.")
        .fails(&[NotFound])
}
