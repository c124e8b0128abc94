//! Hooks and alerts as people see them.

use serde::Serialize;
use tillkeep_model::Instant;
use tillkeep_storage::alerts::deliveries;
use tillkeep_storage::entity::{alert, alert_hook};
use utoipa::ToSchema;
use uuid::Uuid;

use super::kinds::AlertKind;
use super::what::What;

/// An address that alerts or sales are posted to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AlertHook)]
pub(super) struct HookView {
    id: Uuid,
    url: String,
    what: What,
    /// Of alerts; none where sales are told.
    kinds: Vec<AlertKind>,
    /// The stores of which sales are told; none is all of them.
    stores: Vec<Uuid>,
    active: bool,
    /// For `expectedVersion`.
    version: i64,
    created_at: Instant,
    updated_at: Instant,
    /// Posts of alerts that are on their way, or sales that it has not been told yet, among the next 10 000 that were stored: 10 000
    /// means that or more.
    waiting: i64,
    /// When headquarters stored the first of these sales.
    waiting_since: Option<Instant>,
    /// Posts of alerts of the last 90 days that were tried for an hour in vain.
    given_up: i64,
    /// What came of the last try; null before the first one.
    last: Option<LastAnswer>,
    /// What posts are signed with; where it was made just now, and nowhere else.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
}

/// What came of a try.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AlertAnswer)]
pub(super) struct LastAnswer {
    at: Instant,
    /// Of HTTP; null without an answer.
    status: Option<i32>,
    /// How the answer began, at most 200 letters of it, or why there was none.
    text: String,
    /// Whether it was taken: any status from 200 to 299.
    taken: bool,
    /// Which try of its post it was.
    attempts: i32,
}

impl LastAnswer {
    pub(super) fn new(answer: &deliveries::Answer, attempts: i32, at: Instant) -> Self {
        let status = answer.status.map(i32::from);
        Self { at, status, text: answer.text.clone(), taken: answer.is_good(), attempts }
    }

    fn of(hook: &alert_hook::Model) -> Option<Self> {
        let taken = hook.last_status.is_some_and(|status| (200..300).contains(&status));
        Some(Self {
            at: hook.last_at?,
            status: hook.last_status,
            text: hook.last_text.clone().unwrap_or_default(),
            taken,
            attempts: hook.last_attempts.unwrap_or(1),
        })
    }
}

/// What is told of a hook beside its own row.
#[derive(Default)]
pub(super) struct Around {
    pub waiting: i64,
    pub waiting_since: Option<Instant>,
    pub given_up: i64,
    pub stores: Vec<Uuid>,
}

impl HookView {
    pub(super) fn new(hook: alert_hook::Model, around: Around) -> Self {
        let kinds = hook.kinds.0.as_array().into_iter().flatten();
        Self {
            last: LastAnswer::of(&hook),
            kinds: kinds.filter_map(|kind| AlertKind::parse(kind.as_str()?)).collect(),
            what: What::of(&hook.what),
            stores: around.stores,
            id: hook.id,
            url: hook.url,
            active: hook.is_active,
            version: hook.version,
            created_at: hook.created_at,
            updated_at: hook.updated_at,
            waiting: around.waiting,
            waiting_since: around.waiting_since,
            given_up: around.given_up,
            secret: None,
        }
    }

    /// The same with its secret.
    pub(super) fn with_secret(self, secret: String) -> Self {
        Self { secret: Some(secret), ..self }
    }
}

/// Something that is wrong, or was.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Alert)]
pub(super) struct AlertView {
    id: Uuid,
    /// One of `AlertKind`; of an earlier release also another one.
    kind: String,
    /// `warning` or `critical`.
    severity: String,
    /// `firing` or `ended`.
    state: String,
    /// The code of a store, the name of a server of headquarters, or `headquarters`.
    subject: String,
    store_id: Option<Uuid>,
    text: String,
    /// Since when it is so, as far as that is known.
    since: Instant,
    /// When it was found, or found to be over.
    at: Instant,
    ended_at: Option<Instant>,
}

impl From<alert::Model> for AlertView {
    fn from(row: alert::Model) -> Self {
        Self {
            id: row.id,
            kind: row.kind,
            severity: row.severity,
            state: row.state,
            subject: row.subject,
            store_id: row.store_id,
            text: row.text,
            since: row.since,
            at: row.at,
            ended_at: row.ended_at,
        }
    }
}
