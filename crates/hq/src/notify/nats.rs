//! The backend over NATS `JetStream`: the sockets of this server are notified by this server, whatever the broker does,
//! and the broker carries each job to the other servers of headquarters.
//!
//! A hint is never needed for correctness, only for how soon: what the broker loses, doubles or delays changes nothing but
//! time. So one loop serves all that can happen to a broker: set up, publish and listen until something fails, say so,
//! compare the heads with the database, and set up again.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State;
use async_nats::jetstream::consumer::pull::MessagesErrorKind;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::context::{Context, ContextBuilder, CreateStreamErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::stream::{Config, ConsumerErrorKind, DiscardPolicy, StorageType};
use futures_util::StreamExt;
use metrics::{counter, gauge};
use serde::{Deserialize, Serialize};
use tillkeep_http::Clock;
use tillkeep_storage::{Change, registry};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::broker::Broker;
use super::jobs::Jobs;
use super::line::{Line, Queue, Standing};
use super::queue::{Heard, NotificationQueue, Signals, is_for_every_store};
use super::trouble::{Events, Trouble, unpublished};

/// For an answer of the broker; a slower one is of no use.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);
/// Jobs are gathered for so long before they are published.
const GATHER: Duration = Duration::from_millis(20);
/// Between two tries to set up.
const TRY_AGAIN: Duration = Duration::from_millis(500);
/// The broker says so often that it has nothing to say. Twice as long without it, and it counts as away.
const HEARTBEAT: Duration = Duration::from_secs(2);
const PULL_EXPIRES: Duration = Duration::from_secs(30);
/// Jobs under way at once.
const BATCH: usize = 512;
/// Batches of other servers that wait to be heeded; beyond it no more is taken from the broker.
const UNHEEDED: usize = 4;
/// What the stream keeps: the newest job of each type and store, for so long and so much of it.
const KEEP: Duration = Duration::from_mins(10);
const KEEP_BYTES: i64 = 32 << 20;
const DUPLICATES_WITHIN: Duration = Duration::from_mins(1);
/// What a hint names instead of a type when sessions have ended.
const SESSIONS: &str = "sessions";
/// A consumer of a server that is gone is forgotten by the broker.
const FORGET_AFTER: Duration = Duration::from_secs(30);

pub(super) struct Nats(Arc<Inner>);

struct Inner {
    client: Client,
    events: Arc<Events>,
    /// Tells this process from the other ones.
    node: Uuid,
    /// The stream, and the beginning of its subjects: those of one headquarters alone.
    stream: String,
    prefix: String,
    sockets: Arc<Jobs>,
    outgoing: Jobs,
    /// Sessions have ended here since it was last said.
    ended: Notify,
    line: Line,
}

/// Where what was heard is said.
struct Say {
    hints: mpsc::Sender<Vec<Change>>,
    signals: Arc<Signals>,
}

/// A job on its way to the other servers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hint<'a> {
    node: Uuid,
    entity_type: &'a str,
    store_id: Option<Uuid>,
    version: i64,
}

impl Nats {
    /// Begins to connect, and does not wait.
    pub(super) async fn open(broker: &Broker, epoch: &str, clock: &Clock) -> std::io::Result<Self> {
        let (servers, options) = broker.options()?;
        let events = Arc::new(Events::default());
        let heard = events.clone();
        let options = options.event_callback(move |event| {
            heard.heard(&event);
            std::future::ready(())
        });
        let client = options.connect(servers).await.map_err(std::io::Error::other)?;
        Ok(Self(Arc::new(Inner {
            client,
            events,
            node: Uuid::new_v4(),
            stream: format!("TILLKEEP-{epoch}"),
            prefix: format!("tillkeep.{epoch}"),
            sockets: Arc::new(Jobs::new("sockets")),
            outgoing: Jobs::new("broker"),
            ended: Notify::new(),
            line: Line::pending(Queue::Nats, clock),
        })))
    }
}

impl NotificationQueue for Nats {
    fn enqueue(&self, changes: &[Change]) {
        self.0.sockets.add(changes.iter().copied());
        self.0.outgoing.add(changes.iter().copied());
    }

    fn tell_sockets(&self, changes: &[Change]) {
        self.0.sockets.add(changes.iter().copied());
    }

    fn sessions_ended(&self) {
        self.0.ended.notify_one();
    }

    /// They hear of each other by the broker.
    fn beside(&self, _: bool) {}

    fn has_broker(&self) -> bool {
        true
    }

    fn reaches_others(&self) -> bool {
        !self.0.line.is_degraded()
    }

    fn sockets(&self) -> &Arc<Jobs> {
        &self.0.sockets
    }

    fn listen(&self, stop: &CancellationToken) -> Option<Heard> {
        let (inner, stop) = (self.0.clone(), stop.clone());
        let (sender, hints) = mpsc::channel(UNHEEDED);
        let signals = Arc::new(Signals::default());
        let say = Say { hints: sender, signals: signals.clone() };
        tokio::spawn(async move {
            tokio::select! {
                () = inner.run(&say) => {}
                () = stop.cancelled() => {}
            }
        });
        Some(Heard { hints, signals })
    }

    fn standing(&self) -> watch::Receiver<Standing> {
        self.0.line.watch()
    }

    fn measure(&self) {
        self.0.sockets.measure();
        self.0.outgoing.measure();
        gauge!("tillkeep_broker_up").set(if self.0.line.is_degraded() { 0.0 } else { 1.0 });
    }
}

impl Inner {
    async fn run(&self, say: &Say) {
        let jetstream = ContextBuilder::new().timeout(ANSWER_WITHIN).build(self.client.clone());
        loop {
            let Err(trouble) = self.session(say, &jetstream).await;
            self.line.down(&self.events.reason(&trouble));
            if matches!(trouble, Trouble::Silent) {
                drop(timeout(ANSWER_WITHIN, self.client.force_reconnect()).await);
            }
            sleep(TRY_AGAIN).await;
        }
    }

    /// From a connection to the first thing that fails.
    async fn session(&self, say: &Say, jetstream: &Context) -> Result<Infallible, Trouble> {
        self.connected().await?;
        let stream = jetstream
            .get_or_create_stream(Config {
                name: self.stream.clone(),
                subjects: vec![format!("{}.>", self.prefix)],
                storage: StorageType::Memory,
                discard: DiscardPolicy::Old,
                max_messages_per_subject: 1,
                max_bytes: KEEP_BYTES,
                max_age: KEEP,
                duplicate_window: DUPLICATES_WITHIN,
                num_replicas: 1,
                ..Config::default()
            })
            .await
            .map_err(|error| match error.kind() {
                CreateStreamErrorKind::TimedOut => Trouble::Silent,
                _ => Trouble::refused("its stream", &error),
            })?;
        let consumer = stream
            .create_consumer(pull::Config {
                deliver_policy: DeliverPolicy::New,
                ack_policy: AckPolicy::None,
                inactive_threshold: FORGET_AFTER,
                memory_storage: true,
                ..pull::Config::default()
            })
            .await
            .map_err(|error| match error.kind() {
                ConsumerErrorKind::TimedOut => Trouble::Silent,
                _ => Trouble::refused("a consumer of its stream", &error),
            })?;
        let messages = consumer.stream().max_messages_per_batch(BATCH).heartbeat(HEARTBEAT).expires(PULL_EXPIRES);
        let messages = messages.messages().await.map_err(|error| Trouble::refused("its messages", &error))?;
        say.signals.nothing_before.notify_one();
        self.line.up();
        tokio::try_join!(self.publish(jetstream), self.listen(say, messages), self.broken()).map(|(never, _, _)| never)
    }

    async fn connected(&self) -> Result<(), Trouble> {
        let connected = async {
            loop {
                self.events.broke.store(false, Ordering::Release);
                if self.client.connection_state() == State::Connected {
                    return;
                }
                self.events.changed.notified().await;
            }
        };
        timeout(ANSWER_WITHIN, connected).await.map_err(|_| Trouble::Away)
    }

    /// Ends with the connection.
    async fn broken(&self) -> Result<Infallible, Trouble> {
        while !self.events.broke.load(Ordering::Acquire) {
            self.events.changed.notified().await;
        }
        Err(Trouble::Away)
    }

    /// Publishes what waits. What has no answer yet when this ends waits again.
    async fn publish(&self, jetstream: &Context) -> Result<Infallible, Trouble> {
        loop {
            tokio::select! {
                () = self.outgoing.ready() => {}
                () = self.ended.notified() => {
                    // One that is lost costs seconds: what was read of a session is not trusted for longer.
                    timeout(ANSWER_WITHIN, self.send_that_sessions_ended(jetstream)).await.map_err(|_| Trouble::Silent)??;
                    continue;
                }
            }
            sleep(GATHER).await;
            let mut under_way = UnderWay { jobs: self.outgoing.take(), queue: &self.outgoing };
            while !under_way.jobs.is_empty() {
                let batch = under_way.jobs.len().saturating_sub(BATCH);
                let sending = self.send(jetstream, &under_way.jobs[batch..]);
                timeout(ANSWER_WITHIN * 2, sending).await.map_err(|_| Trouble::Silent)??;
                counter!("tillkeep_notifications_published_total")
                    .increment((under_way.jobs.len() - batch).try_into().unwrap_or(0));
                under_way.jobs.truncate(batch);
            }
        }
    }

    async fn send_that_sessions_ended(&self, jetstream: &Context) -> Result<(), Trouble> {
        let hint = Hint { node: self.node, entity_type: SESSIONS, store_id: None, version: 0 };
        let payload = serde_json::to_vec(&hint).map_err(|error| Trouble::refused("a notification", &error))?;
        let message = PublishMessage::build().payload(payload.into());
        let subject = format!("{}.{SESSIONS}.all", self.prefix);
        jetstream.send_publish(subject, message).await.map_err(unpublished)?.await.map_err(unpublished)?;
        Ok(())
    }

    async fn send(&self, jetstream: &Context, jobs: &[Change]) -> Result<(), Trouble> {
        let mut answers = Vec::with_capacity(jobs.len());
        for job in jobs {
            let hint =
                Hint { node: self.node, entity_type: job.entity_type, store_id: job.store, version: job.version };
            let payload = serde_json::to_vec(&hint).map_err(|error| Trouble::refused("a notification", &error))?;
            let store = job.store.map_or_else(|| "all".to_owned(), |store| store.to_string());
            let mut message = PublishMessage::build().payload(payload.into());
            if !is_for_every_store(job) {
                // The same job of several servers, or of a second try, is one message.
                message = message.message_id(format!("{}:{store}:{}", job.entity_type, job.version));
            }
            let subject = format!("{}.{}.{store}", self.prefix, job.entity_type);
            answers.push(jetstream.send_publish(subject, message).await.map_err(unpublished)?);
        }
        for answer in answers {
            answer.await.map_err(unpublished)?;
        }
        Ok(())
    }

    /// Takes what other servers say.
    async fn listen(&self, say: &Say, messages: pull::Stream) -> Result<Infallible, Trouble> {
        let mut messages = messages.ready_chunks(BATCH);
        while let Some(messages) = messages.next().await {
            let mut hints = Vec::new();
            for message in messages {
                let message = message.map_err(|error| match error.kind() {
                    MessagesErrorKind::MissingHeartbeat => Trouble::Silent,
                    _ => {
                        Trouble::Refused(format!("the message broker has no stream of notifications any more: {error}"))
                    }
                })?;
                hints.extend(self.read(say, &message.payload));
            }
            if !hints.is_empty() {
                // They are not taken any more when the server stops.
                drop(say.hints.send(hints).await);
            }
        }
        Err(Trouble::Silent)
    }

    /// A hint of another server; for one of this server it has notified its sockets itself.
    fn read(&self, say: &Say, payload: &[u8]) -> Option<Change> {
        let hint = serde_json::from_slice::<Hint<'_>>(payload).ok();
        if hint.as_ref().is_some_and(|hint| hint.entity_type == SESSIONS) {
            let what = if hint.is_some_and(|hint| hint.node == self.node) { "own" } else { "sessions" };
            counter!("tillkeep_notifications_received_total", "what" => what).increment(1);
            say.signals.sessions_ended.notify_one();
            return None;
        }
        let entity = hint.as_ref().and_then(|hint| registry::find(hint.entity_type));
        let (Some(hint), Some(entity)) = (hint, entity) else {
            counter!("tillkeep_notifications_received_total", "what" => "unknown").increment(1);
            return None;
        };
        let own = hint.node == self.node;
        counter!("tillkeep_notifications_received_total", "what" => if own { "own" } else { "other" }).increment(1);
        (!own).then_some(Change { entity_type: entity.name, store: hint.store_id, version: hint.version, tag: None })
    }
}

/// Jobs that are being published, which wait again when that is broken off.
struct UnderWay<'a> {
    jobs: Vec<Change>,
    queue: &'a Jobs,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.queue.requeue(self.jobs.drain(..));
    }
}
