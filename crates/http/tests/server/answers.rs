//! One form for every failure, and the headers of every answer.

use tillkeep_http::server::Limits;

use crate::kit::Server;

/// Words that only the inside of this program says.
const INSIDE: [&str; 8] = ["sqlite", "unique", "constraint", "column", "relation", "panicked", "src/", "axum"];

#[tokio::test]
async fn whatever_fails_is_answered_in_one_form_that_says_nothing_of_the_inside() {
    let server = Server::start(Limits::default()).await;
    let failing = [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/api/v1/nowhere?token=x", 404, "not_found"),
        ("GET", "/api/v1/%FF%00", 404, "not_found"),
        ("DELETE", "/api/v1/hello", 405, "method_not_allowed"),
        ("POST", "/api/v1/echo", 415, "unsupported_media_type"),
        ("GET", "/api/v1/broken", 500, "internal"),
        ("GET", "/api/v1/broken-later", 500, "internal"),
    ];
    for (method, path, status, code) in failing {
        let reply = server.ask(method, path).await;
        assert_eq!(reply.refused(status), code, "{method} {path}");
        let said = reply.text.to_lowercase();
        for word in INSIDE {
            assert!(!said.contains(word), "{word} in {}", reply.text);
        }
    }
    let reply = server.ask("PATCH", "/api/v1/hello").await;
    assert_eq!(reply.header("allow"), Some("GET,HEAD"));
    let reply = server.ask("PUT", "/api/v1/sync/push").await;
    assert_eq!((reply.status, reply.header("tillkeep-protocol")), (405, Some("1")));
}

#[tokio::test]
async fn every_answer_tells_browsers_to_be_careful() {
    let server = Server::start(Limits::default()).await;
    let policy = "default-src 'self'; script-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
    for path in ["/api/v1/hello", "/nowhere", "/api/v1/broken"] {
        let reply = server.ask("GET", path).await;
        assert_eq!(reply.header("content-security-policy"), Some(policy), "{path}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(reply.header("cross-origin-opener-policy"), Some("same-origin"), "{path}");
        assert_eq!(reply.header("cross-origin-resource-policy"), Some("same-origin"), "{path}");
        assert!(reply.header("permissions-policy").is_some_and(|policy| policy.contains("camera=()")), "{path}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(reply.header("strict-transport-security"), None, "{path}: not over plain HTTP");
    }
    let page = server.ask("GET", "/api/v1/page").await;
    assert_eq!(page.header("content-security-policy"), Some("img-src data:"), "a page may bring its own");
    assert_eq!(page.header("permissions-policy"), Some("camera=(self)"), "so may one that reads codes by the camera");
}

#[tokio::test]
async fn more_headers_than_anybody_needs_are_refused() {
    let server = Server::start(Limits::default()).await;
    let reply = server.ask("GET", &format!("/api/v1/hello HTTP/1.1\r\nX: {}\r\nY:", "x".repeat(70 << 10))).await;
    assert_eq!(reply.status, 431, "{}", reply.head);
    assert_eq!(server.ask("GET", &format!("/{}", "x".repeat(70 << 10))).await.status, 431);
}

#[tokio::test]
async fn a_page_of_another_origin_is_given_no_leave() {
    let server = Server::start(Limits::default()).await;
    let mut client = server.connect().await;
    client
        .send(
            "OPTIONS /api/v1/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nOrigin: https://evil.example\r\n\
             Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\n\r\n",
        )
        .await;
    let reply = client.reply().await;
    assert_eq!(reply.refused(405), "method_not_allowed");
    assert!(!reply.head.to_lowercase().contains("access-control"), "{}", reply.head);
}

#[tokio::test]
async fn a_request_names_its_host_once() {
    let server = Server::start(Limits::default()).await;
    for (hosts, version, status) in [
        ("", "1.1", 400),
        ("Host: x\r\nHost: y\r\n", "1.1", 400),
        ("Host: x\r\nHost: x\r\n", "1.0", 400),
        ("Host: x\r\n", "1.1", 200),
        ("", "1.0", 200),
    ] {
        let mut client = server.connect().await;
        client.send(&format!("GET /api/v1/hello HTTP/{version}\r\n{hosts}\r\n")).await;
        assert_eq!(client.answer().await.status, status, "{hosts:?} {version}");
    }
}

#[tokio::test]
async fn no_request_is_sent_back_as_trace_would() {
    let server = Server::start(Limits::default()).await;
    for (path, status) in [("/api/v1/hello", 405), ("/api/v1/echo", 405), ("/docs", 405), ("/nowhere", 404)] {
        let mut client = server.connect().await;
        let request =
            format!("TRACE {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Secret: say-it-again\r\n\r\n");
        client.send(&request).await;
        let reply = client.reply().await;
        assert_eq!(reply.status, status, "{path}: {}", reply.text);
        assert!(!reply.text.contains("say-it-again"), "{path}: {}", reply.text);
    }
}
