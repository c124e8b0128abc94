//! Debian's `nats-server` for one test, in a directory and on a port of its own. Depends on nothing but std and tempfile.

use std::fs::{self, File};
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const MISSING: &str = "nats-server is not installed, and these tests need it: apt-get install nats-server";

pub struct NatsServer {
    pub port: u16,
    dir: TempDir,
    pub child: Option<Child>,
}

impl NatsServer {
    /// One that runs, with more in its configuration.
    ///
    /// # Panics
    /// When `nats-server` is not installed or does not start.
    pub fn start_with(more: &str) -> Self {
        let mut server = Self::stopped(more);
        server.start();
        server
    }

    /// One that does not run yet, on a port where no process listens.
    pub fn stopped(more: &str) -> Self {
        let dir = tempfile::Builder::new().prefix("tillkeep-nats-").tempdir().expect("a directory");
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr()).expect("a port");
        let store = dir.path().join("jetstream").display().to_string();
        let text = format!(
            "listen: \"127.0.0.1:{}\"\njetstream {{ store_dir: \"{store}\", max_mem: 64MB, max_file: 64MB }}\n{more}\n",
            free.port()
        );
        fs::write(dir.path().join("nats.conf"), text).expect("a configuration");
        Self { port: free.port(), dir, child: None }
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn url(&self) -> String {
        format!("nats://{}", self.address())
    }

    fn log_path(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    /// Starts it, or starts it again where it was.
    pub fn start(&mut self) {
        assert!(self.child.is_none(), "stop it first");
        let log = File::options().create(true).append(true).open(self.log_path()).expect("a log");
        let program = ["/usr/sbin/nats-server", "/usr/bin/nats-server"]
            .into_iter()
            .find(|path| fs::exists(path).is_ok_and(|there| there));
        let mut command = Command::new(program.unwrap_or("nats-server"));
        command.arg("-c").arg(self.dir.path().join("nats.conf"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.child = Some(command.spawn().unwrap_or_else(|error| panic!("{error}. {MISSING}")));
        let begun = Instant::now();
        while !self.answers() {
            let ended = self.child.as_mut().is_some_and(|child| child.try_wait().is_ok_and(|status| status.is_some()));
            let log = || fs::read_to_string(self.log_path()).unwrap_or_default();
            assert!(!ended && begun.elapsed() < Duration::from_secs(20), "nats-server does not start:\n{}", log());
            look_again_soon();
        }
    }

    /// Whether it greets who connects.
    fn answers(&self) -> bool {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let Ok(mut line) = TcpStream::connect_timeout(&address, Duration::from_secs(1)) else { return false };
        drop(line.set_read_timeout(Some(Duration::from_secs(1))));
        let mut greeting = [0; 4];
        line.read_exact(&mut greeting).is_ok() && &greeting == b"INFO"
    }

    /// Ends it as a crash would; its memory is gone.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

/// The pause between two looks at a process that does not say when it is ready.
#[expect(clippy::disallowed_methods, reason = "another process gives no sign that could be waited for")]
pub fn look_again_soon() {
    std::thread::sleep(Duration::from_millis(10));
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}
