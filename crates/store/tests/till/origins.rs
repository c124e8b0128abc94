//! Which pages of other origins may call a store from a browser.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use tillkeep_http::layers::for_origins;
use tillkeep_store::routes;
use tower::ServiceExt;

use crate::kit::Shop;

const TILL: &str = "https://till.example.com";

async fn server(origins: &[&str]) -> (Shop, Router) {
    let shop = Shop::open().await;
    let router = for_origins(routes::router(shop.store.clone(), &[]), origins.iter().copied());
    (shop, router)
}

async fn ask(router: &Router, method: &str, origin: &str, more: &[(&str, &str)]) -> (StatusCode, HeaderMap) {
    let mut request = Request::builder().method(method).uri("/api/v1/pos/events").header("origin", origin);
    for (name, value) in more {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::empty()).expect("a request");
    let answer = router.clone().oneshot(request).await.expect("an answer");
    (answer.status(), answer.headers().clone())
}

fn text(headers: &HeaderMap, name: &str) -> String {
    let values = headers.get_all(name).iter().map(|value| value.to_str().expect("a text").to_lowercase());
    values.collect::<Vec<_>>().join(",")
}

const PREFLIGHT: [(&str, &str); 2] = [
    ("access-control-request-method", "POST"),
    ("access-control-request-headers", "authorization,content-type,idempotency-key,last-event-id,if-none-match"),
];

#[tokio::test]
async fn a_page_of_a_named_origin_may_send_all_that_a_till_sends_and_read_what_it_gets() {
    let (_shop, router) = server(&[TILL, "http://localhost:5173"]).await;
    for origin in [TILL, "http://localhost:5173"] {
        let (status, headers) = ask(&router, "OPTIONS", origin, &PREFLIGHT).await;
        assert!(status.is_success(), "{status}");
        assert_eq!(text(&headers, "access-control-allow-origin"), origin);
        let allowed = text(&headers, "access-control-allow-headers");
        let sent = ["authorization", "content-type", "tillkeep-device", "idempotency-key", "if-none-match"];
        for name in sent.into_iter().chain(["last-event-id"]) {
            assert!(allowed.contains(name), "{name} in {allowed}");
        }
        let methods = text(&headers, "access-control-allow-methods");
        assert!(["get", "post", "put", "patch", "delete"].iter().all(|name| methods.contains(name)), "{methods}");
        assert_eq!(text(&headers, "access-control-allow-credentials"), "", "no cookie counts");
        // A refusal is read too: it says what to do.
        let (status, headers) = ask(&router, "GET", origin, &[]).await;
        assert_eq!(
            (status, text(&headers, "access-control-allow-origin").as_str()),
            (StatusCode::UNAUTHORIZED, origin)
        );
        let shown = text(&headers, "access-control-expose-headers");
        for name in ["etag", "retry-after", "x-request-id", "idempotency-replayed"] {
            assert!(shown.contains(name), "{name} in {shown}");
        }
        assert!(text(&headers, "vary").contains("origin"));
    }
}

#[tokio::test]
async fn a_page_of_any_other_origin_may_do_nothing_and_none_may_unless_it_is_named() {
    for named in [vec![TILL], vec![]] {
        let (_shop, router) = server(&named).await;
        let others =
            ["https://till.example.com.evil.test", "http://till.example.com", "https://till.example.com:8443", "null"];
        for origin in others.into_iter().chain(named.is_empty().then_some(TILL)) {
            for (method, more) in [("OPTIONS", &PREFLIGHT[..]), ("GET", &PREFLIGHT[..0])] {
                let (_, headers) = ask(&router, method, origin, more).await;
                assert_eq!(text(&headers, "access-control-allow-origin"), "", "{method} {origin}");
            }
        }
    }
}
