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
pub enum Pace {
    /// All of it within this time.
    Total(Duration),
    /// Each piece within this time of the one before.
    Stall(Duration),
}

/// Puts the limit on the body of `request`; `waiting` is true while somebody reads it and nothing comes.
pub fn limit(request: Request, pace: Pace, waiting: &Arc<AtomicBool>) -> Request {
    request.map(|body| {
        if body.is_end_stream() {
            return body;
        }
        let (Pace::Total(first) | Pace::Stall(first)) = pace;
        let stall = if let Pace::Stall(stall) = pace { Some(stall) } else { None };
        Body::new(Limited { body, timer: Box::pin(sleep(first)), stall, waiting: waiting.clone() })
    })
}

struct Limited {
    body: Body,
    timer: Pin<Box<Sleep>>,
    stall: Option<Duration>,
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
            if let Some(stall) = self.stall {
                self.timer.as_mut().reset(Instant::now() + stall);
            }
            self.waiting.store(false, Ordering::Release);
            return Poll::Ready(frame);
        }
        self.waiting.store(true, Ordering::Release);
        ready!(self.timer.as_mut().poll(context));
        Poll::Ready(Some(Err(axum::Error::new(TooSlow))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
