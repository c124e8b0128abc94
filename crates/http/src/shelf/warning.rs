//! What a till should say though nothing is wrong with the request.

use serde::Serialize;
use tillkeep_storage::entity::product;
use utoipa::ToSchema;
use uuid::Uuid;

/// Something that the cashier should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// `not_stocked_here` or `charge_not_sold`.
    code: &'static str,
    message: String,
    line_no: usize,
    product_id: Uuid,
}

impl Warning {
    /// Scanned, and not among what this store keeps.
    #[must_use]
    pub fn not_stocked_here(product: &product::Model, line_no: usize) -> Self {
        let message = format!("{} is not kept in this store", product.name);
        Self { code: "not_stocked_here", message, line_no, product_id: product.id }
    }

    /// What belongs to a product is not here, or no charge any more.
    #[must_use]
    pub fn charge_not_sold(product: &product::Model, line_no: usize) -> Self {
        let message = format!("what belongs to {} is not sold with it: its charge is not here", product.name);
        Self { code: "charge_not_sold", message, line_no, product_id: product.id }
    }
}
