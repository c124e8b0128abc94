//! A PIN or a token, out of a file or from the standard input: typed at a terminal it is not shown.

use std::fs::File;
use std::io::{IsTerminal, Read, Write, stderr, stdin};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tillkeep_http::Secret;

/// Bytes at the most.
const MOST: u64 = 16 << 10;

/// A terminal that does not show what is typed, until this is dropped.
struct Hidden(Option<Termios>);

impl Hidden {
    fn begin() -> Self {
        let before = tcgetattr(stdin()).ok();
        if let Some(before) = &before {
            let mut hidden = before.clone();
            hidden.local_modes.remove(LocalModes::ECHO);
            set(&hidden);
        }
        Self(before)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            set(before);
        }
    }
}

fn set(modes: &Termios) {
    if let Err(error) = tcsetattr(stdin(), OptionalActions::Now, modes) {
        tracing::warn!(%error, "the terminal cannot be told whether to show what is typed");
    }
}

/// The secret in `file`, or from the standard input; `what` it is, for who reads.
pub async fn read(file: Option<&Path>, what: &str) -> Result<Secret> {
    let text = whole(file, what).await?;
    let secret = text.expose().trim();
    if secret.is_empty() {
        bail!("{what} is empty");
    }
    Ok(secret.to_owned().into())
}

/// The same with whatever stands around it; of what is typed one line.
pub async fn whole(file: Option<&Path>, what: &str) -> Result<Secret> {
    let path = file.map(Path::to_owned);
    let is_typed = path.is_none() && stdin().is_terminal();
    // Stays hidden until this returns, or whatever waits for it is dropped: a signal that a command waits for leaves the terminal as
    // it was.
    let hidden = is_typed.then(Hidden::begin);
    if is_typed {
        tell(&format!("{what}: "))?;
    }
    let text = tokio::task::spawn_blocking(move || text(path, is_typed)).await?;
    if hidden.is_some() {
        tell("\n")?;
    }
    drop(hidden);
    Ok(text.with_context(|| format!("{what} cannot be read"))?.into())
}

fn text(file: Option<PathBuf>, is_typed: bool) -> Result<String> {
    let mut text = String::new();
    match file {
        Some(path) => {
            let open = File::open(&path).with_context(|| path.display().to_string())?;
            open.take(MOST).read_to_string(&mut text).with_context(|| path.display().to_string())?;
        }
        None if is_typed => {
            stdin().read_line(&mut text)?;
        }
        None => {
            stdin().take(MOST).read_to_string(&mut text)?;
        }
    }
    Ok(text)
}

/// On the standard error: what is asked for may go to a file.
fn tell(text: &str) -> Result<()> {
    let mut terminal = stderr().lock();
    terminal.write_all(text.as_bytes()).and_then(|()| terminal.flush()).context("the terminal")
}
