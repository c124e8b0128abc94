//! What every answer of every route tells browsers.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, Request, header};
use http_body_util::BodyExt;
use tillkeep_http::routes::Protection;
use tower::ServiceExt;

use crate::kit::{Server, World, path_of};

/// What makes a browser keep something, go elsewhere, or let another site read.
const NEVER: [HeaderName; 4] = [
    header::SET_COOKIE,
    header::LOCATION,
    header::ACCESS_CONTROL_ALLOW_ORIGIN,
    header::ACCESS_CONTROL_ALLOW_CREDENTIALS,
];
/// Without these a browser loads or runs what it should not.
const POLICY: [&str; 4] = ["default-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"];

/// The headers of an answer to a page of another site, and whether it has a body.
async fn headers(server: &Server, method: &str, path: &str, token: Option<&str>) -> (HeaderMap, bool) {
    let mut request = Request::builder().method(method).uri(path).header(header::ORIGIN, "https://evil.example");
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    let request = request.header(header::CONTENT_TYPE, "application/json");
    let body = if method == "GET" { Body::empty() } else { Body::from("{}") };
    let answer = server.router.clone().oneshot(request.body(body).expect("a request")).await.expect("an answer");
    let (head, body) = answer.into_parts();
    // A stream of events goes on.
    let endless = head.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event"));
    let has_body = endless || !body.collect().await.expect("a body").to_bytes().is_empty();
    (head.headers, has_body)
}

fn judge(headers: &HeaderMap, has_body: bool, may_be_kept: bool, what: &str) {
    let said = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    for name in NEVER {
        assert_eq!(headers.get(&name), None, "{what}");
    }
    for part in POLICY {
        assert!(said(header::CONTENT_SECURITY_POLICY).contains(part), "{what}: {headers:?}");
    }
    assert_eq!(said(header::X_CONTENT_TYPE_OPTIONS), "nosniff", "{what}");
    assert_eq!(said(header::REFERRER_POLICY), "no-referrer", "{what}");
    if !may_be_kept {
        assert_eq!(said(header::CACHE_CONTROL), "no-store", "{what}");
    }
    let kind = said(header::CONTENT_TYPE);
    assert_eq!(!kind.is_empty(), has_body, "{what}: {headers:?}");
    let has_charset = kind.ends_with("charset=utf-8") || !(kind.starts_with("text/") || kind.contains("xml"));
    assert!(has_charset, "{what}: {kind}");
}

#[tokio::test]
async fn every_answer_says_what_it_is_sets_no_cookie_and_sends_no_caller_elsewhere() {
    let world = World::new().await;
    let mut seen = 0;
    for server in &world.servers {
        for route in &server.routes {
            let path = path_of(&route.full_path());
            // A session of its own: some routes end the one they are called with.
            let token = match route.protection {
                Protection::Sync => world.sync_token.clone(),
                _ => server.sign_in(world.admin).await,
            };
            for token in [None, Some(token.as_str())] {
                let what = format!("{} {path} at {} with {:?}", route.method, server.name, token.is_some());
                let (headers, has_body) = headers(server, route.method, &path, token).await;
                judge(&headers, has_body, false, &what);
                seen += 1;
            }
        }
        let pages = ["/", "/hq/sync", "/store", "/store/drawers", "/till", "/till/display", "/docs", "/nowhere"];
        let files = ["/favicon.svg", "/till-sw.js", "/till.webmanifest", "/docs/icon.svg", "/api/v1/openapi.json"];
        for path in pages.into_iter().chain(files) {
            let (headers, has_body) = headers(server, "GET", path, None).await;
            judge(&headers, has_body, true, &format!("{path} at {}", server.name));
        }
    }
    assert!(seen > 400, "{seen}");
}
