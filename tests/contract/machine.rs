//! What makes an answer headquarters' own to a store. `docs/sync.md`, rule U2.

use axum::body::Body;
use axum::http::{Request, header};
use tillkeep_http::routes::Protection;
use tower::ServiceExt;

use crate::kit::World;

#[tokio::test]
async fn every_answer_of_the_machine_protocol_bears_the_mark_of_headquarters_refusals_too() {
    let world = World::new().await;
    let hq = &world.servers[0];
    let token = format!("Bearer {}", world.sync_token);
    let mut routes = 0;
    for route in
        hq.routes.iter().filter(|route| matches!(route.protection, Protection::Sync) && route.path != "/sync/ws")
    {
        routes += 1;
        for (method, query, token, body) in [
            (route.method, "", "", "{}"),
            (route.method, "", "Bearer a.b.c", "{}"),
            (route.method, "", &*token, "{}"),
            (route.method, "", &*token, "no JSON"),
            (route.method, "?unknown=yes", &*token, "{}"),
            ("PUT", "", &*token, "{}"),
        ] {
            let request = Request::builder().method(method).uri(format!("{}{query}", route.full_path()));
            let request = request.header(header::AUTHORIZATION, token).header(header::CONTENT_TYPE, "application/json");
            let request = request.body(Body::from(body)).expect("a request");
            let answer = hq.router.clone().oneshot(request).await.expect("an answer");
            let mark = answer.headers().get("tillkeep-protocol").and_then(|value| value.to_str().ok());
            assert_eq!(mark, Some("1"), "{method} {}{query} {}: {}", route.path, token.len(), answer.status());
        }
    }
    assert!(routes >= 5, "{routes} routes");
}

#[tokio::test]
async fn no_page_of_another_site_opens_a_socket() {
    let world = World::new().await;
    let hq = &world.servers[0];
    for (origin, status) in
        [(None, 426), (Some("https://hq.example.com"), 426), (Some("https://evil.example"), 403), (Some("null"), 403)]
    {
        let request = Request::get("/api/v1/sync/ws").header(header::HOST, "hq.example.com");
        let mut request = request.header(header::AUTHORIZATION, format!("Bearer {}", world.sync_token));
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        let got = hq.send(request.body(Body::empty()).expect("a request")).await;
        assert_eq!(got.status, status, "{origin:?}: {}", got.text);
    }
}
