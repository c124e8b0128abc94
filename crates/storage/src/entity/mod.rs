//! One file for each table. What travels between servers is declared in [`crate::registry`].

#![expect(clippy::struct_excessive_bools, reason = "a row has the flags its table has")]

pub mod account_charge;
pub mod approval;
pub mod audit_head;
pub mod audit_log;
pub mod average_source;
pub mod customer;
pub mod department;
pub mod device;
pub mod factor_challenge;
pub mod factor_use;
pub mod hq_node;
pub mod idempotency_claim;
pub mod idempotency_key;
pub mod inventory_adjustment;
pub mod kept_id;
pub mod kept_verifier;
pub mod known_number;
pub mod known_place;
pub mod lease;
pub mod lost_number;
#[cfg(feature = "next-release")]
pub mod loyalty_tier;
pub mod new_customers;
pub mod node_place;
pub mod number_series;
pub mod outbox;
pub mod outbox_sent;
pub mod permission;
pub mod pin_attempt;
pub mod pin_attempt_under_way;
pub mod product;
pub mod product_barcode;
pub mod product_special;
pub mod product_supplier;
pub mod purchase_order;
pub mod purchase_order_item;
pub mod recovery_code;
pub mod register;
pub mod register_session;
pub mod role;
pub mod role_permission;
pub mod sale;
pub mod sale_item;
pub mod sale_payment;
pub mod sales_rep;
pub mod second_factor;
pub mod sequence;
pub mod session;
pub mod staged_cursor;
pub mod staged_row;
pub mod stock_movement;
pub mod store;
pub mod store_lookup;
pub mod store_node;
pub mod store_product;
pub mod supplier;
pub mod sync_counter;
pub mod sync_log;
pub mod sync_log_kept;
pub mod sync_log_node;
pub mod sync_mark;
pub mod sync_state;
pub mod sync_status;
pub mod sync_tag;
pub mod tax_group;
pub mod tax_group_rate;
pub mod tax_rate;
pub mod tender;
pub mod transfer;
pub mod transfer_item;
pub mod unapplied_document;
pub mod unreadable_row;
pub mod user;
pub mod user_pin;
pub mod user_store_role;

/// Tables of which rows are kept in memory. Levels and prices of this store are not among them: each sale reads those.
pub const KEPT_IN_MEMORY: &[&str] = &[
    "stores",
    "tax_rates",
    "tax_groups",
    "tax_group_rates",
    "tenders",
    "products",
    "product_barcodes",
    "product_specials",
    "sales_reps",
    "registers",
    "register_sessions",
];
