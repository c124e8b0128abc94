//! A file on its way to headquarters: read as it is sent, sent again with the same key where its answer was lost, and what came of it.

use std::fs::File;
use std::future;
use std::io::{self, ErrorKind, Read, stdin};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Error, Result, anyhow, bail};
use futures_util::stream;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use reqwest::{Body, Method};
use serde::Deserialize;
use tillkeep_http::{idempotency, table};
use tillkeep_model::ErrorCode;

use super::is_standard;
use super::line::{Asked, Headquarters, Heard, Lost, shown};
use super::patience::Patience;
use super::progress::Progress;
use crate::output::say;

/// Bytes of a file at the most.
const MOST: u64 = table::MOST as u64;
/// Bytes that are in memory of it.
const PART: u64 = 64 << 10;
/// How long one request may take: headquarters gives it 120 seconds, and 20 to wait for the file before.
const ANSWER_WITHIN: Duration = Duration::from_secs(200);

/// A file that goes in.
#[derive(Debug)]
pub struct Sheet {
    file: Arc<File>,
    size: u64,
}

/// What is asked for.
pub struct Job {
    pub path: &'static str,
    pub query: Vec<Asked>,
    /// By which headquarters knows that it was asked before.
    pub key: String,
    pub dry_run: bool,
}

/// What came of a file, or would come of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Imported {
    rows: u64,
    created: u64,
    updated: u64,
    unchanged: u64,
    errors: Vec<Fault>,
    error_count: u64,
}

#[derive(Deserialize)]
struct Fault {
    line: u64,
    column: Option<String>,
    message: String,
}

impl Sheet {
    /// Opens a file. What can be read but once is copied first, as it may have to be sent again; it is gone when this is.
    pub fn open(path: &Path) -> Result<Self> {
        if is_standard(path) {
            return Self::copied(stdin().lock(), "the standard input");
        }
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| name.clone())?;
        let about = file.metadata().with_context(|| name.clone())?;
        if about.is_file() { Self::of(file, about.len(), &name) } else { Self::copied(file, &name) }
    }

    fn copied(from: impl Read, name: &str) -> Result<Self> {
        let mut file = tempfile::tempfile().context("a temporary file")?;
        let size = io::copy(&mut from.take(MOST + 1), &mut file).with_context(|| name.to_owned())?;
        Self::of(file, size, name)
    }

    fn of(file: File, size: u64, name: &str) -> Result<Self> {
        if size == 0 {
            bail!("{name} is empty");
        }
        if size > MOST {
            bail!("{name} is larger than {} MiB, the most that headquarters takes; send it in parts", MOST >> 20);
        }
        Ok(Self { file: Arc::new(file), size })
    }

    /// The whole file, part by part, from its beginning.
    fn body(&self) -> Body {
        let (file, size) = (self.file.clone(), self.size);
        let mut progress = Progress::of("sent", Some(size));
        Body::wrap_stream(stream::try_unfold(0, move |at| {
            let part = part(&file, at, size);
            future::ready(part.map(|part| {
                progress.add(part.len());
                let end = at + part.len() as u64;
                (end > at).then_some((part, end))
            }))
        }))
    }
}

/// The bytes from `at` on; none at the end.
fn part(file: &File, at: u64, size: u64) -> io::Result<Vec<u8>> {
    let mut part = vec![0; usize::try_from(PART.min(size - at)).unwrap_or_default()];
    match file.read_exact_at(&mut part, at) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(io::Error::other("the file became shorter")),
        read => read.map(|()| part),
    }
}

impl Job {
    /// What is said of an end before there was an answer.
    pub fn stopped(&self) -> String {
        format!("stopped; {}", self.unknown())
    }

    /// An end without a success, with what is known of the file.
    fn ended(&self, why: Error, may_be_taken: bool) -> Error {
        if may_be_taken { anyhow!("{why:#}; {}", self.unknown()) } else { why }
    }

    /// What is known of a file without an answer.
    fn unknown(&self) -> String {
        if self.dry_run {
            return "nothing was written".to_owned();
        }
        let key = &self.key;
        format!(
            "headquarters may have taken the file: the same command with --key {key} says so, and does nothing twice"
        )
    }
}

/// Sends the file until there is an answer; what the program ends with.
pub async fn send(hq: &Headquarters, sheet: &Sheet, job: &Job) -> Result<u8> {
    let mut patience = Patience::default();
    let (mut was_there, mut may_be_taken) = (false, false);
    loop {
        let (why, asked_to_wait) = match once(hq, sheet, job).await? {
            Ok(heard) => {
                may_be_taken |= heard.may_have_happened();
                if !heard.comes_again() {
                    return told(hq, &heard, job).map_err(|error| job.ended(error, may_be_taken));
                }
                (hq.refused(&heard), heard.retry_after.unwrap_or_default())
            }
            // Nobody has ever been there.
            Err(lost) if lost.is_unsent && !was_there => return Err(lost.into()),
            Err(lost) => {
                may_be_taken |= !lost.is_unsent;
                (lost.into(), 0)
            }
        };
        was_there = true;
        let Some(seconds) = patience.wait(asked_to_wait) else { return Err(job.ended(why, may_be_taken)) };
        tracing::warn!(
            why = format!("{why:#}"),
            seconds,
            "there is no answer yet; the same file is sent again with the same key"
        );
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }
}

async fn once(hq: &Headquarters, sheet: &Sheet, job: &Job) -> Result<Result<Heard, Lost>> {
    let key = HeaderValue::from_str(&job.key).context("--key")?;
    let request = hq
        .request(Method::POST, job.path, &job.query)?
        .header(&idempotency::KEY, key)
        .header(CONTENT_TYPE, "text/csv")
        // It is known: without it what is in between might keep all of the file to count it.
        .header(CONTENT_LENGTH, sheet.size)
        .timeout(ANSWER_WITHIN)
        .body(sheet.body());
    Ok(match hq.send(request).await {
        Ok(response) => hq.hear(response).await,
        Err(lost) => Err(lost),
    })
}

/// Says what came of the file.
fn told(hq: &Headquarters, heard: &Heard, job: &Job) -> Result<u8> {
    let refusal = heard.refusal();
    if heard.code() == Some(ErrorCode::Validation) && !refusal.details.is_empty() {
        for detail in &refusal.details {
            say!("{}: {}", shown(&detail.field), shown(&detail.message));
        }
        return faulty(refusal.details.len() as u64, refusal.error_count);
    }
    let Imported { rows, created, updated, unchanged, errors, error_count } = hq.data(heard)?;
    for Fault { line, column, message } in &errors {
        let column = column.as_ref().map(|column| format!(", {column}")).unwrap_or_default();
        say!("line {line}{}: {}", shown(&column), shown(message));
    }
    if error_count > 0 {
        return faulty(errors.len() as u64, error_count);
    }
    let end = if job.dry_run { " Nothing was written." } else { "" };
    let rows = if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    say!("{rows}: {created} new, {updated} changed, {unchanged} as they are.{end}");
    Ok(0)
}

/// So many faults were told, and there are so many.
fn faulty(told: u64, all: u64) -> Result<u8> {
    let said = match all.max(told) {
        1 => "One fault".to_owned(),
        all if all > told => format!("The first {told} of {all} faults"),
        all => format!("{all} faults"),
    };
    say!("{said}; nothing was written.");
    Ok(1)
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    #[test]
    fn a_file_that_headquarters_does_not_take_is_named_before_it_is_sent() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("products.csv");
        let refused = |path: &Path| format!("{:#}", Sheet::open(path).expect_err("it is refused"));
        assert!(refused(&path).contains("products.csv"));
        let file = File::create(&path).expect("a file");
        assert!(refused(&path).contains("is empty"));
        file.set_len(MOST + 1).expect("a length");
        assert!(refused(&path).contains("larger than 64 MiB"), "{}", refused(&path));
        file.set_len(MOST).expect("a length");
        assert_eq!(Sheet::open(&path).expect("it is taken").size, MOST);
        let many = Sheet::copied(io::repeat(b'x'), "the standard input").expect_err("it has no end");
        assert!(many.to_string().contains("the standard input is larger than 64 MiB"), "{many}");
    }

    #[tokio::test]
    async fn a_file_is_sent_in_parts_and_from_its_beginning_each_time() {
        let text: Vec<u8> = (0..200_000_u32).map(|number| u8::try_from(number % 251).unwrap_or_default()).collect();
        let sheet = Sheet::copied(&text[..], "a text").expect("a file");
        for _ in 0..2 {
            let (file, size) = (&sheet.file, sheet.size);
            let parts = stream::iter([0, PART, 2 * PART, 3 * PART]).map(|at| part(file, at, size).expect("a part"));
            let parts: Vec<Vec<u8>> = parts.collect().await;
            assert!(parts.iter().all(|part| part.len() <= 64 << 10));
            assert_eq!(parts.concat(), text);
            assert!(part(file, size, size).expect("the end").is_empty());
        }
    }
}
