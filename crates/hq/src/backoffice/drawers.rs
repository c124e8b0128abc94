//! The drawers of every store, as they were pushed; nothing here writes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use serde_json::Value as Json;
use tillkeep_http::describe::{Listing, Lists, More};
use tillkeep_http::documents::csv::{self, Cell, Csv, Listed};
use tillkeep_http::documents::{business_dates, drawers};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec, Parts, Query};
use tillkeep_http::{Answer, Caller, Id, Summed};
use tillkeep_model::Money;
use tillkeep_model::permission::code::{RegistersView, ReportsViewGlobal, ReportsViewLocal};
use tillkeep_model::state::SessionStatus;
use tillkeep_model::z::ZReport;
use tillkeep_storage::entity::register_session::{Column, Entity, Model};
use tillkeep_storage::entity::{store, unapplied_document, user};
use tillkeep_storage::reports::listed::{self, OfDrawers};
use tillkeep_storage::reports::taken;
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, Select};
use tillkeep_storage::sync_log::unapplied;
use tillkeep_storage::{DbErr, Transaction};
use utoipa::ToSchema;
use uuid::Uuid;

use super::files;
use crate::Hq;
use crate::replica::Figures;
use crate::scope::{in_scope, named_store};
use crate::state::Routes;

/// What may be asked of the list.
pub(crate) const LIST: ListSpec = ListSpec {
    search: &[],
    filters: &["storeId", "registerId", "registerCode", "status", "businessDate"],
    sort: &["businessDate", "openedAt", "createdAt", "sessionNumber"],
};

/// The list of drawers.
pub(crate) struct Drawers;

impl Listing for Drawers {
    type Row = Entity;
    const SPEC: ListSpec = LIST;
    const LONG: bool = true;
    const MORE: &'static [(&'static str, More)] =
        &[("businessDateFrom", More::Date), ("businessDateTo", More::Date), ("format", More::Format)];
}

/// Who looks after registers, and who sees the reports of what is in their drawers.
type Sees = (RegistersView, ReportsViewLocal, ReportsViewGlobal);

/// A drawer with the names of its store and of the people who opened and closed it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DrawerOfStore)]
pub(crate) struct Drawer {
    store_code: String,
    opened_by_name: Option<String>,
    /// Whose drawer it is, or was at its close.
    owner_name: Option<String>,
    closed_by_name: Option<String>,
    /// The names of all whom the drawer names, by their ids: who had it, counted it, moved cash and agreed to that.
    people: BTreeMap<Uuid, String>,
    /// Its sales that headquarters refused and that were resolved without applying them: its figures contain them, and
    /// they are at their store alone.
    not_at_headquarters: Vec<Unapplied>,
    /// Null for who may not know what should be in it, and of a closed one whose report cannot be read.
    taken: Option<Takings>,
    currency_code: String,
    currency_exponent: i16,
    #[serde(flatten)]
    session: Model,
}

/// What a drawer has taken.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DrawerTaken)]
pub(crate) struct Takings {
    /// Whether its store has said so at the close; else it is what has come from there so far.
    is_final: bool,
    sale_count: i64,
    refund_count: i64,
    /// Of its documents, less what was given back.
    total: Money,
    /// What was taken beside the total because cash was rounded.
    cash_rounding: Money,
    /// Together `total + cashRounding`.
    taken: Money,
    /// By code.
    tenders: Vec<TakenTender>,
}

/// What all listed drawers in one currency come to, and not those of the page alone.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DrawersSum)]
pub(crate) struct Sum {
    currency_code: String,
    currency_exponent: i16,
    count: i64,
    open_count: i64,
    forced_count: i64,
    /// Those whose figures the caller may not know: they are in none of the amounts.
    hidden_count: i64,
    /// Of the others: those of which the cash was counted.
    counted_count: i64,
    counted_cash: Money,
    /// Counted less expected, all together.
    variance: Money,
    /// Of the drawers with more than was expected.
    over: Money,
    /// Of those with less; never above zero.
    short: Money,
}

impl Sum {
    fn add(&mut self, of: &OfDrawers, knows: bool) {
        self.count += of.count;
        self.open_count += of.open;
        self.forced_count += of.forced;
        if !knows {
            self.hidden_count += of.count;
            return;
        }
        self.counted_count += of.counted;
        self.counted_cash = both(self.counted_cash, of.counted_cash);
        self.over = both(self.over, of.over);
        self.short = both(self.short, of.short);
        self.variance = both(self.over, self.short);
    }
}

/// What was paid with one tender, less what was paid back and change.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DrawerTakenTender)]
pub(crate) struct TakenTender {
    tender_code: String,
    tender_kind: String,
    count: i64,
    amount: Money,
}

fn both(one: Money, other: Money) -> Money {
    Money::from_wide(i128::from(one.0) + i128::from(other.0))
}

impl From<taken::Taken> for Takings {
    fn from(found: taken::Taken) -> Self {
        let shown = |tender: taken::Tender| TakenTender {
            tender_code: tender.code,
            tender_kind: tender.kind,
            count: tender.count,
            amount: tender.amount,
        };
        Self {
            is_final: false,
            sale_count: found.sales,
            refund_count: found.refunds,
            total: found.total,
            cash_rounding: found.cash_rounding,
            taken: both(found.total, found.cash_rounding),
            tenders: found.tenders.into_iter().map(shown).collect(),
        }
    }
}

impl From<ZReport> for Takings {
    fn from(report: ZReport) -> Self {
        let mut tenders: Vec<TakenTender> = report
            .tenders
            .into_iter()
            .map(|tender| TakenTender {
                tender_code: tender.tender_code,
                tender_kind: tender.tender_kind,
                count: tender.count,
                amount: tender.amount,
            })
            .collect();
        tenders.sort_by(|one, other| one.tender_code.cmp(&other.tender_code));
        Self {
            is_final: true,
            sale_count: report.sale_count,
            refund_count: report.refund_count,
            total: report.total_amount,
            cash_rounding: report.cash_rounding,
            taken: both(report.total_amount, report.cash_rounding),
            tenders,
        }
    }
}

/// A sale that headquarters does not have.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UnappliedSale)]
pub(crate) struct Unapplied {
    id: Uuid,
    /// Null when not even that could be read.
    receipt_number: Option<String>,
}

/// `GET /register-sessions`: the newest first, with what all of them come to; as a file all of them.
pub(crate) async fn list(
    caller: Caller<Sees>,
    State(hq): State<Arc<Hq>>,
    Lists { mut query, .. }: Lists<Drawers>,
) -> Result<Figures<Listed<Summed<Drawer, Sum>>>> {
    named_store(&caller, &query)?;
    let as_file = csv::wanted(&mut query)?;
    let asked = as_file.then(|| query.clone());
    query.entry("sort".to_owned()).or_insert_with(|| "-businessDate,-openedAt".to_owned());
    let select = in_scope(&caller, Entity::find(), Column::StoreId);
    let select = business_dates::<Entity>(&mut query, Column::BusinessDate, select)?;
    let found = hq
        .figures(|conn| {
            let (caller, query, select) = (&caller, &query, select.clone());
            async move {
                // Each part of a file, and what an open drawer took, are of one moment.
                let conn = conn.begin().await?;
                if as_file {
                    return file(caller, &conn, query, select).await.map(Listed::File);
                }
                let (rows, page) = resource::long_list(&conn, &LIST, query, select.clone()).await?.split();
                let sums = sums(caller, &conn, resource::narrowed(&LIST, query, select)?).await?;
                let list = page.with(named(caller, &conn, rows).await?);
                Ok(Listed::Json(Summed { list, sums }))
            }
        })
        .await?;
    if let Some(asked) = asked {
        files::kept(&caller, "drawers.export", &asked).await?;
    }
    Ok(found)
}

/// By currency.
async fn sums(caller: &Caller<Sees>, conn: &Transaction, all: Select<Entity>) -> Result<Vec<Sum>> {
    let found = listed::drawers(conn, all).await?;
    let stores =
        store::Entity::find().filter(store::Column::Id.is_in(found.iter().map(|of| of.store))).all(conn).await?;
    let stores: HashMap<Uuid, store::Model> = stores.into_iter().map(|store| (store.id, store)).collect();
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for of in &found {
        let Some(store) = stores.get(&of.store) else { continue };
        let sum = sums.entry(&store.currency_code).or_insert_with(|| Sum {
            currency_code: store.currency_code.clone(),
            currency_exponent: store.currency_exponent,
            ..Sum::default()
        });
        sum.add(of, knows(caller, Some(store), of.store));
    }
    Ok(sums.into_values().collect())
}

/// Whether the caller may know what should be in the drawers of a store.
fn knows(caller: &Caller<Sees>, store: Option<&store::Model>, store_id: Uuid) -> bool {
    let is_blind = store.is_none_or(|store| store.blind_close);
    !is_blind || caller.access.may(drawers::MAY_CLOSE, Some(store_id))
}

/// The columns of a file; `docs/api.md` says what stands in them.
const COLUMNS: [&str; 21] = [
    "storeCode",
    "registerCode",
    "sessionNumber",
    "status",
    "businessDate",
    "openedAt",
    "openedByName",
    "ownerName",
    "closedAt",
    "closedByName",
    "forced",
    "currencyCode",
    "openingFloat",
    "saleCount",
    "total",
    "cashRounding",
    "taken",
    "expectedCash",
    "countedCash",
    "cashVariance",
    "id",
];

/// All that the list means, in its order, each drawer as the caller may see it.
async fn file(caller: &Caller<Sees>, conn: &Transaction, query: &Query, select: Select<Entity>) -> Result<Csv> {
    let mut parts = Parts::new(&LIST, query, select, csv::CHUNK)?;
    csv::fits(parts.count(conn).await?)?;
    let mut file = Csv::new("drawers", &COLUMNS);
    loop {
        let rows = parts.next(conn).await?;
        if rows.is_empty() {
            return Ok(file);
        }
        for drawer in named(caller, conn, rows).await? {
            file.row(&cells(&drawer));
        }
    }
}

fn cells(drawer: &Drawer) -> [Cell<'_>; COLUMNS.len()] {
    let session = &drawer.session;
    let money = |amount: Option<Money>| Cell::money(amount, drawer.currency_exponent);
    let taken = drawer.taken.as_ref();
    [
        Cell::Text(&drawer.store_code),
        Cell::Text(&session.register_code),
        Cell::Plain(session.session_number.to_string()),
        Cell::Text(&session.status),
        Cell::Text(&session.business_date),
        Cell::instant(session.opened_at),
        Cell::text(drawer.opened_by_name.as_deref()),
        Cell::text(drawer.owner_name.as_deref()),
        Cell::instant(session.closed_at),
        Cell::text(drawer.closed_by_name.as_deref()),
        Cell::Plain(session.forced.to_string()),
        Cell::Text(&drawer.currency_code),
        money(Some(session.opening_float)),
        taken.map_or(Cell::Nothing, |taken| Cell::Plain(taken.sale_count.to_string())),
        money(taken.map(|taken| taken.total)),
        money(taken.map(|taken| taken.cash_rounding)),
        money(taken.map(|taken| taken.taken)),
        money(session.expected_cash),
        money(session.counted_cash),
        money(session.cash_variance),
        Cell::id(session.id),
    ]
}

/// `GET /register-sessions/{id}`
pub(crate) async fn get(caller: Caller<Sees>, Id(id): Id) -> Result<Answer<Drawer>> {
    let conn = caller.reader();
    let found = in_scope(&caller, Entity::find_by_id(id), Column::StoreId).one(conn).await?;
    let drawer = named(&caller, conn, found.into_iter().collect()).await?.pop();
    drawer.map(Answer).ok_or_else(|| Error::not_found("register session"))
}

/// The drawers with their names, each as the caller may see it in that store.
async fn named(caller: &Caller<Sees>, conn: &impl ConnectionTrait, rows: Vec<Model>) -> Result<Vec<Drawer>> {
    let stores: BTreeSet<Uuid> = rows.iter().map(|row| row.store_id).collect();
    let stores = store::Entity::find().filter(store::Column::Id.is_in(stores)).all(conn).await?;
    let stores: HashMap<Uuid, store::Model> = stores.into_iter().map(|store| (store.id, store)).collect();
    let people: BTreeSet<Uuid> = rows.iter().flat_map(named_in).collect();
    let people: Vec<(Uuid, String)> = user::Entity::find()
        .select_only()
        .columns([user::Column::Id, user::Column::DisplayName])
        .filter(user::Column::Id.is_in(people))
        .into_tuple()
        .all(conn)
        .await?;
    let people: HashMap<Uuid, String> = people.into_iter().collect();
    let mut unapplied = unapplied::of_sessions(conn, rows.iter().map(|row| row.id)).await?;
    let mut taken = taken_by(conn, &rows).await?;
    let shown = |row: Model| {
        let store = stores.get(&row.store_id);
        let knows = knows(caller, store, row.store_id);
        let unapplied = unapplied.remove(&row.id).unwrap_or_default().into_iter();
        let named = |sale: unapplied_document::Model| Unapplied { id: sale.entity_id, receipt_number: sale.number };
        let named_here = named_in(&row).into_iter().filter_map(|id| Some((id, people.get(&id)?.clone())));
        Drawer {
            taken: taken.remove(&row.id).filter(|_| knows),
            currency_code: store.map(|store| store.currency_code.clone()).unwrap_or_default(),
            currency_exponent: store.map_or(2, |store| store.currency_exponent),
            people: named_here.collect(),
            owner_name: people.get(&row.owner()).cloned(),
            not_at_headquarters: unapplied.map(named).collect(),
            store_code: store.map(|store| store.code.clone()).unwrap_or_default(),
            opened_by_name: people.get(&row.opened_by).cloned(),
            closed_by_name: row.closed_by.and_then(|id| people.get(&id).cloned()),
            session: drawers::shown(row, knows),
        }
    };
    Ok(rows.into_iter().map(shown).collect())
}

/// What drawers have taken: a closed one by its report, any other by what has come of it.
async fn taken_by(conn: &impl ConnectionTrait, rows: &[Model]) -> Result<HashMap<Uuid, Takings>, DbErr> {
    let is_closed = |row: &&Model| row.status == SessionStatus::Closed;
    let reported = rows.iter().filter(is_closed).filter_map(|row| Some((row.id, row.z_report()?.into())));
    let open: BTreeSet<Uuid> = rows.iter().filter(|row| !is_closed(row)).map(|row| row.id).collect();
    let mut all: HashMap<Uuid, Takings> = reported.collect();
    let mut arrived = taken::of_drawers(conn, &open).await?;
    all.extend(open.into_iter().map(|id| (id, arrived.remove(&id).unwrap_or_default().into())));
    Ok(all)
}

/// All whom a drawer names.
fn named_in(row: &Model) -> BTreeSet<Uuid> {
    let lists = [&row.cash_movements, &row.owners, &row.earlier_counts, &row.safe_movements];
    let entries = lists.into_iter().filter_map(|list| list.0.as_array()).flatten();
    let keys = ["userId", "byUserId", "approverId", "countedBy"];
    let said = entries.flat_map(|entry| keys.map(|key| entry.get(key).and_then(Json::as_str)));
    let said = said.flatten().filter_map(|id| id.parse().ok());
    let own = [Some(row.opened_by), row.owner_id, row.counted_by, row.closed_by];
    own.into_iter().flatten().chain(said).collect()
}

/// The routes of drawers.
pub(crate) fn routes(routes: Routes) -> Routes {
    routes
        .get("/register-sessions", list)
        .about("List the drawers of all stores, open and closed.")
        .get("/register-sessions/{id}", get)
        .about("One drawer with its counts, cash movements and totals.")
}
