//! What the log says of a failure, and the answer does not: what it came from, and where it was made.

use std::error::Error as _;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use axum::body::to_bytes;
use axum::response::IntoResponse;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::request;
use tillkeep_model::ErrorCode;
use tillkeep_storage::DbErr;
use tillkeep_storage::raw::sea_orm::RuntimeErr;
use tracing_subscriber::fmt::MakeWriter;

/// A log that a test reads.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// What is logged and what is answered when a request fails with `error`.
async fn logged_and_answered(error: Error) -> (String, String) {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).finish();
    let answer = tracing::subscriber::with_default(subscriber, || {
        request::sync_within("the-request".to_owned(), || error.into_response())
    });
    let answer = to_bytes(answer.into_body(), usize::MAX).await.expect("a body");
    let logged = log.0.lock().expect("no panic").clone();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (text(&logged), text(&answer))
}

/// The place of a line of this file, as the log names it.
fn place(line: u32) -> String {
    format!("{}:{line}:", file!())
}

#[derive(Debug)]
struct Outer(io::Error);

impl std::fmt::Display for Outer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the key file is damaged")
    }
}

impl std::error::Error for Outer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

fn damaged() -> Outer {
    Outer(io::Error::other("sector 7 cannot be read"))
}

/// Each way to make an internal error, with the line that made it.
async fn failures() -> Vec<(&'static str, u32, Error)> {
    let direct = (line!(), Error::internal(damaged()));
    let closure = (line!(), Err::<(), _>(damaged()).map_err(|error| Error::internal(error)).expect_err("failed"));
    let asked = async || -> Result<u32> {
        Err(DbErr::Custom("the key file is damaged: sector 7 cannot be read".to_owned()))?;
        Ok(line!())
    };
    let by_question_mark = (line!() - 3, asked().await.expect_err("failed"));
    let passed_on = async || -> Result<()> {
        asked().await?;
        Ok(())
    };
    let passed_on = (by_question_mark.0, passed_on().await.expect_err("failed"));
    let named = [("direct", direct), ("closure", closure), ("?", by_question_mark), ("passed on", passed_on)];
    named.into_iter().map(|(way, (line, error))| (way, line, error)).collect()
}

#[tokio::test]
async fn an_internal_error_is_logged_with_all_its_causes_and_its_place_and_answered_without_either() {
    for (way, line, error) in failures().await {
        let (logged, answered) = logged_and_answered(error).await;
        assert!(logged.contains("ERROR") && logged.contains("code=\"internal\""), "{way}: {logged}");
        assert!(logged.contains("the key file is damaged: sector 7 cannot be read"), "{way}: {logged}");
        assert!(logged.contains(&place(line)), "{way}: not {} in {logged}", place(line));
        assert!(logged.contains("request_id=\"the-request\""), "{way}: {logged}");
        assert_eq!(logged.lines().count(), 1, "{way}: said once: {logged}");
        for inside in ["damaged", "sector", ".rs", "crates"] {
            assert!(!answered.contains(inside), "{way}: {answered}");
        }
    }
}

#[tokio::test]
async fn a_database_that_is_away_is_logged_with_its_place_and_answered_as_something_that_passes() {
    let reading = || -> Result<()> { Err(DbErr::Conn(RuntimeErr::Internal("disk 3 is gone".to_owned())))? };
    let line = line!() - 1;
    let (logged, answered) = logged_and_answered(reading().expect_err("failed")).await;
    assert!(logged.contains("ERROR") && logged.contains("disk 3 is gone"), "{logged}");
    assert!(logged.contains(&place(line)), "{logged}");
    assert!(answered.contains("\"unavailable\"") && !answered.contains("disk 3"), "{answered}");
}

#[tokio::test]
async fn who_is_turned_away_is_no_failure_in_the_log_and_what_a_client_did_wrong_is_not_there_at_all() {
    let full = Error::new(ErrorCode::Unavailable, "every place is taken");
    let line = line!() - 1;
    let (logged, answered) = logged_and_answered(full).await;
    assert!(logged.contains("INFO") && logged.contains(&place(line)), "{logged}");
    assert!(answered.contains("every place is taken"), "{answered}");
    for error in [Error::field("name", "is too long"), Error::unauthorized(), Error::not_found("user")] {
        assert_eq!(logged_and_answered(error).await.0, "");
    }
}

#[test]
fn an_error_keeps_what_it_came_from() {
    let error = Error::internal(damaged());
    let source = error.source().expect("a source");
    assert_eq!(source.to_string(), "the key file is damaged");
    assert_eq!(source.source().expect("its own").to_string(), "sector 7 cannot be read");
    assert!(Error::new(ErrorCode::Unavailable, "later").source().is_none());
}
