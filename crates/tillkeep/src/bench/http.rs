//! A cheap client: requests are built once, connections stay open, answers are only as far read as is needed. It shares
//! the processor with what is measured.

use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use httparse::{EMPTY_HEADER, Status, parse_chunk_size};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Headers of an answer at the most.
const HEADERS: usize = 32;
const API: &str = "/api/v1";

/// One connection that stays open.
pub struct Line {
    stream: TcpStream,
    read: Vec<u8>,
}

/// An answer that is still where it was read.
pub struct Reply<'a> {
    pub status: u16,
    pub body: &'a [u8],
}

/// How the body of an answer ends.
enum Body {
    Length(usize),
    Chunks,
}

/// The bytes of a request to a path below `/api/v1`.
pub fn request(method: &str, path: &str, token: &str, body: &str) -> Vec<u8> {
    let mut text = format!("{method} {API}{path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {token}\r\n");
    // Writing to a text does not fail.
    if !body.is_empty() {
        write!(text, "content-type: application/json\r\ncontent-length: {}\r\n", body.len()).unwrap_or_default();
    }
    text.push_str("\r\n");
    text.push_str(body);
    text.into_bytes()
}

impl Line {
    /// Connects to a server such as `http://127.0.0.1:8080`.
    pub async fn open(url: &str) -> Result<Self> {
        let address = url.strip_prefix("http://").context("plain HTTP is measured alone")?;
        let stream = TcpStream::connect(address).await.with_context(|| format!("{address} does not answer"))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::with_capacity(16 << 10) })
    }

    /// Sends `request` and reads the answer.
    pub async fn ask(&mut self, request: &[u8]) -> Result<Reply<'_>> {
        self.stream.write_all(request).await?;
        self.read.clear();
        let (status, body, start) = loop {
            self.more().await?;
            if let Some(head) = head(&self.read)? {
                break head;
            }
        };
        let body = match body {
            Body::Length(length) => {
                while self.read.len() < start + length {
                    self.more().await?;
                }
                self.read.get(start..start + length).unwrap_or_default()
            }
            Body::Chunks => {
                while !self.join_chunks(start)? {
                    self.more().await?;
                }
                self.read.get(start..).unwrap_or_default()
            }
        };
        Ok(Reply { status, body })
    }

    /// As [`Line::ask`], where anything but a success ends the benchmark.
    pub async fn expect(&mut self, request: &[u8]) -> Result<&[u8]> {
        let reply = self.ask(request).await?;
        if !(200..300).contains(&reply.status) {
            let line = String::from_utf8_lossy(request.split(|byte| *byte == b'\r').next().unwrap_or_default());
            bail!("{line} was answered {}: {}", reply.status, String::from_utf8_lossy(reply.body));
        }
        Ok(reply.body)
    }

    async fn more(&mut self) -> Result<()> {
        if self.stream.read_buf(&mut self.read).await? == 0 {
            bail!("the server closed the connection in the middle of an answer");
        }
        Ok(())
    }

    /// Joins the chunks from `start` on when all of them are here; whether they are.
    fn join_chunks(&mut self, start: usize) -> Result<bool> {
        let mut parts = Vec::new();
        let mut at = start;
        loop {
            let chunk = parse_chunk_size(self.read.get(at..).unwrap_or_default());
            let Ok(Status::Complete((head, size))) = chunk else {
                return if chunk.is_err() { bail!("an answer in pieces cannot be read") } else { Ok(false) };
            };
            let (from, size) = (at + head, usize::try_from(size)?);
            at = from + size + "\r\n".len();
            if self.read.len() < at {
                return Ok(false);
            }
            if size == 0 {
                break;
            }
            parts.push(from..from + size);
        }
        let mut end = start;
        for part in parts {
            let length = part.len();
            self.read.copy_within(part, end);
            end += length;
        }
        self.read.truncate(end);
        Ok(true)
    }
}

/// Status, body and where it begins, when all of the head is here.
fn head(read: &[u8]) -> Result<Option<(u16, Body, usize)>> {
    let mut headers = [EMPTY_HEADER; HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let Status::Complete(start) = response.parse(read)? else { return Ok(None) };
    let named = |name: &str| response.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
    let status = response.code.unwrap_or_default();
    let body = match named("content-length") {
        Some(length) => Body::Length(std::str::from_utf8(length.value)?.trim().parse()?),
        None if named("transfer-encoding").is_some() => Body::Chunks,
        None if status == 204 => Body::Length(0),
        None => bail!("an answer does not say how long it is"),
    };
    Ok(Some((status, body, start)))
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// Answers of a server that sends these pieces to one connection.
    async fn answers(pieces: &'static [&'static str]) -> Line {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("listens");
        let url = format!("http://{}", listener.local_addr().expect("address"));
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("accepts");
            for piece in pieces {
                stream.write_all(piece.as_bytes()).await.expect("sends");
                stream.flush().await.expect("sends");
                tokio::task::yield_now().await;
            }
        });
        Line::open(&url).await.expect("connects")
    }

    #[tokio::test]
    async fn an_answer_with_its_length_and_one_in_chunks_are_read_whole() {
        let mut line = answers(&["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", "llo"]).await;
        let reply = line.ask(b"GET / HTTP/1.1\r\n\r\n").await.expect("an answer");
        assert_eq!((reply.status, reply.body), (200, &b"hello"[..]));

        let pieces = &[
            "HTTP/1.1 409 Conflict\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n",
            "3\r\nt",
            "oo\r\n0\r\n",
            "\r\n",
        ];
        let mut line = answers(pieces).await;
        let reply = line.ask(b"GET / HTTP/1.1\r\n\r\n").await.expect("an answer");
        assert_eq!((reply.status, reply.body), (409, &b"fourtoo"[..]));
    }

    #[tokio::test]
    async fn an_answer_that_breaks_off_and_one_that_is_no_success_are_errors() {
        let mut line = answers(&["HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nhe"]).await;
        assert!(line.ask(b"GET / HTTP/1.1\r\n\r\n").await.is_err());
        let mut line = answers(&["HTTP/1.1 503 Busy\r\ncontent-length: 4\r\n\r\nwait"]).await;
        let error = line.expect(b"GET /x HTTP/1.1\r\n\r\n").await.expect_err("no success").to_string();
        assert_eq!(error, "GET /x HTTP/1.1 was answered 503: wait");
    }
}
