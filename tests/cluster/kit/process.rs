//! A server as a process of its own.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use tillkeep_storage::Db;

use super::secrets;

/// The signal of a program that ends itself at a place where a test has it die.
const ABORTED: i32 = 6;

pub struct Process {
    child: Option<Child>,
    program: Program,
    command: &'static str,
    pub dir: PathBuf,
    environment: Vec<(String, String)>,
    pub url: String,
    /// How it ended when it did not come to listen.
    ended: Option<ExitStatus>,
}

/// Which release a server is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    This,
    /// The newer release of the tests, built with the feature `next-release`.
    Next,
}

impl Program {
    pub fn path(self) -> PathBuf {
        match self {
            Self::This => env!("CARGO_BIN_EXE_tillkeep").into(),
            Self::Next => std::env::var_os("TILLKEEP_NEXT").map(PathBuf::from).filter(|path| path.exists()).expect(
                "TILLKEEP_NEXT does not say where the newer release of the tests is. `make next` builds it and prints its \
                 place; `make test` does so by itself",
            ),
        }
    }
}

impl Process {
    /// Starts `tillkeep COMMAND` in `dir` on a free port.
    pub fn start(command: &'static str, dir: &Path, environment: &[(&str, &str)]) -> Self {
        let mut process = Self::prepared(command, dir, environment);
        process.start_prepared();
        process
    }

    /// Starts what was prepared.
    pub fn start_prepared(&mut self) {
        self.launch("127.0.0.1:0");
    }

    /// As [`Process::start`], without starting it.
    pub fn prepared(command: &'static str, dir: &Path, environment: &[(&str, &str)]) -> Self {
        fs::create_dir_all(dir).expect("data directory");
        let mut process = Self {
            child: None,
            program: Program::This,
            command,
            dir: dir.to_owned(),
            environment: Vec::new(),
            url: String::new(),
            ended: None,
        };
        // Those that leave other servers behind say for how long.
        for (key, value) in [("LEAVE_SECONDS", "0")].iter().chain(environment) {
            process.set_environment(key, value);
        }
        process
    }

    /// Starts what was prepared and does not wait until it listens.
    pub fn begin_to_start(&mut self) {
        let log = File::options().create(true).append(true).open(self.log_path()).expect("log");
        let mut command = self.command("127.0.0.1:0");
        self.child = Some(command.stdout(Stdio::null()).stderr(log).spawn().expect("the server starts"));
    }

    /// What a server says that ends at once with this environment.
    pub fn that_fails(command: &'static str, dir: &Path, environment: &[(&str, &str)]) -> String {
        Self::prepared(command, dir, environment).refuses_to_start()
    }

    fn note_secrets(&self) {
        for (key, value) in
            self.environment.iter().filter(|(key, _)| ["SYNC_TOKEN", "ADMIN_PIN"].contains(&key.as_str()))
        {
            secrets::note(key, value);
        }
    }

    fn command(&self, listen: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        // Who writes past a limit on the size of files gets an error instead of being ended: see `limit_files`.
        command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]).arg(self.program.path());
        command.args([self.command, "--listen", listen, "--data-dir"]).arg(&self.dir).env_clear();
        command
            .env("RUST_LOG", "info")
            .envs(self.environment.iter().map(|(key, value)| (key.as_str(), value.as_str())));
        command.stdin(Stdio::null());
        command
    }

    /// What a server says that must not start.
    pub fn refuses_to_start(&self) -> String {
        let mut command = self.command("127.0.0.1:0");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        let mut lines = BufReader::new(child.stdout.take().expect("output")).lines().map_while(Result::ok);
        if lines.any(|line| line.starts_with("listening on ")) {
            child.kill().expect("kill");
        }
        let output = child.wait_with_output().expect("wait");
        assert!(output.status.code().is_some_and(|code| code != 0), "it should have refused");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// Of which release it is from the next start on.
    pub fn is_of(&mut self, program: Program) {
        self.program = program;
    }

    pub const fn program(&self) -> Program {
        self.program
    }

    /// A second server of the same release on the same data directory and database, not started.
    pub fn another(&self) -> Self {
        let environment: Vec<_> = self.environment.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let mut other = Self::prepared(self.command, &self.dir, &environment);
        other.is_of(self.program);
        other
    }

    /// As [`Process::another`], in a data directory of its own with the same keys: a second server on one database.
    pub fn beside(&self) -> Self {
        self.beside_as("beside")
    }

    /// As [`Process::beside`], for more than one.
    pub fn beside_as(&self, name: &str) -> Self {
        let mut other = self.another();
        other.dir = self.dir.with_extension(name);
        fs::create_dir_all(&other.dir).expect("data directory");
        for key in ["pin.key", "token.key"] {
            fs::copy(self.dir.join(key), other.dir.join(key)).expect("a key");
        }
        other
    }

    /// Stops, and starts again as the newer release.
    pub fn upgrade(&mut self) {
        self.stop();
        self.is_of(Program::Next);
        self.restart();
    }

    fn launch(&mut self, listen: &str) {
        assert!(self.try_launch(listen), "the server ended at once:\n{}", self.log());
    }

    /// False when the server ended before it listened.
    fn try_launch(&mut self, listen: &str) -> bool {
        let log = File::options().create(true).append(true).open(self.log_path()).expect("log");
        let mut command = self.command(listen);
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().expect("the server starts");
        let lines = BufReader::new(child.stdout.take().expect("output")).lines();
        let listening =
            lines.map_while(Result::ok).find_map(|line| line.strip_prefix("listening on ").map(str::to_owned));
        let Some(url) = listening else {
            self.ended = Some(child.wait().expect("wait"));
            return false;
        };
        self.child = Some(child);
        self.url = url;
        true
    }

    /// What opens the database of this server, which must be stopped.
    pub fn database_url(&self) -> String {
        let named = self.environment.iter().find(|(key, _)| key == "DATABASE_URL").map(|(_, url)| url.clone());
        named.unwrap_or_else(|| Db::url_of_file(&self.dir.join("tillkeep.db")))
    }

    fn log_path(&self) -> PathBuf {
        self.dir.join("server.log")
    }

    /// What the server logged so far, over restarts.
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    /// Kill -9: no destructor runs, nothing is flushed.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("kill");
            child.wait().expect("wait");
        }
    }

    /// SIGTERM, and the exit status that must follow.
    pub fn stop(&mut self) {
        if self.child.is_some() {
            self.ask_to_stop();
            self.has_stopped();
        }
    }

    /// SIGTERM.
    pub fn ask_to_stop(&self) {
        self.signal("-TERM");
    }

    /// SIGSTOP: it is there and does nothing, as a virtual machine that is paused.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// It goes on where it was, and knows of nothing.
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.id().to_string()]).status().expect("kill").success());
    }

    /// Waits for its end after [`Process::ask_to_stop`].
    pub fn has_stopped(&mut self) {
        let ended = self.child.take().expect("running").wait().expect("wait");
        assert!(ended.success(), "a stopped server exits with 0");
    }

    /// Starts again where it was, on the same address.
    pub fn restart(&mut self) {
        assert!(self.child.is_none(), "stop it first");
        let address = self.url.split_once("://").expect("a url").1.to_owned();
        self.launch(&address);
    }

    /// As [`Process::restart`], for a server that a fault may end at once; whether it listens.
    pub fn try_restart(&mut self) -> bool {
        assert!(self.child.is_none(), "stop it first");
        let address = self.url.split_once("://").expect("a url").1.to_owned();
        self.try_launch(&address)
    }

    /// Whether its last start ended as by kill -9, at a place where a test has it die.
    pub fn died_at_its_start(&self) -> bool {
        self.ended.and_then(|status| status.signal()) == Some(ABORTED)
    }

    /// Whether the server has ended by itself.
    pub fn has_ended(&mut self) -> bool {
        let Some(child) = &mut self.child else { return true };
        let ended = child.try_wait().expect("wait").is_some();
        if ended {
            self.child = None;
        }
        ended
    }

    /// From now on no file of the server grows beyond so many bytes, as on a full disk; `None` lifts it.
    pub fn limit_files(&self, bytes: Option<u64>) {
        let limit = bytes.map_or("unlimited".to_owned(), |bytes| bytes.to_string());
        // The soft limit alone, so that it can be lifted again.
        let done =
            Command::new("prlimit").args(["--pid", &self.id().to_string(), &format!("--fsize={limit}:")]).status();
        assert!(done.expect("prlimit").success());
    }

    /// Resident memory in KiB and open files.
    pub fn footprint(&self) -> (u64, usize) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).expect("status");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS");
        let memory = line.trim().trim_end_matches("kB").trim().parse().expect("a number");
        (memory, fs::read_dir(format!("/proc/{}/fd", self.id())).expect("files").count())
    }

    /// What the server has used of processors, to a hundredth of a second. Unlike the time that passes, it does not grow
    /// with what else the machine does.
    pub fn processor_time(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.id())).expect("stat");
        // Behind the name, which ends with a parenthesis: user and system time, fields 14 and 15 in proc(5).
        let (_, fields) = stat.rsplit_once(") ").expect("a name");
        let ticks = fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number"));
        Duration::from_millis(ticks.sum::<u64>() * 10)
    }

    /// The database of this server.
    pub fn database(&self) -> String {
        let configured = self.environment.iter().find(|(key, _)| key == "DATABASE_URL");
        configured.map_or_else(|| Db::url_of_file(&self.dir.join("tillkeep.db")), |(_, url)| url.clone())
    }

    /// For the next start.
    pub fn forget_environment(&mut self, key: &str) {
        self.environment.retain(|(have, _)| have != key);
    }

    /// For the next start.
    pub fn set_environment(&mut self, key: &str, value: &str) {
        self.environment.retain(|(have, _)| have != key);
        self.environment.push((key.to_owned(), value.to_owned()));
        self.note_secrets();
    }

    pub fn id(&self) -> u32 {
        self.child.as_ref().map(Child::id).expect("running")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if !std::thread::panicking() {
            let log = self.log();
            assert!(!log.contains("panicked at"), "a server panicked:\n{log}");
            assert!(!log.contains("\"status\":500"), "a request failed with 500:\n{log}");
            secrets::check_server(&self.dir, &log);
        }
    }
}
