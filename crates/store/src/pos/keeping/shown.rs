//! A product as a till keeps it.

use serde::Serialize;
use tillkeep_model::{JsonText, Money};
use tillkeep_storage::entity::product::Model;
use utoipa::ToSchema;
use uuid::Uuid;

use super::super::catalog::{Here, shelf_price};

/// What a till needs to scan, show and reckon with; nothing of what a product costs this store. Specials are not in it: what is in
/// force changes by the clock, and the quote of the server has it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CatalogueProduct)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of a product")]
pub(super) struct Kept {
    id: Uuid,
    sku: String,
    name: String,
    short_name: Option<String>,
    barcode: Option<String>,
    /// Further codes.
    barcodes: JsonText,
    /// `[{code, quantity, price?}]`: codes of several units at once.
    packs: JsonText,
    plu: Option<String>,
    department_id: Uuid,
    tax_group_id: Uuid,
    product_type: String,
    unit_of_measure: String,
    quantity_decimals: i16,
    is_weighed: bool,
    is_open_price: bool,
    named_at_till: bool,
    /// Is sold with it, in the same quantity.
    charge_product_id: Option<Uuid>,
    allow_discount: bool,
    is_returnable: bool,
    age_restriction: Option<i16>,
    /// The price of the chain.
    price: Money,
    /// Of one unit in this store, specials apart.
    effective_price: Money,
    price_source: &'static str,
    /// What this store does not keep is sold all the same when it is scanned.
    is_stocked: bool,
    image_url: Option<String>,
    /// For `GET /pos/pictures/{hash}`.
    picture_hash: Option<String>,
}

impl Kept {
    pub(super) fn new(product: Model, here: Option<&Here>) -> Self {
        let (effective_price, source) = shelf_price(&product, here);
        Self {
            id: product.id,
            sku: product.sku,
            name: product.name,
            short_name: product.short_name,
            barcode: product.barcode,
            barcodes: product.barcodes,
            packs: product.packs,
            plu: product.plu,
            department_id: product.department_id,
            tax_group_id: product.tax_group_id,
            product_type: product.product_type,
            unit_of_measure: product.unit_of_measure,
            quantity_decimals: product.quantity_decimals,
            is_weighed: product.is_weighed,
            is_open_price: product.is_open_price,
            named_at_till: product.named_at_till,
            charge_product_id: product.charge_product_id,
            allow_discount: product.allow_discount,
            is_returnable: product.is_returnable,
            age_restriction: product.age_restriction,
            price: product.price,
            effective_price,
            price_source: source.as_str(),
            is_stocked: here.is_none_or(|here| here.is_stocked),
            image_url: product.image_url,
            picture_hash: product.picture_hash,
        }
    }
}
