//! How many may connect.

use std::time::Instant;

use tillkeep_http::server::Limits;

use crate::kit::{HELLO, KNOWN, Server, short};

#[tokio::test]
async fn beyond_the_cap_one_waits_until_another_goes_while_all_are_known() {
    let server = Server::start(Limits { connections: 2, ..Limits::default() }).await;
    let (mut first, mut second) = (server.connect().await, server.connect().await);
    for client in [&mut first, &mut second] {
        client.send(KNOWN).await;
        assert_eq!(client.answer().await.status, 200);
    }
    let mut third = server.connect().await;
    third.send(HELLO).await;
    let nothing = tokio::time::timeout(std::time::Duration::from_millis(300), third.0.readable()).await;
    assert!(nothing.is_err(), "there is no place yet");
    drop(first);
    assert_eq!(third.answer().await.status, 200);
    second.send(HELLO).await;
    assert_eq!(second.answer().await.status, 200);
}

#[tokio::test]
async fn beyond_the_cap_the_oldest_stranger_goes_and_whoever_comes_is_served_at_once() {
    let server = Server::start(Limits { connections: 3, ..Limits::default() }).await;
    let (mut known, mut oldest, mut younger) = (server.connect().await, server.connect().await, server.connect().await);
    known.send(KNOWN).await;
    assert_eq!(known.answer().await.status, 200);
    // In the middle of a request, and one that says nothing at all.
    oldest.send("POST /api/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1").await;
    let begun = Instant::now();
    assert_eq!(server.ask("GET", "/api/v1/hello").await.status, 200);
    println!("served after {:?}", begun.elapsed());
    assert!(begun.elapsed() < Limits::default().header, "no client waits until a stranger's time is over");
    let rest = oldest.rest().await;
    assert!(!rest.starts_with(b"HTTP/1.1 200"), "its request came to nothing: {}", String::from_utf8_lossy(&rest));
    for client in [&mut known, &mut younger] {
        client.send(HELLO).await;
        assert_eq!(client.answer().await.status, 200);
    }
}

#[tokio::test]
async fn one_address_has_its_share_and_no_more() {
    let server = Server::start(Limits { per_address: 2, loopback_counts: true, ..Limits::default() }).await;
    let (mut first, mut second) = (server.connect().await, server.connect().await);
    for client in [&mut first, &mut second] {
        client.send(KNOWN).await;
        assert_eq!(client.answer().await.status, 200);
    }
    assert!(server.connect().await.rest().await.is_empty(), "closed without a word");
    drop(first);
    let mut later = loop {
        // The place is free as soon as the server has seen the end.
        let mut later = server.connect().await;
        later.send(HELLO).await;
        if later.0.readable().await.is_ok() && later.0.try_read(&mut [0; 1]).is_ok_and(|read| read > 0) {
            break later;
        }
    };
    later.send(HELLO).await;
    // Of strangers of one address the oldest makes room.
    let mut newest = server.connect().await;
    newest.send(HELLO).await;
    assert_eq!(newest.answer().await.status, 200);
}

#[tokio::test]
async fn hundreds_that_never_finish_a_request_are_gone_soon() {
    let limits = Limits { connections: 300, ..short() };
    let server = Server::start(limits).await;
    let begun = Instant::now();
    let mut slow = Vec::new();
    for _ in 0..300 {
        let mut client = server.connect().await;
        client.send("GET / HTTP/1.1\r\nX: ").await;
        slow.push(client);
    }
    // Every place is taken; an honest client waits for the first of them to be thrown out.
    assert_eq!(server.ask("GET", "/api/v1/hello").await.status, 200);
    for client in &mut slow {
        assert!(client.rest().await.is_empty());
    }
    println!("all were gone after {:?}", begun.elapsed());
}
