//! A `PostgreSQL` that loses its last moments, as one does with a standby that takes over before it has everything.

use crate::kit::Process;
use crate::own_postgres::Server;
use crate::standby::Standby;

pub struct LossyDatabase {
    server: Server,
    standby: Option<Standby>,
}

impl LossyDatabase {
    pub fn new() -> Self {
        Self { server: Server::new(), standby: None }
    }

    /// A durable one, so that nothing needs to be accepted.
    pub fn environment(&self) -> [(&str, &str); 2] {
        [("DATABASE_URL", self.server.url.as_str()), ("TILLKEEP_ACCEPT_UNSAFE_DATABASE", "")]
    }

    /// What comes from here on will be lost.
    #[expect(clippy::unused_async, reason = "the embedded database awaits its copy here")]
    pub async fn keep(&mut self, _: &Process) {
        let standby = Standby::new(&self.server);
        standby.fall_behind();
        self.standby = Some(standby);
    }

    /// The standby takes over; headquarters runs on, and finds out by itself.
    pub fn lose(&mut self, _: &mut Process) {
        self.standby.take().expect("kept before").take_over(&mut self.server);
    }

    /// The server breaks off and recovers, with all that it has committed.
    pub fn crash(&self) -> bool {
        self.server.crash();
        self.server.start();
        true
    }
}
