//! A server as a process of its own, as the demo and the benchmark start them.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

const START_WITHIN: Duration = Duration::from_secs(30);
const STOP_WITHIN: Duration = Duration::from_secs(12);

pub struct Child {
    pub name: String,
    pub url: String,
    process: Mutex<tokio::process::Child>,
}

impl Child {
    /// Starts `program` with `command` on a port (0 is any that is free), and waits until it listens. Its log goes to
    /// `server.log` in `data_dir`.
    pub async fn start(
        program: &Path,
        (command, port): (&str, u16),
        data_dir: &Path,
        environment: &[(&str, &str)],
        name: &str,
    ) -> Result<Self> {
        let log = std::fs::File::create(data_dir.join("server.log")).context("the log file")?;
        let mut process =
            Command::new(program)
                .arg(command)
                .arg("--data-dir")
                .arg(data_dir)
                .args(["--listen", &format!("127.0.0.1:{port}")])
                // What is set for a real server here must not reach this one.
                .env_clear()
                // It is alone: no server takes over from it.
                .env("LEAVE_SECONDS", "0")
                .envs(std::env::var_os("RUST_LOG").map(|filter| ("RUST_LOG".into(), filter))
                    as Option<(OsString, OsString)>)
                .envs(environment.iter().copied())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(log)
                .kill_on_drop(true)
                .spawn()
                .with_context(|| format!("{name} cannot be started"))?;
        let mut lines = BufReader::new(process.stdout.take().context("no output")?).lines();
        let listening = tokio::time::timeout(START_WITHIN, async {
            while let Some(line) = lines.next_line().await? {
                if let Some(url) = line.strip_prefix("listening on ") {
                    return Ok(url.to_owned());
                }
            }
            bail!("{name} ended at once; see {}", data_dir.join("server.log").display())
        });
        let url = listening.await.with_context(|| format!("{name} does not listen"))??;
        Ok(Self { name: name.to_owned(), url, process: Mutex::new(process) })
    }

    pub fn lives(&self) -> bool {
        let mut process = self.process.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        matches!(process.try_wait(), Ok(None))
    }

    /// Its number with the operating system; `None` when it has ended.
    pub fn id(&self) -> Option<u32> {
        self.process.lock().unwrap_or_else(std::sync::PoisonError::into_inner).id()
    }

    /// Asks it to stop, and makes it after a while.
    pub async fn stop(self) {
        let mut process = self.process.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(id) = process.id() {
            // The polite signal; the standard library only knows the other one.
            let asked = Command::new("kill").args(["-TERM", &id.to_string()]).status().await;
            if asked.is_ok() && tokio::time::timeout(STOP_WITHIN, process.wait()).await.is_ok() {
                return;
            }
        }
        if let Err(error) = process.kill().await {
            tracing::warn!(name = self.name, %error, "a server could not be ended");
        }
    }
}
