//! People: accounts, what they hold and where, how they sign in, what they did.

pub mod approval;
pub mod audit_head;
pub mod audit_log;
pub mod factor_challenge;
pub mod factor_use;
pub mod idempotency_claim;
pub mod idempotency_key;
pub mod kept_verifier;
pub mod known_place;
pub mod permission;
pub mod pin_attempt;
pub mod pin_attempt_under_way;
pub mod recovery_code;
pub mod role;
pub mod role_permission;
pub mod second_factor;
pub mod session;
pub mod store_lookup;
pub mod user;
pub mod user_pin;
pub mod user_store_role;
