//! What a running headquarters has in memory and shares among its requests: databases, heads and pages, sockets and what is heard
//! over them, turns and queues, the other servers. Nothing here knows the server: it is made of this.

pub(crate) mod alerting;
pub(crate) mod board;
pub(crate) mod copies;
mod database_run;
pub(crate) mod databases;
pub(crate) mod followed;
pub(crate) mod heads;
mod hub;
pub(crate) mod newest_backup;
pub(crate) mod nodes;
pub(crate) mod overview;
pub(crate) mod pages;
pub(crate) mod process;
mod pull_progress;
pub(crate) mod queue;
pub(crate) mod rank;
pub(crate) mod ranking;
mod spread;
mod store_cache;
pub(crate) mod store_metrics;
pub(crate) mod store_state;
mod stores_to_notify;
pub(crate) mod streams;
mod times;
mod totals;
pub(crate) mod tracker;
mod turns;
pub(crate) mod unreadable;
mod unwritten;
pub(crate) mod waiting;

pub use database_run::DatabaseRun;
pub use databases::Databases;
pub use heads::Heads;
pub use hub::{Connection, Hub, Next};
pub use nodes::{Nodes, is_off};
pub use pages::Pages;
pub use queue::PushQueue;
pub use store_cache::StoreCache;
pub use stores_to_notify::StoresToNotify;
pub use streams::Streams;
pub use times::Times;
pub use totals::Totals;
pub use tracker::Tracker;
pub use turns::Turns;
pub use unreadable::Unreadable;
