//! `GET /pos/sales/{id}/receipt`: a paper in the form that is asked for. It may be asked for again and again: nothing is counted.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tillkeep_http::documents::papers::Paper as Shown;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::{Caller, Id, Params};
use tillkeep_model::paper::{self, Receipt};
use tillkeep_model::permission::code::{PosRefund, PosSell};
use tillkeep_model::words::{PaperKind, SaleType};
use tillkeep_storage::entity::{print_job, register, sale};
use tillkeep_storage::sea_orm::{ConnectionTrait, EntityTrait};
use utoipa::ToSchema;
use uuid::Uuid;

use super::escpos::escpos;
use super::form::{Form, Paper};
use super::of_sale::{Wanted, kind_of, of_sale};
use super::rows::Rows;
use super::shop::buyer;
use crate::Store;
use crate::pos::opened;
use crate::printers::Printer;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PaperQuery)]
pub(super) struct Query {
    /// `json` when not said.
    format: Option<Form>,
    /// Of a text and for a printer 32, 42 or 48 letters (42 when not said); of a page 58 or 80 mm (80 when not said).
    width: Option<u32>,
    /// `sale` when not said.
    kind: Option<Kind>,
    /// A job of `POST /pos/sales/{id}/prints`: the paper that it is, marked where it is a copy. In place of `kind`.
    print: Option<Uuid>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = PaperKind)]
enum Kind {
    #[default]
    Sale,
    Copy,
    Gift,
    Invoice,
}

impl From<Kind> for PaperKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Sale => Self::Sale,
            Kind::Copy => Self::Copy,
            Kind::Gift => Self::Gift,
            Kind::Invoice => Self::Invoice,
        }
    }
}

pub(super) async fn show(
    caller: Caller<(PosSell, PosRefund)>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
    Params(query): Params<Query>,
) -> Result<Paper<Receipt>> {
    let form = query.format.unwrap_or_default();
    let width = form.width(query.width)?;
    let shop = store.shop().await?;
    let own = shop.own()?;
    let snapshot = caller.snapshot().await?;
    let rows = Rows::of(&snapshot, id).await?;
    let sale = &rows.document.sale;
    let printer = match form {
        Form::Escpos => register::Entity::find_by_id(sale.register_id).one(&snapshot).await?,
        Form::Json | Form::Text | Form::Html => None,
    };
    let wanted = wanted(&snapshot, &query, sale).await?;
    snapshot.commit().await?;
    let has_buyer = buyer(sale, rows.customer.as_ref(), own).is_some();
    check(wanted.kind, kind_of(sale), has_buyer)?;
    if wanted.kind != PaperKind::Gift {
        opened::count(&caller, &store, sale).await?;
    }
    let receipt = of_sale(&rows, own, &shop.tenders, wanted);
    Ok(match form {
        Form::Json => Paper::Shown(Shown::Json(Box::new(receipt))),
        Form::Text => Paper::Shown(Shown::Text(paper::text(&receipt, usize::try_from(width).unwrap_or_default()))),
        Form::Html => {
            let page = paper::html(&receipt, width.into());
            Paper::Shown(Shown::Page { page, style: paper::style(width.into()) })
        }
        Form::Escpos => {
            let printer = printer.as_ref().and_then(Printer::of).unwrap_or_default();
            let printer = Printer { width: query.width.unwrap_or(printer.width), ..printer };
            Paper::Bytes(escpos(&receipt, &printer, false).map_err(Error::internal)?)
        }
    })
}

/// The paper that is asked for: by its kind, or by the job that it was printed as.
async fn wanted(conn: &impl ConnectionTrait, query: &Query, sale: &sale::Model) -> Result<Wanted> {
    let Some(print) = query.print else {
        let kind = PaperKind::from(query.kind.unwrap_or_default());
        return Ok(Wanted { kind, copy: (kind == PaperKind::Copy).then_some(sale.reprint_count) });
    };
    if query.kind.is_some() {
        return Err(Error::field("kind", "goes without print, which is of a kind already; leave one of them out"));
    }
    let job = print_job::Entity::find_by_id(print).one(conn).await?;
    let job = job.filter(|job| job.sale_id == Some(sale.id)).ok_or_else(|| Error::not_found("paper"))?;
    Ok(Wanted::of(&job))
}

/// Refuses a paper that a document cannot have.
pub(super) fn check(kind: PaperKind, document: SaleType, has_buyer: bool) -> Result<()> {
    match (kind, document) {
        (PaperKind::Gift, SaleType::Refund | SaleType::Settlement) => {
            Err(Error::field("kind", "must not be gift: that is the paper of what was sold, with a code that finds it"))
        }
        (PaperKind::Invoice, SaleType::Settlement) => {
            Err(Error::field("kind", "must not be invoice: a payment on an account is no sale; take sale"))
        }
        (PaperKind::Invoice, _) if !has_buyer => {
            let text = "must not be invoice yet: nobody is named as its buyer; send POST /pos/sales/{id}/buyer first, or sell \
                        it to a customer";
            Err(Error::field("kind", text))
        }
        _ => Ok(()),
    }
}
