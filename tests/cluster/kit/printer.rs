//! A printer in the network of a store, which prints all that it gets.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::Shift;

const ASKS: [u8; 2] = [0x10, 0x04];
const ASKS_AT_THE_END: [u8; 3] = [0x1D, b'r', 1];
const FINE: u8 = 0b0001_0010;

pub struct Printer {
    /// What came of each line.
    papers: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Printer {
    /// At the register of `shift`, whose every document it prints.
    pub async fn at(shift: &Shift) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let papers = Arc::new(Mutex::new(Vec::new()));
        let kept = papers.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(print(stream, kept.clone()));
            }
        });
        let printer = json!({"address": address, "width": 42, "codePage": "PC437", "automatic": true});
        let path = format!("/registers/{}", shift.register);
        shift.client().patch(&path, json!({"printer": printer})).await.data();
        Self { papers }
    }

    /// What came out, torn papers too, without what the printer was asked before and after.
    pub fn papers(&self) -> Vec<Vec<u8>> {
        let mut papers = self.papers.lock().expect("not poisoned").clone();
        for paper in &mut papers {
            while paper.len() > ASKS.len() && paper.starts_with(&ASKS) {
                paper.drain(..=ASKS.len());
            }
            while paper.len() > ASKS.len() && paper[paper.len() - 3..].starts_with(&ASKS) {
                paper.truncate(paper.len() - 3);
            }
        }
        papers.retain(|paper| !paper.is_empty());
        papers
    }
}

async fn print(mut stream: TcpStream, papers: Arc<Mutex<Vec<Vec<u8>>>>) {
    let mut paper = Vec::new();
    while let Ok(byte) = stream.read_u8().await {
        paper.push(byte);
        let answer = if paper.len() > 2 && paper[paper.len() - 3..paper.len() - 1] == ASKS {
            FINE
        } else if paper.ends_with(&ASKS_AT_THE_END) {
            0
        } else {
            continue;
        };
        // Whoever asked may have been killed.
        drop(stream.write_all(&[answer]).await);
    }
    papers.lock().expect("not poisoned").push(paper);
}
