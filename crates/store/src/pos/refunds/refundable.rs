//! `GET /pos/sales/{id}/refundable`: what of a sale may still come back, before anybody promises it.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use tillkeep_http::error::Result;
use tillkeep_http::extract::Params;
use tillkeep_http::{Answer, Caller, Id};
use tillkeep_model::{Money, Qty};
use tillkeep_storage::entity::sale_item;
use utoipa::ToSchema;
use uuid::Uuid;

use super::lines::worth;
use super::linked::{AnyOf, products};
use super::needs::window_ends;
use super::original::{Here, Original};
use super::payments::{PaidBy, RefundableTender, paid_by};
use super::shown::RefundWarning;
use crate::Store;
use crate::pos::opened;
use crate::pos::sale_document::SaleDocument;

/// What a till knows of the sale that it asks about.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RefundableQuestion {
    /// Of a sale of another store: headquarters finds it by that as well.
    receipt_number: Option<String>,
}

/// What of a sale may still be given back.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names on the wire")]
pub(crate) struct Refundable {
    sale: SaleDocument,
    lines: Vec<RefundableLine>,
    tenders: Vec<RefundableTender>,
    /// Of all lines together.
    refundable_amount: Money,
    /// The last business date of it; nothing where there is no end.
    window_ends_at: Option<String>,
    /// Whether headquarters said what was given back elsewhere.
    checked_at_hq: bool,
    warnings: Vec<RefundWarning>,
}

/// What of a line may still be given back.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RefundableLine {
    sale_item_id: Uuid,
    line_no: i32,
    product_name: String,
    sold_quantity: Qty,
    refunded_quantity: Qty,
    refundable_quantity: Qty,
    /// What the next unit comes to; of less than one what is left.
    unit_refund: Money,
    refundable_amount: Money,
    /// False for what comes back with an approval only.
    is_returnable: bool,
}

pub(crate) async fn refundable(
    caller: Caller<AnyOf>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
    Params(asked): Params<RefundableQuestion>,
) -> Result<Answer<Refundable>> {
    let shop = store.shop().await?;
    let own = shop.own()?;
    let snapshot = caller.snapshot().await?;
    let here = Here::read(&snapshot, id).await?;
    snapshot.commit().await?;
    let original = Original::find(&store, here, id, asked.receipt_number.as_deref()).await?;
    original.refuse_other()?;
    opened::count(&caller, &store, &original.document.sale).await?;
    let products = products(&store, &original).await?;
    let line = |item: &sale_item::Model| {
        let is_returnable = products.get(&item.product_id).is_none_or(|sold| sold.row.is_returnable);
        RefundableLine::new(&original, item, is_returnable)
    };
    let lines: Vec<RefundableLine> = original.document.items.iter().map(line).collect();
    Ok(Answer(Refundable {
        refundable_amount: lines.iter().map(|line| line.refundable_amount).sum(),
        lines,
        tenders: paid_by(&shop, &original).into_iter().map(PaidBy::shown).collect(),
        window_ends_at: window_ends(own, &original),
        checked_at_hq: original.checked_at_hq,
        warnings: RefundWarning::of(&original),
        sale: original.document,
    }))
}

impl RefundableLine {
    fn new(original: &Original, item: &sale_item::Model, is_returnable: bool) -> Self {
        let (done, left) = (original.done(item), original.left(item));
        Self {
            sale_item_id: item.id,
            line_no: item.line_no,
            product_name: item.product_name.clone(),
            sold_quantity: item.quantity,
            refunded_quantity: done,
            refundable_quantity: left,
            unit_refund: worth(item, done, left.min(Qty::ONE)),
            refundable_amount: worth(item, done, left),
            is_returnable,
        }
    }
}
