//! A printer in the network, which behaves as a test wants it to.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

const QUESTION: [u8; 2] = [0x10, 0x04];
const TELLS_AT_THE_END: [u8; 3] = [0x1D, b'r', 1];

/// What every answer to a question has set.
pub const FINE: u8 = 0b0001_0010;

/// How a printer is.
#[derive(Clone, Copy, Debug)]
pub struct Mood {
    /// What it answers of itself, of why it prints nothing, and of its paper; nothing at all for `None`.
    pub itself: Option<u8>,
    pub cause: Option<u8>,
    pub paper: Option<u8>,
    /// What it answers at the end of a paper.
    pub end: Option<u8>,
    /// Closes the line when it has so many bytes of a paper.
    pub closes_at: Option<usize>,
}

impl Default for Mood {
    fn default() -> Self {
        Self { itself: Some(FINE), cause: Some(FINE), paper: Some(FINE), end: Some(0), closes_at: None }
    }
}

impl Mood {
    pub fn out_of_paper() -> Self {
        Self { paper: Some(FINE | 0b0110_0000), ..Self::default() }
    }

    /// Not ready, for this cause.
    pub fn offline(cause: u8) -> Self {
        Self { itself: Some(FINE | 0b0000_1000), cause: Some(FINE | cause), ..Self::default() }
    }

    /// It says nothing of itself.
    pub fn silent() -> Self {
        Self { itself: None, cause: None, paper: None, end: None, closes_at: None }
    }
}

struct Inside {
    mood: Mutex<Mood>,
    /// What came of each line, without the questions.
    papers: Mutex<Vec<Vec<u8>>>,
    /// Whether it prints; a slow one waits for that.
    moves: watch::Sender<bool>,
}

/// A printer that listens.
#[derive(Clone)]
pub struct Printer {
    pub address: SocketAddr,
    inside: Arc<Inside>,
}

impl Printer {
    pub async fn plugged_in(mood: Mood) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let inside = Inside { mood: Mutex::new(mood), papers: Mutex::default(), moves: watch::Sender::new(true) };
        let printer = Self { address, inside: Arc::new(inside) };
        let inside = printer.inside.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, inside.clone()));
            }
        });
        printer
    }

    /// An address at which nothing listens.
    pub async fn unplugged() -> SocketAddr {
        TcpListener::bind("127.0.0.1:0").await.expect("a port").local_addr().expect("an address")
    }

    pub fn is(&self, mood: Mood) {
        *self.inside.mood.lock().expect("not poisoned") = mood;
    }

    /// Stops in front of the end of a paper, or goes on.
    pub fn moves(&self, moves: bool) {
        self.inside.moves.send_replace(moves);
    }

    /// The papers that it has got, or a part of.
    pub fn papers(&self) -> Vec<Vec<u8>> {
        let papers = self.inside.papers.lock().expect("not poisoned");
        papers.iter().filter(|paper| !paper.is_empty()).cloned().collect()
    }
}

async fn serve(mut stream: TcpStream, inside: Arc<Inside>) {
    let place = {
        let mut papers = inside.papers.lock().expect("not poisoned");
        papers.push(Vec::new());
        papers.len() - 1
    };
    let mut unread = Vec::new();
    loop {
        let Ok(byte) = stream.read_u8().await else { return };
        unread.push(byte);
        let mood = *inside.mood.lock().expect("not poisoned");
        if unread.len() == 3 && unread[..2] == QUESTION {
            let answer = match unread[2] {
                1 => mood.itself,
                2 => mood.cause,
                _ => mood.paper,
            };
            unread.clear();
            say(&mut stream, answer).await;
        } else if unread == TELLS_AT_THE_END {
            unread.clear();
            let mut moves = inside.moves.subscribe();
            moves.wait_for(|moves| *moves).await.expect("a printer");
            say(&mut stream, mood.end).await;
        } else if !may_begin(&unread) {
            let mut papers = inside.papers.lock().expect("not poisoned");
            papers[place].append(&mut unread);
            if mood.closes_at.is_some_and(|most| papers[place].len() >= most) {
                return;
            }
        }
    }
}

/// Whether a question or the end may begin so.
fn may_begin(unread: &[u8]) -> bool {
    QUESTION.starts_with(unread)
        || TELLS_AT_THE_END.starts_with(unread)
        || (unread.len() == 3 && unread[..2] == QUESTION)
}

async fn say(stream: &mut TcpStream, answer: Option<u8>) {
    if let Some(answer) = answer {
        // Whoever asked may have gone away.
        drop(stream.write_all(&[answer]).await);
    }
}
