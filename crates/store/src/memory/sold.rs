//! Products as they were pulled, and what the codes mean that were looked up.

use tillkeep_model::{Money, Qty};
use tillkeep_storage::entity::product;
use uuid::Uuid;

/// A product as it was pulled.
#[derive(Debug)]
pub struct Sold {
    pub row: product::Model,
}

/// What answers to a code, and by which of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub product: Uuid,
    pub matched_by: &'static str,
    /// Of the code of a pack: how much is in it, and what that costs when it has a price of its own.
    pub pack: Option<(Qty, Option<Money>)>,
}

impl Sold {
    /// Bytes of memory, roughly.
    pub(super) fn weight(&self) -> u32 {
        let row = &self.row;
        let texts = [&row.sku, &row.sku_folded, &row.name, &row.product_type, &row.unit_of_measure];
        let further = [&row.barcode, &row.plu, &row.short_name, &row.description, &row.brand];
        let pictures = [&row.image_url, &row.picture_hash];
        let lists = [&row.barcodes, &row.tags].map(|list| list.0.as_array().map_or(0, |list| 64 * list.len()));
        let packs = row.packs.0.as_array().map_or(0, |packs| 400 * packs.len());
        let bytes = size_of::<Self>()
            + texts.iter().map(|text| text.len()).sum::<usize>()
            + further.iter().chain(&pictures).filter_map(|text| text.as_ref().map(String::len)).sum::<usize>()
            + lists.iter().sum::<usize>()
            + packs;
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }
}
