//! What money given back, papers and the chain of documents are kept in. `docs/domain.md` has the rules.

use sea_orm::sea_query::{Alias, Expr, Query, UpdateStatement};

use super::step::Change;
use super::table::{Key, NewTable, On};

const ORIGINAL: &str = "original_sale_id WHERE original_sale_id IS NOT NULL";

/// The sales that refunds name.
const NAMED: &str =
    "SELECT r.original_sale_id FROM sales r WHERE r.sale_type = 'refund' AND r.original_sale_id IS NOT NULL";
/// Of a refund `r`: it gives something back.
const COUNTS: &str = "r.sale_type = 'refund' AND r.status <> 'voided'";

pub(super) const CHANGES: &[Change] = &[
    Change::AddColumns("sales", "void_reason_code text?, prepaid bool=false, buyer json?"),
    Change::AddColumns("sale_items", "return_reason_code text?"),
    // A store finds the refunds of a sale too.
    Change::DropIndex("sales", Key::Lists(ORIGINAL)),
    Change::AddIndex("sales", Key::Plain(ORIGINAL)),
    Change::AddIndex("sales", Key::Plain("exchange_group_id WHERE exchange_group_id IS NOT NULL")),
    Change::AddColumns("registers", "printer json?"),
    Change::CreateTable(NewTable {
        name: "chain_entries",
        on: On::Both,
        columns: "id uuid!, sale_id uuid >>sales, store_id uuid, line_no int, chain_id uuid, register_code text, \
            number big, kind text, version int, at ts, previous_hash text, follows text?, hash text, running_total money",
        indexes: &["chain_id, number", "sale_id"],
        ..NewTable::EMPTY
    }),
    // The newest entry of each chain.
    Change::CreateTable(NewTable {
        name: "sale_chains",
        on: On::Both,
        columns: "chain_id uuid!, store_id uuid, register_code text, number big, hash text, running_total money, \
            follows text?, updated_at ts",
        indexes: &["store_id, register_code"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "chain_signatures",
        on: On::Store,
        columns: "entry_id uuid!, created_at ts, state text, signer text?, signature text?, error text?, \
            signed_at ts?, attempts int",
        indexes: &["state, created_at"],
        ..NewTable::EMPTY
    }),
    // What is about to be given back, until its document comes: under the id of that.
    Change::CreateTable(NewTable {
        name: "refund_claims",
        on: On::Hq,
        columns: "id uuid!, sale_id uuid, store_id uuid, created_at ts, lines json",
        indexes: &["sale_id", "created_at", "store_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "print_jobs",
        on: On::Store,
        columns: "id uuid!, created_at ts, updated_at ts, register_id uuid, sale_id uuid?, kind text, copy int, \
            state text, attempts int, opens_drawer bool, error text?, requested_by uuid?",
        indexes: &["register_id, state, created_at", "sale_id", "created_at"],
        ..NewTable::EMPTY
    }),
    // U17: what was given back follows from the refunds that came before this step too. In this order.
    Change::FillAtHq("sale_items", || {
        let back = format!(
            "SELECT CAST(-SUM(l.quantity) AS BIGINT) FROM sale_items l JOIN sales r ON r.id = l.sale_id \
             WHERE l.original_sale_item_id = sale_items.id AND r.original_sale_id = sale_items.sale_id AND {COUNTS} \
             AND {}",
            is_small("l.quantity")
        );
        reckoned("sale_items", "sale_id", "refunded_quantity", format!("COALESCE(({back}), 0)"))
    }),
    Change::FillAtHq("sales", || {
        let back = format!(
            "SELECT CAST(-SUM(r.total_amount) AS BIGINT) FROM sales r WHERE r.original_sale_id = sales.id AND {COUNTS} \
             AND {}",
            is_small("r.total_amount")
        );
        reckoned("sales", "id", "refunded_amount", format!("COALESCE(({back}), 0)"))
    }),
    Change::FillAtHq("sales", || {
        let status = format!(
            "CASE WHEN NOT {} THEN 'completed' WHEN EXISTS (SELECT 1 FROM sale_items i WHERE i.sale_id = sales.id \
             AND i.refunded_quantity < i.quantity) THEN 'partially_refunded' ELSE 'refunded' END",
            is_given_back()
        );
        reckoned("sales", "id", "status", status)
            .and_where(Expr::cust("status IN ('completed', 'partially_refunded', 'refunded')"))
            .to_owned()
    }),
    Change::FillAtHq("sales", || {
        let flags =
            "CASE WHEN flags = '[]' THEN '[\"over_refunded\"]' ELSE '[\"over_refunded\",' || SUBSTR(flags, 2) END";
        let above = format!(
            "(EXISTS (SELECT 1 FROM sale_items i WHERE i.sale_id = sales.id AND i.refunded_quantity > 0 \
             AND i.refunded_quantity > i.quantity) OR (status = 'voided' AND {}))",
            is_given_back()
        );
        reckoned("sales", "id", "flags", flags.to_owned())
            .and_where(Expr::cust("flags NOT LIKE '%\"over_refunded\"%'"))
            .and_where(Expr::cust(above))
            .to_owned()
    }),
    // A store upgraded before its headquarters had payments of what is owed flagged as sales that lack their lines.
    Change::FillAtHq("sales", || {
        let without = "REPLACE(REPLACE(REPLACE(flags, '\"no_lines\",', ''), ',\"no_lines\"', ''), '\"no_lines\"', '')";
        Query::update()
            .table(Alias::new("sales"))
            .value(Alias::new("flags"), Expr::cust(without))
            .and_where(Expr::cust("sale_type = 'settlement' AND flags LIKE '%\"no_lines\"%'"))
            .to_owned()
    }),
];

/// Sets `column` of what refunds name, by `key`.
fn reckoned(table: &'static str, key: &str, column: &'static str, value: String) -> UpdateStatement {
    let mut update = Query::update();
    update
        .table(Alias::new(table))
        .value(Alias::new(column), Expr::cust(value))
        .and_where(Expr::cust(format!("{key} IN ({NAMED})")));
    update
}

/// Of a row of `sales`: something of it was given back.
fn is_given_back() -> String {
    format!("EXISTS (SELECT 1 FROM sales r WHERE r.original_sale_id = sales.id AND {COUNTS})")
}

/// No sum of what is stored may keep a server from starting.
fn is_small(column: &str) -> String {
    format!("{column} BETWEEN -1000000000000000 AND 1000000000000000")
}
