//! The one who prints. Each register has a queue: a slow printer delays no other one. A paper is noted as on its way before its
//! first byte is sent, so that one whose end was not seen is known for what it is: it is offered again, and not sent again.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tillkeep_model::words::PrintState;
use tillkeep_model::{ErrorCode, Instant};
use tillkeep_storage::entity::{print_job, register};
use tillkeep_storage::sea_orm::EntityTrait;
use tillkeep_storage::{DbErr, fault, print_jobs};
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time;
use uuid::Uuid;

use super::device::{Device, NotReady};
use super::prints::rendered;
use crate::Store;
use crate::printers::{KEPT_MS, Printer};
use crate::state::Standing;

pub use super::device::Patience;

/// So long a paper waits for its printer.
const WAITS_MS: i64 = 24 * 60 * 60 * 1000;
/// So many wait for one printer.
const MOST: i64 = 200;
/// How often that is looked after.
const TIDIES_MS: i64 = 10 * 60 * 1000;

/// How long a printer that takes no paper is left alone: doubled each time.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// So long a server that stops waits for papers that are being printed.
const LEAVES_WITHIN: Duration = Duration::from_secs(5);

/// Prints until the store stops.
pub(crate) async fn run(store: Arc<Store>) {
    run_with(store, Patience::default()).await;
}

/// As [`run`], with as much patience as a test has.
pub async fn run_with(store: Arc<Store>, patience: Patience) {
    let mut work = Work::new(patience);
    while let Err(error) = forsake(&store).await {
        tracing::warn!(%error, "the papers on their way cannot be looked at");
        tokio::select! {
            () = store.stop.cancelled() => return,
            () = time::sleep(FIRST_PAUSE) => {}
        }
    }
    loop {
        let wait = work.round(&store).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the papers that wait cannot be looked at");
            FIRST_PAUSE
        });
        tokio::select! {
            () = store.stop.cancelled() => break,
            () = store.printers.rung() => {}
            Some(ended) = work.tasks.join_next_with_id() => work.ended(&store, ended).await,
            () = time::sleep(wait) => {}
        }
    }
    let last = async { while work.tasks.join_next().await.is_some() {} };
    if time::timeout(LEAVES_WITHIN, last).await.is_err() {
        tracing::warn!("a printer is not ready with its paper; whether it was printed is not known");
    }
}

/// What was on its way when the server ended.
async fn forsake(store: &Store) -> Result<(), DbErr> {
    if print_jobs::is_empty(store.reader()).await? {
        return Ok(());
    }
    let now = store.clock.now();
    let left = store.by_itself(move |tx| Box::pin(async move { print_jobs::forsake(tx, now).await })).await?;
    if left > 0 {
        tracing::warn!(papers = left, "papers were being printed when this server ended; they are offered again");
    }
    Ok(())
}

/// What came of trying to print a paper.
enum Tried {
    /// It is done with, however it ended.
    Ended,
    /// The printer takes none now.
    Later,
}

type Ended = Result<(Id, Result<Tried, DbErr>), JoinError>;

struct Work {
    patience: Patience,
    tasks: JoinSet<Result<Tried, DbErr>>,
    /// The register and the paper of each task.
    at: HashMap<Id, (Uuid, Uuid)>,
    /// The registers whose printers are left alone, each until when and for how long.
    pauses: HashMap<Uuid, (time::Instant, Duration)>,
    /// Those that are to be tried at once.
    hurried: BTreeSet<Uuid>,
    tidied: Option<Instant>,
    /// What became of these could not be noted yet, each with whether it is the paper that is broken.
    unnoted: Vec<(Uuid, bool)>,
}

impl Work {
    fn new(patience: Patience) -> Self {
        Self {
            patience,
            tasks: JoinSet::new(),
            at: HashMap::new(),
            pauses: HashMap::new(),
            hurried: BTreeSet::new(),
            tidied: None,
            unnoted: Vec::new(),
        }
    }
}

impl Work {
    /// Begins what can be begun; how long there is nothing else to do unless the bell is rung.
    async fn round(&mut self, store: &Arc<Store>) -> Result<Duration, DbErr> {
        self.hurried.extend(store.printers.hurried());
        self.pauses.retain(|register, _| !self.hurried.contains(register));
        while let Some((job, is_broken)) = self.unnoted.last().copied() {
            leave(store, job, is_broken).await?;
            self.unnoted.pop();
        }
        self.tidy(store).await?;
        let now = time::Instant::now();
        let mut wait = Duration::from_millis(TIDIES_MS.unsigned_abs());
        for register in print_jobs::registers(store.reader()).await? {
            if self.at.values().any(|(busy, _)| *busy == register) {
                continue;
            }
            if let Some((until, _)) = self.pauses.get(&register).filter(|(until, _)| *until > now) {
                wait = wait.min(*until - now);
                continue;
            }
            self.hurried.remove(&register);
            if let Some(job) = print_jobs::next(store.reader(), register).await? {
                let about = (register, job.id);
                let task = self.tasks.spawn(print(store.clone(), job, self.patience));
                self.at.insert(task.id(), about);
            }
        }
        Ok(wait)
    }

    /// Gives up what waits too long, and forgets what ended long ago.
    async fn tidy(&mut self, store: &Store) -> Result<(), DbErr> {
        let now = store.clock.now();
        if self.tidied.is_some_and(|at| now.millis_since(at) < TIDIES_MS) {
            return Ok(());
        }
        self.tidied = Some(now);
        if print_jobs::is_empty(store.reader()).await? {
            return Ok(());
        }
        let (since, before) = (now.plus_millis(-WAITS_MS), now.plus_millis(-KEPT_MS));
        let tidy = store.by_itself(move |tx| {
            Box::pin(async move {
                print_jobs::forget(tx, before).await?;
                print_jobs::give_up(tx, since, MOST, now).await
            })
        });
        let given_up = tidy.await?;
        if given_up > 0 {
            tracing::warn!(papers = given_up, "papers waited too long for a printer and are given up");
        }
        Ok(())
    }

    async fn ended(&mut self, store: &Store, ended: Ended) {
        let (id, tried, is_broken) = match ended {
            Ok((id, tried)) => (id, tried.map_err(|error| error.to_string()), false),
            Err(error) => (error.id(), Err(error.to_string()), true),
        };
        let Some((register, job)) = self.at.remove(&id) else { return };
        match tried {
            Ok(Tried::Ended) => {
                self.pauses.remove(&register);
            }
            // Somebody asked for it since it was begun.
            Ok(Tried::Later) if self.hurried.contains(&register) => {}
            Ok(Tried::Later) => self.pause(register),
            Err(error) => {
                tracing::error!(%error, %job, "a paper could not be printed");
                self.pause(register);
                if let Err(error) = leave(store, job, is_broken).await {
                    tracing::error!(%error, %job, "what came of a paper cannot be noted");
                    self.unnoted.push((job, is_broken));
                }
            }
        }
    }

    fn pause(&mut self, register: Uuid) {
        let before = self.pauses.get(&register).map(|(_, pause)| *pause * 2);
        let pause = before.unwrap_or(FIRST_PAUSE).min(LONGEST_PAUSE);
        self.pauses.insert(register, (time::Instant::now() + pause, pause));
    }
}

/// Prints one paper, or says why not.
async fn print(store: Arc<Store>, job: print_job::Model, patience: Patience) -> Result<Tried, DbErr> {
    let (id, register_id) = (job.id, job.register_id);
    let register = register::Entity::find_by_id(register_id).one(store.reader()).await?;
    let Some(printer) = register.as_ref().and_then(Printer::of) else {
        return fail(&store, id, "the register has no printer any more".to_owned()).await;
    };
    let paper = match rendered(&store, &job, &printer).await {
        Ok(paper) => paper,
        Err(error) if error.code() == ErrorCode::SaleNotFound => {
            return fail(&store, id, error.text().to_owned()).await;
        }
        Err(error) => return put_off(&store, id, error.text().to_owned()).await,
    };
    let mut device = match ready(&printer, patience).await {
        Ok(device) => device,
        Err(NotReady { standing, error }) => {
            is(&store, register_id, standing, Some(error.clone()));
            return put_off(&store, id, error).await;
        }
    };
    let now = store.clock.now();
    if !store.by_itself(move |tx| Box::pin(async move { print_jobs::begin(tx, id, now).await })).await? {
        return Ok(Tried::Ended);
    }
    fault::point("print.marked")?;
    let mut sent = device.send(&paper).await;
    fault::point("print.sent")?;
    if sent.is_ok() {
        sent = device.end(paper.len()).await;
    }
    match device.ready().await {
        Ok(()) => is(&store, register_id, Standing::Ready, None),
        Err(NotReady { standing, error }) => is(&store, register_id, standing, Some(error)),
    }
    match sent {
        Ok(()) => settle(&store, id, PrintState::Printed, None).await?,
        Err(error) => {
            tracing::warn!(paper = %id, %error, "whether a paper was printed is not known; it is offered again");
            settle(&store, id, PrintState::Unknown, Some(&error)).await?;
        }
    }
    Ok(Tried::Ended)
}

/// A printer that would print.
async fn ready(printer: &Printer, patience: Patience) -> Result<Device, NotReady> {
    let mut device = Device::open(&printer.address, patience).await?;
    device.ready().await?;
    Ok(device)
}

fn is(store: &Store, register_id: Uuid, standing: Standing, error: Option<String>) {
    store.printers.is(register_id, standing, error, store.clock.now());
}

async fn put_off(store: &Store, id: Uuid, error: String) -> Result<Tried, DbErr> {
    let now = store.clock.now();
    store.by_itself(move |tx| Box::pin(async move { print_jobs::put_off(tx, id, error, now).await })).await?;
    Ok(Tried::Later)
}

async fn fail(store: &Store, id: Uuid, error: String) -> Result<Tried, DbErr> {
    let now = store.clock.now();
    store.by_itself(move |tx| Box::pin(async move { print_jobs::fail(tx, id, error, now).await })).await?;
    Ok(Tried::Ended)
}

/// What this server failed at. A paper that it cannot make, whenever it is tried, is not to be in the way of the others.
async fn leave(store: &Store, id: Uuid, is_broken: bool) -> Result<(), DbErr> {
    settle(store, id, PrintState::Unknown, Some("this server failed while it was printed")).await?;
    if is_broken {
        fail(store, id, "this server failed while it was made".to_owned()).await?;
    }
    Ok(())
}

async fn settle(store: &Store, id: Uuid, state: PrintState, error: Option<&str>) -> Result<(), DbErr> {
    let (now, error) = (store.clock.now(), error.map(str::to_owned));
    store.by_itself(move |tx| Box::pin(async move { print_jobs::settle(tx, id, state, error, now).await })).await
}
