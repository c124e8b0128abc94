//! Bodies that are more than they seem: refused while they are read, without taking the memory they ask for.

use async_compression::tokio::bufread::{GzipEncoder, ZstdEncoder};
use axum::body::Body;
use axum::http::{Request, header};
use serde_json::json;
use tokio::io::{self, AsyncRead, AsyncReadExt};
use uuid::Uuid;

use super::kit::{Got, Kit};

/// Above what a push may unfold to.
const TOO_MUCH: usize = (64 << 20) + 1024;

async fn push(kit: &Kit, token: &str, encoding: &str, body: Vec<u8>) -> Got {
    let request = Request::post("/api/v1/sync/push")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::CONTENT_ENCODING, encoding)
        .header(header::AUTHORIZATION, format!("Bearer {token}"));
    kit.send(request.body(Body::from(body)).expect("request")).await
}

async fn store_token(kit: &Kit) -> String {
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let got = kit.post(&admin, &format!("/stores/{store}/provision"), json!({})).await.data();
    got["syncToken"].as_str().expect("a token").to_owned()
}

#[tokio::test]
async fn a_small_body_that_unfolds_to_too_much_is_refused() {
    let kit = Kit::new().await;
    let token = store_token(&kit).await;
    let spaces = vec![b' '; TOO_MUCH];
    let (mut gzip, mut zstd) = (Vec::new(), Vec::new());
    GzipEncoder::new(spaces.as_slice()).read_to_end(&mut gzip).await.expect("gzip");
    ZstdEncoder::new(spaces.as_slice()).read_to_end(&mut zstd).await.expect("zstd");
    assert!(gzip.len() < 1 << 20 && zstd.len() < 1 << 20);
    push(&kit, &token, "gzip", gzip).await.refused(413, "payload_too_large");
    push(&kit, &token, "zstd", zstd).await.refused(413, "payload_too_large");
}

#[tokio::test]
async fn a_compressed_push_is_read_and_a_broken_one_is_not() {
    let kit = Kit::new().await;
    let token = store_token(&kit).await;
    let empty = br#"{"envelopes": []}"#;
    let mut zstd = Vec::new();
    ZstdEncoder::new(empty.as_slice()).read_to_end(&mut zstd).await.expect("zstd");
    push(&kit, &token, "zstd", zstd.clone()).await.is(200);
    push(&kit, &token, "gzip", zstd).await.refused(400, "incomplete_body");
    push(&kit, &token, "br", empty.to_vec()).await.refused(415, "unsupported_media_type");
    let deep = format!(r#"{{"envelopes": [{}{}]}}"#, "[".repeat(100), "]".repeat(100));
    push(&kit, &token, "identity", deep.into_bytes()).await.refused(400, "unreadable_json");
}

/// The most memory that this process has had so far, in MiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the state of this process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("VmHWM");
    line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).expect("KiB") / 1024
}

/// `start`, so many letters and `end`, compressed piece by piece.
async fn stuffed(start: &str, letters: u64, end: &str) -> Vec<u8> {
    let middle: Box<dyn AsyncRead + Unpin> = Box::new(io::repeat(b'x').take(letters));
    let whole = start.as_bytes().chain(middle).chain(end.as_bytes());
    let mut packed = Vec::new();
    ZstdEncoder::new(io::BufReader::new(whole)).read_to_end(&mut packed).await.expect("zstd");
    packed
}

#[tokio::test]
async fn customers_of_forty_mebibytes_are_refused_take_little_memory_and_reach_no_store() {
    let kit = Kit::new().await;
    let store = kit.store("S01").await;
    let (token, other) = (kit.sync_token(store), kit.sync_token(kit.store("S02").await));
    let before = peak_memory();
    for number in 0..3_u128 {
        let id = Uuid::from_u128(number + 1);
        let start = format!(
            r#"{{"envelopes": [{{"store_id": "{store}", "entity_type": "customers", "entity_id": "{id}",
                 "action": "create", "timestamp": "2026-11-20T12:00:00Z", "data": {{"id": "{id}", "notes": ""#
        );
        let packed = stuffed(&start, 40 << 20, r#""}}]}"#).await;
        assert!(packed.len() < 64 << 10, "{} bytes on the wire", packed.len());
        let answer = push(&kit, &token, "zstd", packed).await;
        answer.is(200);
        let result = &answer.body["results"][0];
        assert_eq!((&result["status"], &result["code"]), (&json!("error"), &json!("too_large")), "{result}");
        assert!(result["error"].as_str().is_some_and(|text| text.starts_with("data.notes: ")), "{result}");
    }
    let grown = peak_memory() - before;
    assert!(grown < 80, "pushes of 40 MiB took {grown} MiB");
    let pulled = kit.ask(&other, "/pull?entity_type=customers&since_version=0&limit=100").await;
    assert_eq!(pulled["rows"], json!([]));
}

#[tokio::test]
async fn more_envelopes_than_a_request_may_have_are_counted_and_not_kept() {
    let kit = Kit::new().await;
    let token = store_token(&kit).await;
    let body = [r#"{"envelopes": ["#.to_owned(), "1,".repeat(4 << 20), "1]}".to_owned()].concat().into_bytes();
    let before = peak_memory();
    let got = push(&kit, &token, "identity", body).await;
    got.refused(400, "too_many_envelopes");
    assert!(got.text.contains("more than 1000 envelopes"), "{}", got.text);
    let grown = peak_memory() - before;
    assert!(grown < 12, "a body of 8 MiB took {grown} MiB");
}
