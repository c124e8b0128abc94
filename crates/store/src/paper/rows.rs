//! What a paper is made of, as it is stored: a few statements, however many lines a sale has.

use serde::Deserialize;
use tillkeep_http::error::{Error, Result};
use tillkeep_model::{ErrorCode, JsonText, Money, Ppm};
use tillkeep_storage::entity::{chain_signature, customer, sale, tax_rate};
use tillkeep_storage::sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use super::rounded::on_paper;
use crate::act;
use crate::pos::sale_document::{SaleDocument, refund_rows};

/// A document with what its papers say of other rows.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub document: SaleDocument,
    /// Of an exchange.
    pub other_half: Option<sale::Model>,
    /// What gave some of it back, oldest first.
    pub refunds: Vec<sale::Model>,
    pub customer: Option<customer::Model>,
    pub tax_rates: Vec<tax_rate::Model>,
    pub signature: Option<chain_signature::Model>,
}

/// One of `sales.tax_lines` or of `sale_items.tax_details`, which have no name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct TaxOf {
    pub tax_rate_id: Uuid,
    pub name: String,
    pub code: String,
    pub rate_ppm: Ppm,
    pub base_amount: Money,
    pub tax_amount: Money,
}

/// What a column says as a list; nothing of what another program wrote in another way.
pub(super) fn list<T: for<'de> Deserialize<'de>>(column: &JsonText) -> Vec<T> {
    let entries = column.0.as_array().map(Vec::as_slice).unwrap_or_default();
    entries.iter().filter_map(|entry| T::deserialize(entry).ok()).collect()
}

impl Rows {
    /// Of the document `id`, or 404.
    pub(crate) async fn of(conn: &impl ConnectionTrait, id: Uuid) -> Result<Self> {
        let document = act::find::<SaleDocument>(conn, id).await?.ok_or_else(not_found)?;
        let sale = &document.sale;
        let other_half = match sale.exchange_group_id {
            Some(group) => {
                let of_group = sale::Entity::find().filter(sale::Column::ExchangeGroupId.eq(group));
                of_group.filter(sale::Column::Id.ne(id)).one(conn).await?
            }
            None => None,
        };
        let refunds = refund_rows(conn, id).await?;
        let customer = match sale.customer_id {
            Some(id) => customer::Entity::find_by_id(id).one(conn).await?,
            None => None,
        };
        let rates = list::<TaxOf>(&sale.tax_lines).into_iter().map(|tax| tax.tax_rate_id).collect::<Vec<_>>();
        let tax_rates = tax_rate::Entity::find().filter(tax_rate::Column::Id.is_in(rates)).all(conn).await?;
        // That of the document itself comes first, before that of its void.
        let signature = match document.entries.first() {
            Some(entry) => chain_signature::Entity::find_by_id(entry.id).one(conn).await?,
            None => None,
        };
        Ok(Self { document: on_paper(document), other_half, refunds, customer, tax_rates, signature })
    }
}

pub(super) fn not_found() -> Error {
    Error::new(ErrorCode::SaleNotFound, "this store has no such sale")
}
