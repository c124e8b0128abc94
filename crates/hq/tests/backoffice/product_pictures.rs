//! Pictures of products: taken within bounds, written anew, kept by their hash, and fetched by stores.

use std::io::Cursor;

use axum::body::Body;
use axum::http::{HeaderMap, Request, header};
use http_body_util::BodyExt;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::{Value as Json, json};
use tillkeep_hq::testing::Databases as _;
use tillkeep_storage::entity::product_picture;
use tillkeep_storage::sea_orm::{EntityTrait, PaginatorTrait};
use uuid::Uuid;

use super::kit::{Got, Kit, Person, id_of};

/// A picture of one colour, with a word in the file that no answer must have.
fn file(colour: [u8; 3], format: ImageFormat) -> Vec<u8> {
    let picture = DynamicImage::ImageRgb8(RgbImage::from_pixel(640, 400, Rgb(colour)));
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, format).expect("a file");
    let mut file = file.into_inner();
    file.extend(b"taken at home");
    file
}

async fn put(kit: &Kit, who: &Person, id: Uuid, kind: &str, file: Vec<u8>) -> Got {
    put_to(kit, who, &format!("/products/{id}/picture"), kind, file).await
}

async fn put_to(kit: &Kit, who: &Person, path: &str, kind: &str, file: Vec<u8>) -> Got {
    let request = Request::put(format!("/api/v1{path}"))
        .header(header::AUTHORIZATION, format!("Bearer {}", who.token))
        .header(header::CONTENT_TYPE, kind);
    kit.send(request.body(Body::from(file)).expect("a request")).await
}

/// Status, headers and bytes.
async fn fetch(kit: &Kit, token: &str, path: &str, known: Option<&str>) -> (u16, HeaderMap, Vec<u8>) {
    let mut request = Request::get(format!("/api/v1{path}")).header(header::AUTHORIZATION, format!("Bearer {token}"));
    if let Some(known) = known {
        request = request.header(header::IF_NONE_MATCH, known);
    }
    let answer = kit.answer(request.body(Body::empty()).expect("a request")).await;
    let (head, body) = answer.into_parts();
    let bytes = body.collect().await.expect("a body").to_bytes().to_vec();
    (head.status.as_u16(), head.headers, bytes)
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn hash(product: &Json) -> &str {
    product["pictureHash"].as_str().expect("a hash")
}

async fn kept(kit: &Kit) -> u64 {
    product_picture::Entity::find().count(kit.hq.db().reader()).await.expect("a count")
}

#[tokio::test]
async fn a_picture_is_taken_written_anew_and_answered_in_two_sizes() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let product = kit.product(&admin, "P1", json!({})).await;
    assert_eq!(product["pictureHash"], Json::Null);
    let (id, path) = (id_of(&product), format!("/products/{}/picture", id_of(&product)));
    assert_eq!(fetch(&kit, &admin.token, &path, None).await.0, 404);
    for (kind, format) in [
        ("image/png", ImageFormat::Png),
        ("image/webp", ImageFormat::WebP),
        ("application/octet-stream", ImageFormat::Jpeg),
    ] {
        let shown = put(&kit, &admin, id, kind, file([200, 30, 30], format)).await.data();
        assert!(shown["syncVersion"].as_i64() > product["syncVersion"].as_i64(), "{shown}");
        for (query, side) in [("", 320), ("?size=320", 320), ("?size=96", 96)] {
            let (status, headers, bytes) = fetch(&kit, &admin.token, &format!("{path}{query}"), None).await;
            assert_eq!((status, text(&headers, header::CONTENT_TYPE)), (200, "image/jpeg"));
            assert_eq!(text(&headers, header::CACHE_CONTROL), "private, no-cache");
            assert_eq!(text(&headers, header::X_CONTENT_TYPE_OPTIONS), "nosniff");
            assert!(!bytes.windows(13).any(|part| part == b"taken at home"));
            let read = image::load_from_memory_with_format(&bytes, ImageFormat::Jpeg).expect("a JPEG").into_rgb8();
            assert_eq!((read.width(), read.height()), (side, side));
            // The whole of it in the middle, and white around it.
            let (middle, edge) = (read.get_pixel(side / 2, side / 2).0, read.get_pixel(side / 2, 1).0);
            assert!(middle[0] > 180 && middle[1] < 60 && edge.iter().all(|part| *part > 240), "{middle:?} {edge:?}");
            let tag = text(&headers, header::ETAG);
            let again = fetch(&kit, &admin.token, &format!("{path}{query}"), Some(tag)).await;
            assert_eq!((again.0, again.2.len()), (304, 0));
        }
        let fixed = format!("{path}?size=96&hash={}", hash(&shown));
        let (_, headers, _) = fetch(&kit, &admin.token, &fixed, None).await;
        assert_eq!(text(&headers, header::CACHE_CONTROL), "private, max-age=31536000, immutable");
    }
    kit.get(&admin, &format!("{path}?size=97")).await.names("size");
}

#[tokio::test]
async fn what_is_no_small_picture_is_refused_and_changes_nothing() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let product = kit.product(&admin, "P1", json!({})).await;
    let id = id_of(&product);
    let good = file([1, 2, 3], ImageFormat::Png);
    put(&kit, &admin, id, "text/html", good.clone()).await.refused(415, "unsupported_media_type");
    put(&kit, &admin, id, "image/png", b"<svg xmlns=''/>".to_vec()).await.names("picture");
    put(&kit, &admin, id, "image/png", good[..200].to_vec()).await.names("picture");
    put(&kit, &admin, id, "image/png", Vec::new()).await.names("picture");
    let mut large = good.clone();
    large.resize((2 << 20) + 1, 0);
    put(&kit, &admin, id, "image/png", large).await.refused(413, "payload_too_large");
    put(&kit, &admin, Uuid::now_v7(), "image/png", good.clone()).await.is(404);
    let outdated = format!("/products/{id}/picture?expectedVersion=1000000");
    put_to(&kit, &admin, &outdated, "image/png", good.clone()).await.refused(409, "version_conflict");
    kit.role(&admin, "looker", &["products.view"]).await;
    let looker = kit.person("looker", &[("looker", None)]).await;
    put(&kit, &looker, id, "image/png", good).await.refused(403, "forbidden");
    kit.delete(&looker, &format!("/products/{id}/picture")).await.refused(403, "forbidden");
    assert_eq!(kit.get(&admin, &format!("/products/{id}")).await.data(), product);
    assert_eq!(kept(&kit).await, 0);
}

#[tokio::test]
async fn one_picture_of_many_products_is_kept_once_and_goes_a_day_after_the_last_of_them() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let mut ids = Vec::new();
    for sku in ["P1", "P2", "P3"] {
        ids.push(id_of(&kit.product(&admin, sku, json!({})).await));
    }
    let red = || file([200, 0, 0], ImageFormat::Png);
    for id in &ids {
        put(&kit, &admin, *id, "image/png", red()).await.is(200);
    }
    assert_eq!(kept(&kit).await, 2, "two sizes of one");
    // Eight at once: each is taken, and the product has one of them.
    let sent =
        (0..8_u8).map(|shade| put(&kit, &admin, ids[0], "image/png", file([0, shade * 30, 0], ImageFormat::Png)));
    for got in futures_util::future::join_all(sent).await {
        got.is(200);
    }
    let path = format!("/products/{}/picture", ids[0]);
    assert_eq!(fetch(&kit, &admin.token, &path, None).await.0, 200);
    assert_eq!(kept(&kit).await, 18, "stores may not have heard of the change");
    kit.delete(&admin, &path).await.is(204);
    kit.delete(&admin, &path).await.is(204);
    assert_eq!(fetch(&kit, &admin.token, &path, None).await.0, 404);
    kit.clock.advance(25 * 3600 * 1000);
    let admin = Person { token: kit.sign_in(admin.id, "admin", None).await, ..admin };
    put(&kit, &admin, ids[0], "image/png", file([9, 9, 9], ImageFormat::Png)).await.is(200);
    assert_eq!(kept(&kit).await, 4, "the one of the other products, and the new one");
}

#[tokio::test]
async fn a_picture_of_long_ago_stays_for_a_day_after_another_one_came() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let id = id_of(&kit.product(&admin, "P1", json!({})).await);
    put(&kit, &admin, id, "image/png", file([200, 0, 0], ImageFormat::Png)).await.is(200);
    kit.clock.advance(25 * 3600 * 1000);
    let admin = Person { token: kit.sign_in(admin.id, "admin", None).await, ..admin };
    put(&kit, &admin, id, "image/png", file([0, 200, 0], ImageFormat::Png)).await.is(200);
    assert_eq!(kept(&kit).await, 4, "stores may not have heard of the change");
}

#[tokio::test]
async fn the_hash_travels_with_the_product_and_a_store_fetches_what_it_names() {
    let kit = Kit::new().await;
    let admin = kit.admin().await;
    let store = kit.store("S01").await;
    let token = kit.sync_token(store);
    let product = kit.product(&admin, "P1", json!({})).await;
    let shown = put(&kit, &admin, id_of(&product), "image/png", file([7, 80, 90], ImageFormat::Png)).await.data();
    let since = product["syncVersion"].as_i64().expect("a version");
    let page = kit.ask(&token, &format!("/pull?entity_type=products&since_version={since}")).await;
    assert_eq!(page["rows"][0]["pictureHash"], shown["pictureHash"], "{page}");
    let path = format!("/sync/pictures/{}", hash(&shown));
    let (status, headers, bytes) = fetch(&kit, &token, &format!("{path}?size=96"), None).await;
    assert_eq!((status, text(&headers, header::CONTENT_TYPE)), (200, "image/jpeg"));
    assert!(headers.contains_key("tillkeep-protocol") && bytes.starts_with(&[0xff, 0xd8, 0xff]));
    assert_eq!(fetch(&kit, &token, &format!("/sync/pictures/{}", "0".repeat(32)), None).await.0, 404);
    assert_eq!(fetch(&kit, &admin.token, &path, None).await.0, 401, "no person asks that");
    let audited = kit.get(&admin, "/audit-log?action=edit").await.data();
    assert!(audited.to_string().contains(hash(&shown)), "{audited}");
}
