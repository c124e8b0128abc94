//! A client that asks headquarters all the time, through the balancer, and looks at each answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::Method;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::kit::{Client, TestStore};

#[derive(Default)]
pub struct Answers {
    pub good: usize,
    /// 503 with Retry-After.
    pub again: usize,
    /// No answer came, or not all of it.
    pub broken: usize,
    pub wrong: Vec<String>,
}

impl Answers {
    pub fn add(&mut self, more: Self) {
        self.good += more.good;
        self.again += more.again;
        self.broken += more.broken;
        self.wrong.extend(more.wrong);
    }
}

/// Asks as stores do, until `stop`.
pub fn start(url: &str, sites: &[TestStore], stop: Arc<AtomicBool>) -> JoinHandle<Answers> {
    let clients: Vec<Client> = sites.iter().map(|site| Client::new(url).with_token(&site.sync_token)).collect();
    tokio::spawn(async move {
        let mut answers = Answers::default();
        let paths = ["/sync/versions", "/sync/pull?entity_type=products&since_version=0&limit=50"];
        for turn in 0.. {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            let client: &Client = &clients[turn % clients.len()];
            match client.try_call(Method::GET, paths[turn / clients.len() % paths.len()], None).await {
                Ok(reply) if reply.status.is_success() => answers.good += 1,
                Ok(reply) if reply.status == 503 && reply.headers.contains_key("retry-after") => answers.again += 1,
                Ok(reply) => answers.wrong.push(format!("{}: {}", reply.status, reply.text)),
                Err(_) => answers.broken += 1,
            }
            sleep(Duration::from_millis(20)).await;
        }
        answers
    })
}
