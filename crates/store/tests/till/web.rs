//! The pages of the store and of its tills, as they come from inside of the binary.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Method, Request, header};
use http_body_util::BodyExt;
use tillkeep_store::routes;
use tower::ServiceExt;

use crate::kit::Shop;

/// What headquarters says with its pages too.
const POLICY: &str = "default-src 'self'; script-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const OF_A_TILL: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; manifest-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const STORE: [&str; 5] = ["/store", "/store/", "/store/login", "/store/sales/1?page=2", "/store/till"];
const TILL: [&str; 3] = ["/till", "/till/", "/till/display?register=01"];
const FILES: [(&str, &str); 6] = [
    ("/favicon.svg", "image/svg+xml; charset=utf-8"),
    ("/licences.md", "text/markdown; charset=utf-8"),
    ("/till-sw.js", "text/javascript; charset=utf-8"),
    ("/till.webmanifest", "application/manifest+json"),
    ("/till-192.png", "image/png"),
    ("/till-512.png", "image/png"),
];

/// What a browser gets.
struct File {
    status: u16,
    headers: HeaderMap,
    bytes: Bytes,
}

impl File {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).expect("text")
    }
}

/// A store with what answers its browsers.
struct Site {
    _shop: Shop,
    router: Router,
}

impl Site {
    async fn open() -> Self {
        let shop = Shop::open().await;
        let router = routes::router(shop.store.clone(), &[]);
        Self { _shop: shop, router }
    }

    async fn ask(&self, method: Method, path: &str, more: &[(header::HeaderName, &str)]) -> File {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in more {
            request = request.header(name, *value);
        }
        let request = request.body(Body::empty()).expect("a request");
        let (head, body) = self.router.clone().oneshot(request).await.expect("an answer").into_parts();
        let bytes = body.collect().await.expect("a body").to_bytes();
        File { status: head.status.as_u16(), headers: head.headers, bytes }
    }

    async fn get(&self, path: &str) -> File {
        self.ask(Method::GET, path, &[]).await
    }

    /// The files that a page loads.
    async fn loaded(&self, page: &str) -> Vec<String> {
        let page = self.get(page).await;
        let parts = page.text().split('"').filter(|part| part.starts_with('/') && part.contains('.'));
        parts.map(str::to_owned).collect()
    }
}

#[tokio::test]
async fn each_address_of_the_store_and_of_a_till_answers_its_page_with_the_policy_of_that_page() {
    let site = Site::open().await;
    let pages = [site.get("/store").await.bytes, site.get("/till").await.bytes];
    assert_ne!(pages[0], pages[1], "they are two");
    let camera = ["camera=()", "camera=(self)"];
    let addresses = STORE.map(|path| (path, 0)).into_iter().chain(TILL.map(|path| (path, 1)));
    for (path, which) in addresses {
        let page = site.get(path).await;
        assert_eq!((page.status, &page.bytes), (200, &pages[which]), "{path}");
        assert!(page.text().starts_with("<!doctype html>"), "{path}: {}", page.text());
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8", "{path}");
        assert_eq!(page.header("content-security-policy"), [POLICY, OF_A_TILL][which], "{path}");
        assert!(page.header("permissions-policy").starts_with(camera[which]), "{path}");
        assert!(page.header("permissions-policy").contains("microphone=()"), "{path}");
        assert_eq!(page.header("cache-control"), "no-cache", "{path}");
        let head = site.ask(Method::HEAD, path, &[]).await;
        assert_eq!((head.status, head.bytes.len()), (200, 0), "{path}");
        // The policy of what a browser has is that of the answer which says that it still holds.
        let known = [(header::IF_NONE_MATCH, page.header("etag"))];
        let again = site.ask(Method::GET, path, &known).await;
        assert_eq!((again.status, again.bytes.len()), (304, 0), "{path}");
        for name in ["content-security-policy", "permissions-policy", "cache-control", "etag"] {
            assert_eq!(again.header(name), page.header(name), "{path} {name}");
        }
    }
}

#[tokio::test]
async fn the_files_of_a_till_are_what_they_are_and_what_keeps_them_is_asked_for_each_time() {
    let site = Site::open().await;
    for (path, kind) in FILES {
        let file = site.get(path).await;
        assert_eq!((file.status, file.bytes.is_empty()), (200, false), "{path}");
        assert_eq!((file.header("content-type"), file.header("cache-control")), (kind, "no-cache"), "{path}");
        assert_eq!(file.header("content-security-policy"), POLICY, "{path}");
        let allowed = if path == "/till-sw.js" { "/till" } else { "" };
        assert_eq!(file.header("service-worker-allowed"), allowed, "{path}");
        let again = site.ask(Method::GET, path, &[(header::IF_NONE_MATCH, file.header("etag"))]).await;
        assert_eq!((again.status, again.header("cache-control")), (304, "no-cache"), "{path}");
        assert_eq!(again.header("service-worker-allowed"), allowed, "{path}");
    }
    for size in ["192", "512"] {
        assert!(site.get(&format!("/till-{size}.png")).await.bytes.starts_with(b"\x89PNG"), "{size}");
    }
    let manifest = site.get("/till.webmanifest").await;
    assert!(manifest.text().contains("till-192.png") && manifest.text().contains("till-512.png"));
}

#[tokio::test]
async fn what_each_page_loads_comes_from_this_server() {
    let site = Site::open().await;
    for page in ["/store", "/till"] {
        let loaded = site.loaded(page).await;
        assert!(loaded.iter().any(|path| path.starts_with("/assets/") && path.contains(".js")), "{page}: {loaded:?}");
        for path in loaded {
            let file = site.get(&path).await;
            assert_eq!((file.status, file.bytes.is_empty()), (200, false), "{page} loads {path}");
            let kept = path.starts_with("/assets/");
            let cache = if kept { "public, max-age=31536000, immutable" } else { "no-cache" };
            assert_eq!(file.header("cache-control"), cache, "{path}");
            assert_ne!(file.header("content-type"), "application/octet-stream", "{path}");
        }
    }
}

#[tokio::test]
async fn what_reads_barcodes_from_a_camera_comes_from_this_server() {
    let site = Site::open().await;
    let built = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist/assets");
    let names = std::fs::read_dir(built)
        .expect("the client is built")
        .filter_map(|file| file.ok()?.file_name().into_string().ok());
    let readers: Vec<String> = names.filter(|name| name.contains(".wasm")).collect();
    assert!(!readers.is_empty(), "no reader is in the client");
    for name in readers {
        let file = site.get(&format!("/assets/{}", name.trim_end_matches(".gz"))).await;
        assert_eq!((file.status, file.header("content-type")), (200, "application/wasm"), "{name}");
    }
}

#[tokio::test]
async fn a_browser_that_asks_for_nothing_in_particular_is_sent_to_the_store_and_a_program_is_told_as_before() {
    let site = Site::open().await;
    let browsers = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let sent = site.ask(Method::GET, "/", &[(header::ACCEPT, browsers)]).await;
    assert_eq!((sent.status, sent.header("location"), sent.header("cache-control")), (303, "/store", "no-store"));
    for accept in ["*/*", "application/json", ""] {
        let told = site.ask(Method::GET, "/", &[(header::ACCEPT, accept)]).await;
        assert_eq!((told.status, told.header("location")), (404, ""), "{accept}");
        assert_eq!(told.header("content-type"), "application/json", "{accept}");
        assert!(told.text().contains("\"not_found\""), "{accept}: {}", told.text());
    }
}

#[tokio::test]
async fn whatever_else_is_asked_for_is_refused_as_json_to_a_browser_too() {
    let site = Site::open().await;
    for path in [
        // Pages of headquarters, as somebody may have kept them.
        "/hq",
        "/hq/",
        "/hq/products/1",
        "/login",
        "/unauthorized",
        "/change-pin",
        "/second-factor",
        "/index.html",
        "/store.html",
        "/till.html",
        "/till/elsewhere",
        "/till-sw.js.gz",
        "/till-sw.js.map",
        "/assets/",
        "/assets/nothing-here.js",
        "/assets/../till.html",
        "/assets/%2e%2e/till.html",
        "/stores",
        "/api/v1/nothing",
    ] {
        let file = site.ask(Method::GET, path, &[(header::ACCEPT, "text/html")]).await;
        assert_eq!((file.status, file.header("content-type")), (404, "application/json"), "{path}");
        assert!(file.text().contains("\"not_found\""), "{path}: {}", file.text());
        assert_eq!(file.header("cache-control"), "no-store", "{path}");
    }
    for path in ["/store", "/till", "/till-sw.js"] {
        let file = site.ask(Method::POST, path, &[]).await;
        assert_eq!(file.status, 405, "{path}");
    }
}
