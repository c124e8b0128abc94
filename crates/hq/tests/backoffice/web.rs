//! The web client, as it comes from inside of the binary.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, header};
use http_body_util::BodyExt;

use super::kit::Kit;

const POLICY: &str = "default-src 'self'; script-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// What a browser gets.
struct File {
    status: u16,
    headers: HeaderMap,
    bytes: Bytes,
}

impl File {
    fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).expect("text")
    }
}

async fn ask(kit: &Kit, method: Method, path: &str, more: &[(header::HeaderName, &str)]) -> File {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in more {
        request = request.header(name, *value);
    }
    let response = kit.answer(request.body(Body::empty()).expect("a request")).await;
    let (head, body) = response.into_parts();
    let bytes = body.collect().await.expect("a body").to_bytes();
    File { status: head.status.as_u16(), headers: head.headers, bytes }
}

async fn get(kit: &Kit, path: &str, more: &[(header::HeaderName, &str)]) -> File {
    ask(kit, Method::GET, path, more).await
}

/// The files that the page loads, with those that its styles name.
async fn loaded(kit: &Kit) -> Vec<String> {
    let page = get(kit, "/", &[]).await;
    let parts = page.text().split('"').filter(|part| part.starts_with("/assets/") || *part == "/favicon.svg");
    let mut loaded: Vec<String> = parts.map(str::to_owned).collect();
    for style in loaded.clone().iter().filter(|path| path.ends_with("css")) {
        let style = get(kit, style, &[]).await;
        let named = style.text().split("url(").skip(1).filter_map(|rest| rest.split(')').next());
        loaded.extend(named.map(|path| path.trim_matches(['"', '\'']).to_owned()));
    }
    loaded
}

fn is_font(path: &str) -> bool {
    path.ends_with("woff2")
}

fn is_script(path: &str) -> bool {
    path.starts_with("/assets/") && path.rsplit_once('.').is_some_and(|(_, end)| end == "js")
}

async fn script(kit: &Kit) -> String {
    loaded(kit).await.into_iter().find(|path| is_script(path)).expect("a script")
}

#[tokio::test]
async fn every_address_of_the_client_answers_its_page_with_the_policy_of_all_answers() {
    let kit = Kit::new().await;
    let page = get(&kit, "/", &[]).await;
    assert!(page.text().starts_with("<!doctype html>"), "{}", page.text());
    for path in
        ["/login", "/unauthorized", "/change-pin", "/second-factor", "/hq", "/hq/", "/hq/sync", "/hq/products/1?page=2"]
    {
        let deep = get(&kit, path, &[]).await;
        assert_eq!((deep.status, &deep.bytes), (200, &page.bytes), "{path}");
        assert_eq!(deep.header(header::CONTENT_TYPE), "text/html; charset=utf-8", "{path}");
        assert_eq!(deep.header(header::CONTENT_SECURITY_POLICY), POLICY, "{path}");
        assert_eq!(deep.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff", "{path}");
        assert_eq!(deep.header(header::REFERRER_POLICY), "no-referrer", "{path}");
        assert_eq!(deep.header(header::CACHE_CONTROL), "no-cache", "{path}");
        let head = ask(&kit, Method::HEAD, path, &[]).await;
        assert_eq!((head.status, head.bytes.len()), (200, 0), "{path}");
        assert_eq!(head.header(header::CONTENT_LENGTH), page.bytes.len().to_string(), "{path}");
    }
}

#[tokio::test]
async fn what_the_page_loads_is_there_and_kept_for_a_year_where_its_name_says_what_is_in_it() {
    let kit = Kit::new().await;
    let loaded = loaded(&kit).await;
    assert!(loaded.iter().any(|path| is_script(path)) && loaded.iter().any(|path| is_font(path)), "{loaded:?}");
    for path in loaded {
        let file = get(&kit, &path, &[]).await;
        assert_eq!((file.status, file.bytes.is_empty()), (200, false), "{path}");
        assert_eq!(file.header(header::CONTENT_SECURITY_POLICY), POLICY, "{path}");
        let (kind, cache) = match path.rsplit_once('.').map(|(_, end)| end) {
            Some("js") => ("text/javascript; charset=utf-8", "public, max-age=31536000, immutable"),
            Some("css") => ("text/css; charset=utf-8", "public, max-age=31536000, immutable"),
            Some("woff2") => ("font/woff2", "public, max-age=31536000, immutable"),
            Some("svg") => ("image/svg+xml; charset=utf-8", "no-cache"),
            _ => panic!("the page loads {path}: say here what it is"),
        };
        assert_eq!((file.header(header::CONTENT_TYPE), file.header(header::CACHE_CONTROL)), (kind, cache), "{path}");
    }
}

#[tokio::test]
async fn what_a_browser_has_is_not_sent_again_in_any_coding() {
    let kit = Kit::new().await;
    let mut paths = loaded(&kit).await;
    paths.push("/hq/sync".to_owned());
    for path in paths {
        let mut tags = std::collections::BTreeSet::new();
        for coding in ["identity", "gzip", "br", "zstd"] {
            let first = get(&kit, &path, &[(header::ACCEPT_ENCODING, coding)]).await;
            let tag = first.header(header::ETAG);
            let again = [(header::ACCEPT_ENCODING, coding), (header::IF_NONE_MATCH, tag)];
            let again = get(&kit, &path, &again).await;
            assert_eq!((again.status, again.bytes.len(), again.header(header::ETAG)), (304, 0, tag), "{path} {coding}");
            for name in [header::CACHE_CONTROL, header::VARY, header::CONTENT_SECURITY_POLICY] {
                assert_eq!(again.header(name.clone()), first.header(name), "{path} {coding}");
            }
            tags.insert((tag.to_owned(), first.bytes));
        }
        assert_eq!(tags.iter().map(|(tag, _)| tag).collect::<std::collections::BTreeSet<_>>().len(), tags.len());
    }
    let other = [(header::IF_NONE_MATCH, "\"of another release\"")];
    assert_eq!(get(&kit, "/", &other).await.status, 200);
}

#[tokio::test]
async fn who_takes_gzip_gets_it_anybody_else_the_file_itself_and_no_coding_is_put_around_another() {
    let kit = Kit::new().await;
    let path = script(&kit).await;
    let sent = async |coding: &str| {
        let file = get(&kit, &path, &[(header::ACCEPT_ENCODING, coding)]).await;
        assert_eq!(file.header(header::VARY), "accept-encoding", "{coding}");
        assert_eq!(file.header(header::CONTENT_LENGTH), file.bytes.len().to_string(), "{coding}");
        (file.header(header::CONTENT_ENCODING).to_owned(), file.bytes)
    };
    let (none, plain) = sent("identity").await;
    assert_eq!(none, "");
    for (asked, coding) in [
        ("gzip, deflate, br, zstd", "gzip"),
        ("br", ""),
        ("br;q=0, gzip", "gzip"),
        ("gzip;q=0.5", "gzip"),
        ("deflate", ""),
        ("zstd", ""),
        ("br;Q=0, zstd", ""),
    ] {
        let (got, bytes) = sent(asked).await;
        assert_eq!(got, coding, "{asked}");
        assert_eq!(bytes.len() < plain.len(), !coding.is_empty(), "{asked}");
    }
    let mut unpacked = Vec::new();
    let (_, gzip) = sent("gzip").await;
    let mut decoder = async_compression::tokio::bufread::GzipDecoder::new(std::io::Cursor::new(gzip));
    tokio::io::AsyncReadExt::read_to_end(&mut decoder, &mut unpacked).await.expect("gzip");
    assert!(unpacked == plain, "once unpacked it is the file");
}

#[tokio::test]
async fn a_font_is_sent_as_it_is_since_it_is_compressed_already() {
    let kit = Kit::new().await;
    let font = loaded(&kit).await.into_iter().find(|path| is_font(path)).expect("a font");
    let plain = get(&kit, &font, &[]).await;
    assert!(plain.bytes.starts_with(b"wOF2"), "{font}");
    for coding in ["identity", "gzip", "br", "zstd", "gzip, deflate, br, zstd"] {
        let file = get(&kit, &font, &[(header::ACCEPT_ENCODING, coding)]).await;
        assert!(file.bytes == plain.bytes, "{coding}");
        assert_eq!(file.headers.get(header::CONTENT_ENCODING), None, "{coding}");
        assert_eq!(file.header(header::CONTENT_LENGTH), plain.bytes.len().to_string(), "{coding}");
        assert_eq!(file.header(header::ETAG), plain.header(header::ETAG), "{coding}");
    }
}

#[tokio::test]
async fn whatever_else_is_asked_for_is_refused_as_json() {
    let kit = Kit::new().await;
    let script = script(&kit).await;
    for path in [
        "/assets/nothing-here.js",
        "/assets/../index.html",
        "/assets/%2e%2e/index.html",
        "/assets/",
        "/index.html",
        "/elsewhere",
        // What a store answers.
        "/store",
        "/store/",
        "/store/drawers",
        "/till",
        "/till/",
        "/till/display",
        "/till-sw.js",
        "/till.webmanifest",
        "/till-192.png",
        "/till.html",
        "/store.html",
        "/api/v1/nothing",
        "/api/v1/",
        &format!("{script}.br"),
        &format!("{script}.gz"),
    ] {
        let file = get(&kit, path, &[(header::ACCEPT, "text/html")]).await;
        assert_eq!((file.status, file.header(header::CONTENT_TYPE)), (404, "application/json"), "{path}");
        assert!(file.text().contains("\"not_found\""), "{path}: {}", file.text());
        assert_eq!(file.header(header::CACHE_CONTROL), "no-store", "{path}");
    }
    for path in ["/", "/login", "/hq/sync", "/favicon.svg", &script] {
        let file = ask(&kit, Method::POST, path, &[]).await;
        assert_eq!(file.status, 405, "{path}");
        assert!(file.text().contains("\"method_not_allowed\""), "{path}: {}", file.text());
    }
}

#[tokio::test]
async fn the_licences_of_what_is_inside_of_the_client_come_with_it() {
    let kit = Kit::new().await;
    let licences = get(&kit, "/licences.md", &[]).await;
    assert_eq!((licences.status, licences.header(header::CONTENT_TYPE)), (200, "text/markdown; charset=utf-8"));
    for name in ["vue-router", "reka-ui", "@fontsource-variable/inter"] {
        assert!(licences.text().contains(&format!("## {name} - ")), "{name}");
    }
}

#[tokio::test]
async fn behind_a_proxy_with_an_https_address_every_answer_says_to_come_over_tls_alone() {
    let mut kit = Kit::new().await;
    for (url, expected) in [
        (None, ""),
        (Some("http://hq.example.com"), ""),
        (Some("https://hq.example.com"), "max-age=31536000; includeSubDomains"),
    ] {
        kit.settings.public_url = url.map(str::to_owned);
        kit.restart().await;
        for path in ["/", "/favicon.svg", "/docs", "/health", "/api/v1/auth/me", "/nowhere"] {
            assert_eq!(
                get(&kit, path, &[]).await.header(header::STRICT_TRANSPORT_SECURITY),
                expected,
                "{path} at {url:?}"
            );
        }
    }
}
