//! Tenders: what customers pay with. Exactly one active tender is cash, as change is paid in it.

use tillkeep_http::directory::lists;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::ListSpec;
use tillkeep_model::fields;
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::{ErrorCode, Instant, Money};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::tender::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::plain;
use super::plain::Rules;
use super::rows::Kind;
use crate::state::Routes;
use tillkeep_model::permission::code::{PosSell, TendersManage, TendersView};

impl Rules for Entity {
    const KIND: Kind = Kind {
        book: &fields::tender::BOOK,
        singular: "tender",
        unique: &[("code", ErrorCode::DuplicateCode)],
        hidden: &[],
    };

    const LIST: ListSpec = lists::TENDERS;

    async fn check(tx: &mut Tx, old: Option<&Model>, row: &mut Model, _: Instant) -> Result<()> {
        let floor = row.min_amount.unwrap_or(Money::ZERO);
        let differs = |part: fn(&Model) -> (Option<Money>, Option<Money>)| old.is_none_or(|old| part(old) != part(row));
        if differs(|row| (row.min_amount, row.max_amount)) && row.max_amount.is_some_and(|most| most < floor) {
            return Err(Error::field("maxAmount", format!("must be {} or more, the least amount", floor.0)));
        }
        if old.is_some_and(|old| old.kind != row.kind) {
            let text = "the kind of a tender is fixed: make another tender";
            return Err(Error::new(ErrorCode::KindLocked, text).at("kind"));
        }
        if row.kind == TenderKind::Cash && !row.allows_change && old.is_none_or(|old| old.allows_change) {
            let text = "must be true for cash, which change is paid in: leave it out or send allowsChange: true";
            return Err(Error::field("allowsChange", text));
        }
        if row.is_active && TenderKind::parse(&row.kind).is_some_and(TenderKind::needs_value_ledger) {
            let text = format!(
                "a tender of kind {} cannot be active: nothing keeps what is left on it yet; send isActive: false",
                row.kind
            );
            return Err(Error::new(ErrorCode::NeedsValueLedger, text).at("isActive"));
        }
        let was = old.is_some_and(is_active_cash);
        match (was, is_active_cash(row)) {
            (false, true) if other_cash(tx, row).await? => {
                let text = "there is an active cash tender, and there must be only one";
                Err(Error::new(ErrorCode::SecondCashTender, text).at("kind"))
            }
            (true, false) => keep_cash(tx, row).await,
            _ => Ok(()),
        }
    }

    async fn deletable(tx: &mut Tx, row: &Model, _: Instant) -> Result<()> {
        if is_active_cash(row) { keep_cash(tx, row).await } else { Ok(()) }
    }
}

fn is_active_cash(row: &Model) -> bool {
    row.kind == TenderKind::Cash && row.is_active
}

/// Whether there is another active cash tender; all of them are locked, so that two requests see each other.
async fn other_cash(tx: &Tx, row: &Model) -> Result<bool> {
    let alive = Entity::find().filter(Column::Kind.eq(TenderKind::Cash.word())).filter(Column::DeletedAt.is_null());
    let cash = alive.lock_exclusive().all(tx).await?;
    Ok(cash.iter().any(|other| other.id != row.id && other.is_active))
}

async fn keep_cash(tx: &Tx, row: &Model) -> Result<()> {
    if other_cash(tx, row).await? {
        return Ok(());
    }
    Err(Error::new(ErrorCode::LastCashTender, "a chain needs an active cash tender: change is paid in it"))
}

/// The routes of tenders.
pub(crate) fn routes(routes: Routes) -> Routes {
    use ErrorCode::{
        DuplicateCode, IdReused, KindLocked, LastCashTender, NeedsValueLedger, SecondCashTender, VersionConflict,
    };
    routes
        .get("/tenders", plain::list::<Entity, (TendersView, PosSell)>)
        .about("List tenders, a page at a time.")
        .get("/tenders/{id}", plain::get::<Entity, TendersView>)
        .about("One tender, by its id.")
        .post("/tenders", plain::create::<Entity, TendersManage>)
        .about("Make a new tender.")
        .fails(&[IdReused, DuplicateCode, SecondCashTender, NeedsValueLedger])
        .patch("/tenders/{id}", plain::edit::<Entity, TendersManage>)
        .about("Change some fields of a tender.")
        .fails(&[VersionConflict, DuplicateCode, KindLocked, SecondCashTender, LastCashTender, NeedsValueLedger])
        .delete("/tenders/{id}", plain::delete::<Entity, TendersManage>)
        .about("Delete a tender, in all stores too.")
        .fails(&[VersionConflict, LastCashTender])
}
