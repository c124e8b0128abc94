//! Papers that people ask for, and those that did not come out: `POST /pos/sales/{id}/prints`, `GET /pos/prints` and
//! `POST /pos/prints/{id}/again`.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use serde_json::json;
use tillkeep_http::describe::{Listing, Lists};
use tillkeep_http::documents;
use tillkeep_http::documents::drawers::MAY_CLOSE;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{self, ListSpec};
use tillkeep_http::sent::Sent;
use tillkeep_http::{Answer, Body, Caller, Created, Id, List, sent};
use tillkeep_model::fields::register::{PRINT, PRINT_TO};
use tillkeep_model::permission::code::{PosRefund, PosSell};
use tillkeep_model::words::{PaperKind, PrintState};
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::entity::{print_job, sale};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};
use tillkeep_storage::{DbErr, Tx, print_jobs};
use utoipa::ToSchema;
use uuid::Uuid;

use super::escpos::escpos;
use super::of_sale::{Wanted, kind, kind_of, of_sale};
use super::report;
use super::rows::Rows;
use super::shop::buyer;
use super::show::check;
use crate::act::Log;
use crate::memory::Shop;
use crate::printers::{self, KEPT_MS, Printer};
use crate::sessions::view::knows;
use crate::state::PrinterState;
use crate::terminal::acting_at;
use crate::{Store, bounds};

const LIST: ListSpec =
    ListSpec { search: &[], filters: &["registerId", "saleId", "state"], sort: &["createdAt", "updatedAt"] };

/// So long a drawer is still to be opened by a paper that waits. Later nobody stands there who needs it.
const DRAWER_MS: i64 = 60 * 1000;

/// The list of papers.
pub(super) struct Prints;

impl Listing for Prints {
    type Row = print_job::Entity;
    const SPEC: ListSpec = LIST;
}

sent! {
    pub(super) struct Asked as "PrintRequest" by PRINT {
        /// Made by the client for this paper, and the same one when the request is sent again.
        id: Option<Uuid>,
        /// The till where it comes out; that of the sign-in, else that of the sale, when it is left out.
        terminal_id: Option<String>,
        /// Which paper; the receipt when it is left out.
        kind: Option<String>,
        /// `printer`, or `browser` for a page that is printed where it is looked at.
        to: String,
    }
}

/// A paper, and how far it is.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PrintJob {
    id: Uuid,
    register_id: Uuid,
    sale_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt_number: Option<String>,
    kind: String,
    /// 0 for the first paper, then which copy it is.
    copy: i32,
    /// `waiting`, `printing`, `printed`, `unknown` when nobody saw its end, or `failed`.
    state: String,
    /// Why it waits or failed, in words.
    error: Option<String>,
    attempts: i32,
    opens_drawer: bool,
    created_at: Instant,
    updated_at: Instant,
    /// How the printer of its register was when it was asked last.
    printer: PrinterState,
}

impl PrintJob {
    pub(crate) fn new(store: &Store, job: print_job::Model, receipt_number: Option<String>) -> Self {
        Self {
            id: job.id,
            register_id: job.register_id,
            sale_id: job.sale_id,
            receipt_number,
            kind: job.kind,
            copy: job.copy,
            state: job.state,
            error: job.error,
            attempts: job.attempts,
            opens_drawer: job.opens_drawer,
            created_at: job.created_at,
            updated_at: job.updated_at,
            printer: store.printers.state(job.register_id),
        }
    }
}

pub(super) async fn ask(
    caller: Caller<(PosSell, PosRefund)>,
    State(store): State<Arc<Store>>,
    Id(sale_id): Id,
    Body(asked): Body<Asked>,
) -> Result<Created<PrintJob>> {
    let id = bounds::document_id(asked.id)?;
    asked.check_fields(caller.now())?;
    let kind = kind(asked.kind.as_deref().unwrap_or(PaperKind::Sale.word()));
    let is_printed = asked.to == PRINT_TO[0];
    let shop = store.shop().await?;
    let terminal = acting_at(&caller, asked.terminal_id.as_deref())?;
    let snapshot = caller.snapshot().await?;
    let rows = Rows::of(&snapshot, sale_id).await?;
    snapshot.commit().await?;
    let sale = &rows.document.sale;
    let (number, made_at) = (sale.receipt_number.clone(), sale.created_at);
    let register = terminal.and_then(|terminal| shop.at_terminal(terminal));
    let register_id = register.map_or(sale.register_id, |register| register.id);
    let is_it = move |stored: &print_job::Model| {
        stored.sale_id == Some(sale_id) && stored.register_id == register_id && stored.kind == kind
    };
    let act = store.act(&caller, "receipt.print").creates(id, is_it);
    if let Some(stored) = act.stored(caller.reader()).await? {
        return Ok(Created { data: PrintJob::new(&store, stored, Some(number)), new: false });
    }
    check(kind, kind_of(sale), buyer(sale, rows.customer.as_ref(), shop.own()?).is_some())?;
    if is_printed {
        require_printer(&shop, register_id)?;
    }
    let requested_by = Some(caller.user_id);
    let made = act.run(move |tx| {
        Box::pin(async move {
            let now = tx.now();
            let is_old = now.millis_since(made_at) > KEPT_MS;
            let is_first = kind != PaperKind::Copy && !is_old && !print_jobs::is_there(&**tx, sale_id, kind).await?;
            let copy = if is_first { 0 } else { print_jobs::count_copy(&**tx, sale_id).await? };
            let state = if is_printed { PrintState::Waiting } else { PrintState::Printed };
            let job = print_job::Model {
                id,
                created_at: now,
                updated_at: now,
                register_id,
                sale_id: Some(sale_id),
                kind: kind.into(),
                copy,
                state: state.into(),
                requested_by,
                ..print_job::Model::default()
            };
            tx.insert(&job).await?;
            if is_printed {
                tx.prints();
            }
            let details = json!({"saleId": sale_id, "kind": job.kind, "copy": copy, "to": asked.to});
            Ok((job, Log::Line(details)))
        })
    });
    let Created { data, new } = made.await?;
    Ok(Created { data: PrintJob::new(&store, data, Some(number)), new })
}

/// `POST /pos/prints/{id}/again`: what waits is tried now; what came out, or may have, comes out again as a copy.
pub(super) async fn again(
    caller: Caller<(PosSell, PosRefund)>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
) -> Result<Answer<PrintJob>> {
    let shop = store.shop().await?;
    let job = print_job::Entity::find_by_id(id).one(caller.reader()).await?;
    if job.is_some_and(|job| printers::tells(&job)) && !knows(&caller, &store).await? {
        return Err(Error::forbidden(MAY_CLOSE));
    }
    let act = store.act(&caller, "receipt.print_again").about("print_jobs", &id);
    let again = act.run(move |tx| {
        Box::pin(async move {
            let job = print_job::Entity::find_by_id(id).one(&**tx).await?;
            let mut job = job.ok_or_else(|| Error::not_found("paper"))?;
            require_printer(&shop, job.register_id)?;
            if job.state == PrintState::Waiting || job.state == PrintState::Printing {
                return Ok((job, Log::Unchanged));
            }
            job.copy = copy_of(tx, &job).await?;
            printers::again(tx, &mut job).await?;
            // Its day begins anew. A drawer that was opened for a sale is not opened for its copy.
            (job.created_at, job.updated_at) = (tx.now(), tx.now());
            (job.state, job.error) = (PrintState::Waiting.into(), None);
            (job.attempts, job.opens_drawer) = (0, false);
            tx.update(&job).await?;
            tx.prints();
            let details = json!({"saleId": job.sale_id, "kind": job.kind, "copy": job.copy});
            Ok((job, Log::Line(details)))
        })
    });
    let job = again.await?;
    store.printers.hurry(job.register_id);
    let number = numbers(caller.reader(), job.sale_id).await?.into_values().next();
    Ok(Answer(PrintJob::new(&store, job, number)))
}

pub(super) async fn list(
    caller: Caller<(PosSell, PosRefund)>,
    State(store): State<Arc<Store>>,
    Lists { mut query, .. }: Lists<Prints>,
) -> Result<List<PrintJob>> {
    documents::newest_first(&mut query);
    let mut select = print_job::Entity::find();
    let is_asked = ["registerId", "saleId"].iter().any(|key| query.contains_key(*key));
    let own = caller.terminal_id.as_deref().filter(|_| !is_asked);
    if let Some(terminal) = own
        && let Some(register) = store.shop().await?.at_terminal(terminal)
    {
        select = select.filter(print_job::Column::RegisterId.eq(register.id));
    }
    let snapshot = caller.snapshot().await?;
    let page: List<print_job::Model> = resource::list(&snapshot, &LIST, &query, select).await?;
    let numbers = numbers(&snapshot, page.rows.iter().filter_map(|job| job.sale_id)).await?;
    Ok(page.map(|job| {
        let number = job.sale_id.and_then(|id| numbers.get(&id).cloned());
        PrintJob::new(&store, job, number)
    }))
}

/// The bytes of a paper that waits.
pub(super) async fn rendered(store: &Store, job: &print_job::Model, printer: &Printer) -> Result<Vec<u8>> {
    let shop = store.shop().await?;
    let own = shop.own()?;
    let opens_drawer = job.opens_drawer && store.clock.now().millis_since(job.created_at) <= DRAWER_MS;
    let Some(sale_id) = job.sale_id else { return report::rendered(job, own, printer, opens_drawer) };
    let snapshot = store.snapshot().await?;
    let rows = Rows::of(&snapshot, sale_id).await?;
    snapshot.commit().await?;
    let receipt = of_sale(&rows, own, &shop.tenders, Wanted::of(job));
    escpos(&receipt, printer, opens_drawer).map_err(Error::internal)
}

/// Which copy it becomes. What failed is none, unless another one came out meanwhile.
async fn copy_of(tx: &Tx, job: &print_job::Model) -> std::result::Result<i32, DbErr> {
    let Some(sale_id) = job.sale_id else { return Ok(job.copy) };
    let is_out = job.state != PrintState::Failed
        || (job.copy == 0 && print_jobs::is_there(tx, sale_id, kind(&job.kind)).await?);
    if is_out { print_jobs::count_copy(tx, sale_id).await } else { Ok(job.copy) }
}

fn require_printer(shop: &Shop, register_id: Uuid) -> Result<()> {
    if shop.register(register_id).and_then(Printer::of).is_some() {
        return Ok(());
    }
    let text = "this register has no printer; set one with PATCH /registers/{id}, or print where the page is looked at: browser";
    Err(Error::new(ErrorCode::PrinterUnknown, text).at("to"))
}

/// The numbers of these sales.
async fn numbers(
    conn: &impl ConnectionTrait,
    sales: impl IntoIterator<Item = Uuid>,
) -> std::result::Result<HashMap<Uuid, String>, DbErr> {
    let select = sale::Entity::find().filter(sale::Column::Id.is_in(sales));
    let select = select.select_only().columns([sale::Column::Id, sale::Column::ReceiptNumber]);
    Ok(select.into_tuple::<(Uuid, String)>().all(conn).await?.into_iter().collect())
}
