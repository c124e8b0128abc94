//! `GET /pos/bootstrap`: what a till must know before it can sell.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::permission::code::PosSell;
use tillkeep_model::pricing::TaxRate;
use tillkeep_model::{Bps, ErrorCode, Instant, Ppm};
use tillkeep_storage::entity::{department, register, register_session, sales_rep, store, tender};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, ExprTrait, QueryFilter, QueryOrder};
use utoipa::ToSchema;
use uuid::Uuid;

use super::taxes::{self, TaxGroup};
use super::tenders;
use crate::registers::{self, Terminal};
use crate::{Store, sessions};

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Bootstrap {
    store: store::Model,
    register: register::Model,
    /// The open drawer of the register.
    session: Option<register_session::Model>,
    tenders: Vec<tender::Model>,
    tax_groups: Vec<AppliedGroup>,
    departments: Vec<department::Model>,
    sales_reps: Vec<SalesRep>,
    discount_limits: DiscountLimits,
    server_time: Instant,
}

/// A tax group as this store applies it.
#[derive(Serialize, ToSchema)]
#[schema(as = AppliedTaxGroup)]
#[serde(rename_all = "camelCase")]
pub struct AppliedGroup {
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
pub struct AppliedRate {
    tax_rate_id: Uuid,
    code: String,
    name: String,
    rate_ppm: Ppm,
    is_compound: bool,
}

#[derive(Serialize, ToSchema)]
pub struct SalesRep {
    id: Uuid,
    code: String,
    name: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiscountLimits {
    max_line_discount_bps: Bps,
    max_cart_discount_bps: Bps,
}

pub async fn bootstrap(
    caller: Caller<PosSell>,
    State(store): State<Arc<Store>>,
    Params(terminal): Params<Terminal>,
) -> Result<Answer<Bootstrap>> {
    let snapshot = caller.db().snapshot().await?;
    let own = store.own_row(&snapshot).await?;
    let terminal = terminal.of(&caller)?;
    let register = registers::at_terminal(&snapshot, terminal).await?.ok_or_else(|| {
        let text = format!("no register has the terminal {terminal}; make one with POST /registers");
        Error::new(ErrorCode::RegisterUnknown, text).at("terminalId")
    })?;
    let departments = department::Entity::find()
        .filter(department::Column::DeletedAt.is_null())
        .filter(department::Column::IsActive.eq(true))
        .order_by_asc(department::Column::SortOrder)
        .order_by_asc(department::Column::Code)
        .all(&snapshot)
        .await?;
    let mut usable = tenders::all(&snapshot).await?;
    usable.retain(tenders::is_usable);
    let knows = sessions::knows(&caller, &store, &snapshot).await?;
    Ok(Answer(Bootstrap {
        session: sessions::open_at(&snapshot, register.id).await?.map(|session| sessions::shown(session, knows)),
        register,
        tenders: usable,
        tax_groups: tax_groups(&own, taxes::of_store(&snapshot, own.id).await?),
        departments,
        sales_reps: sales_reps(&snapshot, own.id).await?,
        discount_limits: DiscountLimits {
            max_line_discount_bps: own.max_line_discount_bps,
            max_cart_discount_bps: own.max_cart_discount_bps,
        },
        store: own,
        server_time: caller.now(),
    }))
}

fn tax_groups(store: &store::Model, groups: HashMap<Uuid, TaxGroup>) -> Vec<AppliedGroup> {
    let mut groups: Vec<TaxGroup> = groups.into_values().filter(|group| group.row.deleted_at.is_none()).collect();
    groups.sort_by(|a, b| a.row.code.cmp(&b.row.code));
    let rate = |rate: &TaxRate| AppliedRate {
        tax_rate_id: rate.id,
        code: rate.code.clone(),
        name: rate.name.clone(),
        rate_ppm: rate.rate,
        is_compound: rate.compound,
    };
    let applied = |group: TaxGroup| AppliedGroup {
        prices_include_tax: group.inclusive(store),
        rates: group.rates.iter().map(rate).collect(),
        id: group.row.id,
        code: group.row.code,
        name: group.row.name,
        price_mode: group.row.price_mode,
        is_default: group.row.is_default,
    };
    groups.into_iter().map(applied).collect()
}

async fn sales_reps(conn: &impl ConnectionTrait, store_id: Uuid) -> Result<Vec<SalesRep>, DbErr> {
    use sales_rep::Column;
    let reps = sales_rep::Entity::find()
        .filter(Column::DeletedAt.is_null())
        .filter(Column::IsActive.eq(true))
        .filter(Column::StoreId.is_null().or(Column::StoreId.eq(store_id)))
        .order_by_asc(Column::Code)
        .all(conn)
        .await?;
    Ok(reps.into_iter().map(|rep| SalesRep { id: rep.id, code: rep.code, name: rep.name }).collect())
}
