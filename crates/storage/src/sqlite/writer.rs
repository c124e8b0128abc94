//! The one connection that writes, and the thread that has it.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sea_orm::{DbErr, RuntimeErr};
use tokio::sync::oneshot;

use super::checkpoints::Checkpoints;
use super::errors::undone;
use super::session::{Lease, Session};
use crate::fault;
use crate::pools::Opening;

/// Transactions that share a commit, at the most.
const MOST: usize = 32;
/// How long those who are done wait for others to join.
const LONGEST_GROUP: Duration = Duration::from_millis(2);

/// Whose turn is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    /// People and sales.
    First,
    /// Pages and batches of other servers.
    Bulk,
}

/// Tells a caller how the commit went.
pub(crate) type Answer = Box<dyn FnOnce(Result<(), DbErr>) + Send>;
/// A transaction: whether its work is to be kept, and how its caller is told.
type Work = Box<dyn FnOnce(Result<Lease, DbErr>) -> (bool, Answer) + Send>;

enum Job {
    /// Runs here, and shares a commit with others of its kind.
    Run(Work),
    /// Runs elsewhere, alone.
    Lend(oneshot::Sender<Result<Lease, DbErr>>),
}

#[derive(Default)]
struct Waiting {
    first: VecDeque<Job>,
    bulk: VecDeque<Job>,
    /// Whether the last one was of the first rank: bulk that waits comes after it.
    first_was_last: bool,
    closed: bool,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    bell: Condvar,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job; `None` when the database is closed and everything is done.
    fn next(&self) -> Option<Job> {
        let mut waiting = self.lock();
        loop {
            let bulk_is_next = waiting.first.is_empty() || waiting.first_was_last;
            if bulk_is_next && let Some(job) = waiting.bulk.pop_front() {
                waiting.first_was_last = false;
                return Some(job);
            }
            if let Some(job) = waiting.first.pop_front() {
                waiting.first_was_last = true;
                return Some(job);
            }
            if waiting.closed {
                return None;
            }
            waiting = self.bell.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next one that may join a group.
    fn next_to_join(&self) -> Option<Work> {
        let mut waiting = self.lock();
        match waiting.first.pop_front()? {
            Job::Run(work) => Some(work),
            lend @ Job::Lend(_) => {
                waiting.first.push_front(lend);
                None
            }
        }
    }

    fn add(&self, job: Job, rank: Rank) -> Result<(), DbErr> {
        let mut waiting = self.lock();
        if waiting.closed {
            return Err(closed());
        }
        match rank {
            Rank::First => waiting.first.push_back(job),
            Rank::Bulk => waiting.bulk.push_back(job),
        }
        self.bell.notify_one();
        Ok(())
    }
}

/// The way to the thread that has the writing connection.
#[derive(Clone)]
pub(crate) struct Writer(Arc<Handle>);

struct Handle {
    queue: Arc<Queue>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.bell.notify_one();
    }
}

impl Writer {
    /// Starts the thread with the connection to the file at `path`.
    pub fn start(session: Arc<Session>, path: &Path, opening: Opening) -> Result<Self, DbErr> {
        session.limit(opening.longest_statement)?;
        session.watch_log();
        let queue = Arc::new(Queue::default());
        let checkpoints = Checkpoints::start(path)?;
        let desk = Desk { session, checkpoints, queue: queue.clone(), longest_pause: opening.longest_pause };
        let thread = thread::Builder::new().name("writer".to_owned()).spawn(move || desk.serve());
        let thread = thread.map_err(|error| DbErr::Custom(format!("no thread for the database: {error}")))?;
        Ok(Self(Arc::new(Handle { queue, thread: Mutex::new(Some(thread)) })))
    }

    /// The connection, in a transaction that has begun and is its own.
    pub async fn lend(&self, rank: Rank) -> Result<Lease, DbErr> {
        let (caller, answer) = oneshot::channel();
        self.0.queue.add(Job::Lend(caller), rank)?;
        answer.await.map_err(|_| closed())?
    }

    /// Runs `work` on the writer's thread in a transaction. It waits for nothing but the connection, and ends by saying
    /// whether it is to be kept and how the caller is told once the disk has it.
    pub fn run<W>(&self, rank: Rank, work: W) -> Result<(), DbErr>
    where
        W: FnOnce(Result<Lease, DbErr>) -> (bool, Answer) + Send + 'static,
    {
        self.0.queue.add(Job::Run(Box::new(work)), rank)
    }

    /// Waits until everything that was asked for is done, and closes the connection.
    pub async fn close(&self) {
        self.0.queue.lock().closed = true;
        self.0.queue.bell.notify_one();
        let thread = self.0.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic of the thread was logged where it happened.
            drop(tokio::task::spawn_blocking(move || thread.join()).await);
        }
    }
}

/// What the thread has.
struct Desk {
    session: Arc<Session>,
    checkpoints: Checkpoints,
    queue: Arc<Queue>,
    longest_pause: Duration,
}

impl Desk {
    fn serve(self) {
        while let Some(job) = self.queue.next() {
            match job {
                Job::Lend(caller) => self.lend(caller),
                Job::Run(work) => self.group(work),
            }
            // Whatever happened, the next one begins its own transaction.
            self.session.take_back();
        }
    }

    fn lend(&self, caller: oneshot::Sender<Result<Lease, DbErr>>) {
        if caller.is_closed() {
            return;
        }
        if let Err(error) = self.session.control("BEGIN IMMEDIATE", true) {
            drop(caller.send(Err(error)));
            return;
        }
        let (ended, end) = channel();
        let lease = self.session.lease().ending(move || {
            let _nobody_waits = ended.send(());
        });
        // One that nobody takes is dropped, and ends at once.
        drop(caller.send(Ok(lease)));
        let mut patience = self.longest_pause;
        while end.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            let idle = self.session.activity.idle();
            if idle >= self.longest_pause {
                tracing::error!("a transaction did nothing for {idle:?} and is rolled back");
                return;
            }
            patience = self.longest_pause.saturating_sub(idle).max(Duration::from_millis(10));
        }
        self.checkpoints.committed(self.session.logged(), &self.session);
    }

    /// One commit of `first` and of those that wait behind it. An error is one of all of them; those that fail by
    /// themselves harm nobody else.
    fn group(&self, first: Work) {
        let mut answers = Vec::new();
        let filled = self.fill(first, &mut answers);
        let done = filled.and_then(|changes| if changes { self.commit() } else { Ok(()) });
        for answer in answers {
            answer(done.clone());
        }
        self.checkpoints.committed(self.session.logged(), &self.session);
    }

    fn commit(&self) -> Result<(), DbErr> {
        fault::point("group.filled")?;
        self.session.lease().commit()?;
        fault::point("group.committed")
    }

    /// Runs `first` and those that may join it; whether anything is to be committed.
    fn fill(&self, first: Work, answers: &mut Vec<Answer>) -> Result<bool, DbErr> {
        let begun = Instant::now();
        let (kept, answer) = first(self.session.control("BEGIN IMMEDIATE", true).map(|()| self.session.lease()));
        answers.push(answer);
        if !kept {
            // It answers with its own error. Nobody has joined it yet.
            return Ok(false);
        }
        self.still_there()?;
        while answers.len() < MOST && begun.elapsed() < LONGEST_GROUP {
            let Some(work) = self.queue.next_to_join() else { break };
            let begins = self.session.control("SAVEPOINT one", true);
            let begun = begins.is_ok();
            let (kept, answer) = work(begins.map(|()| self.session.lease()));
            answers.push(answer);
            self.still_there()?;
            if begun && !kept {
                // Released below in any case: a savepoint that was rolled back to is still there.
                self.session.control("ROLLBACK TO one", true)?;
            }
            if begun {
                self.session.control("RELEASE one", true)?;
            }
        }
        Ok(true)
    }

    fn still_there(&self) -> Result<(), DbErr> {
        if self.session.is_in_transaction() { Ok(()) } else { Err(undone("the database could not go on with it")) }
    }
}

fn closed() -> DbErr {
    DbErr::Conn(RuntimeErr::Internal("the database is closed".to_owned()))
}
