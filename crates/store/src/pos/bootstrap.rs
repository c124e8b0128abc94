//! `GET /pos/bootstrap`: what a till must know before it can sell.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tillkeep_http::documents::drawers::shown;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::permission::code::PosSell;
use tillkeep_model::pricing::TaxRate;
use tillkeep_model::{Bps, ErrorCode, Instant, Ppm};
use tillkeep_storage::entity::{department, register, register_session, sales_rep, store, tender};
use tillkeep_storage::sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use tillkeep_storage::settings;
use tillkeep_storage::taxes::TaxGroup;
use utoipa::ToSchema;
use uuid::Uuid;

use super::{printed, tenders};
use crate::Store;
use crate::sessions::view::knows;
use crate::terminal::Terminal;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Bootstrap {
    store: store::Model,
    register: register::Model,
    /// The open drawer of the register.
    session: Option<register_session::Model>,
    tenders: Vec<tender::Model>,
    tax_groups: Vec<AppliedGroup>,
    departments: Vec<department::Model>,
    sales_reps: Vec<SalesRep>,
    discount_limits: DiscountLimits,
    /// Which database this store has: another one since it was restored or begun anew. A sale that is not found in another one than
    /// it was sent to may have been taken there.
    #[schema(format = Uuid)]
    database: String,
    /// A till says in `lastReceipt` which receipt number it printed last: this store takes it.
    takes_last_receipt: bool,
    server_time: Instant,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = BootstrapQuery)]
pub(crate) struct Asked {
    terminal_id: Option<String>,
    /// The receipt number that the till printed last. Nothing follows from it here: a sale is numbered above it.
    last_receipt: Option<String>,
}

/// A tax group as this store applies it.
#[derive(Serialize, ToSchema)]
#[schema(as = AppliedTaxGroup)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AppliedGroup {
    id: Uuid,
    code: String,
    name: String,
    price_mode: String,
    is_default: bool,
    prices_include_tax: bool,
    rates: Vec<AppliedRate>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = AppliedTaxRate)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AppliedRate {
    tax_rate_id: Uuid,
    code: String,
    name: String,
    rate_ppm: Ppm,
    is_compound: bool,
}

#[derive(Serialize, ToSchema)]
#[schema(as = TillSalesRep)]
pub(crate) struct SalesRep {
    id: Uuid,
    code: String,
    name: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiscountLimits {
    max_line_discount_bps: Bps,
    max_cart_discount_bps: Bps,
}

pub(crate) async fn bootstrap(
    caller: Caller<PosSell>,
    State(store): State<Arc<Store>>,
    Params(asked): Params<Asked>,
) -> Result<Answer<Bootstrap>> {
    printed::read(asked.last_receipt.as_deref())?;
    let terminal = Terminal::new(asked.terminal_id);
    let shop = store.shop().await?;
    let own = shop.own()?;
    let terminal = terminal.named_or_own(&caller)?;
    let register = shop.at_terminal(terminal).ok_or_else(|| {
        let text = format!("no register has the terminal {terminal}; make one with POST /registers");
        Error::new(ErrorCode::RegisterUnknown, text).at("terminalId")
    })?;
    let departments = department::Entity::find()
        .filter(department::Column::DeletedAt.is_null())
        .filter(department::Column::IsActive.eq(true))
        .order_by_asc(department::Column::SortOrder)
        .order_by_asc(department::Column::Code)
        .all(caller.reader())
        .await?;
    let knows = knows(&caller, &store).await?;
    Ok(Answer(Bootstrap {
        session: shop.open_at(register.id).map(|session| shown(session.clone(), knows)),
        register: register.clone(),
        tenders: shop.tenders.iter().filter(|tender| tenders::is_usable(tender)).cloned().collect(),
        tax_groups: tax_groups(own, &shop.tax_groups),
        departments,
        sales_reps: sales_reps(own, &shop.sales_reps),
        discount_limits: DiscountLimits {
            max_line_discount_bps: own.max_line_discount_bps,
            max_cart_discount_bps: own.max_cart_discount_bps,
        },
        store: own.clone(),
        database: settings::epoch(caller.reader()).await?,
        takes_last_receipt: true,
        server_time: caller.now(),
    }))
}

fn tax_groups(store: &store::Model, groups: &HashMap<Uuid, TaxGroup>) -> Vec<AppliedGroup> {
    let mut groups: Vec<&TaxGroup> = groups.values().filter(|group| group.row.deleted_at.is_none()).collect();
    groups.sort_by(|a, b| a.row.code.cmp(&b.row.code));
    let rate = |rate: &TaxRate| AppliedRate {
        tax_rate_id: rate.id,
        code: rate.code.clone(),
        name: rate.name.clone(),
        rate_ppm: rate.rate,
        is_compound: rate.compound,
    };
    let applied = |group: &TaxGroup| AppliedGroup {
        prices_include_tax: group.inclusive(Some(store)),
        rates: group.rates.iter().map(rate).collect(),
        id: group.row.id,
        code: group.row.code.clone(),
        name: group.row.name.clone(),
        price_mode: group.row.price_mode.clone(),
        is_default: group.row.is_default,
    };
    groups.into_iter().map(applied).collect()
}

fn sales_reps(store: &store::Model, reps: &[sales_rep::Model]) -> Vec<SalesRep> {
    let reps = reps.iter().filter(|rep| works_in(rep, store.id));
    reps.map(|rep| SalesRep { id: rep.id, code: rep.code.clone(), name: rep.name.clone() }).collect()
}

/// Whether a sales representative who is not deleted works in this store.
pub(crate) fn works_in(rep: &sales_rep::Model, store_id: Uuid) -> bool {
    rep.is_active && rep.store_id.is_none_or(|home| home == store_id)
}
