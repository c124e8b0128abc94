//! The one connection that writes, and the thread that has it.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sea_orm::DbErr;
use tokio::sync::oneshot;

use super::checkpoints::Checkpoints;
use super::errors::{busy, closed, undone};
use super::lease::Lease;
use super::session::Session;
use crate::fault;
use crate::sql::opening::Opening;

/// Transactions that share a commit, at the most.
const MOST: usize = 32;

/// Jobs of one rank that wait, at the most: a caller after them gets that the database is busy.
const LONGEST_QUEUE: usize = 1_024;

/// The rank that has the first turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    /// People and sales.
    First,
    /// Pages and batches of other servers.
    Bulk,
}

/// Tells a caller how the commit went.
pub(crate) type Answer = Box<dyn FnOnce(Result<(), DbErr>) + Send>;
/// A transaction: whether its work is to be kept, and how its caller is answered.
type Work = Box<dyn FnOnce(Result<Lease, DbErr>) -> (bool, Answer) + Send>;

enum Job {
    /// Runs here, and shares a commit with others of its kind.
    Run(Work),
    /// Runs elsewhere, alone.
    Lend(oneshot::Sender<Result<Lease, DbErr>>),
}

/// A job, and since when it waits.
struct Asked(Job, Instant);

#[derive(Default)]
struct Waiting {
    first: VecDeque<Asked>,
    bulk: VecDeque<Asked>,
    /// How long the last one of the second rank took, less what those of the first have had since: while any of this is
    /// left, the second rank waits for the first.
    owed: Duration,
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

    /// The next job; `None` when the database is closed and everything is done. One of the second rank goes first once it has
    /// waited for `longest_bulk`.
    fn next(&self, longest_bulk: Duration) -> Option<(Asked, Rank)> {
        let mut waiting = self.lock();
        loop {
            let starves = |Asked(_, since): &Asked| since.elapsed() > longest_bulk;
            if waiting.owed.is_zero()
                && let Some(job) = waiting.bulk.pop_front_if(|job| starves(job))
            {
                return Some((job, Rank::Bulk));
            }
            if let Some(job) = waiting.first.pop_front() {
                return Some((job, Rank::First));
            }
            if let Some(job) = waiting.bulk.pop_front() {
                return Some((job, Rank::Bulk));
            }
            if waiting.closed {
                return None;
            }
            waiting = self.bell.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A job of this rank took so long.
    fn took(&self, rank: Rank, time: Duration) {
        let mut waiting = self.lock();
        waiting.owed = match rank {
            Rank::First => waiting.owed.saturating_sub(time),
            Rank::Bulk => time,
        };
    }

    /// The next one that may join a group.
    fn next_to_join(&self) -> Option<(Work, Instant)> {
        let mut waiting = self.lock();
        match waiting.first.pop_front()? {
            Asked(Job::Run(work), since) => Some((work, since)),
            lend => {
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
        let queue = match rank {
            Rank::First => &mut waiting.first,
            Rank::Bulk => &mut waiting.bulk,
        };
        if queue.len() >= LONGEST_QUEUE {
            return Err(busy());
        }
        queue.push_back(Asked(job, Instant::now()));
        self.bell.notify_one();
        Ok(())
    }
}

/// No caller waits for a thread that is gone.
struct Attended<'desk>(&'desk Queue);

impl Drop for Attended<'_> {
    fn drop(&mut self) {
        let mut waiting = self.0.lock();
        waiting.closed = true;
        let left = (std::mem::take(&mut waiting.first), std::mem::take(&mut waiting.bulk));
        drop(waiting);
        if thread::panicking() {
            tracing::error!("the writer of the database panicked: nothing is written until the server starts again");
        }
        // Each caller hears that there is no answer.
        drop(left);
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
    pub(crate) fn start(session: Arc<Session>, path: &Path, opening: Opening) -> Result<Self, DbErr> {
        session.limit(opening.longest_statement)?;
        session.keep_journals_in_memory()?;
        session.watch_log();
        let queue = Arc::new(Queue::default());
        let checkpoints = Checkpoints::start(path)?;
        let mut desk = Desk { session, checkpoints, queue: queue.clone(), opening };
        let thread = thread::Builder::new().name("writer".to_owned()).spawn(move || desk.serve());
        let thread = thread.map_err(|error| DbErr::Custom(format!("no thread for the database: {error}")))?;
        Ok(Self(Arc::new(Handle { queue, thread: Mutex::new(Some(thread)) })))
    }

    /// The connection, in a transaction that has begun and is its own.
    pub(crate) async fn lend(&self, rank: Rank) -> Result<Lease, DbErr> {
        let (caller, answer) = oneshot::channel();
        self.0.queue.add(Job::Lend(caller), rank)?;
        answer.await.map_err(|_| closed())?
    }

    /// Runs `work` on the writer's thread in a transaction. It waits for nothing but the connection, and ends by saying
    /// whether it is to be kept and how the caller is answered once the disk has it.
    pub(crate) fn run<W>(&self, rank: Rank, work: W) -> Result<(), DbErr>
    where
        W: FnOnce(Result<Lease, DbErr>) -> (bool, Answer) + Send + 'static,
    {
        self.0.queue.add(Job::Run(Box::new(work)), rank)
    }

    /// Whether people wait for the connection.
    pub(crate) fn is_waited_for(&self) -> bool {
        !self.0.queue.lock().first.is_empty()
    }

    /// Waits until everything that was asked for is done, and closes the connection.
    pub(crate) async fn close(&self) {
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
    opening: Opening,
}

impl Desk {
    fn serve(&mut self) {
        let queue = self.queue.clone();
        let _attended = Attended(&queue);
        while let Some((Asked(job, since), rank)) = queue.next(self.opening.longest_bulk) {
            let begun = Instant::now();
            match job {
                Job::Lend(caller) => self.lend(caller, since),
                Job::Run(work) => self.group(work, since),
            }
            // Whatever happened, the next one begins its own transaction.
            self.session.take_back();
            self.checkpoints.committed(self.session.logged(), &self.session);
            queue.took(rank, begun.elapsed());
        }
    }

    /// Begins with `sql`, unless who asked has waited for too long.
    fn begin(&self, sql: &str, since: Instant) -> Result<(), DbErr> {
        if since.elapsed() > self.opening.longest_wait { Err(busy()) } else { self.session.control(sql, true) }
    }

    fn lend(&self, caller: oneshot::Sender<Result<Lease, DbErr>>, since: Instant) {
        if caller.is_closed() {
            return;
        }
        if let Err(error) = self.begin("BEGIN IMMEDIATE", since) {
            drop(caller.send(Err(error)));
            return;
        }
        let (ended, end) = channel();
        let lease = Lease::new(&self.session).ending(move || {
            let _unheard = ended.send(());
        });
        // One that no caller takes is dropped, and ends at once.
        drop(caller.send(Ok(lease)));
        let longest_pause = self.opening.longest_pause;
        let mut patience = longest_pause;
        while end.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            let idle = self.session.activity.idle();
            if idle >= longest_pause {
                tracing::error!("a transaction did nothing for {idle:?} and is rolled back");
                return;
            }
            patience = longest_pause.saturating_sub(idle).max(Duration::from_millis(10));
        }
    }

    /// One commit of `first` and of those that wait behind it. An error is one of all of them; those that fail by
    /// themselves harm no other one.
    fn group(&self, first: Work, since: Instant) {
        let mut answers = Vec::new();
        let filled = self.fill(first, since, &mut answers);
        let done = filled.and_then(|changes| if changes { self.commit() } else { Ok(()) });
        for answer in answers {
            answer(done.clone());
        }
    }

    fn commit(&self) -> Result<(), DbErr> {
        fault::point("group.filled")?;
        Lease::new(&self.session).commit()?;
        fault::point("group.committed")
    }

    /// Runs `first` and those that may join it; whether anything is to be committed.
    fn fill(&self, first: Work, since: Instant, answers: &mut Vec<Answer>) -> Result<bool, DbErr> {
        let begun = Instant::now();
        if !self.run(first, self.begin("BEGIN IMMEDIATE", since), answers)? {
            // It answers with its own error. None has joined it yet.
            return Ok(false);
        }
        while answers.len() < MOST && begun.elapsed() < self.opening.longest_group {
            let Some((work, since)) = self.queue.next_to_join() else { break };
            let begins = self.begin("SAVEPOINT one", since);
            let begun = begins.is_ok();
            let kept = self.run(work, begins, answers)?;
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

    /// Runs one that has `begun`; whether it is to be kept. An error is one of the whole group.
    fn run(&self, work: Work, begun: Result<(), DbErr>, answers: &mut Vec<Answer>) -> Result<bool, DbErr> {
        let alone = answers.is_empty();
        let (kept, answer) = work(begun.map(|()| Lease::new(&self.session)));
        if self.session.is_in_transaction() || (alone && !kept) {
            answers.push(answer);
            return Ok(kept);
        }
        if kept {
            answers.push(answer);
        } else {
            // What it failed for ended the transaction of all: its own error says more than theirs.
            answer(Ok(()));
        }
        Err(undone("the database could not go on with it"))
    }
}
