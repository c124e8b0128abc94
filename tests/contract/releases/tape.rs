//! The line between a store and headquarters in one process: it writes down what is said, or answers as was once written.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request as HttpRequest, header};
use http_body_util::BodyExt;
use serde_json::Value as Json;
use tillkeep_store::headquarters::{Reply, Request, Transport};
use tower::ServiceExt;

use super::kept::Said;

/// Asks the headquarters behind `router` as a store does.
pub async fn ask(router: &Router, token: &str, path: &str, body: Option<&Json>) -> (u16, Json) {
    let mut request = HttpRequest::builder()
        .method(if body.is_some() { "POST" } else { "GET" })
        .uri(format!("/api/v1/sync{path}"))
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .header(header::CONTENT_TYPE, "application/json")
        .body(body.map_or_else(Body::empty, |body| Body::from(body.to_string())))
        .expect("a request");
    request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1))));
    let answer = router.clone().oneshot(request).await.expect("an answer");
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

/// To a headquarters, written down from the moment at which the line is back.
pub struct Tape {
    pub hq: Router,
    pub token: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_cut: bool,
    records: bool,
    said: Vec<Said>,
}

impl Tape {
    pub fn new(hq: Router, token: String) -> Self {
        Self { hq, token, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn cut(&self) {
        self.state().is_cut = true;
    }

    pub fn record(&self) {
        let mut state = self.state();
        (state.is_cut, state.records) = (false, true);
    }

    pub fn said(&self) -> Vec<Said> {
        self.state().said.clone()
    }
}

fn reply(status: u16, answer: &Json) -> Reply {
    Reply { status, from_hq: true, retry_after: None, body: answer.to_string().into() }
}

#[async_trait::async_trait]
impl Transport for Tape {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        if self.state().is_cut {
            return Err("no line".to_owned());
        }
        let body = request.json.as_ref().map(|bytes| serde_json::from_slice(bytes).expect("JSON"));
        let (status, answer) = ask(&self.hq, &self.token, &request.path, body.as_ref()).await;
        let reply = reply(status, &answer);
        let mut state = self.state();
        if state.records {
            state.said.push(Said::Asked { path: request.path, body, status, answer });
        }
        Ok(reply)
    }
}

/// A headquarters of which nothing is left but its answers.
pub struct Answers(Mutex<HashMap<String, VecDeque<(u16, Json)>>>);

impl Answers {
    pub fn new(said: &[Said]) -> Self {
        let mut answers: HashMap<String, VecDeque<_>> = HashMap::new();
        for said in said {
            if let Said::Asked { path, status, answer, .. } = said {
                answers.entry(question(path)).or_default().push_back((*status, answer.clone()));
            }
        }
        Self(Mutex::new(answers))
    }
}

/// What is asked, without what a store says of itself: the route, and of a pull the type and from where.
fn question(path: &str) -> String {
    let (route, query) = path.split_once('?').unwrap_or((path, ""));
    let of_pull = |pair: &&str| pair.starts_with("entity_type=") || pair.starts_with("since_version=");
    let mut parts: Vec<&str> = query.split('&').filter(of_pull).collect();
    parts.sort_unstable();
    format!("{route} {}", parts.join(" "))
}

#[async_trait::async_trait]
impl Transport for Answers {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let question = question(&request.path);
        let kept = answers.get_mut(&question).ok_or_else(|| format!("{question} was never asked"))?;
        // The last answer holds for as long as the same is asked.
        let next = if kept.len() > 1 { kept.pop_front() } else { kept.front().cloned() };
        let (status, answer) = next.ok_or("no answer")?;
        Ok(reply(status, &answer))
    }
}
