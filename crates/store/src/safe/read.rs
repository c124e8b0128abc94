//! `GET /safe`: everything in it is reckoned now, from one state of the database. It stops nothing.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tillkeep_http::error::Result;
use tillkeep_http::{Answer, Caller, Paging, Params};
use tillkeep_model::permission::code::{RegistersClose, ReportsZReport};
use tillkeep_model::state::SessionStatus;
use tillkeep_model::wire::OutboxState;
use tillkeep_model::{Instant, Money};
use tillkeep_storage::entity::{register_session, safe_movement};
use tillkeep_storage::safe::{self, Movement, Uncounted};
use tillkeep_storage::sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
};
use tillkeep_storage::{DbErr, outbox, parked_carts};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{Store, day};

/// Drawers without a count that are listed.
const UNCOUNTED: u64 = 50;

#[derive(Deserialize, ToSchema)]
#[schema(as = SafeQuery)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Asked {
    /// Of the movements.
    #[schema(minimum = 1, maximum = 1_000_000)]
    page: Option<u64>,
    #[schema(minimum = 1, maximum = 200)]
    page_size: Option<u64>,
}

/// What should be in the safe: `drops + counted + corrections - floats - floatAdds - deposits`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Safe {
    currency_code: String,
    /// Below zero until somebody has said with a correction what is in it.
    balance: Money,
    /// What drawers gave while they were open.
    drops: Money,
    /// What was counted in drawers when they were closed.
    counted: Money,
    corrections: Money,
    /// What drawers were opened with.
    floats: Money,
    /// What drawers got while they were open.
    float_adds: Money,
    deposits: Money,
    /// The business date of the first drawer that is reckoned.
    since: Option<String>,
    /// Drawers that were closed without a count after the safe was counted last, the newest first, 50 at the most: what they had
    /// in them is not in the balance until a correction names them.
    uncounted: Vec<Uncounted>,
    /// One page, the newest first.
    movements: Vec<Movement>,
    /// On all pages.
    movement_count: u64,
    day: Day,
}

/// The day of the store.
#[derive(Serialize, ToSchema)]
#[schema(as = StoreDay)]
#[serde(rename_all = "camelCase")]
pub(super) struct Day {
    business_date: String,
    open_drawers: Vec<OpenDrawer>,
    /// Carts that wait to be taken up again.
    parked: u64,
    /// What headquarters does not have yet.
    unsent: OutboxState,
    /// Every drawer is closed, and no cart waits.
    is_closed: bool,
}

/// A drawer that is not closed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenDrawer {
    session_id: Uuid,
    register_code: String,
    session_number: i32,
    status: String,
    business_date: String,
    opened_at: Instant,
    opened_by: Uuid,
}

impl From<register_session::Model> for OpenDrawer {
    fn from(row: register_session::Model) -> Self {
        Self {
            session_id: row.id,
            register_code: row.register_code,
            session_number: row.session_number,
            status: row.status,
            business_date: row.business_date,
            opened_at: row.opened_at,
            opened_by: row.opened_by,
        }
    }
}

pub(super) async fn read(
    caller: Caller<(RegistersClose, ReportsZReport)>,
    State(store): State<Arc<Store>>,
    Params(asked): Params<Asked>,
) -> Result<Answer<Safe>> {
    let paging = Paging::new(asked.page, asked.page_size)?;
    let shop = store.shop().await?;
    let own = shop.own()?;
    let snapshot = caller.snapshot().await?;
    let figures = safe::figures(&snapshot, store.id).await?;
    let (movements, movement_count) = movements(&snapshot, paging).await?;
    Ok(Answer(Safe {
        currency_code: own.currency_code.clone(),
        balance: figures.balance(),
        drops: figures.drops,
        counted: figures.counted,
        corrections: figures.corrections,
        floats: figures.floats,
        float_adds: figures.float_adds,
        deposits: figures.deposits,
        since: figures.since,
        uncounted: safe::uncounted(&snapshot, store.id, UNCOUNTED).await?,
        movements,
        movement_count,
        day: Day::load(&snapshot, store.id, day::today(own, caller.now())).await?,
    }))
}

impl Day {
    async fn load(
        conn: &impl ConnectionTrait,
        store_id: Uuid,
        business_date: String,
    ) -> std::result::Result<Self, DbErr> {
        use register_session::Column;
        let open = register_session::Entity::find()
            .filter(Column::StoreId.eq(store_id))
            .filter(Column::Status.ne(SessionStatus::Closed.word()))
            .order_by_asc(Column::RegisterCode)
            .all(conn)
            .await?;
        let parked = parked_carts::count(conn, None).await?;
        Ok(Self {
            business_date,
            is_closed: open.is_empty() && parked == 0,
            open_drawers: open.into_iter().map(OpenDrawer::from).collect(),
            parked,
            unsent: outbox::state(conn).await?,
        })
    }
}

async fn movements(conn: &impl ConnectionTrait, paging: Paging) -> std::result::Result<(Vec<Movement>, u64), DbErr> {
    let count = safe_movement::Entity::find().count(conn).await?;
    let rows = safe_movement::Entity::find()
        .order_by_desc(safe_movement::Column::At)
        .order_by_desc(safe_movement::Column::Id)
        .limit(paging.size)
        .offset(paging.offset())
        .all(conn)
        .await?;
    Ok((rows.into_iter().map(Movement::from).collect(), count))
}
