//! Carts that are put aside: `/pos/parked-carts`. `docs/domain.md`, "Parked carts".
//!
//! A cart is kept as it was sent, with what it cost ([`park`]); whoever goes on with it gets an id for its sale ([`resume`]), what
//! it costs now ([`worth`]) and what is other than before ([`changes`]). It is looked at ([`read`]), or dropped ([`abandon`]). The
//! state of a row is read and written in one transaction, so that no two tills have one cart.

mod abandon;
mod changes;
mod park;
mod quoted;
mod read;
mod resume;
mod view;
mod worth;

use tillkeep_http::error::{Error, Result};
use tillkeep_model::ErrorCode;
use tillkeep_model::words::ParkedState;
use tillkeep_storage::entity::parked_cart::{self, Entity, Model};
use tillkeep_storage::entity::register_session;
use tillkeep_storage::sea_orm::{ConnectionTrait, EntityTrait};
use tillkeep_storage::{DbErr, parked_carts};
use uuid::Uuid;

use crate::act::record_of_row;
use crate::sessions::drawer::open_at;
use crate::state::{Routes, Withdrawn};

record_of_row!(parked_cart, "a parked cart");

/// Its name in the audit log.
const TABLE: &str = "parked_carts";

pub(super) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{
        AlreadyResumed, BadCheckDigit, CartSold, Conflict, IdReused, NotFound, ParkedLimit, ProductInactive,
        StoreNotReady, WrongTerminal,
    };
    routes
        .post("/pos/parked-carts", park::park)
        .about("Put a cart aside; with abandoned, say that one was dropped.")
        .fails(&[
            AlreadyResumed,
            BadCheckDigit,
            CartSold,
            IdReused,
            ParkedLimit,
            ProductInactive,
            StoreNotReady,
            WrongTerminal,
        ])
        .get("/pos/parked-carts", read::list)
        .about("List the carts of this store that wait; with state those that were resumed or dropped.")
        .get("/pos/parked-carts/{id}", read::get)
        .about("One of them, with what is in it and what it cost.")
        .fails(&[NotFound])
        .post("/pos/parked-carts/{id}/resume", resume::resume)
        .about("Go on with a cart at this till: priced now, with what has changed.")
        .fails(&[AlreadyResumed, BadCheckDigit, CartSold, Conflict, NotFound, StoreNotReady, WrongTerminal])
        .delete("/pos/parked-carts/{id}", abandon::abandon)
        .about("Drop a cart. It is kept for the report of who dropped it.")
        .fails(&[AlreadyResumed, CartSold, NotFound, WrongTerminal])
}

/// 409 for a sale of a cart that was parked after its till began to sell it: another till may sell it. In the transaction of the
/// sale; of one whose cart was never parked nothing is read.
pub(super) async fn refuse_withdrawn(withdrawn: &Withdrawn, conn: &impl ConnectionTrait, sale_id: Uuid) -> Result<()> {
    let Some(id) = parked_under(withdrawn, conn, sale_id).await? else { return Ok(()) };
    let text = "this cart was parked since; resume it with POST /pos/parked-carts/{id}/resume, and sell it under the id \
                that it gets";
    Err(Error::new(ErrorCode::Conflict, text).at("id").with("parkedCartId", id))
}

/// 409 for a cart that is there already, parked by another request under the same id: twice there, it would be sold twice.
async fn refuse_parked(withdrawn: &Withdrawn, conn: &impl ConnectionTrait, sale_id: Uuid) -> Result<()> {
    let Some(id) = parked_under(withdrawn, conn, sale_id).await? else { return Ok(()) };
    let text = "this cart is parked already; resume or drop that one, and give another cart an id of its own";
    Err(Error::new(ErrorCode::IdReused, text).at("cart.id").with("parkedCartId", id))
}

/// The cart that was parked in place of the sale `sale_id`. Of what was dropped there is no other sale.
async fn parked_under(withdrawn: &Withdrawn, conn: &impl ConnectionTrait, sale_id: Uuid) -> Result<Option<Uuid>> {
    let Some(id) = withdrawn.cart_of(sale_id) else { return Ok(None) };
    let cart = Entity::find_by_id(id).one(conn).await?.filter(|cart| cart.state != ParkedState::Abandoned);
    let is_it = |cart: &Model| parked_carts::earlier_of(cart).iter().any(|earlier| earlier.sale_id == sale_id);
    Ok(cart.filter(is_it).map(|cart| cart.id))
}

/// The open drawer of a register, as it is in the transaction: what is put aside when it is closed already is in no figure of it.
async fn drawer_at(
    conn: &impl ConnectionTrait,
    register_id: Option<Uuid>,
) -> Result<Option<register_session::Model>, DbErr> {
    match register_id {
        Some(id) => open_at(conn, id).await,
        None => Ok(None),
    }
}

/// The row, or 404.
async fn find(conn: &impl ConnectionTrait, id: Uuid) -> Result<Model> {
    let row = Entity::find_by_id(id).one(conn).await?;
    row.ok_or_else(|| Error::not_found("parked cart"))
}

/// 409 when the sale of a resumed cart is there.
async fn refuse_sold(conn: &impl ConnectionTrait, sale_id: Option<Uuid>) -> Result<()> {
    let Some(id) = sale_id else { return Ok(()) };
    if !parked_carts::is_sold(conn, id).await? {
        return Ok(());
    }
    let text = "this cart is sold; look at its sale with GET /pos/sales/{id}";
    Err(Error::new(ErrorCode::CartSold, text).with("saleId", id))
}

/// 409: it is in the hands of another till.
fn elsewhere(cart: &Model) -> Error {
    let terminal = cart.resumed_at_terminal.as_deref().unwrap_or_default();
    let text = format!("this cart was resumed at terminal {terminal}; go on there, or park it there again");
    Error::new(ErrorCode::AlreadyResumed, text).with("terminalId", terminal).with("resumedAt", cart.resumed_at)
}
