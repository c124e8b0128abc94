//! What a drawer and its day are kept in: money in and out, parked carts, reports over reports, the safe. `docs/domain.md` has
//! the rules.

use sea_orm::sea_query::{Alias, Expr, Query};

use super::step::Change;
use super::table::{Key, NewTable, On};

/// Letters of a receipt number at the most.
const OF_A_NUMBER: u32 = 50;

pub(super) const CHANGES: &[Change] = &[
    Change::AddColumns(
        "register_sessions",
        "owner_id uuid?, owners json=[], earlier_counts json=[], close_reason_code text?, safe_movements json=[], \
            store_zz_number int?",
    ),
    Change::AddColumns("sales", "removed json?"),
    Change::AddColumns("print_jobs", "content json?"),
    Change::CreateTable(NewTable {
        name: "cash_movements",
        on: On::Store,
        columns: "id uuid!, created_at ts, session_id uuid, register_id uuid, business_date text, kind text, amount money, \
            reason text, reason_code text?, user_id uuid, approver_id uuid?, at ts",
        indexes: &["session_id, at", "kind"],
        append_only: true,
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "parked_carts",
        on: On::Store,
        columns: "id uuid!, created_at ts, updated_at ts, terminal_id text, session_id uuid?, business_date text, \
            cashier_user_id uuid, label text?, customer_id uuid?, cart json, priced json, item_count int, \
            total_at_park money, state text, parked_at ts, resumed_at ts?, resumed_by uuid?, resumed_at_terminal text?, \
            sale_id uuid?, abandoned_at ts?, abandoned_by uuid?, abandon_reason text?, abandon_reason_code text?, \
            removed json?, earlier json=[]",
        indexes: &["state, terminal_id", "session_id, state", "sale_id WHERE sale_id IS NOT NULL", "created_at"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "zz_reports",
        on: On::Store,
        columns: "id uuid!, created_at ts, register_id uuid?, register_code text?, zz_number int, from_session_number int?, \
            to_session_number int?, from_date text, to_date text, totals json, created_by uuid",
        indexes: &["register_code, zz_number", "created_at"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "safe_movements",
        on: On::Store,
        columns: "id uuid!, created_at ts, kind text, amount money, slip_number text?, reason text?, reason_code text?, \
            user_id uuid, approver_id uuid?, at ts, business_date text, session_id uuid?, counted_session_id uuid?, \
            new_balance money?",
        indexes: &["at", "session_id", "counted_session_id WHERE counted_session_id IS NOT NULL"],
        append_only: true,
        ..NewTable::EMPTY
    }),
    // A report over reports finds the drawers that it takes, and those that it took.
    Change::AddIndex("register_sessions", Key::Plain("zz_number WHERE zz_number IS NOT NULL")),
    Change::AddIndex("register_sessions", Key::Plain("store_zz_number WHERE store_zz_number IS NOT NULL")),
    // Which drawer or which ZZ a paper was asked of: the same id with another one is another request.
    Change::AddColumns("print_jobs", "of_id uuid?"),
    // Headquarters finds a receipt by the end of its number, in any case: the number in small letters, the last one first.
    Change::AddColumns("sales", "receipt_end text?"),
    Change::FillAtHq("sales", || {
        let letter = |place: u32| format!("SUBSTR(receipt_number, {place}, 1)");
        let backwards: Vec<String> = (1..=OF_A_NUMBER).rev().map(letter).collect();
        Query::update()
            .table(Alias::new("sales"))
            .value(Alias::new("receipt_end"), Expr::cust(format!("LOWER({})", backwards.join(" || "))))
            .to_owned()
    }),
    Change::AddIndex("sales", Key::Lists("receipt_end, store_id")),
    // Pictures of products: the hash travels with the product, the picture itself is fetched by the stores whose tills ask for it.
    Change::AddColumns("products", "picture_hash text?"),
    Change::AddIndex("products", Key::Plain("picture_hash WHERE picture_hash IS NOT NULL")),
    Change::CreateTable(NewTable {
        name: "product_pictures",
        columns: "hash text!, size int!, content text, created_at ts, unused_since ts?",
        indexes: &["created_at"],
        ..NewTable::EMPTY
    }),
    Change::AddIndex("product_pictures", Key::Lists("unused_since WHERE unused_since IS NOT NULL")),
];
