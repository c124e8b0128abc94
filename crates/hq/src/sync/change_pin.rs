//! `POST /sync/change-pin`: a store forwards what one of its people typed there.

use std::sync::Arc;

use axum::extract::State;
use tillkeep_http::auth::new_pin::{change_own, refuse_at_store};
use tillkeep_http::auth::throttle::Claimant;
use tillkeep_http::auth::{ClientAddress, asked};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Body, NoContent};
use tillkeep_model::ErrorCode;
use tillkeep_model::wire::PinChange;
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::{staff, user_pins};

use super::store_caller::StoreCaller;
use crate::Hq;

/// Only people with a role in the store; and a new PIN only for those who hold no more than runs one: with the token of
/// a store a thief becomes no user of headquarters.
pub(super) async fn change_pin(
    caller: StoreCaller,
    State(hq): State<Arc<Hq>>,
    ClientAddress(address): ClientAddress,
    Body(body): Body<PinChange>,
) -> Result<NoContent> {
    // As it is now: another server may have given them a PIN a moment ago, and a right one must not count as a wrong one.
    let user = user::Entity::find_by_id(body.user_id).one(hq.db().reader()).await?;
    let user = user.filter(|user| user.is_active && user.deleted_at.is_none());
    let counts = staff::counts_in(hq.db().reader(), caller.id(), body.user_id).await?;
    let Some(user) = user.filter(|_| counts) else {
        return Err(Error::new(ErrorCode::InvalidCredentials, "this is no user who works in this store"));
    };
    if body.new_pin.is_some() {
        let access = hq.auth.access_of(user.id).await?.ok_or_else(|| Error::not_found("user"))?;
        refuse_at_store(&access)?;
    }
    // One that another one found out verifies no user by way of a store, where no second factor keeps that one out.
    let is_known = user.pin_lookup.as_deref().is_some_and(user_pins::is_withheld);
    let user = if is_known { user::Model { pin_hash: None, ..user } } else { user };
    let claimant = Claimant::through(caller.id(), address);
    // Whom the store does not verify itself it may guess here no more often than it may ask who they are.
    let verifies = staff::of_store(hq.db().reader(), caller.id()).await?.contains(&user.id);
    let also = (!verifies).then(|| asked::bucket(caller.id()));
    let (current, new) = (body.current_pin.as_str(), body.new_pin.as_deref());
    let changed = change_own(&hq.auth, &user, (&claimant, also), current, new).await;
    if changed.as_ref().is_err_and(|error| error.code() == ErrorCode::TooManyAttempts) {
        hq.board.mark([caller.id()]);
    }
    changed.map(|()| NoContent)
}
