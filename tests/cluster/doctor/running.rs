//! What is planted while servers run: what they say of themselves, and what keeps them from saying it.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use super::said::doctor;
use crate::kit::{TestCluster, eventually};
use crate::nats_server::NatsServer;

#[tokio::test(flavor = "multi_thread")]
async fn what_servers_say_of_themselves_is_told_and_that_one_says_nothing_too() {
    let mut chain = TestCluster::new().await;
    chain.product("A1", 1000).await;
    // A slow clock, and a table that takes nothing.
    let late = ("CLOCK_OFFSET_MS", "-400000");
    let mut site = chain.store_with(&[late, ("FAILPOINTS", "cycle.handshake=return(error)")]).await;
    site.process.stop();
    site.execute("CREATE TRIGGER no_products BEFORE INSERT ON products BEGIN SELECT RAISE(ABORT, 'no room'); END")
        .await;
    site.broken_on_purpose = true;
    site.process.forget_environment("FAILPOINTS");
    site.process.restart();
    let (hq, store) = (chain.hq.dir.clone(), site.process.dir.clone());
    let (token, hq_url) = (site.sync_token.clone(), site.proxy.url.clone());
    let own = [("SYNC_TOKEN", &*token), ("HQ_URL", &*hq_url), late];

    let alarmed = eventually("the store says what is wrong with it", async || {
        let said = doctor("store", &store, &own, &["--json"]);
        let both = said.text.contains("alarm clock_off") && said.level_of("alarms").contains(&"fault".to_owned());
        both.then_some(said)
    })
    .await;
    alarmed.has("alarms", "warning", "alarm clock_off since", "Alarms of a store");
    alarmed.has("alarms", "fault", "of 1 types the store could not store what it pulled", "make room");
    alarmed.has("clock", "warning", "behind that of headquarters", "timedatectl");
    let heard = eventually("headquarters has heard of it", async || {
        // Whoever looks at the dashboard has it written.
        chain.admin.get("/sync/dashboard").await;
        let said = doctor("hq", &hq, &[], &["--json"]);
        let both =
            ["could not store what they pulled", "more than two minutes off"].map(|text| said.text.contains(text));
        both.iter().all(|said| *said).then_some(said)
    })
    .await;
    heard.has("stores", "warning", "1 stores could not store what they pulled: S01", "Retry");
    heard.has("stores", "warning", "the clocks of 1 stores are more than two minutes off: S01", "timedatectl");
    assert_eq!(heard.code, 1, "{}", heard.text);
    let later = doctor("hq", &hq, &[("CLOCK_OFFSET_MS", "3600000")], &["--json"]);
    later.has("stores", "warning", "1 stores were not heard for 15 min: S01", "HQ_URL leads here");

    let mut broker = NatsServer::stopped("");
    let away = format!("nats://till:hunter2@{}", broker.address());
    let away = doctor("hq", &hq, &[("NATS_URL", &away)], &["--json"]);
    away.has("broker", "warning", &broker.address(), "NATS_URL");
    assert!(!away.text.contains("hunter2"), "{}", away.text);
    broker.start();
    let there = format!("nats://{}", broker.address());
    // It is there before its JetStream is.
    let answering = eventually("the broker answers", async || {
        let said = doctor("hq", &hq, &[("NATS_URL", &there)], &["--json"]);
        (said.level_of("broker") == ["ok"]).then_some(said)
    })
    .await;
    answering.has("broker", "ok", "answers", "");

    // Paused, as a virtual machine may be: it has its directory, and nobody waits for it a second time.
    site.process.freeze();
    let silent = doctor("store", &store, &own, &["--json"]);
    site.process.thaw();
    silent.has("server", "fault", "it has the data directory and does not answer", "restart it");
    silent.has("alarms", "hint", "not checked: the server does not answer", "");
    assert_eq!(silent.code, 2);
}

/// Answers as a server of another release that is not ready.
fn answer(mut stream: &TcpStream) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let asked = lines.next().unwrap_or_default();
    // The rest of the head: what is closed with something unread breaks off.
    while lines.next().is_some_and(|line| !line.is_empty()) {}
    let status = if asked.contains("/ready") { "503 Service Unavailable" } else { "200 OK" };
    let body = r#"{"success":true,"data":{"status":"ok","version":"9.9.9"}}"#;
    let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    // Who asked may have given up.
    let _ = stream.write_all(format!("{head}{body}").as_bytes());
}

#[test]
fn a_server_of_another_release_and_one_that_is_not_ready_are_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let mut lock = File::create(dir.path().join("lock")).expect("a lock file");
    lock.lock().expect("nobody else has it");
    writeln!(lock, "headquarters (process 1, since 2026-11-20T08:00:00.000Z, on {url})").expect("a note");
    thread::spawn(move || listener.incoming().flatten().for_each(|stream| answer(&stream)));
    let said = doctor("hq", dir.path(), &[], &["--json"]);
    said.has("versions", "warning", "the server that runs is of release 9.9.9", "restart the server");
    said.has("server", "fault", "it runs and is not ready, GET /ready says 503", "its log says why");
    drop(lock);
    doctor("hq", dir.path(), &[], &["--json"]).has("server", "hint", "it does not run", "");
}
