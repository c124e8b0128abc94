//! The notification queue: after a commit it takes jobs "type T (for store S) is at version V", and a worker tells the
//! sockets. No commit waits for it. Specification, sections 4.3 and 6; `docs/sync.md`, rule D10.
//!
//! Two backends: [`Local`] within this process, and [`Nats`], which also tells the other servers of headquarters.

mod broker;
mod jobs;
mod line;
mod local;
mod nats;
mod queue;
mod trouble;

use tillkeep_http::Clock;

pub use broker::{Broker, BrokerUrl};
pub(crate) use line::Standing;
use local::Local;
use nats::Nats;
pub use queue::NotificationQueue;
pub(crate) use queue::{Heard, is_for_every_store};

/// The queue of this server; `epoch` keeps the headquarters apart that share a broker.
pub(crate) async fn open(
    broker: Option<&Broker>,
    epoch: &str,
    clock: &Clock,
) -> std::io::Result<Box<dyn NotificationQueue>> {
    Ok(match broker {
        Some(broker) => Box::new(Nats::open(broker, epoch, clock).await?),
        None => Box::new(Local::new(clock)),
    })
}
