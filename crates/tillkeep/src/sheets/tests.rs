use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use tempfile::TempDir;
use tokio::net::TcpListener;

use super::*;

const TAKEN: &str = r#"{"data":{"rows":1,"created":0,"updated":1,"unchanged":0,"errors":[],"errorCount":0}}"#;
const SIGNED_IN: &str = r#"{"data":{"accessToken":"e30.e30.x","user":{"mustChangePin":false}}}"#;
const BUSY: &str = r#"{"error":"too many at once","code":"too_many_requests"}"#;
const FORBIDDEN: &str = r#"{"error":"not yours","code":"forbidden"}"#;
const FAILED: &str = r#"{"error":"something went wrong","code":"internal"}"#;

/// A status, after how many seconds to come again, and what is said.
type Answer = (u16, &'static str, &'static str);

/// A headquarters that answers so, one after the other, and how often it was asked.
async fn answering(answers: &'static [Answer]) -> (Headquarters, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    // A request is answered when all of it is there.
    let answer = move |_: Bytes| {
        let (status, after, said) = answers[count.fetch_add(1, Ordering::Relaxed)];
        async move { (StatusCode::from_u16(status).expect("a status"), [(RETRY_AFTER, after)], said) }
    };
    let routes = Router::new().fallback(answer);
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (Headquarters::at(url, None).expect("a client"), asked)
}

/// What comes of a file that is answered so, and how often it was sent.
async fn sent(answers: &'static [Answer], dry_run: bool) -> (Result<u8, String>, usize) {
    let (hq, asked) = answering(answers).await;
    let dir = TempDir::new().expect("a directory");
    let path = dir.path().join("products.csv");
    fs::write(&path, "sku,price\nTEA,6.25\n").expect("a file");
    let sheet = Sheet::open(&path).expect("it is taken");
    let job = Job { path: "/products/import", query: Vec::new(), key: "k-1".to_owned(), dry_run };
    let done = sending::send(&hq, &sheet, &job).await;
    (done.map_err(|error| format!("{error:#}")), asked.load(Ordering::Relaxed))
}

#[tokio::test]
async fn after_an_answer_of_which_nobody_knows_what_it_means_the_key_is_named() {
    let (done, times) = sent(&[(500, "", FAILED)], false).await;
    let said = done.expect_err("it failed");
    assert!(said.contains("headquarters says: something went wrong; ") && said.contains("--key k-1"), "{said}");
    assert_eq!(times, 1, "it is not sent again by itself");
    let (done, _) = sent(&[(500, "", FAILED)], true).await;
    let said = done.expect_err("it failed");
    assert!(said.contains("nothing was written") && !said.contains("--key"), "{said}");

    let (done, times) = sent(&[(502, "", "<html>"), (403, "", FORBIDDEN)], false).await;
    let said = done.expect_err("it is refused");
    assert!(said.contains("not yours") && said.contains("--key k-1"), "the first may have been taken: {said}");
    assert_eq!(times, 2);
}

#[tokio::test]
async fn a_refusal_after_which_nothing_was_done_names_no_key() {
    for (answers, times) in [(&[(403, "", FORBIDDEN)][..], 1), (&[(429, "1", BUSY), (403, "", FORBIDDEN)][..], 2)] {
        let (done, asked) = sent(answers, false).await;
        let said = done.expect_err("it is refused");
        assert!(said.contains("not yours") && !said.contains("--key"), "{said}");
        assert_eq!(asked, times);
    }
}

#[tokio::test]
async fn a_file_is_sent_again_when_headquarters_has_too_much_to_do() {
    assert_eq!(sent(&[(429, "1", BUSY), (200, "", TAKEN)], false).await, (Ok(0), 2));
    let (done, times) = sent(&[(429, "900", BUSY), (200, "", TAKEN)], false).await;
    assert!(done.expect_err("nobody waits so long").contains("too many at once"));
    assert_eq!(times, 1);
}

/// Whether somebody is signed in who is answered so, and how often that was asked for.
async fn signed_in(answers: &'static [Answer]) -> (Result<(), String>, usize) {
    let (hq, asked) = answering(answers).await;
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("pin");
    fs::write(&file, "739154\n").expect("a file");
    let by = By::Pin { name: "ann".to_owned(), file: Some(file) };
    let done = sign_in::sign_in(hq, &by).await;
    (done.map(drop).map_err(|error| format!("{error:#}")), asked.load(Ordering::Relaxed))
}

#[tokio::test]
async fn a_sign_in_is_tried_again_when_headquarters_asks_for_that_soon() {
    assert_eq!(signed_in(&[(429, "1", BUSY), (200, "", SIGNED_IN)]).await, (Ok(()), 2));
    let (done, times) = signed_in(&[(429, "900", BUSY), (200, "", SIGNED_IN)]).await;
    assert!(done.expect_err("nobody waits so long").contains("too many at once"));
    assert_eq!(times, 1);
}

#[test]
fn without_an_address_it_is_headquarters_of_this_machine() {
    let mut hq = configuration::load(None).expect("a configuration").hq;
    for (listen, url) in [
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("0.0.0.0:80", "http://127.0.0.1:80"),
        ("[::]:8080", "http://[::1]:8080"),
        ("localhost:8080", "http://localhost:8080"),
    ] {
        listen.clone_into(&mut hq.listen);
        assert_eq!(of_this_machine(&hq).expect("an address"), url);
    }
    "127.0.0.1:0".clone_into(&mut hq.listen);
    assert!(format!("{:#}", of_this_machine(&hq).expect_err("no port")).contains("--url"));
    "127.0.0.1:8080".clone_into(&mut hq.listen);
    hq.tls_cert = "hq.pem".into();
    assert!(format!("{:#}", of_this_machine(&hq).expect_err("a name is needed")).contains("--url"));
}

#[test]
fn a_period_ends_after_it_begins() {
    let day = |text: &str| Some(text.parse::<NaiveDate>().expect("a date"));
    let query = business_dates(day("2026-11-01"), day("2026-11-30")).expect("a period");
    let expected = [("businessDateFrom", "2026-11-01".to_owned()), ("businessDateTo", "2026-11-30".to_owned())];
    assert_eq!(query, expected);
    assert!(business_dates(day("2026-11-02"), day("2026-11-01")).is_err());
    assert!(business_dates(None, None).expect("no period").is_empty());
}
