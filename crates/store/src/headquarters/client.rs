//! What a store asks HQ, and what a failure means: whether HQ answered at all, and whether it was about us.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tillkeep_model::wire::{
    HandshakeAnswer, HandshakeRequest, OwnDocumentsAnswer, PinChange, PullAnswer, StoreSignIn, StoreSignedIn,
    VersionsAnswer,
};
use tillkeep_model::{ErrorCode, Refusal};
use tillkeep_storage::apply::Cursor;
use uuid::Uuid;

use super::announced::{self, Announced};
use super::transport::{Reply, Request, Transport};
use super::under_way::Giving;
use super::verdict::Verdict;

/// Why HQ gave no usable answer.
#[derive(Debug, thiserror::Error)]
pub enum HqError {
    #[error("headquarters cannot be reached: {0}")]
    Unreachable(String),
    #[error("headquarters refuses this store's token: {0}")]
    Refused(String),
    #[error("headquarters' database is another one ({code}); everything is loaded again")]
    Reload { code: String },
    #[error("headquarters lost what this store has of a type, which is loaded again")]
    HistoryChanged,
    #[error("headquarters refuses this copy of the store: {0}")]
    Elsewhere(String),
    #[error("headquarters is busy")]
    Busy { retry_after: Option<Duration> },
    #[error("something between this store and headquarters answered {status}")]
    Between { status: u16 },
    #[error("headquarters answered {}: {text}", .refusal.status)]
    Answered { refusal: Refusal, text: String },
    #[error("headquarters' answer cannot be read: {0}")]
    Unreadable(String),
}

/// What headquarters has against something that a person asked for.
pub struct Refused {
    pub code: ErrorCode,
    pub text: String,
    pub retry_after: Option<Duration>,
}

/// Speaks the machine protocol.
#[derive(Clone)]
pub struct HqClient {
    transport: Arc<dyn Transport>,
    /// The asking process.
    instance: Uuid,
    /// How far headquarters said that its types are.
    pub announced: Announced,
    /// Nothing is said to headquarters, and asked of it, that the specification does not name.
    plain: Arc<AtomicBool>,
    /// What is about to be given back here.
    pub(super) giving: Giving,
}

/// The verdicts on a push.
#[derive(Deserialize)]
struct Verdicts {
    results: Vec<Verdict>,
}

/// All that the specification says of a page.
#[derive(Deserialize)]
struct PlainPage {
    rows: Vec<Box<RawValue>>,
    #[serde(default, alias = "latestVersion")]
    latest_version: Option<i64>,
}

/// A row by the one column that the specification names.
#[derive(Deserialize)]
struct Versioned {
    #[serde(default, alias = "syncVersion")]
    sync_version: Option<i64>,
}

impl HqClient {
    pub fn new(transport: Arc<dyn Transport>, instance: Uuid) -> Self {
        Self { transport, instance, announced: Announced::default(), plain: Arc::default(), giving: Giving::default() }
    }

    pub fn speaks_the_specification_alone(&self) -> bool {
        self.plain.load(Ordering::Acquire)
    }

    /// Notes whether headquarters speaks the specification alone; whether it did before.
    pub fn note_plain(&self, plain: bool) -> bool {
        self.plain.swap(plain, Ordering::AcqRel)
    }

    pub async fn handshake(&self, request: &HandshakeRequest) -> Result<HandshakeAnswer, HqError> {
        self.post("/handshake", json(request)?).await
    }

    /// `said` is what this store says of itself, as a query; it may say nothing.
    pub async fn versions(&self, said: &str) -> Result<VersionsAnswer, HqError> {
        let heard = self.announced.unanswered();
        let answer = self.heads(said, &heard).await?;
        self.announced.answered(&heard, &answer.versions);
        Ok(answer)
    }

    /// Says what `said` has of this store. Of the answer nothing is pulled: what the socket has said meanwhile is named by the next
    /// question once more, which another server may answer that does not know of it yet.
    pub async fn report(&self, said: &str) -> Result<(), HqError> {
        self.heads(said, &self.announced.unanswered()).await.map(drop)
    }

    async fn heads(&self, said: &str, heard: &BTreeMap<String, i64>) -> Result<VersionsAnswer, HqError> {
        let announced = announced::written(heard);
        self.send(Request { announced, ..Request::get(format!("/versions?{said}")) }).await
    }

    /// The page after `from`, for a store that has the type up to `here`.
    pub async fn pull(
        &self,
        entity: &str,
        from: Cursor,
        here: i64,
        limit: u64,
        epoch: &str,
    ) -> Result<PullAnswer, HqError> {
        if self.speaks_the_specification_alone() {
            return self.pull_plainly(entity, from.version).await;
        }
        let since = from.version;
        let tag = from.tag.map(|tag| format!("&since_tag={tag}")).unwrap_or_default();
        let has = if here == since { String::new() } else { format!("&has_version={here}") };
        let path = format!("/pull?entity_type={entity}&since_version={since}&limit={limit}&epoch={epoch}{tag}{has}");
        let announced = self.announced.version(entity).map(|version| format!("{entity}:{version}")).unwrap_or_default();
        self.send(Request { announced, ..Request::get(path) }).await
    }

    pub async fn own_documents(&self, entity: &str, after: Uuid, limit: u64) -> Result<OwnDocumentsAnswer, HqError> {
        self.get(format!("/own-documents?entity_type={entity}&after={after}&limit={limit}")).await
    }

    /// All rows above `since`, as the specification has it.
    pub async fn pull_plainly(&self, entity: &str, since: i64) -> Result<PullAnswer, HqError> {
        let page: PlainPage = self.get(format!("/pull?entity_type={entity}&since_version={since}")).await?;
        let newest = || {
            let version = |row: &RawValue| serde_json::from_str::<Versioned>(row.get()).ok()?.sync_version;
            page.rows.iter().filter_map(|row| version(row)).max()
        };
        // What brings nothing moves nothing, unless headquarters went back: the number may be of other types, or 0 for nothing new.
        let latest_version = match page.latest_version {
            Some(back) if page.rows.is_empty() && (1..since).contains(&back) => back,
            _ if page.rows.is_empty() => since,
            said => said.or_else(newest).unwrap_or(since),
        };
        Ok(PullAnswer {
            entity_type: entity.to_owned(),
            since_version: since,
            rows: page.rows,
            latest_version,
            has_more: false,
            epoch: String::new(),
            tag: None,
            total: None,
            left_out: Vec::new(),
        })
    }

    /// `envelopes` is a list of JSON objects; the body is built once and sent as it is. Whether what comes back has verdicts
    /// is for its shape to say: what stands in between may drop the mark of headquarters.
    pub async fn push(&self, envelopes: &[String]) -> Result<Vec<Verdict>, HqError> {
        let (plain, envelopes) = (self.speaks_the_specification_alone(), envelopes.join(","));
        let instance = if plain { String::new() } else { format!("\"instance\":\"{}\",", self.instance) };
        let body = format!("{{{instance}\"envelopes\":[{envelopes}]}}");
        let reply = self.deliver(Request { plain, ..Request::post("/push", body.into()) }).await?;
        if is_a_success(&reply) || is_its_word(&reply) {
            return read::<Verdicts>(&reply).map(|answer| answer.results);
        }
        Err(HqError::Between { status: reply.status })
    }

    /// Whether a plain question is answered as headquarters does.
    pub async fn answers(&self) -> bool {
        self.get::<VersionsAnswer>("/versions".to_owned()).await.is_ok()
    }

    /// A refusal of headquarters is about the person here, so that a 401 says nothing of the token.
    pub async fn change_pin(&self, change: &PinChange) -> Result<Option<Refused>, HqError> {
        let reply = self.deliver(Request::post("/change-pin", json(change)?)).await?;
        // What is in between says 200 when it lets nothing through.
        if reply.status == 204 {
            return Ok(None);
        }
        let (refusal, text) = refusal(&reply);
        match refusal.known() {
            Some(code) if !is_a_success(&reply) => Ok(Some(Refused { code, text, retry_after: reply.retry_after })),
            _ => Err(HqError::Between { status: reply.status }),
        }
    }

    /// Who that is, when headquarters says so; none when it says that it does not know them, or has no such question.
    pub async fn sign_in(&self, asked: &StoreSignIn) -> Result<Option<StoreSignedIn>, HqError> {
        let reply = self.deliver(Request::post("/sign-in", json(asked)?)).await?;
        if is_a_success(&reply) {
            return read(&reply).map(Some);
        }
        let (refusal, _) = refusal(&reply);
        match refusal.known() {
            Some(ErrorCode::InvalidCredentials | ErrorCode::NotFound) => Ok(None),
            _ => Err(refused(&reply)),
        }
    }

    async fn get<T: DeserializeOwned>(&self, path: String) -> Result<T, HqError> {
        self.send(Request::get(path)).await
    }

    async fn post<T: DeserializeOwned>(&self, path: &str, body: Bytes) -> Result<T, HqError> {
        self.send(Request::post(path, body)).await
    }

    async fn send<T: DeserializeOwned>(&self, request: Request) -> Result<T, HqError> {
        read(&self.deliver(request).await?)
    }

    pub(super) async fn deliver(&self, request: Request) -> Result<Reply, HqError> {
        self.transport.send(request).await.map_err(HqError::Unreachable)
    }
}

pub(super) fn is_a_success(reply: &Reply) -> bool {
    (200..300).contains(&reply.status)
}

/// Whether a refusal is headquarters' own: by its mark, or, where that was dropped on the way, by its form. Who wants to be asked
/// later is obeyed, whoever that is.
fn is_its_word(reply: &Reply) -> bool {
    let (refusal, _) = refusal(reply);
    reply.from_hq || refusal.known().is_some() || (refusal.is_busy() && reply.retry_after.is_some())
}

fn read<T: DeserializeOwned>(reply: &Reply) -> Result<T, HqError> {
    if is_a_success(reply) {
        // A captive portal answers everything with a page of its own.
        return serde_json::from_slice(&reply.body).map_err(|error| HqError::Unreadable(error.to_string()));
    }
    Err(refused(reply))
}

/// What an answer that is no success says, with its words.
pub(super) fn refusal(reply: &Reply) -> (Refusal, String) {
    let body: serde_json::Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let text = |key: &str| body.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
    (Refusal { status: reply.status, code: text("code") }, text("error").unwrap_or_default())
}

/// What an answer that is no success means to a store.
fn refused(reply: &Reply) -> HqError {
    let (refusal, words) = refusal(reply);
    if refusal.known() == Some(ErrorCode::HistoryChanged) {
        HqError::HistoryChanged
    } else if refusal.known() == Some(ErrorCode::StoreRunsElsewhere) {
        HqError::Elsewhere(words)
    } else if refusal.asks_for_a_reload() {
        HqError::Reload { code: refusal.code.unwrap_or_default() }
    } else if refusal.is_of_the_line() {
        HqError::Unreachable(format!("the request did not arrive whole: {words}"))
    } else if refusal.is_of_the_token() {
        HqError::Refused(words)
    } else if refusal.is_busy() {
        HqError::Busy { retry_after: reply.retry_after }
    } else {
        HqError::Answered { refusal, text: words }
    }
}

pub(super) fn json(request: &impl Serialize) -> Result<Bytes, HqError> {
    serde_json::to_vec(request).map(Bytes::from).map_err(|error| HqError::Unreadable(error.to_string()))
}
