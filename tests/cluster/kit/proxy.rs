//! A TCP proxy that fails on purpose.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    None,
    /// Nobody gets through; standing connections are cut.
    Down,
    /// Requests get through, and the line breaks before the first byte of an answer.
    LoseAnswers,
}

pub struct Proxy {
    pub url: String,
    fault: watch::Sender<Fault>,
    /// Answers that were lost.
    lost: Arc<Mutex<u64>>,
}

impl Proxy {
    /// A proxy in front of `upstream` (`http://host:port`).
    pub async fn start(upstream: &str) -> Self {
        let upstream: SocketAddr = upstream.trim_start_matches("http://").parse().expect("address");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("listen");
        let url = format!("http://{}", listener.local_addr().expect("address"));
        let (fault, watched) = watch::channel(Fault::None);
        let lost = Arc::new(Mutex::new(0));
        let counter = lost.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, upstream, watched.clone(), counter.clone()));
            }
        });
        Self { url, fault, lost }
    }

    /// From now on, for standing connections too.
    pub fn set(&self, fault: Fault) {
        self.fault.send_replace(fault);
    }

    pub fn lost_answers(&self) -> u64 {
        *self.lost.lock().expect("lock")
    }
}

async fn carry(mut client: TcpStream, upstream: SocketAddr, mut fault: watch::Receiver<Fault>, lost: Arc<Mutex<u64>>) {
    let now = *fault.borrow_and_update();
    if now == Fault::Down {
        return;
    }
    let Ok(mut server) = TcpStream::connect(upstream).await else { return };
    if now == Fault::None {
        // A connection lives until the fault changes, then it is cut.
        tokio::select! {
            _ = copy_bidirectional(&mut client, &mut server) => {}
            _ = fault.changed() => {}
        }
        return;
    }
    let (mut from_client, _to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let mut answer = [0; 1];
    tokio::select! {
        _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
        read = from_server.read(&mut answer) => {
            // The server has answered, so whatever it did is done; nobody will hear of it.
            if read.is_ok_and(|count| count > 0) {
                *lost.lock().expect("lock") += 1;
            }
        }
        _ = fault.changed() => {}
    }
    drop(to_server.shutdown().await);
}
