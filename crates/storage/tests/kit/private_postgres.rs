//! A private `PostgreSQL` for tests: made from the installed programs, in a directory and on a port of its own.
//!
//! All test processes of a run share one cluster, each test has a database of its own. A small watchdog outside of the
//! tests stops the cluster and removes its directory some seconds after the last process that uses it has ended,
//! however it ended. Depends on nothing but std and tempfile.

use std::env;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use tempfile::TempDir;

const MISSING: &str = "PostgreSQL is not installed, and these tests run on it too: apt-get install postgresql";
/// The role and the first database of the cluster.
pub const OWNER: &str = "tillkeep";
/// Stops the cluster when none of the processes in `users/` has lived for ten seconds.
const WATCHDOG: &str = r#"
quiet=0
while [ "$quiet" -lt 10 ]; do
    sleep 1
    quiet=$((quiet + 1))
    for user in "$1"/users/*; do
        [ -e "$user" ] || continue
        if kill -0 "${user##*/}" 2>/dev/null; then quiet=0; else rm -f "$user"; fi
    done
    if [ "$quiet" -ge 10 ] && grep -qsF "$1" "$2"; then
        # Who comes after this starts a new cluster; who came just before is seen by one more round.
        rm -f "$2"
        quiet=9
    fi
done
shift 2
"$@"
rm -rf "$0"
"#;

/// One database of the cluster, dropped with this.
pub struct Database {
    pub url: String,
    name: String,
    port: u16,
}

impl Database {
    /// Makes an empty database.
    ///
    /// # Panics
    /// When `PostgreSQL` is not installed or does not start.
    pub fn create() -> Self {
        Self::create_as(&[])
    }

    /// As [`Database::create`], with arguments of `createdb`.
    pub fn create_as(arguments: &[&str]) -> Self {
        let new = Self::new();
        client("createdb", new.port).args(arguments).arg(&new.name).run();
        new
    }

    /// A copy of what `make` puts into an empty database, which is done once for all tests of a program: a copy takes a
    /// tenth of the time of a schema.
    pub fn copy_of(make: impl FnOnce(&str)) -> Self {
        let (new, template) = (Self::new(), template());
        let copied = || {
            let mut create = client("createdb", new.port);
            create.arg(format!("--template={template}")).arg(&new.name).output().is_ok_and(|said| said.status.success())
        };
        if !copied() {
            let _one_at_a_time = lock("template.lock");
            if !copied() {
                let draft = Self::create();
                make(&draft.url);
                let rename = format!("ALTER DATABASE {} RENAME TO \"{template}\"", draft.name);
                client("psql", new.port).args(["-d", OWNER, "-q", "-c", &rename]).run();
                client("createdb", new.port).arg(format!("--template={template}")).arg(&new.name).run();
            }
        }
        new
    }

    /// A name on the shared server, where nothing is yet.
    fn new() -> Self {
        static PORT: OnceLock<u16> = OnceLock::new();
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let port = *PORT.get_or_init(join_or_start);
        let name = format!("t{}_{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self { url: format!("postgres://{OWNER}@127.0.0.1:{port}/{name}"), name, port }
    }
}

/// The database that tests of this program copy; another build of it has another one.
fn template() -> String {
    let program = env::current_exe().expect("the program of the test");
    let built = fs::metadata(&program).and_then(|file| file.modified()).expect("when it was built");
    let built = built.duration_since(UNIX_EPOCH).expect("a time").as_nanos();
    format!("template {built} {}", program.file_name().expect("a name").display())
}

/// What all tests of this user share.
fn shared() -> PathBuf {
    let shared = env::temp_dir().join(format!("tillkeep-tests-{}", id_of(&["-u"])));
    fs::create_dir_all(&shared).expect("a directory in the temporary directory");
    shared
}

/// Waits until no other process has the lock `name`.
fn lock(name: &str) -> File {
    let lock = File::create(shared().join(name)).expect("a lock file of the private PostgreSQL");
    lock.lock().expect("a lock of the private PostgreSQL");
    lock
}

impl Drop for Database {
    fn drop(&mut self) {
        // The cluster goes as a whole in the end; this only keeps it small.
        let _ = client("dropdb", self.port).args(["--force", "--if-exists", &self.name]).output();
    }
}

pub fn client(program: &str, port: u16) -> Command {
    let mut command = Command::new(programs().join(program));
    command.args(["-h", "127.0.0.1", "-p", &port.to_string(), "-U", OWNER, "-w"]);
    command
}

/// The port of the cluster of this test run, which is started when there is none.
fn join_or_start() -> u16 {
    let _one_at_a_time = lock("postgres.lock");
    let record = shared().join("postgres.running");
    if let Some(port) = join(&record) {
        return port;
    }
    let (directory, port) = make("-c fsync=off -c full_page_writes=off -c autovacuum=off");
    watch(&directory, &record);
    fs::write(&record, format!("{port}\n{}\n", directory.display())).expect("the record of the private PostgreSQL");
    port
}

fn use_cluster(directory: &Path) {
    fs::write(directory.join("users").join(process::id().to_string()), "").expect("a note in the cluster's directory");
}

fn join(record: &Path) -> Option<u16> {
    let text = fs::read_to_string(record).ok()?;
    let (port, directory) = text.trim().split_once('\n')?;
    let (port, directory) = (port.parse().ok()?, Path::new(directory));
    directory.join("users").is_dir().then(|| use_cluster(directory))?;
    let alive = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), Duration::from_secs(2));
    // Read again: the watchdog takes the record away before it looks at the users for the last time.
    (alive.is_ok() && record.exists()).then_some(port)
}

/// Makes and starts a cluster with these settings; its directory and port.
pub fn make(settings: &str) -> (PathBuf, u16) {
    let directory = place();
    as_user(&programs().join("initdb"))
        .arg("-D")
        .arg(directory.path().join("data"))
        .args(["-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"])
        .run();
    let (directory, port) = start_anywhere(directory, settings);
    client("createdb", port).arg(OWNER).run();
    (directory, port)
}

/// A directory for a cluster, with data of the other user where there is one.
pub fn place() -> TempDir {
    let directory = tempfile::Builder::new()
        .prefix("tillkeep-postgres-")
        .permissions(fs::Permissions::from_mode(0o755))
        .tempdir()
        .expect("a temporary directory");
    fs::create_dir(directory.path().join("users")).expect("a directory");
    let data = directory.path().join("data");
    fs::create_dir(&data).expect("a directory");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).expect("the rights of a directory");
    if let Some(user) = other_user() {
        Command::new("chown").arg(&user).arg(&data).run();
    }
    directory
}

/// Starts the cluster in `directory` on a free port.
pub fn start_anywhere(directory: TempDir, settings: &str) -> (PathBuf, u16) {
    // Between asking for a free port and using it another process may take it.
    for _ in 0..5 {
        let port =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr()).expect("a port").port();
        if start(directory.path(), port, settings) {
            return (directory.keep(), port);
        }
    }
    let log = fs::read_to_string(directory.path().join("data/log")).unwrap_or_default();
    panic!("the private PostgreSQL does not start: {log}");
}

/// Starts the cluster in `directory`; whether it runs.
pub fn start(directory: &Path, port: u16, settings: &str) -> bool {
    let data = directory.join("data");
    let options = format!(
        "-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories='' -c max_connections=500 \
         -c shared_buffers=64MB {settings}"
    );
    let started = pg_ctl(&data).arg("-w").arg("-l").arg(data.join("log")).args(["-o", &options, "start"]).status();
    started.is_ok_and(|status| status.success())
}

pub fn pg_ctl(data: &Path) -> Command {
    let mut command = as_user(&programs().join("pg_ctl"));
    command.arg("-D").arg(data).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Stops the cluster in `directory` when this process and all others that use it are gone. `record` says where it is.
#[expect(clippy::zombie_processes, reason = "the watchdog outlives this process")]
pub fn watch(directory: &Path, record: &Path) {
    use_cluster(directory);
    let mut stop = pg_ctl(&directory.join("data"));
    stop.args(["-m", "immediate", "stop"]);
    Command::new("sh")
        .args(["-c", WATCHDOG])
        .arg(directory)
        .arg(directory)
        .arg(record)
        .arg(stop.get_program())
        .args(stop.get_args())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // An interrupt from the keyboard is for the tests.
        .process_group(0)
        .spawn()
        .expect("sh");
}

/// Where the server's programs are: the newest installed version, else the search path.
pub fn programs() -> PathBuf {
    let version = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let installed = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<_> = installed.filter(|path| path.join("bin/initdb").exists()).collect();
    found.sort_by_key(version);
    let newest = found.pop().map(|path| path.join("bin"));
    let searched = || env::split_paths(&env::var_os("PATH")?).find(|path| path.join("initdb").exists());
    newest.or_else(searched).unwrap_or_else(|| panic!("{MISSING}"))
}

/// `PostgreSQL` refuses to run as root; who runs the tests as root lends it another user.
fn other_user() -> Option<String> {
    if id_of(&["-u"]) != "0" {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let known = |name: &&str| users.lines().any(|line| line.split(':').next() == Some(name));
    Some(["postgres", "nobody"].iter().find(|name| known(name)).expect("a user that is not root").to_string())
}

pub fn as_user(program: &Path) -> Command {
    let Some(user) = other_user() else { return Command::new(program) };
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &user, "--regid", &id_of(&["-g", &user])]).arg("--clear-groups").arg(program);
    if command_exists("setpriv") {
        return command;
    }
    let mut command = Command::new("runuser");
    command.args(["-u", &user, "--"]).arg(program);
    command
}

/// What `id` says of this user or another one.
fn id_of(question: &[&str]) -> String {
    let answer = Command::new("id").args(question).output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&answer).trim().to_owned()
}

fn command_exists(name: &str) -> bool {
    !matches!(Command::new(name).arg("--version").output(), Err(error) if error.kind() == ErrorKind::NotFound)
}

pub trait Run {
    /// Runs to the end, or fails the test with what the program said.
    fn run(&mut self);
}

impl Run for Command {
    fn run(&mut self) {
        let program = self.get_program().to_string_lossy().into_owned();
        let output = self.current_dir("/").output().unwrap_or_else(|error| panic!("{program}: {error}. {MISSING}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} failed: {said}");
    }
}
