//! Claims of this store that nothing came of: it was killed between claiming and giving back, or had no line to give them up. At
//! headquarters they would hold for good what was never given back.

use std::collections::BTreeSet;

use serde_json::Value as Json;
use tillkeep_http::error::Result;
use tillkeep_model::ErrorCode;
use tillkeep_model::state::SaleStatus;
use tillkeep_model::wire::{ClaimAnswer, ClaimRequest, GivenBack};
use tillkeep_storage::DbErr;
use tillkeep_storage::entity::sale;
use tillkeep_storage::sea_orm::{ConnectionTrait, EntityTrait};
use uuid::Uuid;

use crate::Store;
use crate::headquarters::{Asked, Waits};

/// The claims of this store on `sale` among `given` under which nothing was given back and nothing is about to be.
pub(crate) async fn among(store: &Store, sale: Uuid, given: &[GivenBack]) -> Result<BTreeSet<Uuid>> {
    let shop = store.shop().await?;
    let Ok(own) = shop.own() else { return Ok(BTreeSet::new()) };
    let is_own = |given: &&GivenBack| given.receipt_number.is_none() && given.store_code == own.code;
    let claims: BTreeSet<Uuid> = given.iter().filter(is_own).map(|given| given.refund_id).collect();
    let mut forsaken = BTreeSet::new();
    for claim in claims {
        // In this order: what is not under way any more is stored, or was refused.
        if !store.hq.is_giving_back(claim) && !is_given_back(store.reader(), sale, claim).await? {
            forsaken.insert(claim);
        }
    }
    Ok(forsaken)
}

/// Claims `request` of `sale` at headquarters: once more when claims of this store that nothing came of stood in the way.
pub(crate) async fn claim(
    store: &Store,
    waits: Waits,
    sale: Uuid,
    request: &ClaimRequest,
) -> Result<Asked<ClaimAnswer>> {
    let asked = store.hq.claim(&store.sync, waits, sale, request).await;
    if let Asked::Refused { code: ErrorCode::OverRefund, details, .. } = &asked
        && give_up(store, waits, sale, &given_back(details)).await?
    {
        return Ok(store.hq.claim(&store.sync, waits, sale, request).await);
    }
    Ok(asked)
}

/// What a refusal of headquarters says that was given back.
pub(crate) fn given_back(details: &Json) -> Vec<GivenBack> {
    serde_json::from_value(details["givenBack"].clone()).unwrap_or_default()
}

/// Gives those up; whether there were any.
async fn give_up(store: &Store, waits: Waits, sale: Uuid, given: &[GivenBack]) -> Result<bool> {
    let mut any = false;
    for claim in among(store, sale, given).await? {
        any |= store.hq.release(&store.sync, waits, sale, claim).await.answered().is_some();
    }
    Ok(any)
}

/// Whether there is a document of the claim; that of a void has the id of its sale.
async fn is_given_back(conn: &impl ConnectionTrait, of: Uuid, claim: Uuid) -> std::result::Result<bool, DbErr> {
    let row = sale::Entity::find_by_id(claim).one(conn).await?;
    Ok(row.is_some_and(|row| row.id != of || row.status == SaleStatus::Voided))
}
