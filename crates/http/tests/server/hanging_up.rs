//! An answer that the server hangs up after says so, and no other does.

use tillkeep_http::server::Limits;

use crate::kit::{HELLO, Server};

fn post(path: &str, kind: &str, length: usize, more: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}\r\n")
}

#[tokio::test]
async fn an_answer_before_a_hang_up_says_that_it_is_the_last() {
    let server = Server::start(Limits::default()).await;
    let begun = "x".repeat(100);
    let refused = [
        // Of a kind that is not read, and of a path that takes none.
        (format!("{}{begun}", post("/api/v1/echo", "text/plain", 100_000, "")), 415),
        (format!("{}{begun}", post("/api/v1/hello", "application/json", 100_000, "")), 405),
        // All of it is there, and too much to be taken for nothing.
        (format!("{}{}", post("/nowhere", "text/plain", 300_000, ""), "x".repeat(300_000)), 404),
        // Who waits to be asked for a body is not asked for one that is not wanted.
        (post("/api/v1/echo", "text/plain", 10, "Expect: 100-continue\r\n"), 415),
        ("NONSENSE\r\n\r\n".to_owned(), 400),
    ];
    for (request, status) in refused {
        let what = request.chars().take(60).collect::<String>();
        let mut client = server.connect().await;
        client.send(&request).await;
        let reply = client.reply().await;
        assert_eq!(reply.status, status, "{what}: {}", reply.head);
        assert_eq!(reply.header("connection"), Some("close"), "{what}: {}", reply.head);
    }
}

#[tokio::test]
async fn a_small_body_that_was_not_read_is_no_reason_to_hang_up() {
    let server = Server::start(Limits::default()).await;
    let mut client = server.connect().await;
    for _ in 0..3 {
        for (request, status) in [
            (format!("{}{{}}", post("/api/v1/echo", "text/plain", 2, "")), 415),
            (format!("{}{}", post("/nowhere", "application/json", 5_000, ""), "x".repeat(5_000)), 404),
            (format!("{}{{}}", post("/api/v1/echo", "application/json", 2, "")), 200),
            (HELLO.to_owned(), 200),
        ] {
            client.send(&request).await;
            let reply = client.answer().await;
            assert_eq!((reply.status, reply.header("connection")), (status, None), "{request:.60}: {}", reply.head);
        }
    }
}

#[tokio::test]
async fn the_last_answer_of_a_server_that_stops_says_that_it_is_the_last() {
    let server = Server::start(Limits::default()).await;
    let mut client = server.connect().await;
    client.send("GET /api/v1/waiting HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let mut idle = server.connect().await;
    idle.send(HELLO).await;
    assert_eq!(idle.answer().await.header("connection"), None);
    let go_on = server.go_on.clone();
    // Whoever waits keeps the stop from ending; whoever does not is closed at once.
    let stopped = tokio::spawn(server.stop());
    assert!(idle.rest().await.is_empty());
    go_on.notify_one();
    let reply = client.reply().await;
    assert_eq!((reply.status, reply.header("connection")), (200, Some("close")), "{}", reply.head);
    stopped.await.expect("stopped");
}
