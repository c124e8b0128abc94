//! A pull without a limit: all rows of one snapshot, page after page. A failure half-way breaks the answer off, so that
//! no store takes a part for the whole.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::response::Response;
use tillkeep_http::server;
use tillkeep_storage::pull::Page;
use tillkeep_storage::registry::SyncType;
use tillkeep_storage::{DbErr, Transaction, tags};
use tokio::sync::mpsc;
use tokio::time::timeout;
use uuid::Uuid;

use super::page::read;
use super::text::{head, ids, json, tail};
use crate::Hq;
use crate::live::streams::StreamPermit;

/// Rows read at a time.
const PAGE: u64 = 500;
/// Bytes that are given to a client at a time: any line that is not dead carries so many within the patience.
const PIECE: usize = 16 << 10;

/// What is read, and what it takes: both go as soon as the answer is not read any more.
pub(super) struct Reading {
    pub conn: Transaction,
    pub place: Option<StreamPermit>,
    pub entity: &'static SyncType,
    pub store: Uuid,
    pub since: i64,
}

type Sender = mpsc::Sender<std::io::Result<Bytes>>;

/// Why an answer ends before its end.
enum Broken {
    /// The rows could not be read.
    Unread(DbErr),
    /// The client takes nothing.
    Untaken,
    /// The server stops.
    Closing,
}

/// The rows above `since`.
pub(super) fn answer(hq: Arc<Hq>, reading: Reading) -> Response {
    let (send, mut receive) = mpsc::channel(2);
    tokio::spawn(async move {
        let ended = pages(&hq, &reading, &send).await;
        let Reading { conn, place, entity, store, since } = reading;
        // Another pull may have the place from now on.
        drop((conn, place));
        let error = match ended {
            Ok((cursor, rows)) => return hq.tracker.handed(store, entity.name, since, cursor, rows),
            Err(Broken::Closing) => return,
            Err(Broken::Untaken) => "the client does not read",
            Err(Broken::Unread(error)) => {
                tracing::warn!(%error, entity_type = entity.name, "a pull broke off");
                "the pull broke off"
            }
        };
        // Dropping the channel half-way would look like an end: whoever reads on after all hears of it.
        tokio::select! {
            _ = send.send(Err(std::io::Error::other(error))) => {}
            () = closing(&hq) => {}
        }
    });
    json(Body::from_stream(futures_util::stream::poll_fn(move |context| receive.poll_recv(context))))
}

/// Sends page after page; up to which version, and how many rows.
async fn pages(hq: &Hq, reading: &Reading, send: &Sender) -> Result<(i64, usize), Broken> {
    let Reading { conn, entity, store, since, .. } = reading;
    let mut text = head(entity, *since);
    let (mut cursor, mut count, mut left_out) = (*since, 0, Vec::new());
    loop {
        let page = read(hq, conn, entity, *store, cursor, PAGE).await.map_err(Broken::Unread)?;
        add_rows(&mut text, &page, count == 0);
        cursor = page.latest;
        count += page.rows.len();
        left_out.extend(ids(&page.left_out));
        if !page.has_more {
            let tag = tags::tag_of(conn, entity, *store, cursor).await.map_err(Broken::Unread)?;
            text.push_str(&tail(&page, &hq.epoch, tag, None, &left_out));
        }
        let more = page.has_more;
        // Sending may take long: only the text is held meanwhile, not the rows.
        drop(page);
        give(hq, Bytes::from(std::mem::take(&mut text)), send).await?;
        if !more {
            return Ok((cursor, count));
        }
    }
}

fn add_rows(text: &mut String, page: &Page, first: bool) {
    if !first && !page.rows.is_empty() {
        text.push(',');
    }
    text.push_str(&page.rows.join(","));
}

/// Gives a text to the client, piece by piece.
async fn give(hq: &Hq, mut text: Bytes, send: &Sender) -> Result<(), Broken> {
    while !text.is_empty() {
        let piece = text.split_to(PIECE.min(text.len()));
        let taken = tokio::select! {
            taken = timeout(hq.times.take_within, send.send(Ok(piece))) => taken,
            () = closing(hq) => return Err(Broken::Closing),
        };
        if !matches!(taken, Ok(Ok(()))) {
            return Err(Broken::Untaken);
        }
    }
    Ok(())
}

/// Waits until the server has stopped and running requests have had their time: the database is to be closed.
async fn closing(hq: &Hq) {
    hq.stop.cancelled().await;
    tokio::time::sleep(server::DRAIN).await;
}
