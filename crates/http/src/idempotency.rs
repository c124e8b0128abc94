//! `Idempotency-Key`: a POST that is sent again acts once. One wrapper around the handler of every POST of people; the
//! key itself is written by the commit of whatever the handler does (`tillkeep_storage::idempotency`).

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::Request;
use axum::handler::Handler;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use tillkeep_model::ErrorCode;
use tillkeep_storage::entity::idempotency_key::Model;
use tillkeep_storage::idempotency::{self, KeyedRequest, Outcome};
use uuid::Uuid;

use crate::auth::{Auth, HasAuth, Home, bearer};
use crate::error::{Error, Result};
use crate::request::Patience;
use crate::running::in_progress;
use crate::{costs, extract, parameters, table};

pub static KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Says that an answer was given before.
pub static REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Characters of a key at the most.
const LONGEST: usize = 255;
/// Bytes of an answer that is kept, at the most.
const LARGEST_ANSWER: u64 = 64 * 1024;
/// Milliseconds for which a key counts, at a store and at headquarters.
const KEPT_AT_STORE_MS: i64 = 7 * 24 * 3600 * 1000;
const KEPT_AT_HQ_MS: i64 = 24 * 3600 * 1000;
/// So long a server has a claim on a key at the least, should it die: what was begun goes on when nobody waits for it any more.
const CLAIMED: Duration = Duration::from_mins(1);

/// Routes with an answer that is shown once: it is not kept. All below `/auth/` are too.
const SECRET: [&str; 8] = [
    "/stores/{id}/provision",
    "/users",
    "/users/{id}/pin",
    "/pos/approvals",
    "/devices",
    "/registers",
    "/alert-hooks",
    "/alert-hooks/{id}/rotate-secret",
];
/// Members of a body that are PINs or codes. They count for no comparison: a hash of them, or an answer that depends on whether
/// they are the same, would tell a PIN to whoever tries them all.
const PINS: [&str; 4] = ["pin", "currentPin", "newPin", "code"];

/// Whether the answer of a route is too secret to be kept.
pub fn is_secret(route: &str) -> bool {
    route.starts_with("/auth/") || SECRET.contains(&route)
}

/// Who the caller of a route is, if they may ask it.
pub type Admitted<'a> = Pin<Box<dyn Future<Output = Result<Uuid>> + Send + 'a>>;
pub type Admit = for<'a> fn(&'a Arc<Auth>, &'a str, IpAddr) -> Admitted<'a>;

/// A handler of a POST that acts once for each key.
#[derive(Clone)]
pub struct Once<H> {
    pub handler: H,
    pub route: &'static str,
    /// `None` for a route that anybody may ask.
    pub admit: Option<Admit>,
    /// Whether the body is a table, for which there are turns.
    pub takes_table: bool,
}

impl<H, T, S> Handler<T, S> for Once<H>
where
    H: Handler<T, S>,
    S: HasAuth + Clone + Send + Sync + 'static,
    T: 'static,
{
    type Future = Pin<Box<dyn Future<Output = Response> + Send>>;

    fn call(self, request: Request, state: S) -> Self::Future {
        if !request.headers().contains_key(&KEY) {
            return Box::pin(self.handler.call(request, state));
        }
        Box::pin(async move { self.answer(request, state).await.unwrap_or_else(IntoResponse::into_response) })
    }
}

impl<H> Once<H> {
    /// How long the key is this request's: as long as it may take, of which a part is over by then.
    fn claimed(&self, head: &Parts) -> Duration {
        let Patience { request, .. } = head.extensions.get::<Patience>().copied().unwrap_or_default();
        CLAIMED.max(if self.takes_table { table::limit(request) } else { request })
    }

    async fn answer<T, S>(self, request: Request, state: S) -> Result<Response>
    where
        H: Handler<T, S>,
        S: HasAuth,
    {
        let auth = state.auth().clone();
        let (mut head, body) = request.into_parts();
        let caller = match self.admit {
            Some(admit) => {
                let token = bearer(&head.headers).ok_or_else(Error::unauthorized)?;
                let user = admit(&auth, token, auth.client_address(&head)).await?;
                parameters::check(&head)?;
                Some(user)
            }
            None => None,
        };
        let key = key_of(&head.headers)?.to_owned();
        if self.takes_table {
            head.extensions.insert(table::turn(&auth).await?);
        }
        let claimed = self.claimed(&head);
        let body = extract::read(Request::from_parts(head.clone(), body), &state).await?;
        let asked = asked(&body);
        let who = caller.map_or_else(|| asked.clone(), |user| user.to_string());
        let id = digest(&[self.route, &who, &key]);
        let turn = auth.running.begin(&id)?;
        let request_hash = digest(&[&path_and_query(&head), &asked]);
        let now = auth.clock.now();
        let kept_ms = if auth.home == Home::Hq { KEPT_AT_HQ_MS } else { KEPT_AT_STORE_MS };
        let keyed = KeyedRequest::new(id.clone(), self.route, request_hash, now, now.plus_millis(kept_ms));
        let is_first = idempotency::claim(&auth.db, &keyed, claimed).await?;
        let request = Request::from_parts(head, Body::from(body));
        let act = || idempotency::within(keyed.clone(), self.handler.call(request, state));
        let response = act_once(&auth, &keyed, caller.is_some(), is_first, act).await;
        if is_first && let Err(error) = idempotency::give_back(&auth.db, &keyed).await {
            tracing::warn!(%error, "a key could not be given back; whoever comes with it soon hears that it is in use");
        }
        drop(turn);
        response
    }
}

/// Has `act` done, unless it was done before or is being done at another server, which has claimed the key before.
async fn act_once<F: Future<Output = Response>>(
    auth: &Auth,
    keyed: &KeyedRequest,
    is_known: bool,
    is_first: bool,
    act: impl FnOnce() -> F,
) -> Result<Response> {
    let repeated = async || idempotency::find(auth.db.reader(), &keyed.id, keyed.now).await;
    // Who may sign in is found out before anything is said of a key; else a key would tell a stranger who did.
    if is_known && let Some(row) = repeated().await? {
        // Done, and its answer may be on its way to the row.
        let is_running = !is_first && row.status.is_none() && row.request_hash == keyed.request_hash;
        return if is_running { Err(in_progress()) } else { said_before(row, &keyed.request_hash) };
    }
    if !is_first {
        return Err(in_progress());
    }
    let response = act().await;
    Ok(match keyed.outcome() {
        Outcome::Done => kept(auth, keyed, response).await,
        Outcome::Nothing if is_known || !response.status().is_success() => response,
        Outcome::Nothing | Outcome::Taken => match repeated().await? {
            Some(row) => said_before(row, &keyed.request_hash)?,
            None => response,
        },
    })
}

fn key_of(headers: &HeaderMap) -> Result<&str> {
    let mut given = headers.get_all(&KEY).iter();
    let fits = |key: &&str| {
        (1..=LONGEST).contains(&key.len()) && key.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
    };
    let key = given.next().and_then(|value| value.to_str().ok()).filter(fits);
    key.filter(|_| given.next().is_none()).ok_or_else(|| {
        let text = "send one Idempotency-Key of 1 to 255 printable ASCII characters, a new one for each action";
        Error::new(ErrorCode::BadRequest, text).at("Idempotency-Key")
    })
}

/// What a body asks for, without any PIN and whatever the order of its members.
fn asked(body: &[u8]) -> String {
    // No JSON of people is larger, and as values it would be many times as large.
    let json = (body.len() <= extract::MAX_BODY).then(|| serde_json::from_slice::<Json>(body));
    let Some(Ok(mut json)) = json else { return digest_of_bytes(body) };
    if let Json::Object(members) = &mut json {
        members.retain(|name, _| !PINS.contains(&name.as_str()));
    }
    digest(&[&json.to_string()])
}

fn path_and_query(head: &Parts) -> String {
    debug_assert_eq!(head.method, Method::POST);
    head.uri.path_and_query().map(ToString::to_string).unwrap_or_default()
}

/// A hash of several texts, each with its length, so that no two lists of them are one.
fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex::encode(hash.finalize())
}

/// [`digest`] of these bytes in hexadecimal, which are not written out as a whole.
fn digest_of_bytes(bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update((2 * bytes.len() as u64).to_be_bytes());
    for part in bytes.chunks(4096) {
        hash.update(hex::encode(part).as_bytes());
    }
    hex::encode(hash.finalize())
}

/// The answer to a request with a key that was used before.
fn said_before(row: Model, request_hash: &str) -> Result<Response> {
    if row.request_hash != request_hash {
        let text = "this Idempotency-Key belongs to a request with another content; give every action a key of its own";
        return Err(Error::new(ErrorCode::IdempotencyKeyReused, text).at("Idempotency-Key"));
    }
    let status = row.status.and_then(|status| StatusCode::from_u16(u16::try_from(status).ok()?).ok());
    let (Some(status), Some(answer)) = (status, row.answer) else {
        let text = "this was done before, and its answer is not kept; read what is there instead of sending it again";
        return Err(Error::new(ErrorCode::AlreadyDone, text));
    };
    let mut response = (status, costs::stored_text(answer)).into_response();
    let headers = response.headers_mut();
    headers.remove(header::CONTENT_TYPE);
    if status != StatusCode::NO_CONTENT {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    headers.insert(REPLAYED.clone(), HeaderValue::from_static("true"));
    Ok(response)
}

/// Keeps the answer of what was done, for a repetition. Without it a repetition hears that it was done.
async fn kept(auth: &Auth, keyed: &KeyedRequest, response: Response) -> Response {
    let status = response.status();
    if status.is_client_error() {
        // What a refusal commits is that it was refused; the same key may be tried again.
        log(idempotency::release(&auth.db, &keyed.id).await);
        return response;
    }
    let small = response.body().size_hint().upper().is_some_and(|bytes| bytes <= LARGEST_ANSWER);
    if !status.is_success() || !small || is_secret(keyed.route) {
        return response;
    }
    let (head, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return Error::internal("an answer that is here could not be read").into_response();
    };
    if let Ok(text) = std::str::from_utf8(&bytes) {
        log(idempotency::keep_answer(&auth.db, &keyed.id, status.as_u16(), text).await);
    }
    Response::from_parts(head, Body::from(bytes))
}

fn log(done: Result<(), tillkeep_storage::DbErr>) {
    if let Err(error) = done {
        tracing::warn!(%error, "the answer to a request with a key could not be kept; a repetition hears that it was done");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_compared_without_its_pins_and_whatever_the_order_of_its_members() {
        let same = asked(br#"{"reason": "r", "pin": "739154", "n": 1}"#);
        assert_eq!(same, asked(br#"{"n":1,"reason":"r"}"#));
        assert_ne!(same, asked(br#"{"n":2,"reason":"r"}"#));
        assert_ne!(asked(b""), asked(b"{"));
    }

    #[test]
    fn a_key_is_one_printable_text_of_at_most_255_characters() {
        let headers = |values: &[&[u8]]| -> HeaderMap {
            values.iter().map(|value| (KEY.clone(), HeaderValue::from_bytes(value).expect("a header"))).collect()
        };
        for good in [&b"1"[..], b"a key", &[b'~'; 255]] {
            assert!(key_of(&headers(&[good])).is_ok());
        }
        for bad in [&b""[..], &[b'k'; 256], "kéy".as_bytes(), b"a\tb"] {
            assert_eq!(key_of(&headers(&[bad])).expect_err("refused").code(), ErrorCode::BadRequest);
        }
        assert!(key_of(&headers(&[b"one", b"two"])).is_err());
    }

    #[test]
    fn a_body_that_is_no_json_has_the_hash_of_its_bytes_however_long_it_is() {
        let file = "sku;name\n".repeat(2000);
        assert_eq!(asked(file.as_bytes()), digest(&[&hex::encode(&file)]));
        let large = vec![b'0'; extract::MAX_BODY + 1];
        assert_eq!(asked(&large), digest_of_bytes(&large));
    }

    #[test]
    fn texts_that_meet_elsewhere_have_another_hash() {
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
    }
}
