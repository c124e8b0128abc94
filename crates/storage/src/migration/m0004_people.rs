//! What keeps accounts their owners': second factors, PINs that are worth nothing to a finder. `docs/security.md`.

use sea_orm::sea_query::{Alias, Expr, ExprTrait, Query, UpdateStatement};

use super::step::Change;
use super::table::{NewTable, On};

pub(super) const CHANGES: &[Change] = &[
    // PINs that were made for another user, by whom, and how long PINs are.
    Change::CreateTable(NewTable {
        name: "user_pins",
        on: On::Hq,
        columns: "user_id uuid!, made_at ts?, counts_for uuid?, digits small?",
        ..NewTable::EMPTY
    }),
    // When the second factor was shown last, or the PIN of whoever has none.
    Change::AddColumns("refresh_token_families", "factor_at ts?"),
    // Opened by a PIN without a name.
    Change::AddColumns("refresh_token_families", "by_pin_alone bool=false"),
    Change::CreateTable(NewTable {
        name: "second_factors",
        on: On::Hq,
        columns: "id uuid!, user_id uuid >users, kind text, name text, secret text, last_step big?, created_at ts, \
            last_used_at ts?",
        indexes: &["user_id"],
        ..NewTable::EMPTY
    }),
    Change::CreateTable(NewTable {
        name: "recovery_codes",
        on: On::Hq,
        columns: "id uuid!, user_id uuid >users, code_hash text, created_at ts, used_at ts?",
        indexes: &["user_id"],
        ..NewTable::EMPTY
    }),
    // What a user is asked for to show a second factor, or to set one up.
    Change::CreateTable(NewTable {
        name: "factor_challenges",
        on: On::Hq,
        columns: "id uuid!, user_id uuid >users, purpose text, session_id uuid?, state text, attempt text?, created_at ts, \
            expires_at ts",
        indexes: &["user_id", "expires_at"],
        ..NewTable::EMPTY
    }),
    // How many codes were used: a server that knows of more than its database is on one that was restored.
    Change::CreateTable(NewTable { name: "factor_uses", on: On::Hq, columns: "id text!, uses big", ..NewTable::EMPTY }),
    // A store asks headquarters of people of all stores, and keeps for some days what verifies them.
    Change::CreateTable(NewTable {
        name: "kept_verifiers",
        on: On::Store,
        columns: "user_id uuid!, pin_hash text, pin_lookup text, pin_changed_at ts?, updated_at ts, roles text, kept_at ts, expires_at ts",
        ..NewTable::EMPTY
    }),
    // Look-ups of one store are a slow hash each at headquarters.
    Change::CreateTable(NewTable {
        name: "store_lookups",
        on: On::Hq,
        columns: "store_id uuid!, user_id uuid!, source text, lookup text",
        ..NewTable::EMPTY
    }),
    // Whether a store asks headquarters who signs in (0 never, 1 since its last handshake, 2 once), whether its key is given
    // out and to tokens from which version on, and when a process of it that has a name was last heard.
    Change::AddColumns(
        "store_nodes",
        "sign_in int=0, pin_key_closed bool=false, pin_key_for int=0, pin_key_asked_at ts?, process_heard_at ts?",
    ),
    Change::FillAtHq("store_nodes", has_its_key),
    // Browsers and addresses from which a user signed in before: what strangers try does not make them wait.
    Change::CreateTable(NewTable {
        name: "known_places",
        on: On::Hq,
        columns: "id uuid!, user_id uuid, mark text, created_at ts, last_at ts",
        conflict_keys: &["user_id, mark"],
        indexes: &["mark"],
        ..NewTable::EMPTY
    }),
    // U16: how many customers each store makes in an hour.
    Change::CreateTable(NewTable {
        name: "new_customers",
        on: On::Hq,
        columns: "store_id uuid!, hour ts, made big, beyond_since ts?, beyond_at ts?",
        ..NewTable::EMPTY
    }),
    // How many registers of a store have no enrolled till, by its own word.
    Change::AddColumns("store_nodes", "unenrolled big?"),
    // U9: what has come since is not unknown any more.
    Change::FillAtHq("sales", || known_now("sales", "unknown_session", LACKS_SESSION)),
    Change::FillAtHq("sales", || known_now("sales", "unknown_customer", LACKS_CUSTOMER)),
    Change::FillAtHq("sales", || known_now("sales", "unknown_product", LACKS_ITEM)),
    Change::FillAtHq("inventory_adjustments", || known_now("inventory_adjustments", "unknown_product", LACKS_PRODUCT)),
];

const LACKS_SESSION: &str = "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM register_sessions o \
    WHERE o.id = sales.register_session_id AND o.store_id = sales.store_id)";
const LACKS_CUSTOMER: &str = "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM customers o WHERE o.id = sales.customer_id)";
const LACKS_ITEM: &str = "SELECT 1 FROM sale_items l WHERE l.sale_id = sales.id \
    AND NOT EXISTS (SELECT 1 FROM products o WHERE o.id = l.product_id)";
const LACKS_PRODUCT: &str =
    "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM products o WHERE o.id = inventory_adjustments.product_id)";

/// Takes a flag off the documents that lack nothing any more.
fn known_now(table: &str, flag: &str, lacks: &str) -> UpdateStatement {
    let without = format!("REPLACE(REPLACE(REPLACE(flags, ',\"{flag}\"', ''), '\"{flag}\",', ''), '\"{flag}\"', '')");
    let mut update = Query::update();
    update
        .table(Alias::new(table))
        .value(Alias::new("flags"), Expr::cust(without))
        // By the index of what has flags.
        .and_where(Expr::cust("flags <> '[]'"))
        .and_where(Expr::cust(format!("flags LIKE '%\"{flag}\"%'")))
        .and_where(Expr::cust(format!("NOT EXISTS ({lacks})")));
    update
}

/// A store that has shaken hands has its key.
fn has_its_key() -> UpdateStatement {
    let mut update = Query::update();
    update
        .table(Alias::new("store_nodes"))
        .value(Alias::new("pin_key_closed"), true)
        .and_where(Expr::col(Alias::new("handshake_at")).is_not_null());
    update
}
