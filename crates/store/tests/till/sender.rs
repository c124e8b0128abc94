//! What the sender of the outbox makes of each kind of refusal. `docs/sync.md`, rules U2 and U4.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};
use tillkeep_store::sync::{Reply, Request, Round, Sender, Transport};

use crate::kit::{Shop, line};

/// A headquarters, or something before it, that answers each push in one way and other requests well.
struct Refusing {
    status: u16,
    body: Json,
    retry_after: Option<Duration>,
    /// How many entries each push had.
    pushed: Mutex<Vec<usize>>,
    /// Whether it answers anything else.
    well: bool,
}

impl Refusing {
    fn new(status: u16, code: Option<&str>, retry_after: Option<u64>) -> Self {
        let body = code.map_or(Json::Null, |code| json!({"success": false, "error": "words", "code": code}));
        let retry_after = retry_after.map(Duration::from_secs);
        Self { status, body, retry_after, pushed: Mutex::default(), well: true }
    }
}

#[async_trait::async_trait]
impl Transport for Refusing {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        if request.path.starts_with("/versions") && self.well {
            let body = json!({"epoch": "e", "versions": {}}).to_string();
            return Ok(Reply { status: 200, retry_after: None, body: body.into() });
        }
        if let Some(body) = request.json {
            let sent: Json = serde_json::from_slice(&body).expect("JSON");
            self.pushed.lock().expect("nobody panicked").push(sent["envelopes"].as_array().map_or(0, Vec::len));
        }
        Ok(Reply { status: self.status, retry_after: self.retry_after, body: self.body.to_string().into() })
    }
}

/// What a few rounds came to: the sizes of the pushes, the attempts that were counted, the last round.
async fn rounds(hq: Refusing) -> (Vec<usize>, i32, Round) {
    let hq = Arc::new(hq);
    let shop = Shop::with_line(hq.clone()).await;
    let till = shop.selling().await;
    for _ in 0..3 {
        till.sell(json!([line("TEA", 1)])).await.ok(201);
    }
    assert_eq!(shop.outbox().await.len(), 4, "an opened drawer and three sales");
    let mut sender = Sender::default();
    let mut last = Round::Sent;
    for _ in 0..3 {
        last = sender.step(&shop.store).await;
    }
    let attempts = shop.outbox().await.iter().map(|entry| entry.attempts).sum();
    let pushed = hq.pushed.lock().expect("nobody panicked").clone();
    (pushed, attempts, last)
}

#[tokio::test]
async fn what_headquarters_says_of_the_content_is_halved_down_to_the_culprit_which_counts_an_attempt() {
    for (status, code) in [
        (400, "unreadable_json"),
        (413, "payload_too_large"),
        (422, "validation"),
        (422, "of_a_newer_release"),
        (500, "internal"),
    ] {
        let (pushed, attempts, last) = rounds(Refusing::new(status, Some(code), None)).await;
        assert_eq!((pushed, attempts, last), (vec![4, 2, 1], 1, Round::Sent), "{status} {code}");
    }
}

#[tokio::test]
async fn what_something_in_between_says_is_halved_as_well_and_counts_nothing_but_for_a_limit_on_size() {
    for (status, counted) in [(400, 0), (404, 0), (500, 0), (502, 0), (504, 0), (413, 1)] {
        let (pushed, attempts, _) = rounds(Refusing::new(status, None, None)).await;
        assert_eq!((pushed, attempts), (vec![4, 2, 1], counted), "{status}");
    }
}

#[tokio::test]
async fn a_refusal_that_passes_by_itself_halves_nothing_and_the_word_of_headquarters_is_obeyed() {
    for (status, code) in [
        (503, Some("unavailable")),
        (503, Some("store_not_ready")),
        (429, Some("too_many_requests")),
        (503, None),
        (429, None),
    ] {
        let (pushed, attempts, last) = rounds(Refusing::new(status, code, Some(7))).await;
        let obeyed = Round::Obey(Duration::from_secs(7));
        assert_eq!((pushed, attempts, last), (vec![4, 4, 4], 0, obeyed), "{status} {code:?}");
        let (pushed, attempts, last) = rounds(Refusing::new(status, code, None)).await;
        assert_eq!((pushed, attempts), (vec![4, 4, 4], 0), "{status} {code:?}");
        assert!(matches!(last, Round::Wait(_)), "{last:?}");
    }
}

#[tokio::test]
async fn what_is_said_of_the_token_the_epoch_or_the_line_is_no_verdict_on_an_entry() {
    for (status, code) in [
        (401, None),
        (403, Some("forbidden")),
        (409, Some("epoch_changed")),
        (408, Some("request_timeout")),
        (408, None),
        (400, Some("incomplete_body")),
        (302, None),
    ] {
        let (pushed, attempts, last) = rounds(Refusing::new(status, code, None)).await;
        assert_eq!((pushed, attempts), (vec![4, 4, 4], 0), "{status} {code:?}");
        assert!(matches!(last, Round::Wait(_)), "{status} {code:?}: {last:?}");
    }
}

#[tokio::test]
async fn a_headquarters_that_refuses_everything_is_no_verdict_on_an_entry() {
    let hq = Refusing { well: false, ..Refusing::new(500, Some("internal"), None) };
    let (pushed, attempts, last) = rounds(hq).await;
    assert_eq!((pushed, attempts), (vec![4, 4, 4], 0));
    assert!(matches!(last, Round::Wait(_)), "{last:?}");
}
