//! Who may read what a server counts.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use tillkeep_http::{layers, metrics};
use tower::ServiceExt;

fn server() -> Router {
    let own = metrics::router((), |()| async { String::new() });
    layers::wrap(Router::new().merge(metrics::of_this_machine(own)))
}

async fn status(router: Router, peer: Option<&str>, forwarded: Option<(&str, &str)>) -> u16 {
    let mut request = Request::get("/metrics");
    if let Some((name, value)) = forwarded {
        request = request.header(name, value);
    }
    let mut request = request.body(Body::empty()).expect("a request");
    if let Some(peer) = peer {
        let peer: SocketAddr = peer.parse().expect("an address");
        request.extensions_mut().insert(ConnectInfo(peer));
    }
    router.oneshot(request).await.expect("an answer").status().as_u16()
}

#[tokio::test]
async fn figures_are_for_this_machine_alone_and_not_for_clients_of_a_proxy() {
    for peer in ["127.0.0.1:5", "127.9.9.9:5", "[::1]:5", "[::ffff:127.0.0.1]:5"] {
        assert_eq!(status(server(), Some(peer), None).await, 200, "{peer}");
        for forwarded in [
            ("X-Forwarded-For", "127.0.0.1"),
            ("Forwarded", "for=127.0.0.1"),
            ("x-forwarded-for", ""),
            ("X-Real-IP", "127.0.0.1"),
            ("X-Forwarded-Proto", "https"),
            ("X-Forwarded-Host", "127.0.0.1"),
            ("Via", "1.1 proxy"),
        ] {
            assert_eq!(status(server(), Some(peer), Some(forwarded)).await, 404, "{peer} {forwarded:?}");
        }
    }
    for peer in [Some("192.0.2.1:5"), Some("[2001:db8::1]:5"), Some("10.0.0.1:5"), None] {
        assert_eq!(status(server(), peer, None).await, 404, "{peer:?}");
    }
    // On an address of its own it is the operator who says who reaches it.
    let apart = layers::wrap(metrics::router((), |()| async { String::new() }));
    assert_eq!(status(apart, Some("192.0.2.1:5"), Some(("X-Forwarded-For", "198.51.100.7"))).await, 200);
}
