//! Clients that take their time.

use std::time::{Duration, Instant};

use tillkeep_http::server::Limits;

use crate::kit::{HELLO, LARGE, Server, short};

/// Sends `text` byte by byte, `pause` apart, until the server hangs up.
async fn trickle(server: &Server, text: &str, pause: Duration) -> (Duration, usize) {
    use tokio::io::AsyncWriteExt;
    let begun = Instant::now();
    let mut client = server.connect().await;
    let (mut sent, mut bytes) = (0, text.bytes().cycle());
    let mut buffer = [0; 1024];
    loop {
        let byte = bytes.next().expect("endless");
        // The server may be gone in between; reading says so.
        if client.0.write_all(&[byte]).await.is_ok() {
            sent += 1;
        }
        tokio::time::sleep(pause).await;
        match client.0.try_read(&mut buffer) {
            Ok(0) => return (begun.elapsed(), sent),
            Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => return (begun.elapsed(), sent),
            _ => assert!(begun.elapsed() < Duration::from_mins(1), "still open"),
        }
    }
}

#[tokio::test]
async fn headers_that_come_slowly_are_given_up_however_steadily_they_come() {
    let server = Server::start(short()).await;
    let (took, sent) = trickle(&server, "GET / HTTP/1.1 X-Very-Long: ", Duration::from_millis(20)).await;
    println!("given up after {took:?}");
    assert!(took >= short().header, "{took:?}");
    assert!(sent > 3);
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed() {
    let server = Server::start(short()).await;
    let begun = Instant::now();
    assert!(server.connect().await.rest().await.is_empty());
    assert!(begun.elapsed() >= short().header);
}

#[tokio::test]
async fn a_connection_may_rest_between_requests_for_longer_than_headers_may_take() {
    // Far from the limit of headers.
    let server = Server::start(Limits { idle: Duration::from_secs(10), ..short() }).await;
    let mut client = server.connect().await;
    client.send(HELLO).await;
    assert_eq!(client.answer().await.status, 200);
    tokio::time::sleep(short().header * 2).await;
    client.send(HELLO).await;
    assert_eq!(client.answer().await.status, 200);
    // The second time it begins a request and does not go on: then the limit of headers counts.
    let begun = Instant::now();
    client.send("GET /api/v1/hel").await;
    client.rest().await;
    println!("given up after {:?}", begun.elapsed());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());

    let server = Server::start(short()).await;
    let mut idle = server.connect().await;
    // The timer begins with the answer, which is read some time later.
    let begun = Instant::now();
    idle.send(HELLO).await;
    assert_eq!(idle.answer().await.status, 200);
    idle.rest().await;
    assert!(begun.elapsed() >= short().idle, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_body_that_comes_slowly_is_answered_in_the_one_form() {
    let server = Server::start(short()).await;
    let mut client = server.connect().await;
    let begun = Instant::now();
    client
        .send("POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{")
        .await;
    let reply = client.reply().await;
    assert_eq!(reply.refused(408), "request_timeout");
    assert!(begun.elapsed() >= short().request);
}

#[tokio::test]
async fn work_that_takes_too_long_is_answered_and_goes_on() {
    let server = Server::start(short()).await;
    let reply = server.ask("GET", "/api/v1/waiting").await;
    assert_eq!(reply.refused(503), "unavailable");
    assert!(reply.header("retry-after").is_some());
    server.go_on.notify_one();
    server.went_on.notified().await;
}

#[tokio::test]
async fn an_answer_that_is_taken_slowly_but_steadily_arrives_whole() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let server = Server::start(short()).await;
    let mut client = server.connect().await;
    client.0.write_all(b"GET /api/v1/large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.expect("sent");
    let begun = Instant::now();
    let (mut taken, mut piece) = (0, vec![0; 1 << 20]);
    loop {
        match client.0.read(&mut piece).await.expect("not cut off") {
            0 => break,
            bytes => taken += bytes,
        }
        // Longer in all than a connection may rest, and never as long between two pieces.
        tokio::time::sleep(short().idle / 20).await;
    }
    assert!(begun.elapsed() > short().idle, "it was not slow: {:?}", begun.elapsed());
    assert!(taken > LARGE, "{taken} of {LARGE} and the headers");
}

#[tokio::test]
async fn a_body_that_is_not_read_is_not_what_a_slow_answer_waits_for() {
    let server = Server::start(short()).await;
    let mut client = server.connect().await;
    let head = "POST /api/v1/waiting HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}";
    client.send(head).await;
    // Not "send it again": it goes on.
    assert_eq!(client.reply().await.refused(503), "unavailable");
    server.go_on.notify_one();
    server.went_on.notified().await;
}

#[tokio::test]
async fn work_goes_on_when_its_caller_hangs_up() {
    let server = Server::start(Limits::default()).await;
    let mut client = server.connect().await;
    client.send("GET /api/v1/waiting HTTP/1.1\r\nHost: x\r\n\r\n").await;
    drop(client);
    // Whether the request was begun before the line was gone shows in its end.
    server.go_on.notify_one();
    server.went_on.notified().await;
}

#[tokio::test]
async fn a_push_may_be_slow_but_not_stand_still() {
    // A machine that does other things makes each pause longer.
    let stall = Duration::from_secs(3);
    let server = Server::start(Limits { stall, ..short() }).await;
    let head = "POST /api/v1/sync/push HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 6\r\n\r\n";
    let mut client = server.connect().await;
    client.send(head).await;
    let begun = Instant::now();
    for piece in 0..6 {
        tokio::time::sleep(stall / 10).await;
        client.send(&piece.to_string()).await;
    }
    assert!(begun.elapsed() > short().request);
    let reply = client.reply().await;
    assert_eq!((reply.status, &reply.body["data"]), (200, &6.into()), "{}", reply.text);

    let mut client = server.connect().await;
    client.send(head).await;
    client.send("123").await;
    let reply = client.reply().await;
    assert_eq!(reply.refused(408), "request_timeout");
    assert_eq!(reply.header("tillkeep-protocol"), Some("1"));
}

#[tokio::test]
async fn a_push_that_comes_drop_by_drop_is_given_up() {
    let server = Server::start(Limits { rate: 100, ..short() }).await;
    let mut client = server.connect().await;
    client.send("POST /api/v1/sync/push HTTP/1.1\r\nHost: x\r\nContent-Length: 600\r\n\r\n").await;
    let drip = async {
        loop {
            tokio::time::sleep(short().stall / 10).await;
            // One letter in 60 ms is less than a hundred bytes a second.
            if client.0.try_write(b"1").is_err() || client.0.try_read(&mut [0; 512]).is_ok() {
                break;
            }
        }
    };
    tokio::time::timeout(short().stall * 80, drip).await.expect("it is answered, or hung up on");
}

#[tokio::test]
async fn whoever_takes_an_answer_drop_by_drop_is_hung_up_on() {
    let server = Server::start(Limits { rate: 1 << 20, ..short() }).await;
    let mut client = server.connect().await;
    client.send("GET /api/v1/large HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let (mut taken, mut piece) = (0, vec![0; 50 << 10]);
    let sip = async {
        loop {
            tokio::time::sleep(short().stall / 10).await;
            // 50 KiB in 60 ms are less than a megabyte a second, and more than nothing in each of them.
            match client.0.try_read(&mut piece) {
                Ok(0) => break,
                Ok(read) => taken += read,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => break,
            }
        }
    };
    tokio::time::timeout(short().stall * 200, sip).await.expect("it is hung up on");
    assert!(taken < LARGE, "not all of it was taken");
}
