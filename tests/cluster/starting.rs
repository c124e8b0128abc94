//! Headquarters that starts while its `PostgreSQL` does, as after a power cut.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::kit::{ADMIN, Client, Process, eventually};
use crate::nats_server::look_again_soon;
use crate::own_postgres::Server;
use crate::private_postgres::OWNER;

const WAITS: &str = "PostgreSQL takes no connections yet";

/// Something in the place of a server that goes through its log and takes no connections yet, until it is to end.
struct Recovering {
    over: Arc<AtomicBool>,
    turned_away: Arc<AtomicUsize>,
    thread: thread::JoinHandle<()>,
}

impl Recovering {
    fn at(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port of a server that is gone");
        listener.set_nonblocking(true).expect("a listener");
        let (over, turned_away) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (ends, counts) = (over.clone(), turned_away.clone());
        let thread = thread::spawn(move || {
            while !ends.load(Ordering::SeqCst) {
                if let Ok((line, _)) = listener.accept() {
                    turn_away(line);
                    counts.fetch_add(1, Ordering::SeqCst);
                }
                look_again_soon();
            }
        });
        Self { over, turned_away, thread }
    }

    fn end(self) {
        self.over.store(true, Ordering::SeqCst);
        self.thread.join().expect("the place is free");
    }
}

fn turn_away(mut line: TcpStream) {
    line.set_nonblocking(false).expect("a connection");
    let mut asked = [0; 1024];
    // It may ask for TLS first: a message of eight bytes.
    if line.read(&mut asked).is_ok_and(|bytes| bytes == 8) {
        drop(line.write_all(b"N").and_then(|()| line.read(&mut asked)));
    }
    let says = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0";
    let length = u32::try_from(says.len() + 4).expect("a length").to_be_bytes();
    drop(line.write_all(&[b"E", &length[..], says].concat()));
}

fn log(dir: &Path) -> String {
    fs::read_to_string(dir.join("server.log")).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_headquarters_that_starts_while_postgresql_does_waits_for_it_and_says_so_once() {
    let (server, home) = (Server::new(), tempfile::tempdir().expect("a directory"));
    let environment = [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1), ("DATABASE_URL", server.url.as_str())];
    server.crash();
    let dir = home.path().join("hq");
    let mut hq = Process::prepared("hq", &dir, &environment);
    let starting = tokio::task::spawn_blocking(move || {
        hq.start_prepared();
        hq
    });
    eventually("no server listens, and it waits", async || log(&dir).contains(WAITS).then_some(())).await;
    let recovering = Recovering::at(server.port);
    eventually("it is turned away again and again", async || {
        (recovering.turned_away.load(Ordering::SeqCst) >= 3).then_some(())
    })
    .await;
    recovering.end();
    server.start();
    let mut hq = starting.await.expect("it starts");
    Client::new(&hq.url).sign_in(ADMIN.0, ADMIN.1).await.expect("people sign in");
    assert_eq!(hq.log().matches(WAITS).count(), 1, "{}", hq.log());
    hq.stop();

    // What does not pass by itself is said at once.
    for (wrong, reason) in [
        (
            format!("{}/nowhere", server.url.rsplit_once('/').expect("a name").0),
            "database \\\"nowhere\\\" does not exist",
        ),
        (server.url.replace(&format!("{OWNER}@"), "unknown@"), "role \\\"unknown\\\" does not exist"),
    ] {
        let environment = [environment[0], environment[1], ("DATABASE_URL", wrong.as_str())];
        let said = Process::that_fails("hq", &home.path().join("wrong"), &environment);
        assert!(said.contains(reason) && !said.contains(WAITS), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_headquarters_that_waits_for_postgresql_stops_on_the_signal() {
    let (server, home) = (Server::new(), tempfile::tempdir().expect("a directory"));
    server.crash();
    let environment = [("ADMIN_USERNAME", ADMIN.0), ("ADMIN_PIN", ADMIN.1), ("DATABASE_URL", server.url.as_str())];
    let dir = home.path().join("hq");
    let mut hq = Process::prepared("hq", &dir, &environment);
    hq.begin_to_start();
    eventually("it waits", async || log(&dir).contains(WAITS).then_some(())).await;
    hq.stop();
}
