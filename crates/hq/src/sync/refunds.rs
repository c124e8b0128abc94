//! What stores ask before they give money back: a sale, what was given back of it, and a claim on what they are about to.
//! `docs/sync.md`, rule U17.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::{TwoIds, TwoSegments};
use tillkeep_http::resource::{self, Check, ListSpec};
use tillkeep_http::{Body, Caller, Id, List, NoContent};
use tillkeep_model::permission::code::{ReportsViewGlobal, StoresEdit};
use tillkeep_model::wire::{ClaimAnswer, ClaimLine, ClaimRequest, SaleAtHq};
use tillkeep_model::{ErrorCode, Instant, Qty};
use tillkeep_storage::entity::refund_claim::{Column, Entity, Model};
use tillkeep_storage::entity::sale;
use tillkeep_storage::refunds::{Claimed, claims};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_storage::{audit, db, refunds};
use utoipa::ToSchema;
use uuid::Uuid;

use super::errors::codes;
use super::protocol::Machine;
use super::store_caller::StoreCaller;
use crate::Hq;
use crate::scope::{in_scope, named_store};
use crate::state::Routes;

/// Lines of one claim at the most, as many as a sale has.
const MOST_LINES: usize = 1000;
/// After so long a claim is shown to people: its document should be here.
const OPEN_FOR_MS: i64 = 24 * 3600 * 1000;

/// `GET /sync/sales/{storeCode}/{receiptNumber}`
pub(super) async fn by_number(
    caller: StoreCaller,
    State(hq): State<Arc<Hq>>,
    TwoSegments(store_code, receipt_number): TwoSegments,
) -> Result<Machine<SaleAtHq>> {
    let conn = hq.sync_db().snapshot().await?;
    let sale = refunds::by_number(&conn, caller.id(), &store_code, &receipt_number).await?;
    sale.map(Machine).ok_or_else(|| no_sale("receiptNumber"))
}

/// `GET /sync/sales/{id}`, by the id that the asking store knows.
pub(super) async fn by_id(caller: StoreCaller, State(hq): State<Arc<Hq>>, Id(id): Id) -> Result<Machine<SaleAtHq>> {
    let conn = hq.sync_db().snapshot().await?;
    let sale = refunds::by_id(&conn, caller.id(), id).await?;
    sale.map(Machine).ok_or_else(|| no_sale("id"))
}

/// Names a field: a headquarters that has no such route names none.
fn no_sale(field: &str) -> Error {
    Error::new(ErrorCode::NotFound, "headquarters has no such sale").at(field)
}

/// `POST /sync/sales/{id}/claims`
pub(super) async fn claim(
    caller: StoreCaller,
    State(hq): State<Arc<Hq>>,
    Id(sale): Id,
    Body(asked): Body<ClaimRequest>,
) -> Result<Machine<ClaimAnswer>> {
    check(&asked)?;
    let now = hq.clock.now();
    let claimed = db::retry_serialization(|| async {
        let tx = hq.sync_db().begin().await?;
        let claimed = refunds::claim(&tx, caller.id(), sale, &asked, now).await?;
        tx.commit().await?;
        Ok(claimed)
    });
    match claimed.await? {
        Claimed::Kept(answer) => Ok(Machine(answer)),
        Claimed::Over(given) => {
            let text =
                "more than is left of a line: givenBack says what was given back, and what another store is about to";
            Err(Error::new(ErrorCode::OverRefund, text).with("givenBack", given))
        }
        Claimed::Voided => Err(Error::new(ErrorCode::SaleVoided, "the sale was voided")),
        Claimed::TooMany => {
            let text = format!(
                "this store has {} claims open of which no document came; send those, or have headquarters drop them",
                claims::MOST_OPEN
            );
            Err(Error::new(ErrorCode::Conflict, text))
        }
        Claimed::NotASale => {
            let text = "nothing is given back of a refund or a settlement; name the sale";
            Err(Error::new(ErrorCode::NotRefundable, text))
        }
    }
}

fn check(asked: &ClaimRequest) -> Result<()> {
    let mut check = Check::default();
    check.that(asked.lines.len() <= MOST_LINES, "lines", &format!("must have at most {MOST_LINES} entries"));
    for (place, ClaimLine { quantity, .. }) in asked.lines.iter().enumerate().take(MOST_LINES) {
        check.that(*quantity > Qty(0), &format!("lines[{place}].quantity"), "must be above 0");
    }
    check.finish()
}

/// `DELETE /sync/sales/{id}/claims/{refundId}`: nothing is given back under that id.
pub(super) async fn release(
    caller: StoreCaller,
    State(hq): State<Arc<Hq>>,
    TwoIds(_sale, refund): TwoIds,
) -> Result<NoContent> {
    let tx = hq.sync_db().begin().await?;
    claims::release(&tx, caller.id(), refund).await?;
    tx.commit().await?;
    Ok(NoContent)
}

const LIST: ListSpec = ListSpec { search: &[], filters: &["storeId", "saleId"], sort: &["createdAt", "-createdAt"] };

/// A claim of which no document has come for a day.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RefundClaim {
    /// That of the refund; of a void, that of the sale.
    id: Uuid,
    store_id: Uuid,
    store_code: String,
    sale_id: Uuid,
    /// Of the sale; null while headquarters does not have it.
    receipt_number: Option<String>,
    created_at: Instant,
    lines: Vec<ClaimLine>,
}

/// The list of open claims.
pub(super) struct OpenClaims;

impl Listing for OpenClaims {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const MORE: &'static [(&'static str, More)] = &[];
}

/// `GET /refund-claims`: those that are older than a day.
pub(super) async fn open(
    caller: Caller<ReportsViewGlobal>,
    State(hq): State<Arc<Hq>>,
    Lists { query, .. }: Lists<OpenClaims>,
) -> Result<List<RefundClaim>> {
    named_store(&caller, &query)?;
    let before = hq.clock.now().plus_millis(-OPEN_FOR_MS);
    let select = in_scope(&caller, Entity::find().filter(Column::CreatedAt.lt(before)), Column::StoreId);
    let page: List<Model> = resource::list(caller.reader(), &LIST, &query, select).await?;
    let codes = codes(caller.reader()).await?;
    let numbers: Vec<(Uuid, String)> = sale::Entity::find()
        .select_only()
        .columns([sale::Column::Id, sale::Column::ReceiptNumber])
        .filter(sale::Column::Id.is_in(page.rows.iter().map(|claim| claim.sale_id)))
        .into_tuple()
        .all(caller.reader())
        .await?;
    Ok(page.map(|claim| RefundClaim {
        lines: claims::lines(&claim),
        store_code: codes.get(&claim.store_id).cloned().unwrap_or_default(),
        receipt_number: numbers.iter().find(|(id, _)| *id == claim.sale_id).map(|(_, number)| number.clone()),
        id: claim.id,
        store_id: claim.store_id,
        sale_id: claim.sale_id,
        created_at: claim.created_at,
    }))
}

/// `DELETE /refund-claims/{id}`: a person knows that nothing comes of it.
pub(super) async fn drop_claim(caller: Caller<StoresEdit>, Id(id): Id) -> Result<NoContent> {
    let claim = Entity::find_by_id(id).one(caller.reader()).await?.ok_or_else(|| Error::not_found("claim"))?;
    caller.at_store(claim.store_id)?;
    let act = caller.begin().await?;
    if !claims::drop_one(&**act, id).await? {
        return Err(Error::not_found("claim"));
    }
    let entry = audit::Entry {
        entity_type: Some("refund_claims"),
        entity_id: Some(id.to_string()),
        details: json!({"storeId": claim.store_id, "saleId": claim.sale_id, "lines": claims::lines(&claim)}),
        ..caller.audit("refund_claim.drop")
    };
    act.done(entry).await?;
    Ok(NoContent)
}

/// What stores ask with their tokens.
pub(super) fn of_stores(routes: Routes) -> Routes {
    routes
        .sync("GET", "/sync/sales/{id}", by_id)
        .about("A sale, by the id that the store knows, and what was given back of it.")
        .sync("GET", "/sync/sales/{storeCode}/{receiptNumber}", by_number)
        .about("A sale of any store by its receipt, and what was given back of it.")
        .sync("POST", "/sync/sales/{id}/claims", claim)
        .about("Claim what a refund or a void is about to give back, in place of what was claimed under its id.")
        .fails(&[ErrorCode::OverRefund, ErrorCode::SaleVoided, ErrorCode::NotRefundable, ErrorCode::Conflict])
        .sync("DELETE", "/sync/sales/{id}/claims/{refundId}", release)
        .about("Let go of a claim: nothing is given back under its id.")
}

/// What people look at.
pub(super) fn of_people(routes: Routes) -> Routes {
    routes
        .get("/refund-claims", open)
        .about("List what stores claimed more than a day ago and never gave back.")
        .delete("/refund-claims/{id}", drop_claim)
        .about("Let go of a claim of which nothing comes.")
}
