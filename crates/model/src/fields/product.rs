//! Products. One row serves every store.

use super::{
    Book, Field, Initial, Rule, flag, flag_on, id, label, money, objects, quantity, shape, shaped, share, text, whole,
    word,
};

/// Barcodes besides the first, and tags, of one product at the most.
const MOST: usize = 50;

static BARCODE: Rule = Rule::Text { min: 1, max: 40, shape: Some(&shape::BARCODE) };
/// A code of several units at once, and what they cost together, if that is not what each of them costs.
static PACK: [Field; 3] =
    [shaped("code", 40, &shape::BARCODE).required(), whole("quantity", 1, 100_000).required(), money("price")];
static TAG: Rule = Rule::Text { min: 0, max: 50, shape: None };

pub static BOOK: Book = Book {
    table: "products",
    fields: &[
        label("sku", 40).required(),
        shaped("barcode", 40, &shape::BARCODE),
        Field::new("barcodes", Rule::Texts { most: MOST, each: &BARCODE }),
        objects("packs", (0, MOST), &PACK),
        shaped("plu", 5, &shape::PLU),
        label("name", 200).required(),
        text("shortName", 24),
        text("description", 4000),
        id("departmentId").required(),
        id("taxGroupId").required(),
        id("defaultSupplierId"),
        word("productType", &["standard", "service", "gift_card", "deposit"]).initially(Initial::Text("standard")),
        label("unitOfMeasure", 10).initially(Initial::Text("ea")),
        whole("quantityDecimals", 0, 3),
        flag("isWeighed"),
        money("price").required(),
        money("cost"),
        money("minPrice"),
        flag("isOpenPrice"),
        flag("namedAtTill"),
        id("chargeProductId"),
        flag_on("allowDiscount"),
        share("maxDiscountBps"),
        flag_on("isReturnable"),
        flag_on("trackStock"),
        whole("ageRestriction", 0, 120),
        quantity("reorderPoint"),
        quantity("reorderQuantity").not_in_use(),
        text("brand", 100),
        text("imageUrl", 500),
        Field::new("tags", Rule::Texts { most: MOST, each: &TAG }),
        flag_on("isActive"),
    ],
    server: &[
        "id",
        "created_at",
        "updated_at",
        "deleted_at",
        "sync_version",
        "sku_folded",
        "search_text",
        "picture_hash",
    ],
};
