//! `POST /pos/sales/{id}/buyer`: whom the invoice of a sale names, as it is typed in. Kept with the sale, and sent to headquarters.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::sent::Sent;
use tillkeep_http::{Answer, Body, Caller, Id, sent};
use tillkeep_model::fields::paper::BUYER;
use tillkeep_model::permission::code::PosSell;
use tillkeep_model::words::SaleType;
use tillkeep_model::{ErrorCode, JsonText};
use tillkeep_storage::entity::sale;

use super::rows::not_found;
use crate::Store;
use crate::act::{self, Log};
use crate::pos::opened;
use crate::pos::sale_document::SaleDocument;

sent! {
    pub(crate) struct Named as "SaleBuyer" by BUYER {
        name: String,
        /// As many lines as it has.
        address: Option<String>,
        tax_number: Option<String>,
    }
}

/// As it stands in `sales.buyer`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Typed {
    pub name: String,
    pub address: Option<String>,
    pub tax_number: Option<String>,
}

impl Typed {
    /// Of a sale, where somebody was typed in.
    pub(super) fn of(sale: &sale::Model) -> Option<Self> {
        Self::deserialize(&sale.buyer.as_ref()?.0).ok().filter(|typed| !typed.name.is_empty())
    }
}

pub(super) async fn name(
    caller: Caller<PosSell>,
    State(store): State<Arc<Store>>,
    Id(id): Id,
    Body(named): Body<Named>,
) -> Result<Answer<SaleDocument>> {
    named.check_fields(caller.now())?;
    let typed = Typed {
        name: named.name.trim().to_owned(),
        address: named.address.filter(|text| !text.trim().is_empty()),
        tax_number: named.tax_number.filter(|text| !text.trim().is_empty()),
    };
    let act = store.act(&caller, "sale.buyer").about("sales", &id);
    let work = act.run(move |tx| {
        Box::pin(async move {
            let mut document: SaleDocument = act::find(&**tx, id).await?.ok_or_else(not_found)?;
            if document.sale.sale_type == SaleType::Settlement {
                let text = "a payment on an account is no sale: it has no invoice, and no buyer to name";
                return Err(Error::new(ErrorCode::Validation, text).into());
            }
            let buyer = Some(JsonText::new(&typed));
            if document.sale.buyer == buyer {
                return Ok((document, Log::Unchanged));
            }
            (document.sale.buyer, document.sale.updated_at) = (buyer, tx.now());
            tx.update(&document).await?;
            // The log is kept for ever: it says of what, and not whom.
            let details = json!({"receiptNumber": document.sale.receipt_number});
            Ok((document, Log::Line(details)))
        })
    });
    let document = work.await?;
    // The answer is the whole sale, also to whoever names the same buyer once more.
    opened::count(&caller, &store, &document.sale).await?;
    Ok(Answer(document))
}
