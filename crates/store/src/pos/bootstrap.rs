//! `GET /pos/bootstrap`: what a till must know before it can sell.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Answer, Caller, Params};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::PosSell;
use tillkeep_model::pricing::TaxRate;
use tillkeep_storage::entity::{department, sales_rep, store};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, ExprTrait, QueryFilter, QueryOrder};
use uuid::Uuid;

use super::taxes::{self, TaxGroup};
use super::tenders;
use crate::registers::{self, Terminal};
use crate::{Store, sessions};

pub async fn bootstrap(
    caller: Caller<PosSell>,
    State(store): State<Arc<Store>>,
    Params(terminal): Params<Terminal>,
) -> Result<Answer<Json>> {
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
    usable.retain(|tender| tender.is_active);
    Ok(Answer(json!({
        "session": sessions::open_at(&snapshot, register.id).await?,
        "register": register,
        "tenders": usable,
        "taxGroups": tax_groups(&own, taxes::of_store(&snapshot, own.id).await?),
        "departments": departments,
        "salesReps": sales_reps(&snapshot, own.id).await?,
        "discountLimits": {"maxLineDiscountBps": own.max_line_discount_bps, "maxCartDiscountBps": own.max_cart_discount_bps},
        "store": own,
        "serverTime": caller.now(),
    })))
}

fn tax_groups(store: &store::Model, groups: HashMap<Uuid, TaxGroup>) -> Vec<Json> {
    let mut groups: Vec<TaxGroup> = groups.into_values().filter(|group| group.row.deleted_at.is_none()).collect();
    groups.sort_by(|a, b| a.row.code.cmp(&b.row.code));
    let rate = |rate: &TaxRate| {
        json!({
            "taxRateId": rate.id,
            "code": rate.code,
            "name": rate.name,
            "ratePpm": rate.rate,
            "isCompound": rate.compound,
        })
    };
    groups
        .iter()
        .map(|group| {
            json!({
                "id": group.row.id,
                "code": group.row.code,
                "name": group.row.name,
                "priceMode": group.row.price_mode,
                "isDefault": group.row.is_default,
                "pricesIncludeTax": group.inclusive(store),
                "rates": group.rates.iter().map(rate).collect::<Vec<_>>(),
            })
        })
        .collect()
}

async fn sales_reps(conn: &impl ConnectionTrait, store_id: Uuid) -> Result<Vec<Json>, DbErr> {
    use sales_rep::Column;
    let reps = sales_rep::Entity::find()
        .filter(Column::DeletedAt.is_null())
        .filter(Column::IsActive.eq(true))
        .filter(Column::StoreId.is_null().or(Column::StoreId.eq(store_id)))
        .order_by_asc(Column::Code)
        .all(conn)
        .await?;
    Ok(reps.iter().map(|rep| json!({"id": rep.id, "code": rep.code, "name": rep.name})).collect())
}
