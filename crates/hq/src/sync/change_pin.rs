//! `POST /sync/change-pin`: a store forwards what one of its people typed there.

use std::sync::Arc;

use axum::extract::State;
use tillkeep_http::auth::ClientAddress;
use tillkeep_http::auth::new_pin::change_own;
use tillkeep_http::auth::throttle::Claimant;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Body, NoContent};
use tillkeep_model::ErrorCode;
use tillkeep_model::wire::PinChange;
use tillkeep_storage::entity::user;
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::staff;

use super::store_caller::StoreCaller;
use crate::Hq;

/// Only people whose role counts in the store: it can verify their PINs itself, so that it learns nothing more here.
pub(super) async fn change_pin(
    caller: StoreCaller,
    State(hq): State<Arc<Hq>>,
    ClientAddress(address): ClientAddress,
    Body(body): Body<PinChange>,
) -> Result<NoContent> {
    // As it is now: another server may have given them a PIN a moment ago, and a right one must not count as a wrong one.
    let user = user::Entity::find_by_id(body.user_id).one(hq.db().reader()).await?;
    let user = user.filter(|user| user.is_active && user.deleted_at.is_none());
    let staff = staff::of_store(hq.db().reader(), caller.id()).await?;
    let Some(user) = user.filter(|user| staff.contains(&user.id)) else {
        return Err(Error::new(ErrorCode::InvalidCredentials, "this is nobody who works in this store"));
    };
    let claimant = Claimant::through(caller.id(), address);
    change_own(&hq.auth, &user, &claimant, &body.current_pin, body.new_pin.as_deref()).await?;
    Ok(NoContent)
}
