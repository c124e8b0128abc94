//! Headquarters behind the balancer that `docs/operations.md` describes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use reqwest::Method;

use crate::haproxy::HaProxy;
use crate::kit::{ADMIN, Client, TestCluster, eventually};

#[tokio::test(flavor = "multi_thread")]
async fn a_balancer_that_is_reloaded_breaks_no_request_and_sends_them_where_a_server_is_ready() {
    let mut chain = TestCluster::new().await;
    let mut balancer = HaProxy::before(&[&chain.hq.url]);
    balancer.has_up(&[&chain.hq.url]);
    let admin =
        Client::new(&balancer.url()).sign_in(ADMIN.0, ADMIN.1).await.expect("the administrator signs in through it");
    let (stop, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let asking = tokio::spawn({
        let (admin, stop, asked) = (admin.clone(), stop.clone(), asked.clone());
        async move {
            while !stop.load(Ordering::SeqCst) {
                admin.get("/departments").await.data();
                asked.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    let closed = "127.0.0.1:1";
    for servers in [[&chain.hq.url, closed], [closed, &chain.hq.url]] {
        let before = asked.load(Ordering::SeqCst);
        balancer.set_servers(&servers);
        balancer.has_up(&[&chain.hq.url]);
        eventually("requests go on", async || (asked.load(Ordering::SeqCst) > before + 20).then_some(())).await;
    }
    stop.store(true, Ordering::SeqCst);
    asking.await.expect("every request was answered");
    chain.hq.stop();
    balancer.has_up(&[]);
    let away = admin.try_call(Method::GET, "/departments", None).await.expect("an answer");
    // As headquarters itself would say it.
    assert_eq!(away.refused(503), "unavailable");
    let header = |name: &str| away.headers.get(name).and_then(|value| value.to_str().ok());
    assert_eq!((header("retry-after"), header("content-type")), (Some("1"), Some("application/json")));
    assert!(away.body["error"].is_string(), "{}", away.text);
    chain.hq.restart();
    balancer.stop();
    assert!(admin.try_call(Method::GET, "/departments", None).await.is_err(), "no server listens");
    balancer.start();
    balancer.has_up(&[&chain.hq.url]);
    admin.get("/departments").await.data();
}
