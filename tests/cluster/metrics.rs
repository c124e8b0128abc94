//! What a server counts of itself.

use crate::authority::{Authority, THIS_MACHINE};
use crate::kit::{Process, TestCluster, eventually};

async fn page(url: &str) -> (u16, String) {
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    let answer = client.get(format!("{url}/metrics")).send().await.expect("an answer");
    (answer.status().as_u16(), answer.text().await.expect("a text"))
}

/// The whole part of a figure without labels, where a page has it.
fn figure(page: &str, name: &str) -> Option<i64> {
    let value = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    value.split('.').next()?.parse().ok()
}

#[tokio::test]
async fn both_servers_say_how_much_room_they_have_and_how_many_people_are_locked() {
    let mut chain = TestCluster::new().await;
    let mut site = chain.store().await;
    let till = site.open_till().await;
    let product = chain.product("TEA", 1999).await;
    site.knows(&till, &product, None).await;
    for url in [&chain.hq.url, &site.process.url] {
        let page = eventually("the disk is measured", async || {
            let page = page(url).await.1;
            figure(&page, "tillkeep_disk_size_bytes").is_some_and(|size| size > 0).then_some(page)
        })
        .await;
        let [left, whole] = ["tillkeep_disk_free_bytes", "tillkeep_disk_size_bytes"].map(|name| figure(&page, name));
        assert!(left.is_some() && left <= whole, "{page}");
        assert_eq!(figure(&page, "tillkeep_people_locked"), Some(0), "{page}");
        assert_eq!(figure(&page, "tillkeep_certificate_ends_in_seconds"), None, "it speaks plain HTTP");
    }
    site.process.stop();
}

#[tokio::test]
async fn a_server_with_a_certificate_says_how_long_it_is_good() {
    let dir = tempfile::tempdir().expect("a directory");
    let (cert, key) = Authority::new("the chain's own").issue(dir.path(), "hq", &THIS_MACHINE);
    let environment = [
        ("ADMIN_USERNAME", "root"),
        ("ADMIN_PIN", "739154"),
        ("METRICS_LISTEN", "127.0.0.1:0"),
        ("TLS_CERT", cert.to_str().expect("a path")),
        ("TLS_KEY", key.to_str().expect("a path")),
    ];
    let hq = Process::start("hq", &dir.path().join("hq"), &environment);
    let log = hq.log();
    let apart = log.lines().find(|line| line.contains("metrics are served apart")).expect("a line in the log");
    let apart: serde_json::Value = serde_json::from_str(apart).expect("a line of JSON");
    let url = apart["url"].as_str().expect("an address");
    let left = eventually("the certificate is measured", async || {
        figure(&page(url).await.1, "tillkeep_certificate_ends_in_seconds")
    })
    .await;
    assert!(left > 14 * 86_400, "{left}");
}

#[tokio::test]
async fn both_servers_count_what_they_answer_and_what_waits() {
    let mut chain = TestCluster::new().await;
    let mut site = chain.store().await;
    let till = site.open_till().await;
    let product = chain.product("TEA", 1999).await;
    site.knows(&till, &product, None).await;
    eventually("the store is connected", async || {
        page(&chain.hq.url).await.1.contains("tillkeep_stores_connected 1\n").then_some(())
    })
    .await;
    let (_, at_hq) = page(&chain.hq.url).await;
    assert!(
        at_hq.contains(r#"tillkeep_http_requests_total{method="POST",path="/api/v1/products",status="201"} 1"#),
        "{at_hq}"
    );
    chain.hq.stop();
    site.sell(&till, &product, 1).await;
    let (status, at_store) = page(&site.process.url).await;
    assert_eq!(status, 200);
    // The opened drawer went through, the sale waits.
    assert!(at_store.contains("tillkeep_outbox_pending 1\n"), "{at_store}");
    assert!(at_store.contains("tillkeep_outbox_dead_letters 0\n"), "{at_store}");
    assert!(at_store.contains(r#"path="/api/v1/pos/sales",status="201"} 1"#), "{at_store}");
    assert!(at_store.contains("tillkeep_http_request_seconds_bucket"), "{at_store}");
    site.process.stop();
}

#[tokio::test]
async fn headquarters_measures_how_each_store_in_use_stands() {
    let mut chain = TestCluster::new().await;
    let mut site = chain.store().await;
    let code = "S01";
    let has = async |line: String| {
        eventually("the line is there", async || {
            // What was read a moment ago is answered for two seconds.
            let page = page(&chain.hq.url).await.1;
            page.lines().any(|one| one == line).then_some(())
        })
        .await;
    };
    has(format!(r#"tillkeep_store_connected{{store="{code}"}} 1"#)).await;
    has(format!(r#"tillkeep_store_failed_entries{{store="{code}"}} 0"#)).await;
    let till = site.open_till().await;
    let product = chain.product("TEA", 1999).await;
    site.knows(&till, &product, None).await;
    site.process.stop();
    has(format!(r#"tillkeep_store_connected{{store="{code}"}} 0"#)).await;
    let (_, text) = page(&chain.hq.url).await;
    let silent = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!(r#"tillkeep_store_silent_seconds{{store="{code}"}} "#)));
    assert!(silent.is_some_and(|seconds| seconds.parse::<u64>().is_ok()), "{text}");
    let names = text.lines().filter(|line| line.starts_with("tillkeep_store_") && line.contains('{'));
    assert!(names.clone().all(|line| line.contains(&format!(r#"store="{code}""#))), "{text}");
    assert!(names.count() >= 7, "{text}");
}

#[tokio::test]
async fn an_invented_path_or_method_adds_no_line() {
    let chain = TestCluster::new().await;
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    for number in 0..50 {
        let method = reqwest::Method::from_bytes(format!("WORD{number}").as_bytes()).expect("a method");
        client.request(method, format!("{}/made/up/{number}", chain.hq.url)).send().await.expect("an answer");
    }
    let (_, text) = page(&chain.hq.url).await;
    let lines = text.lines().filter(|line| line.contains("requests_total{") && line.contains("unknown")).count();
    assert_eq!(lines, 1, "{text}");
    assert!(!text.contains("made/up") && !text.contains("WORD"), "{text}");
}

#[tokio::test]
async fn metrics_are_answered_with_the_care_of_every_answer() {
    let dir = tempfile::tempdir().expect("a directory");
    let environment = [("ADMIN_USERNAME", "root"), ("ADMIN_PIN", "739154"), ("METRICS_LISTEN", "127.0.0.1:0")];
    let apart = Process::start("hq", dir.path(), &environment);
    let together = TestCluster::new().await;
    let log = apart.log();
    let line = log.lines().find(|line| line.contains("metrics are served apart")).expect("a line in the log");
    let line: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
    let client = reqwest::Client::builder().no_proxy().build().expect("a client");
    for url in [line["url"].as_str().expect("an address"), &together.hq.url] {
        for (method, path, status) in [("GET", "metrics", 200), ("POST", "metrics", 405), ("GET", "nothing", 404)] {
            let method = method.parse().expect("a method");
            let answer = client.request(method, format!("{url}/{path}")).send().await.expect("an answer");
            assert_eq!(answer.status().as_u16(), status, "{path}");
            for name in ["x-content-type-options", "content-security-policy", "x-request-id"] {
                assert!(answer.headers().contains_key(name), "{name} of {path} at {url}");
            }
            if status != 200 {
                let body: serde_json::Value = answer.json().await.expect("the form of a refusal");
                assert_eq!(body["success"], false);
            }
        }
    }
}

#[tokio::test]
async fn metrics_can_have_an_address_of_their_own() {
    let dir = tempfile::tempdir().expect("a directory");
    let environment = [("ADMIN_USERNAME", "root"), ("ADMIN_PIN", "739154"), ("METRICS_LISTEN", "127.0.0.1:0")];
    let hq = Process::start("hq", dir.path(), &environment);
    assert_eq!(page(&hq.url).await.0, 404);
    let log = hq.log();
    let apart = log.lines().find(|line| line.contains("metrics are served apart")).expect("a line in the log");
    let apart: serde_json::Value = serde_json::from_str(apart).expect("a line of JSON");
    let (status, text) = page(apart["url"].as_str().expect("an address")).await;
    assert_eq!(status, 200);
    assert!(text.contains("tillkeep_build_info"), "{text}");
}
