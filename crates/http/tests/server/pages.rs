//! The description of a server and the page that shows it.

use tillkeep_http::server::Limits;

use crate::kit::{Reply, Server};

async fn with_header(server: &Server, path: &str, header: &str) -> Reply {
    let mut client = server.connect().await;
    client.send(&format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{header}\r\n\r\n")).await;
    client.reply().await
}

#[tokio::test]
async fn a_description_that_is_known_is_not_sent_again() {
    let server = Server::start(Limits::default()).await;
    let reply = server.ask("GET", "/api/v1/openapi.json").await;
    assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")));
    assert!(reply.text.contains("\"openapi\": \"3.1."), "{}", reply.text);
    let tag = reply.header("etag").expect("a tag").to_owned();
    let strong = tag.strip_prefix("W/").expect("the same tag whatever the coding is");
    for known in [tag.clone(), format!("\"other\", {strong}"), "*".to_owned()] {
        let again = with_header(&server, "/api/v1/openapi.json", &format!("If-None-Match: {known}")).await;
        assert_eq!((again.status, again.header("etag")), (304, Some(tag.as_str())));
    }
    let changed = with_header(&server, "/api/v1/openapi.json", "If-None-Match: \"other\"").await;
    assert_eq!(changed.status, 200);
}

#[tokio::test]
async fn the_page_loads_from_this_server_alone_and_runs_no_script_in_itself() {
    let server = Server::start(Limits::default()).await;
    let page = server.ask("GET", "/docs").await;
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains("script-src 'self';") && policy.contains("default-src 'self';"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("data:"), "{policy}");
    let mut loaded = 0;
    for part in page.text.split(['"']).filter(|part| part.starts_with("/docs/")) {
        let file = server.ask("GET", part).await;
        assert_eq!(file.status, 200, "{part}");
        assert!(file.header("content-security-policy").is_some_and(|own| own == policy), "{part}");
        loaded += 1;
    }
    assert_eq!(loaded, 4, "style, picture and two scripts");
    for script in page.text.split("<script").skip(1) {
        assert!(script.starts_with(" src=\"/docs/") && script.contains("\"></script>"), "{script}");
    }
}

#[tokio::test]
async fn no_other_file_is_handed_out() {
    let server = Server::start(Limits::default()).await;
    for path in ["/docs/index.html", "/docs/oauth2-redirect.html", "/docs/..%2Fpage.js", "/docs/%FF", "/docs/"] {
        assert_eq!(server.ask("GET", path).await.refused(404), "not_found", "{path}");
    }
}
