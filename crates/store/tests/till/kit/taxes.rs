//! A headquarters that has the taxes of the test store, gives two rows a page, and is made to do something at a question.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use serde_json::{Value as Json, json};
use tillkeep_store::Store;
use tillkeep_store::headquarters::{Reply, Request, Transport};
use uuid::Uuid;

use super::{id, rows};

/// Rows of a page.
const PAGE: usize = 2;

/// Codes and parts per million.
pub type Rates = BTreeSet<(String, i32)>;

pub fn rates(of: &[(&str, i32)]) -> Rates {
    of.iter().map(|(code, ppm)| ((*code).to_owned(), *ppm)).collect()
}

/// What the tax of the group LOCAL is made of at a store.
pub async fn of_local(store: &Store) -> Rates {
    let shop = store.cache().shop().await.expect("the settings of the store");
    let group = shop.tax_groups.get(&id("LOCAL"));
    group.iter().flat_map(|group| group.rates.iter()).map(|rate| (rate.code.clone(), rate.rate.0)).collect()
}

/// What headquarters has, and the tag of each version.
#[derive(Clone, Default)]
pub struct Data {
    rows: BTreeMap<&'static str, BTreeMap<Uuid, (i64, Json)>>,
    heads: BTreeMap<&'static str, i64>,
    tags: BTreeMap<(&'static str, i64), Uuid>,
}

impl Data {
    /// One more row of the commit `tag`.
    pub fn put(&mut self, name: &'static str, row: impl serde::Serialize, tag: Uuid) {
        let mut row = serde_json::to_value(row).expect("a row");
        let version = self.heads.entry(name).or_default();
        *version += 1;
        row["syncVersion"] = json!(version);
        let key = row["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
        self.tags.insert((name, *version), tag);
        self.rows.entry(name).or_default().insert(key, (*version, row));
    }
}

type What = Box<dyn FnMut(&Hq) -> Result<(), String> + Send>;

struct Moment {
    question: String,
    after: bool,
    always: bool,
    what: What,
}

#[derive(Default)]
pub struct Hq {
    data: Mutex<Data>,
    asked: Mutex<Vec<String>>,
    moments: Mutex<Vec<Moment>>,
    /// The store that is looked at with each question, and what the tax of LOCAL was made of there.
    pub watched: OnceLock<Arc<Store>>,
    pub seen: Mutex<Vec<Rates>>,
}

impl Hq {
    pub fn new() -> Self {
        let hq = Self::default();
        hq.commit(|data, tag| {
            for row in rows::tax_rates() {
                data.put("tax_rates", row, tag);
            }
            for row in rows::tax_groups() {
                data.put("tax_groups", row, tag);
            }
            for row in rows::tax_links() {
                data.put("tax_group_rates", row, tag);
            }
        });
        hq
    }

    pub fn data(&self) -> MutexGuard<'_, Data> {
        self.data.lock().expect("not poisoned")
    }

    pub fn commit(&self, what: impl FnOnce(&mut Data, Uuid)) {
        what(&mut self.data(), Uuid::new_v4());
    }

    pub fn head(&self, name: &str) -> i64 {
        self.data().heads[name]
    }

    /// A row is gone without a word, as in a database that was restored.
    pub fn forget(&self, name: &str, row: Uuid) {
        self.data().rows.get_mut(name).and_then(|rows| rows.remove(&row)).expect("the row");
    }

    /// Questions since the last time: routes, and of pulls the type, from where, and what the store says to have.
    pub fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().expect("not poisoned"))
    }

    fn at(&self, question: &str, (after, always): (bool, bool), what: What) {
        let moment = Moment { question: question.to_owned(), after, always, what };
        self.moments.lock().expect("not poisoned").push(moment);
    }

    /// The line breaks at the next question that begins so.
    pub fn breaks_at(&self, question: &str) {
        self.at(question, (false, false), Box::new(|_| Err("the line breaks".to_owned())));
    }

    /// Once the next question that begins so is answered, or each of them.
    pub fn after(&self, question: &str, always: bool, what: fn(&Self)) {
        let what: What = Box::new(move |hq| {
            what(hq);
            Ok(())
        });
        self.at(question, (true, always), what);
    }

    /// Nothing more happens by itself.
    pub fn rest(&self) {
        self.moments.lock().expect("not poisoned").clear();
    }

    fn happen(&self, question: &str, after: bool) -> Result<(), String> {
        let is_now = |moment: &mut Moment| moment.after == after && question.starts_with(&moment.question);
        let now: Vec<Moment> = self.moments.lock().expect("not poisoned").extract_if(.., is_now).collect();
        let mut outcome = Ok(());
        for mut moment in now {
            outcome = outcome.and((moment.what)(self));
            if moment.always {
                self.moments.lock().expect("not poisoned").push(moment);
            }
        }
        outcome
    }

    fn page(&self, name: &str, since: i64, tag: Option<&str>) -> (u16, Json) {
        let data = self.data();
        let Some((name, head)) = data.heads.get_key_value(name) else { return (404, json!({})) };
        let tag_of = |version| data.tags.get(&(*name, version)).map(Uuid::to_string);
        if tag.is_some() && tag_of(since).as_deref() != tag {
            return (409, json!({"error": "headquarters lost its last commits", "code": "history_changed"}));
        }
        let mut rows: Vec<_> = data.rows[name].values().filter(|(version, _)| *version > since).cloned().collect();
        rows.sort_by_key(|(version, _)| *version);
        let has_more = rows.len() > PAGE;
        rows.truncate(PAGE);
        let latest = if has_more { rows.last().map_or(since, |(version, _)| *version) } else { *head };
        let rows: Vec<Json> = rows.into_iter().map(|(_, row)| row).collect();
        let body = json!({
            "entity_type": name, "since_version": since, "rows": rows, "latest_version": latest, "has_more": has_more,
            "epoch": "e", "tag": tag_of(latest),
        });
        (200, body)
    }
}

#[async_trait::async_trait]
impl Transport for Hq {
    async fn send(&self, request: Request) -> Result<Reply, String> {
        if let Some(store) = self.watched.get() {
            let seen = of_local(store).await;
            self.seen.lock().expect("not poisoned").push(seen);
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let said = |name: &str| query.split('&').filter_map(|part| part.split_once('=')).find(|part| part.0 == name);
        let text = |name: &str| said(name).map(|(_, value)| value);
        let number = |name: &str| text(name).and_then(|value| value.parse::<i64>().ok());
        let (name, since) = (text("entity_type").unwrap_or_default(), number("since_version").unwrap_or_default());
        let question = match path {
            "/pull" => format!("{name} {since} has {}", number("has_version").unwrap_or(since)),
            path => path.to_owned(),
        };
        self.asked.lock().expect("not poisoned").push(question.clone());
        self.happen(&question, false)?;
        let (status, body) = match path {
            "/handshake" => (
                200,
                json!({
                    "epoch": "e", "ticket": "t", "ticketKnown": true, "serverVersion": "", "versions": {},
                    "clock": "2026-11-20T14:00:00.000Z",
                }),
            ),
            "/versions" => (200, json!({"epoch": "e", "versions": self.data().heads})),
            "/pull" => self.page(name, since, text("since_tag")),
            _ => return Err("the line breaks".to_owned()),
        };
        self.happen(&question, true)?;
        Ok(Reply { status, from_hq: true, retry_after: None, body: body.to_string().into() })
    }
}
