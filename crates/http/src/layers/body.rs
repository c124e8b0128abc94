//! Bodies that come too slowly.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use crate::request::TooSlow;

/// How slowly a body may come.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    /// All of it within this time.
    Total(Duration),
    /// So many bytes in each such time.
    AtLeast(u64, Duration),
}

/// Puts the limit on the body of `request`; `waiting` is true while a handler reads it and nothing comes.
pub(super) fn limit(request: Request, pace: Pace, waiting: &Arc<AtomicBool>) -> Request {
    request.map(|body| {
        if body.is_end_stream() {
            return body;
        }
        let (least, each) = match pace {
            Pace::Total(all) => (None, all),
            Pace::AtLeast(bytes, each) => (Some(bytes), each),
        };
        Body::new(Limited { body, timer: Box::pin(sleep(each)), each, least, came: 0, waiting: waiting.clone() })
    })
}

struct Limited {
    body: Body,
    timer: Pin<Box<Sleep>>,
    each: Duration,
    /// Bytes that must come in that time, again and again; else all must.
    least: Option<u64>,
    came: u64,
    waiting: Arc<AtomicBool>,
}

impl HttpBody for Limited {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            if let Some(Ok(frame)) = &frame {
                self.came += frame.data_ref().map_or(0, |data| data.len() as u64);
            }
            self.waiting.store(false, Ordering::Release);
            return Poll::Ready(frame);
        }
        self.waiting.store(true, Ordering::Release);
        loop {
            ready!(self.timer.as_mut().poll(context));
            if self.least.is_none_or(|least| self.came < least) {
                break;
            }
            self.came = 0;
            let next = Instant::now() + self.each;
            self.timer.as_mut().reset(next);
        }
        Poll::Ready(Some(Err(axum::Error::new(TooSlow))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
