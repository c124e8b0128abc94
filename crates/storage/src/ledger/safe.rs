//! The safe of a store. What is in it follows from its drawers, from what was moved between them and the safe while they were
//! open, and from the movements of the safe itself; it is reckoned in four statements over columns whenever it is asked for, and
//! kept nowhere. `docs/safe.md`.

use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, DbErr};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use serde_json::value::RawValue;
use tillkeep_model::state::SessionStatus;
use tillkeep_model::words::{CashMovementKind, SafeMovementKind};
use tillkeep_model::{Instant, Money};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Tx;
use crate::db::query;
use crate::entity::{cash_movement, safe_movement};
use crate::sql::bulk;

/// A movement of the safe as it is answered, and as a drawer carries it to headquarters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = SafeMovement)]
#[serde(rename_all = "camelCase", default)]
pub struct Movement {
    pub id: Uuid,
    /// `deposit` or `correction`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Of a deposit above zero; of a correction with its sign.
    pub amount: Money,
    pub slip_number: Option<String>,
    pub reason: Option<String>,
    pub user_id: Uuid,
    pub approver_id: Option<Uuid>,
    pub at: Instant,
    pub business_date: String,
    /// The drawer that was closed without a count, and had this in it.
    pub session_id: Option<Uuid>,
    /// What was counted in the safe.
    pub new_balance: Option<Money>,
}

impl From<safe_movement::Model> for Movement {
    fn from(row: safe_movement::Model) -> Self {
        Self {
            id: row.id,
            kind: row.kind,
            amount: row.amount,
            slip_number: row.slip_number,
            reason: row.reason,
            user_id: row.user_id,
            approver_id: row.approver_id,
            at: row.at,
            business_date: row.business_date,
            session_id: row.counted_session_id,
            new_balance: row.new_balance,
        }
    }
}

impl Movement {
    /// Its row, carried by the drawer `carrier`.
    fn row(self, carrier: Uuid) -> safe_movement::Model {
        safe_movement::Model {
            id: self.id,
            created_at: self.at,
            kind: self.kind,
            amount: self.amount,
            slip_number: self.slip_number,
            reason: self.reason,
            reason_code: None,
            user_id: self.user_id,
            approver_id: self.approver_id,
            at: self.at,
            business_date: self.business_date,
            session_id: Some(carrier),
            counted_session_id: self.session_id,
            new_balance: self.new_balance,
        }
    }
}

/// What came into the safe of a store and went out of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// What was counted in drawers when they were closed.
    pub counted: Money,
    /// What drawers gave while they were open.
    pub drops: Money,
    /// With their signs.
    pub corrections: Money,
    /// What drawers were opened with.
    pub floats: Money,
    /// What they got while they were open.
    pub float_adds: Money,
    pub deposits: Money,
    /// The business date of the first drawer that is known here.
    pub since: Option<String>,
}

impl Figures {
    /// What should be in it. Below zero where drawers were filled out of a safe that nobody has counted yet.
    #[must_use]
    pub fn balance(&self) -> Money {
        self.drops + self.counted + self.corrections - self.floats - self.float_adds - self.deposits
    }
}

/// The figures of `store`.
pub async fn figures(conn: &impl ConnectionTrait, store: Uuid) -> Result<Figures, DbErr> {
    let mut figures = Figures::default();
    let sql = "SELECT CAST(COALESCE(SUM(opening_float), 0) AS BIGINT) AS floats, \
               CAST(COALESCE(SUM(CASE WHEN status = $2 THEN counted_cash END), 0) AS BIGINT) AS counted, \
               MIN(business_date) AS since FROM register_sessions WHERE store_id = $1";
    for row in query(conn, sql, [store.into(), SessionStatus::Closed.word().into()]).await? {
        figures.floats = Money(row.try_get("", "floats")?);
        figures.counted = Money(row.try_get("", "counted")?);
        figures.since = row.try_get("", "since")?;
    }
    let moved = sums(conn, "cash_movements").await?;
    figures.drops = of_kind(&moved, CashMovementKind::Drop.word());
    figures.float_adds = of_kind(&moved, CashMovementKind::FloatAdd.word());
    let own = sums(conn, "safe_movements").await?;
    figures.corrections = of_kind(&own, SafeMovementKind::Correction.word());
    figures.deposits = of_kind(&own, SafeMovementKind::Deposit.word());
    Ok(figures)
}

fn of_kind(sums: &[(String, Money)], word: &str) -> Money {
    sums.iter().filter(|(kind, _)| kind == word).map(|(_, amount)| *amount).sum()
}

/// What the movements of each kind come to. Both tables are of this store alone.
async fn sums(conn: &impl ConnectionTrait, table: &str) -> Result<Vec<(String, Money)>, DbErr> {
    let sql = format!("SELECT kind, CAST(SUM(amount) AS BIGINT) AS amount FROM {table} GROUP BY kind");
    let mut sums = Vec::new();
    for row in query(conn, &sql, []).await? {
        sums.push((row.try_get("", "kind")?, Money(row.try_get("", "amount")?)));
    }
    Ok(sums)
}

/// A drawer that was closed without a count: what of it came into the safe is not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = UncountedDrawer)]
#[serde(rename_all = "camelCase")]
pub struct Uncounted {
    pub session_id: Uuid,
    pub register_code: String,
    pub session_number: i32,
    pub business_date: String,
    pub closed_at: Option<Instant>,
    /// What should have been in it.
    pub expected_cash: Option<Money>,
    pub forced: bool,
}

/// The drawers of `store` that no correction names and that were closed after the safe was counted last, the newest first;
/// `most` at the most.
pub async fn uncounted(conn: &impl ConnectionTrait, store: Uuid, most: u64) -> Result<Vec<Uncounted>, DbErr> {
    let sql = format!("{UNCOUNTED} ORDER BY s.closed_at DESC, s.id DESC LIMIT {most}");
    drawers(conn, &sql, [store.into(), SessionStatus::Closed.word().into()]).await
}

/// The drawer `id`, when it is one of [`uncounted`].
pub async fn uncounted_drawer(conn: &impl ConnectionTrait, store: Uuid, id: Uuid) -> Result<Option<Uncounted>, DbErr> {
    let sql = format!("{UNCOUNTED} AND s.id = $3");
    let found = drawers(conn, &sql, [store.into(), SessionStatus::Closed.word().into(), id.into()]).await?;
    Ok(found.into_iter().next())
}

const UNCOUNTED: &str = "SELECT s.id, s.register_code, s.session_number, s.business_date, s.closed_at, s.expected_cash, \
    s.forced FROM register_sessions s WHERE s.store_id = $1 AND s.status = $2 AND s.counted_cash IS NULL \
    AND NOT EXISTS (SELECT 1 FROM safe_movements m WHERE m.counted_session_id = s.id) \
    AND NOT EXISTS (SELECT 1 FROM safe_movements m WHERE m.new_balance IS NOT NULL AND m.at >= s.closed_at)";

async fn drawers<const N: usize>(
    conn: &impl ConnectionTrait,
    sql: &str,
    values: [sea_orm::Value; N],
) -> Result<Vec<Uncounted>, DbErr> {
    let mut found = Vec::new();
    for row in query(conn, sql, values).await? {
        found.push(Uncounted {
            session_id: row.try_get("", "id")?,
            register_code: row.try_get("", "register_code")?,
            session_number: row.try_get("", "session_number")?,
            business_date: row.try_get("", "business_date")?,
            closed_at: row.try_get("", "closed_at")?,
            expected_cash: row.try_get("", "expected_cash")?,
            forced: row.try_get("", "forced")?,
        });
    }
    Ok(found)
}

/// As much of a drawer as it travels as is needed to know its movements again.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Carrier {
    id: Uuid,
    register_id: Uuid,
    business_date: String,
    cash_movements: Json,
    safe_movements: Json,
}

/// A movement of cash as a drawer carries it.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Cash {
    id: Uuid,
    #[serde(rename = "type")]
    kind: String,
    amount: Money,
    reason: String,
    reason_code: Option<String>,
    user_id: Uuid,
    approver_id: Option<Uuid>,
    at: Instant,
}

impl Cash {
    fn row(self, drawer: &Carrier) -> cash_movement::Model {
        cash_movement::Model {
            id: self.id,
            created_at: self.at,
            session_id: drawer.id,
            register_id: drawer.register_id,
            business_date: drawer.business_date.clone(),
            kind: self.kind,
            amount: self.amount,
            reason: self.reason,
            reason_code: self.reason_code,
            user_id: self.user_id,
            approver_id: self.approver_id,
            at: self.at,
        }
    }
}

/// Fills the tables of movements from drawers that came back from headquarters, where a store lost its database. What is here
/// already stays as it is, however often a drawer comes.
pub(crate) async fn take_back(tx: &Tx, drawers: &[Box<RawValue>]) -> Result<(), DbErr> {
    let (mut cash, mut safe) = (Vec::new(), Vec::new());
    for raw in drawers {
        let drawer: Carrier = serde_json::from_str(raw.get()).map_err(|error| DbErr::Json(error.to_string()))?;
        let rows = read::<Cash>(&drawer.cash_movements, drawer.id).into_iter();
        cash.extend(rows.map(|movement| movement.row(&drawer)));
        let rows = read::<Movement>(&drawer.safe_movements, drawer.id).into_iter();
        safe.extend(rows.map(|movement| movement.row(drawer.id)));
    }
    let unless_there = OnConflict::column(cash_movement::Column::Id).do_nothing().to_owned();
    bulk::insert::<cash_movement::Entity>(tx, cash, Some(unless_there)).await?;
    let unless_there = OnConflict::column(safe_movement::Column::Id).do_nothing().to_owned();
    bulk::insert::<safe_movement::Entity>(tx, safe, Some(unless_there)).await?;
    Ok(())
}

/// Those of `movements` that can be read. One that cannot is told to the log: the drawer comes back all the same.
fn read<T: DeserializeOwned>(movements: &Json, drawer: Uuid) -> Vec<T> {
    let one = |movement: &Json| {
        let read = T::deserialize(movement);
        if let Err(error) = &read {
            tracing::error!(%drawer, %error, "a movement of a drawer cannot be read, and does not come back");
        }
        read.ok()
    };
    movements.as_array().into_iter().flatten().filter_map(one).collect()
}
