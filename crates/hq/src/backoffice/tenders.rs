//! Tenders: what customers pay with. Exactly one active tender is cash, as change is paid in it.

use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{Check, Fields, ListSpec};
use tillkeep_model::pricing::TenderKind;
use tillkeep_model::{ErrorCode, Instant, Money};
use tillkeep_storage::Tx;
use tillkeep_storage::entity::tender::{Column, Entity, Model};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QuerySelect};

use super::LARGEST;
use super::plain;
use super::plain::Rules;
use super::rows::Kind;
use crate::routes::Routes;
use tillkeep_model::permission::code::{PosSell, TendersManage, TendersView};

const CASH: &str = "cash";
const KINDS: &[&str] =
    &[CASH, "card", "check", "gift_card", "store_credit", "voucher", "on_account", "exchange", "other"];

impl Rules for Entity {
    const KIND: Kind = Kind {
        name: "tenders",
        singular: "tender",
        fields: Fields {
            writable: &[
                "code",
                "name",
                "kind",
                "opensDrawer",
                "countsInClose",
                "allowsChange",
                "requiresReference",
                "isRefundable",
                "isVoidable",
                "requiresCustomer",
                "minAmount",
                "maxAmount",
                "sortOrder",
                "isActive",
            ],
            required: &["code", "name", "kind"],
        },
        defaults: |body| {
            let cash = body.get("kind").and_then(Json::as_str) == Some(CASH);
            json!({
                "isActive": true, "countsInClose": true, "isRefundable": true, "isVoidable": true,
                "opensDrawer": cash, "allowsChange": cash,
            })
        },
        unique: &[("code", ErrorCode::DuplicateCode)],
        hidden: &[],
    };

    const LIST: ListSpec = ListSpec {
        search: &["code", "name"],
        filters: &["kind"],
        sort: &["sortOrder", "code", "name", "kind", "createdAt"],
    };

    async fn check(tx: &mut Tx, old: Option<&Model>, row: &mut Model, _: Instant) -> Result<()> {
        let floor = row.min_amount.unwrap_or(Money::ZERO);
        Check::default()
            .text(&row.code, "code", 20)
            .text(&row.name, "name", 100)
            .one_of(&row.kind, "kind", KINDS)
            .range(floor.0, "minAmount", 0..=LARGEST)
            .range(row.max_amount.map_or(floor.0, |most| most.0), "maxAmount", floor.0..=LARGEST)
            .finish()?;
        if old.is_some_and(|old| old.kind != row.kind) {
            let text = "the kind of a tender is fixed: make another tender";
            return Err(Error::new(ErrorCode::KindLocked, text).at("kind"));
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
    row.kind == CASH && row.is_active
}

/// Whether there is another active cash tender; all of them are locked, so that two requests see each other.
async fn other_cash(tx: &Tx, row: &Model) -> Result<bool> {
    let alive = Entity::find().filter(Column::Kind.eq(CASH)).filter(Column::DeletedAt.is_null());
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
pub fn routes(routes: Routes) -> Routes {
    use ErrorCode::{
        DuplicateCode, IdReused, KindLocked, LastCashTender, NeedsValueLedger, SecondCashTender, VersionConflict,
    };
    routes
        .get("/tenders", plain::list::<Entity, (TendersView, PosSell)>)
        .about("List tenders.")
        .get("/tenders/{id}", plain::get::<Entity, TendersView>)
        .about("One tender.")
        .post("/tenders", plain::create::<Entity, TendersManage>)
        .about("Make a tender.")
        .fails(&[IdReused, DuplicateCode, SecondCashTender, NeedsValueLedger])
        .patch("/tenders/{id}", plain::edit::<Entity, TendersManage>)
        .about("Change a tender.")
        .fails(&[VersionConflict, DuplicateCode, KindLocked, SecondCashTender, LastCashTender, NeedsValueLedger])
        .delete("/tenders/{id}", plain::delete::<Entity, TendersManage>)
        .about("Delete a tender.")
        .fails(&[VersionConflict, LastCashTender])
}
