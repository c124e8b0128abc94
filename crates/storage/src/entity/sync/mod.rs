//! What servers know of each other, and what is on its way between them.

pub mod alert;
pub mod alert_delivery;
pub mod alert_hook;
pub mod alert_hook_store;
pub mod hq_node;
pub mod lease;
pub mod node_place;
pub mod outbox;
pub mod outbox_sent;
pub mod sale_news;
pub mod sequence;
pub mod staged_cursor;
pub mod staged_row;
pub mod store_node;
pub mod sync_counter;
pub mod sync_log;
pub mod sync_log_kept;
pub mod sync_log_node;
pub mod sync_mark;
pub mod sync_state;
pub mod sync_status;
pub mod sync_tag;
pub mod unreadable_row;
