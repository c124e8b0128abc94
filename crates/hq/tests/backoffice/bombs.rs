//! Bodies that are more than they seem: refused while they are read, without taking the memory they ask for.

use async_compression::tokio::bufread::{GzipEncoder, ZstdEncoder};
use axum::body::Body;
use axum::http::{Request, header};
use serde_json::json;
use tokio::io::AsyncReadExt;

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
    push(&kit, &token, "gzip", zstd).await.refused(400, "bad_request");
    push(&kit, &token, "br", empty.to_vec()).await.refused(415, "unsupported_media_type");
    let deep = format!(r#"{{"envelopes": [{}{}]}}"#, "[".repeat(100), "]".repeat(100));
    push(&kit, &token, "identity", deep.into_bytes()).await.refused(400, "unreadable_json");
}
