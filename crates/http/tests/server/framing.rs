//! Where a request ends: what lies in between must not be able to see it elsewhere. RFC 9112, section 6.3.

use tillkeep_http::server::Limits;

use crate::kit::{HELLO, Server};

/// The statuses of all that is answered to these bytes until the connection is closed.
async fn answered(server: &Server, sent: &str) -> Vec<u16> {
    let mut client = server.connect().await;
    client.send(sent).await;
    let text = String::from_utf8_lossy(&client.rest().await).into_owned();
    text.split("HTTP/1.1 ").skip(1).filter_map(|answer| answer.get(..3)?.parse().ok()).collect()
}

#[tokio::test]
async fn a_request_with_two_ends_hides_no_second_one() {
    const JSON: &str = "POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    const LAST: &str = "GET /api/v1/hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let server = Server::start(Limits::default()).await;
    let mut wrong = Vec::new();
    let chunked = "2\r\n{}\r\n0\r\n\r\n";
    for (heads, body, statuses) in [
        ("Transfer-Encoding: chunked\r\n", chunked, vec![200, 200]),
        // The chunks say where it ends, whichever of the two stands first, and nothing behind it is a request.
        ("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", chunked, vec![200]),
        ("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n", chunked, vec![200]),
        ("Transfer-Encoding: chunked\r\nContent-Length: 400\r\n", chunked, vec![200]),
        ("Content-Length: 2\r\nContent-Length: 2\r\n", "{}", vec![200, 200]),
        // It is not known where these end.
        ("Content-Length: 2\r\nContent-Length: 3\r\n", "{}", vec![400]),
        ("Content-Length: +2\r\n", "{}", vec![400]),
        ("Content-Length: 2, 2\r\n", "{}", vec![400]),
        ("Transfer-Encoding: identity\r\n", chunked, vec![400]),
        ("Transfer-Encoding: xchunked\r\nContent-Length: 2\r\n", chunked, vec![400]),
        ("Transfer-Encoding: chunked, identity\r\n", chunked, vec![400]),
        ("Transfer-Encoding : chunked\r\n", chunked, vec![400]),
    ] {
        let sent = format!("{JSON}{heads}\r\n{body}{LAST}");
        let got = answered(&server, &sent).await;
        if got != statuses {
            wrong.push(format!("{heads:?}: {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // A second request within the length of the first one is a part of its body.
    let hidden = format!("{JSON}Content-Length: {}\r\n\r\n{HELLO}{LAST}", HELLO.len());
    assert_eq!(answered(&server, &hidden).await, [400, 200]);
}
