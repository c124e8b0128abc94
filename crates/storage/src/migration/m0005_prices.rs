//! What prices, discounts and reasons of 0.2.0 are kept in. `docs/domain.md` has the rules.

use sea_orm::sea_query::{Alias, Expr, Query};

use super::step::Change;
use super::table::{Key, NewTable, On};

pub(super) const CHANGES: &[Change] = &[
    Change::AddColumns("stores", "max_open_price money?, reasons_required bool=false"),
    // Ten thousand units of the currency of each store, and no typed code for a price.
    Change::Fill("stores", || {
        let most = "10000 * CASE currency_exponent WHEN 0 THEN 1 WHEN 1 THEN 10 WHEN 2 THEN 100 WHEN 3 THEN 1000 \
            ELSE 10000 END";
        Query::update().table(Alias::new("stores")).value(Alias::new("max_open_price"), Expr::cust(most)).to_owned()
    }),
    Change::AddColumns("products", "packs json=[], named_at_till bool=false, charge_product_id uuid? >products"),
    // Whose charge a product is.
    Change::AddIndex("products", Key::Lists("charge_product_id WHERE charge_product_id IS NOT NULL")),
    Change::AddColumns("sales", "cart_discount_reason_code text?"),
    Change::AddColumns(
        "sale_items",
        "scanned_code text?, note text?, serial text?, override_reason_code text?, discount_reason_code text?, \
            charge_of uuid?",
    ),
    Change::CreateTable(NewTable {
        name: "reasons",
        on: On::Both,
        columns: "id uuid!, created_at ts, updated_at ts, deleted_at ts?, sync_version big, code text, name text, \
            kind text, needs_note bool, sort_order int, is_active bool",
        natural_keys: &["kind, code"],
        ..NewTable::EMPTY
    }),
    Change::DropIndexAtStores("reasons", "sync_version"),
];
