//! What is left of the body of a request when its answer begins. A connection on which something is still to come takes no
//! next request, and the answer says so.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::{Frame, Incoming, SizeHint};
use tokio::task::yield_now;

/// How often it is looked whether what is left is there already, and how much of it is taken then: a small body that no
/// handler wanted to read is no reason to hang up.
const LOOKS: usize = 4;
const TAKEN: usize = 64 << 10;

/// A body that tells what becomes of it.
struct Watched {
    body: Option<Incoming>,
    left: Arc<Mutex<Left>>,
}

enum Left {
    /// A handler has it who may read on.
    InHand,
    /// It is not read any more.
    Dropped(Incoming),
    Nothing,
}

/// What is left of one body.
pub(super) struct Rest {
    left: Arc<Mutex<Left>>,
    /// The client waits to be asked for it.
    is_held_back: bool,
}

/// The body as it is handed on, and what will be left of it.
pub(super) fn watched(body: Incoming, is_held_back: bool) -> (Body, Rest) {
    if body.is_end_stream() {
        return (Body::new(body), Rest { left: Arc::new(Mutex::new(Left::Nothing)), is_held_back });
    }
    let left = Arc::new(Mutex::new(Left::InHand));
    (Body::new(Watched { body: Some(body), left: left.clone() }), Rest { left, is_held_back })
}

fn note(left: &Mutex<Left>, what: Left) -> Left {
    std::mem::replace(&mut left.lock().unwrap_or_else(PoisonError::into_inner), what)
}

impl Rest {
    /// Whether something of the body is still to come.
    pub(super) async fn remains(self) -> bool {
        let mut body = match note(&self.left, Left::InHand) {
            Left::Nothing => return false,
            Left::InHand => return true,
            Left::Dropped(body) => body,
        };
        let mut taken = 0;
        for _ in 0..LOOKS {
            if self.is_held_back {
                break;
            }
            while let Poll::Ready(frame) = Pin::new(&mut body).poll_frame(&mut Context::from_waker(Waker::noop())) {
                let Some(Ok(frame)) = frame else { return frame.is_some() };
                taken += frame.data_ref().map_or(0, Bytes::len);
                if taken > TAKEN {
                    return true;
                }
            }
            // The connection reads between two looks, and not beyond what has arrived.
            yield_now().await;
        }
        !body.is_end_stream()
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let frame = ready!(Pin::new(&mut *body).poll_frame(context));
        if frame.is_none() || body.is_end_stream() {
            self.body = None;
            note(&self.left, Left::Nothing);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(body) = self.body.take() {
            note(&self.left, Left::Dropped(body));
        }
    }
}
