//! The paper of a document that is printed without anybody asking: it waits from the commit of its document on.

use serde::Serialize;
use tillkeep_model::ids;
use tillkeep_model::words::{PaperKind, PrintState};
use tillkeep_storage::entity::{print_job, sale, sale_payment};
use tillkeep_storage::sea_orm::EntityTrait;
use utoipa::ToSchema;
use uuid::Uuid;

use super::settings::Printer;
use crate::Store;
use crate::act::{Acting, Stopped};
use crate::memory::Shop;
use crate::state::PrinterState;

/// So long a paper that ended is kept. The first one of an older sale counts as a copy: whether there was another is not known.
pub(crate) const KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// A paper that waits for its printer, in the answer of what it is of.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Print {
    /// Of its job: `POST /pos/prints/{id}/again`.
    id: Uuid,
    /// `waiting`, `printing`, `printed`, `unknown` or `failed`.
    state: String,
    /// How the printer was when it was asked last.
    printer: PrinterState,
}

/// Has the paper of `sale`, or of its voiding when it is voided, printed once the transaction is committed, where the register
/// prints by itself. For the end of every booking.
pub(crate) async fn queue(
    tx: &mut Acting<'_>,
    shop: &Shop,
    sale: &sale::Model,
    payments: &[sale_payment::Model],
) -> Result<(), Stopped> {
    let Some(printer) = automatic(shop, sale) else { return Ok(()) };
    let opens = |payment: &sale_payment::Model| {
        shop.tenders.iter().any(|tender| Some(tender.id) == payment.tender_id && tender.opens_drawer)
    };
    let now = tx.now();
    if sale.voided_at.is_some() {
        forget_first(tx, sale).await?;
    }
    let job = print_job::Model {
        id: automatic_id(sale),
        created_at: now,
        updated_at: now,
        register_id: sale.register_id,
        sale_id: Some(sale.id),
        kind: PaperKind::Sale.into(),
        state: PrintState::Waiting.into(),
        opens_drawer: printer.opens_drawer && payments.iter().any(opens),
        requested_by: sale.voided_by.or(Some(sale.cashier_user_id)),
        ..print_job::Model::default()
    };
    tx.insert(&job).await?;
    tx.prints();
    Ok(())
}

/// One paper says that a sale was voided: the one that it was to have before is not printed after that.
async fn forget_first(tx: &mut Acting<'_>, sale: &sale::Model) -> Result<(), Stopped> {
    let first = print_job::Entity::find_by_id(id_of(sale, "sale")).one(&**tx).await?;
    let Some(first) = first.filter(|job| job.state == PrintState::Waiting) else { return Ok(()) };
    let error = Some("the sale was voided before it was printed".to_owned());
    let first = print_job::Model { state: PrintState::Failed.into(), error, updated_at: tx.now(), ..first };
    Ok(tx.update(&first).await?)
}

/// The paper that went with `sale` without anybody asking, and how its printer is. It says nothing when it cannot be read: the
/// sale is booked.
pub(crate) async fn print_of(store: &Store, sale: &sale::Model) -> Option<Print> {
    let shop = store.shop().await.ok()?;
    automatic(&shop, sale)?;
    let read = print_job::Entity::find_by_id(automatic_id(sale)).one(store.reader()).await;
    let job = read.inspect_err(|error| tracing::warn!(%error, "the paper of a sale cannot be looked at")).ok()??;
    Some(Print { id: job.id, state: job.state, printer: store.printers.state(job.register_id) })
}

/// The printer of the register, when it prints by itself.
fn automatic(shop: &Shop, sale: &sale::Model) -> Option<Printer> {
    shop.register(sale.register_id).and_then(Printer::of).filter(|printer| printer.automatic)
}

/// A sale has one, and its voiding another.
fn automatic_id(sale: &sale::Model) -> Uuid {
    id_of(sale, if sale.voided_at.is_some() { "void" } else { "sale" })
}

fn id_of(sale: &sale::Model, paper: &str) -> Uuid {
    ids::beside(sale.id, ids::named(&format!("print:{paper}:{}", sale.id)))
}
