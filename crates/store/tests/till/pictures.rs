//! `GET /pos/pictures/{hash}`: fetched when a till asks first, kept, and there without a line from then on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::json;
use tillkeep_storage::entity::product_picture;
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tillkeep_store::sync::Cycle;

use crate::kit::Shop;

const JPEG: &[u8] = &[0xff, 0xd8, 0xff, 0xe0, 1, 2, 3];

/// A headquarters that has one picture, while it is there at all.
#[derive(Default)]
struct Has {
    is_away: AtomicBool,
    is_a_portal: AtomicBool,
    asked: AtomicUsize,
}

#[async_trait::async_trait]
impl Transport for Has {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let path = request.path.split('?').next().unwrap_or_default();
        let reply = |status, body: Vec<u8>| Reply { status, from_hq: true, retry_after: None, body: body.into() };
        let of_json = |body: serde_json::Value| reply(200, body.to_string().into_bytes());
        Ok(match path {
            "/handshake" => of_json(json!({
                "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                "clock": "2026-11-20T12:00:00.000Z",
            })),
            "/versions" => of_json(json!({"epoch": "e", "versions": {}})),
            _ if path.starts_with("/pictures/") => {
                self.asked.fetch_add(1, Ordering::SeqCst);
                if self.is_away.load(Ordering::SeqCst) {
                    return Err("no line".to_owned());
                }
                if self.is_a_portal.load(Ordering::SeqCst) {
                    return Ok(reply(200, b"<html>Please sign in".to_vec()));
                }
                reply(200, JPEG.to_vec())
            }
            _ => of_json(json!({"entity_type": "departments", "since_version": 0, "rows": [], "latest_version": 0})),
        })
    }
}

fn hash(letter: char) -> String {
    letter.to_string().repeat(32)
}

#[tokio::test]
async fn a_picture_is_fetched_once_kept_and_there_without_a_line() {
    let hq = Arc::new(Has::default());
    let shop = Shop::with_line(hq.clone()).await;
    let till = shop.sign_in("cashier").await;
    let path = format!("/pos/pictures/{}?size=96", hash('a'));
    till.get(&path).await.refused(404, "not_found");
    shop.change_product("TEA", |row| row.picture_hash = Some(hash('a'))).await;
    // Nobody asks without a line, and it is there when there is one.
    till.get(&path).await.refused(404, "not_found");
    assert_eq!(hq.asked.load(Ordering::SeqCst), 0);
    Cycle::default().step(&shop.store).await;
    for wrong in [&hq.is_away, &hq.is_a_portal] {
        wrong.store(true, Ordering::SeqCst);
        till.get(&path).await.refused(404, "not_found");
        wrong.store(false, Ordering::SeqCst);
    }
    assert_eq!(shop.count::<product_picture::Entity>().await, 0);
    let before = hq.asked.load(Ordering::SeqCst);
    for _ in 0..3 {
        let (headers, bytes) = till.fetch(&path).await;
        assert_eq!((bytes.as_slice(), headers["content-type"].as_bytes()), (JPEG, &b"image/jpeg"[..]));
        assert!(headers["cache-control"].to_str().expect("a text").contains("immutable"));
        let tag = headers["etag"].to_str().expect("a text").to_owned();
        assert_eq!(till.response(&path, &[("if-none-match", tag.as_str())]).await.status(), 304);
        hq.is_away.store(true, Ordering::SeqCst);
    }
    assert_eq!(hq.asked.load(Ordering::SeqCst), before + 1, "it is kept");
    assert_eq!(shop.count::<product_picture::Entity>().await, 1);
}

#[tokio::test]
async fn nobody_has_the_store_ask_for_what_no_product_has() {
    let hq = Arc::new(Has::default());
    let shop = Shop::with_line(hq.clone()).await;
    Cycle::default().step(&shop.store).await;
    let till = shop.sign_in("cashier").await;
    for hash in [hash('b').as_str(), "..%2F..%2Fversions", "short", &hash('B'), &"0".repeat(33)] {
        till.get(&format!("/pos/pictures/{hash}")).await.refused(404, "not_found");
    }
    assert_eq!(hq.asked.load(Ordering::SeqCst), 0);
    shop.change_product("TEA", |row| row.picture_hash = Some(hash('b'))).await;
    till.get(&format!("/pos/pictures/{}?size=5000", hash('b'))).await.refused_at(422, "validation", "size");
}

#[tokio::test]
async fn a_till_that_keeps_a_catalogue_learns_the_hash() {
    let shop = Shop::open().await;
    let till = shop.sign_in("cashier").await;
    shop.change_product("TEA", |row| row.picture_hash = Some(hash('c'))).await;
    let page = till.get("/pos/catalogue").await.ok(200);
    let rows = page["products"].as_array().expect("products");
    assert_eq!(rows.iter().filter(|row| row["pictureHash"] == hash('c')).count(), 1, "{page}");
}
