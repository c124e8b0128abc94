//! Many products at headquarters, within seconds.

use std::path::Path;

use anyhow::Result;
use rusqlite::Connection;

use super::fill::{self, Copies};

/// As the first product that was made, with a name and codes of their own.
const PRODUCTS: Copies = Copies {
    table: "products",
    row: "sku = 'SKU-000000'",
    but: &[
        fill::ID,
        fill::VERSION,
        ("sku", "printf('MORE-%07d', n.i + (SELECT MAX(rowid) FROM {table}))"),
        ("sku_folded", "printf('more-%07d', n.i + (SELECT MAX(rowid) FROM {table}))"),
        ("barcode", "printf('29%011d', n.i + (SELECT MAX(rowid) FROM {table}))"),
        ("name", "printf('%s number %d', substr('AppleBreadChairDrinkEarthFruit', n.i % 6 * 5 + 1, 5), n.i)"),
        // As the server would write it.
        (
            "search_text",
            "lower(printf('MORE-%07d', n.i + (SELECT MAX(rowid) FROM {table})) || char(10) \
             || printf('%s number %d', substr('AppleBreadChairDrinkEarthFruit', n.i % 6 * 5 + 1, 5), n.i) || char(10) \
             || printf('29%011d', n.i + (SELECT MAX(rowid) FROM {table})) \
             || coalesce(char(10) || nullif(t.short_name, ''), '') || coalesce(char(10) || nullif(t.plu, ''), '') \
             || char(10) || t.barcodes)",
        ),
        ("price", "100 + n.i % 5000"),
    ],
};

/// Writes so many more into the database of a headquarters that is stopped; the version of the last one.
pub fn write(path: &Path, count: usize) -> Result<i64> {
    PRODUCTS.write(path, count)?;
    let codes = "INSERT INTO product_barcodes (code, normal, product_id) SELECT barcode, barcode, id FROM products \
                 WHERE barcode LIKE '29%' AND barcode NOT IN (SELECT code FROM product_barcodes)";
    Connection::open(path)?.execute(codes, [])?;
    fill::count_versions(path, PRODUCTS.table)
}
