//! A connection that does not wait for ever: for headers, for the next request, for a client that takes what is sent.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::{Limits, Permit};
use crate::request::least;

/// Bytes that a stranger may say on a connection that is no HTTP any more: the first message of a socket.
const MOST_OF_STRANGERS: usize = 8 << 10;

/// What a connection is doing, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Headers are awaited: a client that begins says all of them soon.
    Head(Instant),
    /// Between two requests.
    Idle(Instant),
    /// A request is being answered; its body has limits of its own.
    Busy,
    /// No HTTP any more: a WebSocket looks after itself.
    Free,
}

/// The phase of one connection, known to its stream and to its requests.
pub(super) struct Pace {
    state: Mutex<State>,
    known: AtomicBool,
}

struct State {
    phase: Phase,
    /// Who reads from the connection: a read that had no limit gets one when the answer is out.
    reader: Option<Waker>,
}

impl Pace {
    pub(super) fn new() -> Arc<Self> {
        let state = Mutex::new(State { phase: Phase::Head(Instant::now()), reader: None });
        Arc::new(Self { state, known: AtomicBool::new(false) })
    }

    /// The other side has shown who it is.
    pub(super) fn is_known(&self) {
        self.known.store(true, Ordering::Release);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn phase(&self) -> Phase {
        self.state().phase
    }

    fn set(&self, phase: Phase) {
        let mut state = self.state();
        state.phase = phase;
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// From the headers of a request to the end of its answer.
    pub(super) fn busy(self: &Arc<Self>) -> Busy {
        self.set(Phase::Busy);
        Busy(self.clone())
    }
}

/// Held while a request is being answered.
pub(super) struct Busy(Arc<Pace>);

impl Busy {
    /// The connection is no HTTP any more.
    pub(super) fn upgraded(self) {
        self.0.set(Phase::Free);
    }

    /// The body of the answer, with the connection busy until its end.
    pub(super) fn until_sent(self, body: Body) -> Sent {
        let busy = (!body.is_end_stream()).then_some(self);
        Sent { body, busy }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if self.0.phase() == Phase::Busy {
            self.0.set(Phase::Idle(Instant::now()));
        }
    }
}

/// The body of an answer.
pub(super) struct Sent {
    body: Body,
    /// Given back with the last frame: hyper may keep the body until the next request.
    busy: Option<Busy>,
}

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) || self.body.is_end_stream() {
            self.busy = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream with its limits, and the place that it takes.
pub(super) struct Paced<T> {
    stream: T,
    pace: Arc<Pace>,
    header: Duration,
    idle: Duration,
    stall: Duration,
    reading: Option<Pin<Box<Sleep>>>,
    writing: Option<Pin<Box<Sleep>>>,
    /// Bytes that were taken of an answer since `writing` began.
    taken: u64,
    /// Bytes that must be taken in each `stall`.
    least: u64,
    /// Bytes of a stranger since the connection is no HTTP any more.
    unknown: usize,
    evicted: Pin<Box<WaitForCancellationFutureOwned>>,
    _place: Permit,
}

impl<T> Paced<T> {
    pub(super) fn new(stream: T, pace: Arc<Pace>, limits: &Limits, taken: Permit) -> Self {
        let Limits { header, idle, stall, rate, .. } = *limits;
        let evicted = Box::pin(taken.evicted());
        let (reading, writing) = (None, None);
        Self {
            stream,
            pace,
            header,
            idle,
            stall,
            reading,
            writing,
            taken: 0,
            least: least(rate, stall),
            unknown: 0,
            evicted,
            _place: taken,
        }
    }

    fn read_deadline(&self) -> Option<Instant> {
        if self.writing.is_some() {
            // hyper has the whole answer, the client does not: it is busy taking it, and the write has its own limit.
            return None;
        }
        match self.pace.phase() {
            Phase::Head(since) => Some(since + self.header),
            Phase::Idle(since) => Some(since + self.idle),
            Phase::Busy | Phase::Free => None,
        }
    }

    /// Gives up on an answer that its client does not take, or only drop by drop. The time counts from the first piece
    /// that had to wait until all of it is `out`.
    fn written<R>(
        &mut self,
        context: &mut Context<'_>,
        poll: Poll<io::Result<R>>,
        out: bool,
        bytes: impl Fn(&R) -> usize,
    ) -> Poll<io::Result<R>> {
        if self.pace.phase() == Phase::Free {
            self.writing = None;
            return poll;
        }
        if let Poll::Ready(written) = &poll {
            self.taken += written.as_ref().map_or(0, bytes) as u64;
            if out && self.writing.take().is_some() && matches!(self.pace.phase(), Phase::Idle(_)) {
                // Only with its last piece is the client between two requests.
                self.pace.set(Phase::Idle(Instant::now()));
            }
            return poll;
        }
        loop {
            let deadline = Instant::now() + self.stall;
            if self.writing.is_none() {
                self.taken = 0;
            }
            let timer = self.writing.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
            ready!(timer.as_mut().poll(context));
            if self.taken < self.least {
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes too little")));
            }
            self.writing = None;
        }
    }

    /// Whether another one has this connection's place now.
    fn is_evicted(&mut self, context: &mut Context<'_>) -> bool {
        self.evicted.as_mut().poll(context).is_ready()
    }
}

/// What a connection says that another one has its place now.
fn evicted() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, "another connection needs this place")
}

impl<T: AsyncRead + Unpin> AsyncRead for Paced<T> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.is_evicted(context) {
            return Poll::Ready(Err(evicted()));
        }
        let before = buf.filled().len();
        let poll = Pin::new(&mut self.stream).poll_read(context, buf);
        if poll.is_ready() {
            if self.pace.phase() == Phase::Free && !self.pace.known.load(Ordering::Acquire) {
                self.unknown += buf.filled().len() - before;
                if self.unknown > MOST_OF_STRANGERS {
                    return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, "a stranger says too much")));
                }
            }
            if buf.filled().len() > before && matches!(self.pace.phase(), Phase::Idle(_)) {
                self.pace.set(Phase::Head(Instant::now()));
            }
            return poll;
        }
        let Some(deadline) = self.read_deadline() else {
            self.pace.state().reader = Some(context.waker().clone());
            return Poll::Pending;
        };
        let timer = self.reading.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client says nothing")))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Paced<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(context, buf);
        self.written(context, poll, false, |bytes| *bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.written(context, poll, false, |bytes| *bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_flush(context);
        self.written(context, poll, true, |()| 0)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.stream).poll_shutdown(context);
        self.written(context, poll, true, |()| 0)
    }
}
