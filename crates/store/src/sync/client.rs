//! What a store asks HQ, and what a failure means: whether HQ answered at all, and whether it was about us.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tillkeep_model::wire::{
    HandshakeAnswer, HandshakeRequest, OwnDocumentsAnswer, PinChange, PullAnswer, PushAnswer, VersionsAnswer,
};
use tillkeep_model::{ErrorCode, Refusal};
use tillkeep_storage::apply::Cursor;
use uuid::Uuid;

use super::told::{self, Told};
use super::transport::{Reply, Request, Transport};

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
    #[error("another copy of this store runs, which headquarters heard before this one")]
    Elsewhere,
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
    pub told: Told,
}

impl HqClient {
    pub fn new(transport: Arc<dyn Transport>, instance: Uuid) -> Self {
        Self { transport, instance, told: Told::default() }
    }

    pub async fn handshake(&self, request: &HandshakeRequest) -> Result<HandshakeAnswer, HqError> {
        self.post("/handshake", json(request)?).await
    }

    /// `said` is what this store says of itself, as a query; it may say nothing.
    pub async fn versions(&self, said: &str) -> Result<VersionsAnswer, HqError> {
        let heard = self.told.unanswered();
        let request = Request { told: told::written(&heard), ..Request::get(format!("/versions?{said}")) };
        let answer: VersionsAnswer = self.send(request).await?;
        self.told.answered(&heard, &answer.versions);
        Ok(answer)
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
        let since = from.version;
        let tag = from.tag.map(|tag| format!("&since_tag={tag}")).unwrap_or_default();
        let has = if here == since { String::new() } else { format!("&has_version={here}") };
        let path = format!("/pull?entity_type={entity}&since_version={since}&limit={limit}&epoch={epoch}{tag}{has}");
        let told = self.told.version(entity).map(|version| format!("{entity}:{version}")).unwrap_or_default();
        self.send(Request { told, ..Request::get(path) }).await
    }

    pub async fn own_documents(&self, entity: &str, after: Uuid, limit: u64) -> Result<OwnDocumentsAnswer, HqError> {
        self.get(format!("/own-documents?entity_type={entity}&after={after}&limit={limit}")).await
    }

    /// `envelopes` is a list of JSON objects; the body is built once and sent as it is. Only an answer that bears the mark
    /// of headquarters has verdicts.
    pub async fn push(&self, envelopes: &[String]) -> Result<PushAnswer, HqError> {
        let instance = self.instance;
        let body = format!("{{\"instance\":\"{instance}\",\"envelopes\":[{}]}}", envelopes.join(","));
        self.ask_hq_itself(Request::post("/push", body.into())).await
    }

    /// Whether headquarters itself answers a plain question.
    pub async fn answers(&self) -> bool {
        self.ask_hq_itself::<VersionsAnswer>(Request::get("/versions".to_owned())).await.is_ok()
    }

    /// A refusal of headquarters is about the person here, so that a 401 says nothing of the token.
    pub async fn change_pin(&self, change: &PinChange) -> Result<Option<Refused>, HqError> {
        let reply = self.deliver(Request::post("/change-pin", json(change)?)).await?;
        if (200..300).contains(&reply.status) {
            return Ok(None);
        }
        let (refusal, text) = refusal(&reply);
        match refusal.known() {
            Some(code) if reply.from_hq => Ok(Some(Refused { code, text, retry_after: reply.retry_after })),
            _ => Err(HqError::Between { status: reply.status }),
        }
    }

    async fn ask_hq_itself<T: DeserializeOwned>(&self, request: Request) -> Result<T, HqError> {
        let reply = self.deliver(request).await?;
        if reply.from_hq { read(&reply) } else { Err(HqError::Between { status: reply.status }) }
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

    async fn deliver(&self, request: Request) -> Result<Reply, HqError> {
        self.transport.send(request).await.map_err(HqError::Unreachable)
    }
}

fn read<T: DeserializeOwned>(reply: &Reply) -> Result<T, HqError> {
    if (200..300).contains(&reply.status) {
        // A captive portal answers everything with a page of its own.
        return serde_json::from_slice(&reply.body).map_err(|error| HqError::Unreadable(error.to_string()));
    }
    Err(refused(reply))
}

/// What an answer that is no success says, with its words.
fn refusal(reply: &Reply) -> (Refusal, String) {
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
        HqError::Elsewhere
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

fn json(request: &impl Serialize) -> Result<Bytes, HqError> {
    serde_json::to_vec(request).map(Bytes::from).map_err(|error| HqError::Unreadable(error.to_string()))
}
