//! What stores make, what that moves, and its numbers.

pub mod account_charge;
pub mod average_source;
pub mod cash_movement;
pub mod chain_entry;
pub mod chain_signature;
pub mod inventory_adjustment;
pub mod kept_id;
pub mod known_number;
pub mod lost_number;
pub mod number_series;
pub mod parked_cart;
pub mod print_job;
pub mod purchase_order;
pub mod purchase_order_item;
pub mod refund_claim;
pub mod register_session;
pub mod safe_movement;
pub mod sale;
pub mod sale_chain;
pub mod sale_item;
pub mod sale_payment;
pub mod stock_movement;
pub mod transfer;
pub mod transfer_item;
pub mod unapplied_document;
pub mod zz_report;
