//! Debian's `haproxy` before servers of headquarters, as `docs/operations.md` has it.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

use super::Bench;

const PROGRAM: &str = "/usr/sbin/haproxy";
/// For its start.
const PATIENCE: Duration = Duration::from_secs(10);

pub struct Balancer {
    pub url: String,
    child: Child,
}

impl Balancer {
    /// One that runs, for so many connections; nothing where there is none on this machine.
    pub async fn before(bench: &Bench, urls: &[&str], connections: usize) -> Result<Option<Self>> {
        if !Path::new(PROGRAM).exists() {
            return Ok(None);
        }
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let servers = urls.iter().enumerate().map(|(number, url)| {
            let address = url.trim_start_matches("http://");
            format!("    server s{number} {address} check inter 500ms\n")
        });
        let text = format!(
            "global\n    maxconn {connections}\ndefaults\n    mode http\n    timeout connect 2s\n    timeout client 1h\n    timeout server 1h\n    \
             timeout tunnel 1h\nfrontend all\n    bind 127.0.0.1:{port}\n    default_backend nodes\nbackend nodes\n    \
             balance roundrobin\n    option httpchk GET /ready\n{}",
            servers.collect::<String>()
        );
        let file = bench.directory()?.join("haproxy.cfg");
        std::fs::write(&file, text)?;
        let mut command = Command::new(PROGRAM);
        command.args(["-db", "-q", "-f"]).arg(&file).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let mut child = command.spawn().context("haproxy cannot be started")?;
        let begun = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_err() {
            if begun.elapsed() > PATIENCE || child.try_wait()?.is_some() {
                bail!("haproxy does not start with {}", file.display());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(Some(Self { url: format!("http://127.0.0.1:{port}"), child }))
    }

    pub async fn stop(mut self) {
        if let Err(error) = self.child.kill().await {
            tracing::debug!(%error, "haproxy had ended");
        }
    }
}
