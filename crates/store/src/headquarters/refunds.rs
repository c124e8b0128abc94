//! What is asked of headquarters before money is given back. A customer waits: two seconds, and none where there is no line.
//! `docs/sync.md`, rule U17.

use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use tillkeep_model::ErrorCode;
use tillkeep_model::wire::{ClaimAnswer, ClaimRequest, SaleAtHq};
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::client::{HqClient, is_a_success, json, refusal};
use super::state::SyncState;
use super::transport::{Reply, Request};
use super::under_way::UnderWay;

/// The longest that a customer waits for headquarters.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);
/// That moment.
const GIVEN_UP_WITHIN: Duration = Duration::from_millis(250);
/// What headquarters may have against giving back. Whatever else it says is no answer to that question.
const MEANT: [ErrorCode; 3] = [ErrorCode::NotRefundable, ErrorCode::OverRefund, ErrorCode::SaleVoided];

/// Until when a customer waits for headquarters: for all that is asked of it before one answer.
#[derive(Clone, Copy, Debug)]
pub struct Waits(Instant);

impl Waits {
    /// From now on.
    pub fn begin() -> Self {
        Self(Instant::now() + ANSWERS_WITHIN)
    }

    /// And a moment more for what is given up at the end: a headquarters that took all of that time is to hear of it.
    #[must_use]
    pub fn to_give_up(self) -> Self {
        Self(self.0.max(Instant::now() + GIVEN_UP_WITHIN))
    }

    fn is_over(self) -> bool {
        self.0 <= Instant::now()
    }
}

/// What became of a question.
#[derive(Debug)]
pub enum Asked<T> {
    Answered(T),
    /// Headquarters says no: the code and the words for the till, and the whole body, which has `givenBack` with
    /// [`ErrorCode::OverRefund`].
    Refused {
        code: ErrorCode,
        text: String,
        details: Json,
    },
    /// There is no line, no answer in time, or a headquarters of a release that has no such question.
    Unreachable,
}

impl<T> Asked<T> {
    pub fn answered(self) -> Option<T> {
        match self {
            Self::Answered(answer) => Some(answer),
            Self::Refused { .. } | Self::Unreachable => None,
        }
    }
}

impl HqClient {
    /// The sale with the number that its receipt has; none when headquarters has no such sale.
    pub async fn sale_at(
        &self,
        line: &SyncState,
        waits: Waits,
        store_code: &str,
        receipt_number: &str,
    ) -> Asked<Option<SaleAtHq>> {
        let [code, number] =
            [store_code, receipt_number].map(|text| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string());
        self.sale(line, waits, format!("/sales/{code}/{number}")).await
    }

    /// The sale that a store made under this id; none when headquarters has no such sale.
    pub async fn sale_by_id(&self, line: &SyncState, waits: Waits, id: Uuid) -> Asked<Option<SaleAtHq>> {
        self.sale(line, waits, format!("/sales/{id}")).await
    }

    /// Claims what a refund, or a void under the id of the sale, is about to give back. The same id again replaces what was
    /// claimed under it.
    pub async fn claim(
        &self,
        line: &SyncState,
        waits: Waits,
        sale_id: Uuid,
        claim: &ClaimRequest,
    ) -> Asked<ClaimAnswer> {
        let Ok(body) = json(claim) else { return Asked::Unreachable };
        self.ask(line, waits, Request::post(&format!("/sales/{sale_id}/claims"), body), read).await
    }

    /// Notes that something is about to be given back under this claim.
    pub fn gives_back(&self, claim: Uuid) -> UnderWay {
        self.giving.begin(claim)
    }

    /// Whether something is about to be given back under this claim.
    pub fn is_giving_back(&self, claim: Uuid) -> bool {
        self.giving.has(claim)
    }

    /// Nothing is given back under that claim.
    pub async fn release(&self, line: &SyncState, waits: Waits, sale_id: Uuid, refund_id: Uuid) -> Asked<()> {
        // What is in between says 200 when it lets nothing through.
        let read = |reply: &Reply| (reply.status == 204).then_some(());
        self.ask(line, waits, Request::delete(format!("/sales/{sale_id}/claims/{refund_id}")), read).await
    }

    async fn sale(&self, line: &SyncState, waits: Waits, path: String) -> Asked<Option<SaleAtHq>> {
        self.ask(
            line,
            waits,
            Request::get(path),
            |reply| if is_no_sale(reply) { Some(None) } else { read(reply).map(Some) },
        )
        .await
    }

    async fn ask<T>(
        &self,
        line: &SyncState,
        waits: Waits,
        request: Request,
        read: impl FnOnce(&Reply) -> Option<T>,
    ) -> Asked<T> {
        if self.speaks_the_specification_alone() || !line.has_line() || waits.is_over() {
            return Asked::Unreachable;
        }
        let path = request.path.clone();
        let reply = match timeout_at(waits.0, self.deliver(request)).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(error)) => {
                tracing::info!(%error, path, "headquarters does not say what was given back");
                return Asked::Unreachable;
            }
            Err(_) => {
                tracing::info!(path, "headquarters does not say in time what was given back");
                return Asked::Unreachable;
            }
        };
        if let Some(answer) = read(&reply) {
            return Asked::Answered(answer);
        }
        let (refusal, text) = refusal(&reply);
        match refusal.known() {
            Some(code) if MEANT.contains(&code) && !is_a_success(&reply) => {
                Asked::Refused { code, text, details: serde_json::from_slice(&reply.body).unwrap_or_default() }
            }
            _ => {
                tracing::info!(path, status = reply.status, text, "headquarters does not say what was given back");
                Asked::Unreachable
            }
        }
    }
}

fn read<T: DeserializeOwned>(reply: &Reply) -> Option<T> {
    // A captive portal answers everything with a page of its own.
    is_a_success(reply).then(|| serde_json::from_slice(&reply.body).ok()).flatten()
}

/// That headquarters has no such sale. One of an older release has no such route: it names no field.
fn is_no_sale(reply: &Reply) -> bool {
    let (refusal, _) = refusal(reply);
    let body: Json = serde_json::from_slice(&reply.body).unwrap_or_default();
    refusal.known() == Some(ErrorCode::NotFound) && body["details"][0]["field"].is_string()
}
