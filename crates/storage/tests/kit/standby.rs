//! A standby of a [`Server`], and what it does to headquarters when it has to take over before it has everything.

use std::path::PathBuf;
use std::process::Command;

use super::own_postgres::Server;
use super::private_postgres::{OWNER, Run, as_user, client, pg_ctl, place, programs, start, start_anywhere, watch};

/// A server that follows another one.
pub struct Standby {
    directory: PathBuf,
    pub port: u16,
}

impl Standby {
    /// With everything that `server` has; it follows until [`Standby::fall_behind`].
    pub fn new(server: &Server) -> Self {
        let directory = place();
        as_user(&programs().join("pg_basebackup"))
            .args(["-h", "127.0.0.1", "-p", &server.port.to_string(), "-U", OWNER, "-w", "-R", "--no-sync"])
            .args(["-c", "fast", "-D"])
            .arg(directory.path().join("data"))
            .run();
        let (directory, port) = start_anywhere(directory, "");
        watch(&directory, &directory.join("running"));
        Self { directory, port }
    }

    /// Where it is read from while it follows.
    pub fn url(&self) -> String {
        format!("postgres://{OWNER}@127.0.0.1:{}/{OWNER}", self.port)
    }

    /// Ends it as a crash would.
    pub fn crash(&self) {
        end(pg_ctl(&self.data()).args(["-m", "immediate", "stop"]), "the standby does not stop");
    }

    /// Starts it again where it was.
    pub fn start(&self) {
        assert!(start(&self.directory, self.port, ""), "the standby does not start again");
    }

    /// Makes it the primary, under its own address.
    pub fn promote(&self) {
        end(pg_ctl(&self.data()).args(["-w", "promote"]), "the standby is not promoted");
    }

    /// From here on it gets nothing more, as behind a line that is slow or broken.
    pub fn fall_behind(&self) {
        for sql in ["ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()"] {
            client("psql", self.port).args(["-d", OWNER, "-q", "-c", sql]).run();
        }
    }

    /// `server` is lost, and this one is promoted in its place, under its address: what it had not got is gone.
    pub fn take_over(self, server: &mut Server) {
        server.crash();
        end(pg_ctl(&self.data()).args(["-m", "fast", "stop"]), "the standby does not stop");
        assert!(
            start(&self.directory, server.port, ""),
            "the standby does not start under the address of the lost server"
        );
        self.promote();
        server.directory.clone_from(&self.directory);
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }
}

fn end(command: &mut Command, otherwise: &str) {
    assert!(command.status().is_ok_and(|status| status.success()), "{otherwise}");
}
