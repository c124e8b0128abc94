//! Logs on the standard error; `RUST_LOG` chooses what. A server with a log that is no terminal writes JSON there and
//! nothing else.

use std::io::{self, IsTerminal, Write};
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use tillkeep_storage::db;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

use crate::configuration::variable_of;

/// In what form a program tells what goes on, and what it ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    Json,
}

impl Form {
    /// That of a server, or of a command that people type.
    pub fn new(is_server: bool) -> Self {
        if is_server && !std::io::stderr().is_terminal() { Self::Json } else { Self::Text }
    }

    /// Begins to log.
    pub fn start(self) -> Result<()> {
        // It may have no reader any more: that must not end the program, as `eprintln!` would.
        let builder = tracing_subscriber::fmt()
            .with_env_filter(filter(variable_of(VARIABLE)?.as_deref())?)
            .with_writer(|| InWords(io::stderr()))
            .with_ansi(io::stderr().is_terminal())
            .log_internal_errors(false);
        match self {
            Self::Text => builder.with_target(false).init(),
            Self::Json => {
                builder.json().flatten_event(true).init();
                std::panic::set_hook(Box::new(|panic| tracing::error!(%panic, "a part of the program panicked")));
            }
        }
        Ok(())
    }

    /// Says why the program ends.
    pub fn tell(self, error: &anyhow::Error) {
        match self {
            // Nothing is left to report to when this fails.
            Self::Text => drop(writeln!(io::stderr(), "{}", ended_with(error))),
            Self::Json => tracing::error!("{}", ended_with(error)),
        }
    }
}

/// What a program says that ends with `error`.
fn ended_with(error: &anyhow::Error) -> String {
    db::in_words(&format!("tillkeep: {error:#}")).into_owned()
}

/// What is written there for people, each line of the log at once: whatever logs an error need not think of its words.
struct InWords<W>(W);

impl<W: Write> Write for InWords<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.0.write_all(db::in_words(text).as_bytes())?,
            Err(_) => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

const VARIABLE: &str = "RUST_LOG";

/// What is logged: levels, for all or for parts of the program.
fn filter(text: Option<&str>) -> Result<EnvFilter> {
    let text = text.unwrap_or("info");
    let levels = "error, warn, info, debug, trace or off";
    // A word alone would be the name of a part, and everything else silent: a level with a mistake in it.
    let alone = |word: &&str| !word.contains(['=', '[', ':']) && !word.starts_with("tillkeep");
    if let Some(word) = text.split(',').map(str::trim).filter(|word| !word.is_empty()).filter(alone).find(is_no_level) {
        bail!("{VARIABLE}: {word:?} is no level, which is {levels}; for one part of the program write part=level");
    }
    let filter =
        EnvFilter::builder().parse(text).with_context(|| format!("{VARIABLE} {text:?}; a level is {levels}"))?;
    // It says something at every try to reach a broker that is away; headquarters says so once a minute.
    let quiet = if text.contains("async_nats") { None } else { "async_nats=off".parse().ok() };
    Ok(quiet.into_iter().fold(filter, EnvFilter::add_directive))
}

fn is_no_level(word: &&str) -> bool {
    LevelFilter::from_str(word).is_err()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use anyhow::Context as _;
    use tillkeep_storage::DbErr;

    use super::{InWords, ended_with, filter};

    #[test]
    fn what_people_read_of_an_error_begins_with_words_in_the_log_too() {
        let error = DbErr::Custom("/srv/x is a database of a store".to_owned());
        let mut log = InWords(Vec::new());
        log.write_all(format!("WARN it is tried again error={error}").as_bytes()).expect("written");
        assert_eq!(String::from_utf8_lossy(&log.0), "WARN it is tried again error=/srv/x is a database of a store");
        let ended = Err::<(), _>(error).context("headquarters cannot start").expect_err("an error");
        assert_eq!(ended_with(&ended), "tillkeep: headquarters cannot start: /srv/x is a database of a store");
    }

    #[test]
    fn a_wrong_level_is_refused_and_not_taken_for_the_name_of_a_part() {
        for text in ["", "debug", "warn,tillkeep_hq=debug", "tillkeep_store", "OFF", "hyper::proto=trace, info"] {
            assert!(filter(Some(text)).is_ok(), "{text}");
        }
        for text in ["warning", "debgu", "tillkeep=loud", "info,verbose", "a=b=c"] {
            let error = format!("{:#}", filter(Some(text)).expect_err(text));
            assert!(error.contains("RUST_LOG") && error.contains("debug, trace or off"), "{error}");
        }
    }
}
