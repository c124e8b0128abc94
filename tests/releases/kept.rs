//! What is kept of each release in `tests/releases`: the statements of its schema, the rows of a headquarters and of one
//! of its stores, what they said to each other, and the keys without which the rows are worth nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use tillkeep_storage::migration::{STEPS, Schema};
use tillkeep_storage::raw::sea_orm::{ConnectionTrait, DbBackend};
use tillkeep_storage::{Db, Side, raw};
use uuid::Uuid;

use crate::rows::{self, Rows};

pub const REMEDY: &str = "make it with: make release-record";

/// One release.
pub struct Release {
    pub name: String,
    dir: PathBuf,
    pub about: About,
}

/// What a test needs beside rows and recordings.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    /// The steps of its schema.
    pub steps: Vec<String>,
    pub store_id: Uuid,
    pub store_code: String,
    pub terminal: String,
    pub sync_token: String,
    /// Who may do everything.
    pub admin: Uuid,
    pub username: String,
    pub pin: String,
    /// A product that the store sells.
    pub product: Uuid,
    /// When the line came back and the recording began.
    pub at: String,
    /// The key files of headquarters and of the store, by name.
    pub hq_keys: BTreeMap<String, Json>,
    pub store_keys: BTreeMap<String, Json>,
}

/// A request of a store and its answer, or a message on the socket.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Said {
    Asked { path: String, body: Option<Json>, status: u16, answer: Json },
    OnSocket { from: String, message: Json },
}

/// `tests/releases`.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/releases")
}

/// The name of a file with the schema of `side`.
pub fn schema_file(side: Side, backend: DbBackend) -> &'static str {
    match (side, backend) {
        (Side::Store, _) => "store.sql",
        (Side::Hq, DbBackend::Postgres) => "hq-postgres.sql",
        (Side::Hq, _) => "hq-sqlite.sql",
    }
}

pub fn rows_file(side: Side) -> &'static str {
    if side == Side::Hq { "hq.jsonl" } else { "store.jsonl" }
}

impl Release {
    /// Every release that is kept, the oldest first.
    pub fn all() -> Vec<Self> {
        let mut dirs: Vec<PathBuf> = fs::read_dir(root()).map_or_else(
            |error| panic!("tests/releases: {error}; {REMEDY}"),
            |entries| entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect(),
        );
        let number = |part: &str| part.parse::<u64>().unwrap_or_default();
        dirs.sort_by_key(|dir| {
            let name = dir.file_name().unwrap_or_default().to_string_lossy();
            name.split('.').map(number).collect::<Vec<_>>()
        });
        assert!(!dirs.is_empty(), "tests/releases has no release; {REMEDY}");
        dirs.into_iter().map(Self::new).collect()
    }

    fn new(dir: PathBuf) -> Self {
        let name = dir.file_name().expect("a name").to_string_lossy().into_owned();
        let about = serde_json::from_str(&read(&dir.join("about.json"))).expect("what the release says of itself");
        Self { name, dir, about }
    }

    /// What its store and headquarters said to each other, in order.
    pub fn said(&self) -> Vec<Said> {
        let lines = read(&self.dir.join("wire.jsonl"));
        lines.lines().map(|line| serde_json::from_str(line).expect("a line of the recording")).collect()
    }

    /// The statements that make the schema of one of its servers.
    pub fn schema(&self, side: Side, backend: DbBackend) -> String {
        read(&self.dir.join(schema_file(side, backend)))
    }

    /// Makes the database of one of its servers in the empty one behind `conn`.
    pub async fn restore(&self, conn: &tillkeep_storage::Connection, side: Side) {
        let schema = self.schema(side, conn.get_database_backend());
        for statement in schema.split(";\n").filter(|statement| !statement.trim().is_empty()) {
            conn.execute_unprepared(statement).await.unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        for step in &self.about.steps {
            let sql = "INSERT INTO schema_steps (name, made_at) VALUES ($1, CURRENT_TIMESTAMP)";
            raw::execute(conn, sql, [step.as_str().into()]).await.expect("a step");
        }
        let known = STEPS.iter().filter(|step| self.about.steps.iter().any(|name| name == step.name));
        let shape = Schema::after(&known.copied().collect::<Vec<_>>());
        rows::write(conn, &shape, &from_lines(&read(&self.dir.join(rows_file(side))))).await;
    }

    /// Makes a data directory of one of its servers, with the database inside unless it is elsewhere.
    pub async fn install(&self, side: Side, dir: &Path, elsewhere: Option<&str>) {
        fs::create_dir_all(dir).expect("a data directory");
        let keys = if side == Side::Hq { &self.about.hq_keys } else { &self.about.store_keys };
        for (name, content) in keys {
            let path = dir.join(name);
            fs::write(&path, content.to_string()).expect("a key");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("its owner's alone");
        }
        let conn = match elsewhere {
            Some(url) => Db::open_to_read(url).await,
            None => Db::open_alone(&dir.join("tillkeep.db")),
        };
        let conn = conn.expect("an empty database");
        self.restore(&conn, side).await;
        conn.close().await.expect("closed");
    }
}

/// One line for each row: its table and what is in it.
pub fn to_lines(schema: &Schema, rows: &Rows) -> String {
    let mut lines = String::new();
    for table in schema.tables() {
        for row in rows.get(table.name).into_iter().flatten() {
            lines += &json!([table.name, row]).to_string();
            lines.push('\n');
        }
    }
    lines
}

fn from_lines(text: &str) -> Rows {
    let mut rows = Rows::new();
    for line in text.lines() {
        let (table, row): (String, Map<String, Json>) = serde_json::from_str(line).expect("a table and its row");
        rows.entry(table).or_default().push(row);
    }
    rows
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}; {REMEDY}", path.display()))
}
