//! Debian's `haproxy` for one test, in a directory and on a port of its own: the balancer of `docs/operations.md`, word by word but for
//! its addresses.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{Read, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::nats_server::look_again_soon;

const MISSING: &str = "haproxy is not installed, and these tests need it: apt-get install haproxy";

/// What a test needs of any of them.
const GLOBAL: &str = "
global
    nbthread 1
    maxconn 4000
    hard-stop-after 60s
    stats socket DIR/control mode 600 level admin expose-fd listeners
";

/// In front of something else than servers of headquarters.
const PLAIN: &str = "
defaults
    timeout connect 1s
    timeout client 75s
    timeout server 75s
    timeout check 1s
    timeout tunnel 1h
    retries 3
    option redispatch 1
    default-server inter 200ms fall 1 rise 1
";

/// The page that tells operators how to set one up.
const PAGE: &str = include_str!("../../docs/operations.md");

/// What of the page is another one in a test: where it listens, and where its files are.
const ELSEWHERE: [(&str, &str); 2] =
    [("bind :443 ssl crt /etc/haproxy/hq.pem", "bind 127.0.0.1:PORT"), ("/etc/haproxy/away.http", "DIR/away.http")];

/// The configuration and the answer without a server that the page shows.
fn documented() -> (String, String) {
    let (_, section) = PAGE.split_once("\n## A balancer\n").expect("its section");
    let (section, _) = section.split_once("\n## ").expect("another section");
    let mut blocks = section.split("```\n").skip(1).step_by(2);
    let mut next = || blocks.next().expect("a block").to_owned();
    let (shown, away) = (next(), next());
    let lines = shown.lines().filter(|line| !line.trim_start().starts_with("server "));
    let mut rules = format!("{}\n", lines.collect::<Vec<_>>().join("\n"));
    for (there, here) in ELSEWHERE {
        assert!(rules.contains(there), "{there} is not in the page:\n{rules}");
        rules = rules.replace(there, here);
    }
    (rules, away)
}

/// For servers behind one: what comes through it is plain HTTP and says that it was forwarded, so that stores were handed no
/// PIN key otherwise.
pub const BEHIND: (&str, &str) = ("ALLOW_INSECURE_HQ", "1");

pub struct HaProxy {
    pub port: u16,
    dir: TempDir,
    child: Option<Child>,
    /// The configuration but for its servers, of which it has one line each at its end.
    rules: String,
    servers: Vec<String>,
}

impl HaProxy {
    /// A balancer before servers of headquarters, each `http://host:port`: web sockets too, health by the readiness of each.
    ///
    /// # Panics
    /// When `haproxy` is not installed or does not start.
    pub fn before(urls: &[&str]) -> Self {
        let (rules, away) = documented();
        Self::make(rules, Some(&away), urls)
    }

    /// As [`HaProxy::before`], with rules of another kind. `PORT` stands for the port.
    pub fn with_rules(rules: &str, servers: &[&str]) -> Self {
        Self::make(format!("{PLAIN}{rules}"), None, servers)
    }

    fn make(rules: String, away: Option<&str>, servers: &[&str]) -> Self {
        let dir = tempfile::Builder::new().prefix("tillkeep-haproxy-").tempdir().expect("a directory");
        if let Some(away) = away {
            fs::write(dir.path().join("away.http"), away).expect("an answer");
        }
        let mut balancer = Self { port: 0, dir, child: None, rules, servers: Vec::new() };
        balancer.name_servers(servers);
        // Between asking for a free port and using it another process may take it.
        for _ in 0..5 {
            let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr()).expect("a port");
            balancer.port = free.port();
            if balancer.try_start() {
                return balancer;
            }
        }
        panic!("haproxy does not start:\n{}", balancer.log());
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Other servers from now on; see [`HaProxy::reload`].
    pub fn set_servers(&mut self, servers: &[&str]) {
        self.name_servers(servers);
        self.reload();
    }

    /// Reads its configuration again, without a connection that is refused or cut: a new process takes over the listener, and
    /// the old one ends with its last connection. Waits until the new one serves.
    pub fn reload(&self) {
        self.write();
        let before = self.worker();
        self.signal("USR2");
        self.wait("serves after a reload", || self.worker().is_some_and(|now| Some(now) != before) && self.answers());
    }

    /// Ends it, with every connection.
    pub fn stop(&mut self) {
        if self.child.is_some() {
            self.signal("TERM");
            let mut child = self.child.take().expect("running");
            drop(child.wait());
        }
    }

    /// Starts it again where it was.
    pub fn start(&mut self) {
        assert!(self.child.is_none(), "stop it first");
        assert!(self.try_start(), "haproxy does not start again:\n{}", self.log());
    }

    /// The servers that it sends requests to now, by their health.
    pub fn up(&self) -> Vec<String> {
        let table = ask(&self.path("control"), "show stat -1 4 -1").unwrap_or_default();
        let is_up = |line: &&str| line.split(',').nth(17).is_some_and(|status| status.starts_with("UP"));
        let number = |line: &str| line.split(',').nth(1)?.strip_prefix('s')?.parse::<usize>().ok();
        let up = table.lines().filter(is_up).filter_map(number);
        up.filter_map(|number| self.servers.get(number).cloned()).collect()
    }

    /// Waits until exactly these servers are sent requests.
    pub fn has_up(&self, servers: &[&str]) {
        let mut wanted: Vec<_> = servers.iter().map(|server| address(server)).collect();
        wanted.sort_unstable();
        self.wait(&format!("has {wanted:?} alone up"), || {
            let mut up = self.up();
            up.sort_unstable();
            up == wanted
        });
    }

    /// What it logged: starts, ends, and health.
    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    fn name_servers(&mut self, servers: &[&str]) {
        self.servers = servers.iter().map(|server| address(server)).collect();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self) {
        let mut text = format!("{GLOBAL}{}", self.rules);
        for (number, server) in self.servers.iter().enumerate() {
            writeln!(text, "    server s{number} {server} check").expect("a line");
        }
        let dir = self.dir.path().display().to_string();
        let text = text.replace("DIR", &dir).replace("PORT", &self.port.to_string());
        fs::write(self.path("haproxy.cfg"), text).expect("a configuration");
    }

    fn try_start(&mut self) -> bool {
        self.write();
        let log = File::options().create(true).append(true).open(self.path("log")).expect("a log");
        let program =
            ["/usr/sbin/haproxy", "/usr/local/sbin/haproxy"].into_iter().find(|path| Path::new(path).exists());
        let mut command = Command::new(program.unwrap_or("haproxy"));
        // A master that starts workers, so that it can be reloaded.
        command.args(["-W", "-db", "-f"]).arg(self.path("haproxy.cfg")).arg("-S").arg(self.path("master"));
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log);
        self.child = Some(command.spawn().unwrap_or_else(|error| panic!("{error}. {MISSING}")));
        let begun = Instant::now();
        while !self.answers() {
            let ended = self.child.as_mut().is_some_and(|child| child.try_wait().is_ok_and(|status| status.is_some()));
            if ended || begun.elapsed() > Duration::from_secs(20) {
                self.stop();
                return false;
            }
            look_again_soon();
        }
        true
    }

    fn answers(&self) -> bool {
        ask(&self.path("control"), "show info").is_some_and(|said| said.contains("Pid:"))
    }

    /// The process that serves.
    fn worker(&self) -> Option<u32> {
        let said = ask(&self.path("master"), "show proc")?;
        let (_, workers) = said.split_once("# workers")?;
        workers.lines().nth(1)?.split_whitespace().next()?.parse().ok()
    }

    fn signal(&self, signal: &str) {
        let id = self.child.as_ref().expect("running").id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().expect("kill").success());
    }

    fn wait(&self, what: &str, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            let patient = begun.elapsed() < Duration::from_secs(30);
            assert!(patient, "waited in vain: haproxy {what}; it says {:?}:\n{}", self.up(), self.log());
            look_again_soon();
        }
    }
}

impl Drop for HaProxy {
    fn drop(&mut self) {
        self.stop();
    }
}

/// `host:port` of a server that may be given as an address of HTTP.
fn address(server: &str) -> String {
    server.trim_start_matches("http://").trim_end_matches('/').to_owned()
}

/// What it answers to a command on one of its sockets.
fn ask(socket: &Path, command: &str) -> Option<String> {
    let mut line = UnixStream::connect(socket).ok()?;
    line.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    line.write_all(format!("{command}\n").as_bytes()).ok()?;
    // The master answers one command after the other until nothing more can come.
    line.shutdown(Shutdown::Write).ok()?;
    let mut said = String::new();
    line.read_to_string(&mut said).ok()?;
    Some(said)
}
