//! The line between a store and headquarters: an in-process call, and everything that goes wrong with it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request as HttpRequest, header};
use http_body_util::BodyExt;
use serde_json::Value as Json;
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tower::ServiceExt;

use crate::world::World;

/// Rows of a page at the most, so that small databases have several.
const PAGE: u64 = 6;

pub struct Line {
    pub world: Arc<World>,
    pub shop: usize,
    pub code: String,
    pub token: String,
}

/// What becomes of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Arrives,
    NoLine,
    RequestLost,
    AnswerLost,
    Gateway,
    Twice,
    Late,
    Html,
    Busy,
    Many,
    Broken,
}

impl Fate {
    const fn name(self) -> &'static str {
        match self {
            Self::Arrives => "arrives",
            Self::NoLine => "no line",
            Self::RequestLost => "request lost",
            Self::AnswerLost => "answer lost",
            Self::Gateway => "done, then 502",
            Self::Twice => "arrives twice",
            Self::Late => "arrives once more, late",
            Self::Html => "a page of HTML",
            Self::Busy => "503 with Retry-After",
            Self::Many => "429",
            Self::Broken => "500",
        }
    }
}

impl Line {
    fn fate(&self) -> Fate {
        let (faults, cut) = {
            let state = self.world.state();
            (state.faults, state.cut.get(&self.shop).copied().unwrap_or_default())
        };
        if self.world.time() < cut {
            return Fate::NoLine;
        }
        let mut drawn = self.world.up_to(999);
        for (of_thousand, fate) in [
            (faults.request_lost, Fate::RequestLost),
            (faults.answer_lost, Fate::AnswerLost),
            (faults.gateway, Fate::Gateway),
            (faults.twice, Fate::Twice),
            (faults.late, Fate::Late),
            (faults.html, Fate::Html),
            (faults.busy, Fate::Busy),
            (faults.many, Fate::Many),
            (faults.broken, Fate::Broken),
        ] {
            if drawn < of_thousand {
                return fate;
            }
            drawn -= of_thousand;
        }
        Fate::Arrives
    }

    /// The way there or back. A store without a line learns nothing more, whatever it waits for.
    async fn travel(&self, request: &Request) -> Result<(), String> {
        let wait = self.world.between(3, 40);
        self.pass(request, wait).await;
        let cut = self.world.state().cut.get(&self.shop).copied().unwrap_or_default();
        if self.world.time() < cut { Err("the line broke".to_owned()) } else { Ok(()) }
    }

    /// Waits in virtual time; while a customer waits as well, none passes.
    async fn pass(&self, request: &Request, millis: i64) {
        if !is_question(request) {
            self.world.pass(millis).await;
        }
    }

    async fn asked(&self, request: &Request) -> Result<Reply, String> {
        let reply = ask(&self.world, &self.token, self.as_sent(request)).await;
        let text = match &reply {
            Ok(reply) => summary(request, reply),
            Err(error) => error.clone(),
        };
        self.world.note(&self.code, format!("{}: {text}", named(request)));
        reply
    }

    /// Smaller pages, and other columns when the run says so.
    fn as_sent(&self, request: &Request) -> Request {
        let mut request = request.clone();
        if let Some((before, limit, after)) = limit_of(&request.path) {
            request.path = format!("{before}{}{after}", limit.min(PAGE));
        }
        let added = self.world.state().columns;
        if let (1.., "/handshake", Some(json)) = (added, request.path.as_str(), &request.json) {
            let mut body: Json = serde_json::from_slice(json).expect("a handshake");
            for name in ["products", "customers"] {
                let old = body["fingerprints"][name].as_str().unwrap_or_default().to_owned();
                body["fingerprints"][name] = format!("{old}+{added}").into();
            }
            request.json = Some(body.to_string().into());
        }
        request
    }
}

#[async_trait::async_trait]
impl Transport for Line {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let fate = self.fate();
        if fate != Fate::Arrives {
            self.world.count(fate.name());
            self.world.note(&self.code, format!("{}: {}", named(&request), fate.name()));
        }
        let page =
            |status, retry_after, text: &'static str| Reply { status, from_hq: false, retry_after, body: text.into() };
        match fate {
            Fate::NoLine => {
                self.pass(&request, 20).await;
                return Err("no line".to_owned());
            }
            Fate::RequestLost => {
                // The connection breaks soon, or the store waits in vain for as long as it does.
                let wait = if self.world.happens(300) { 20_000 } else { 1500 };
                self.pass(&request, wait).await;
                return Err("no answer in time".to_owned());
            }
            Fate::Html => return Ok(page(200, None, "<html>Welcome to our wireless network</html>")),
            Fate::Busy => return Ok(page(503, Some(Duration::from_secs(2 + self.world.up_to(8))), "{}")),
            Fate::Many => return Ok(page(429, None, "{}")),
            Fate::Broken => return Ok(page(500, None, "oops")),
            _ => {}
        }
        self.travel(&request).await?;
        let reply = self.asked(&request).await;
        if fate == Fate::Twice {
            self.travel(&request).await?;
            let second = self.asked(&request).await;
            self.travel(&request).await?;
            return second;
        }
        // A handshake that is repeated much later is one of an older copy, as far as anybody can tell: everything is loaded
        // once more, which would hide what is wrong elsewhere.
        // A claim that is let go of much later may have been made anew since.
        if fate == Fate::Late && request.path != "/handshake" && !request.deletes {
            let at = self.world.time() + self.world.between(1_000, 20 * 60_000);
            self.world.state().late.push((self.shop, at, request.clone()));
        }
        self.travel(&request).await?;
        match fate {
            Fate::AnswerLost => Err("no answer in time".to_owned()),
            Fate::Gateway => Ok(page(502, None, "bad gateway")),
            _ => reply,
        }
    }
}

/// What a till asks before it gives money back. The till is asked within a moment of the run, in which no time passes.
fn is_question(request: &Request) -> bool {
    request.path.starts_with("/sales/")
}

/// What is before the limit of a pull, the limit, and what is after it.
fn limit_of(path: &str) -> Option<(&str, u64, &str)> {
    let begin = path.find("&limit=")? + "&limit=".len();
    let end = path[begin..].find('&').map_or(path.len(), |length| begin + length);
    Some((&path[..begin], path[begin..end].parse().ok()?, &path[end..]))
}

/// Headquarters works on a request, and dies of it when that is its fate.
pub async fn ask(world: &World, token: &str, request: Request) -> Result<Reply, String> {
    let Some(router) = world.state().hq.clone() else { return Err("connection refused".to_owned()) };
    let method = match &request.json {
        Some(_) => "POST",
        None if request.deletes => "DELETE",
        None => "GET",
    };
    let builder = HttpRequest::builder()
        .method(method)
        .uri(format!("/api/v1/sync{}", request.path))
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .header(header::CONTENT_TYPE, "application/json");
    let body = request.json.map_or_else(Body::empty, Body::from);
    let answer = router.oneshot(builder.body(body).expect("a request")).await.expect("an answer");
    let status = answer.status().as_u16();
    let retry_after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    let from_hq = answer.headers().contains_key("tillkeep-protocol");
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    let mut state = world.state();
    if state.dying {
        (state.dying, state.died, state.hq) = (false, true, None);
        return Err("headquarters died".to_owned());
    }
    Ok(Reply { status, from_hq, retry_after: retry_after.map(Duration::from_secs), body })
}

/// A request without what differs from run to run.
fn named(request: &Request) -> String {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let entity = query.split('&').find_map(|pair| pair.strip_prefix("entity_type="));
    let since = query.split('&').find_map(|pair| pair.strip_prefix("since_version="));
    match (entity, since) {
        (Some(entity), Some(since)) => format!("{path} {entity} since {since}"),
        _ => path.to_owned(),
    }
}

/// An answer without what differs from run to run.
fn summary(request: &Request, reply: &Reply) -> String {
    let status = reply.status;
    let Ok(body) = serde_json::from_slice::<Json>(&reply.body) else { return format!("{status}") };
    if status >= 300 {
        return format!("{status} {}", body["code"].as_str().unwrap_or_default());
    }
    if let Some(results) = body["results"].as_array() {
        let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
        for result in results {
            let verdict = result["applied"].as_str().or(result["code"].as_str()).unwrap_or("?");
            let kind = format!("{} {verdict}", result["entity_type"].as_str().unwrap_or("?"));
            *kinds.entry(kind).or_default() += 1;
        }
        return format!("{status} {kinds:?}");
    }
    if let Some(rows) = body["rows"].as_array() {
        return format!("{status} {} rows to {}", rows.len(), body["latest_version"]);
    }
    if request.path.starts_with("/handshake") {
        let known = body["ticketKnown"].as_bool();
        return format!("{status} ticket known {known:?}, resync {:?}", body["resync"].as_array().map(Vec::len));
    }
    format!("{status}")
}
