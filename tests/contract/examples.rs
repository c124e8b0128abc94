//! The examples of the descriptions: what the routes were asked here and answered, without what differs from run to run. They are
//! checked in (`docs/generated/examples-hq.json`, `docs/generated/examples-store.json`), and held against what the servers say
//! and answer now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use tillkeep_http::idempotency::is_secret;
use tillkeep_http::routes::{Protection, Route};
use tillkeep_model::ids;
use tillkeep_storage::entity::outbox;
use tillkeep_storage::sea_orm::{EntityTrait, PaginatorTrait};
use uuid::Uuid;

use crate::good_requests::{Request, Scene};
use crate::kit::{Got, PIN, Server};
use crate::once::{WITHOUT, names};
use crate::openapi::documents;
use crate::pictures::upload;

/// By method and path: what was asked, with which status it was answered, and how.
type Examples = BTreeMap<String, Json>;

/// Routes that no example is recorded of besides [`WITHOUT`], which need more than what is there: a report over reports that
/// headquarters has put together.
const NONE_RECORDED: [&str; 2] = ["/reports/zz/{storeId}/{zzNumber}", "/sales-reps/{id}"];

const PICTURE: &str = "/products/{id}/picture";

/// Items that a list shows, and characters of a text.
const ITEMS: usize = 2;
const LETTERS: usize = 400;
/// In place of the moment of the recording.
const MOMENT: &str = "2026-03-02T14:00:00.000Z";
const DAY: &str = "2026-03-02";
/// In place of a secret.
const HIDDEN: &str = "…";
const NO_PIN: &str = "000000";

/// Makes of a request and its answer what they would be on any day.
#[derive(Default)]
struct Cleaner {
    ids: Vec<String>,
    /// Texts of the request, which stay as they are.
    said: BTreeSet<String>,
    is_secret: bool,
}

impl Cleaner {
    fn id(&mut self, id: &str) -> String {
        let place = self.ids.iter().position(|known| known == id).unwrap_or_else(|| {
            self.ids.push(id.to_owned());
            self.ids.len() - 1
        });
        format!("00000000-0000-4000-8000-{:012x}", place + 1)
    }

    fn heard(&mut self, json: &Json) {
        match json {
            Json::String(text) => drop(self.said.insert(text.clone())),
            Json::Array(items) => items.iter().for_each(|item| self.heard(item)),
            Json::Object(entries) => entries.values().for_each(|value| self.heard(value)),
            _ => {}
        }
    }

    fn clean(&mut self, key: &str, json: &Json) -> Json {
        match json {
            Json::String(text) => self.text(key, text).into(),
            Json::Array(items) => items.iter().take(ITEMS).map(|item| self.clean(key, item)).collect(),
            Json::Object(entries) => {
                // Of people by their ids also the keys are ids.
                let cleaned =
                    entries.iter().map(|(key, value)| (self.without_what_differs(key), self.clean(key, value)));
                Json::Object(cleaned.collect::<Map<_, _>>())
            }
            other => other.clone(),
        }
    }

    fn text(&mut self, key: &str, text: &str) -> String {
        let is_id = Uuid::try_parse(text).is_ok();
        if is_a_pin(key) && !is_moment(text) {
            return NO_PIN.to_owned();
        }
        let is_random = self.is_secret && text.len() >= 16 && !text.contains(' ') && !is_id && !is_moment(text);
        if is_random || (names_a_secret(key) && !is_id && !is_moment(text)) {
            return HIDDEN.to_owned();
        }
        if text.len() >= 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return "0123456789abcdef".chars().cycle().take(text.len()).collect();
        }
        let mut out = self.without_what_differs(text);
        if let Some((at, _)) = out.char_indices().nth(LETTERS) {
            out.truncate(at);
            out.push('…');
        }
        out
    }

    fn without_what_differs(&mut self, text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some(first) = rest.chars().next() {
            let taken = if let Some(id) = rest.get(..36).filter(|part| is_an_id(part)) {
                out.push_str(&self.id(id));
                36
            } else if rest.get(..24).is_some_and(is_moment) {
                out.push_str(MOMENT);
                24
            } else if rest.get(..19).is_some_and(is_local_moment) {
                out.push_str(&MOMENT[..19]);
                19
            } else if rest.get(..10).is_some_and(|part| is_date(part) && !self.said.contains(part)) {
                out.push_str(DAY);
                10
            } else {
                out.push(first);
                first.len_utf8()
            };
            rest = &rest[taken..];
        }
        out
    }
}

fn is_an_id(part: &str) -> bool {
    part.as_bytes()[8] == b'-' && Uuid::try_parse(part).is_ok()
}

fn is_date(text: &str) -> bool {
    let form = |(at, byte): (usize, u8)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(form)
}

/// By the clock of a store.
fn is_local_moment(text: &str) -> bool {
    text.len() == 19
        && text.get(..10).is_some_and(is_date)
        && text.as_bytes()[10] == b'T'
        && text.as_bytes()[13] == b':'
}

fn is_moment(text: &str) -> bool {
    text.len() == 24 && text.get(..10).is_some_and(is_date) && text.as_bytes()[10] == b'T' && text.ends_with('Z')
}

fn is_a_pin(key: &str) -> bool {
    ["pin", "currentPin", "newPin", "generatedPin"].contains(&key)
}

fn names_a_secret(key: &str) -> bool {
    let key = key.to_lowercase();
    let words = ["token", "secret", "challenge", "uri", "signature", "url"];
    key != "tokentype" && key != "imageurl" && (words.iter().any(|word| key.contains(word)) || key.ends_with("key"))
}

/// What is kept of a request and its answer; nothing of one that was refused.
fn example(route: &Route, request: Option<&Json>, got: &Got) -> Option<Json> {
    if !(200..300).contains(&got.status) || !(got.body.is_object() || got.status == 204) {
        return None;
    }
    let mut cleaner = Cleaner { is_secret: route.method == "POST" && is_secret(route.path), ..Cleaner::default() };
    let mut example = json!({"status": got.status});
    if let Some(request) = request {
        cleaner.heard(request);
        example["request"] = cleaner.clean("", request);
    }
    if got.body.is_object() {
        example["answer"] = cleaner.clean("", &got.body);
    }
    Some(example)
}

struct Recorder<'a> {
    scene: &'a Scene,
    server: &'a Server,
    examples: Examples,
}

impl Recorder<'_> {
    fn token(&self) -> &str {
        self.scene.token(self.server)
    }

    fn keep(&mut self, route: &Route, request: Option<&Json>, got: &Got) {
        if let Some(example) = example(route, request, got) {
            self.examples.insert(format!("{} {}", route.method, route.path), example);
        }
    }

    async fn sign_ins(&mut self) {
        let by_name = json!({"username": "root", "pin": PIN});
        let by_pin = json!({"pin": PIN, "storeId": self.scene.world.s01, "terminalId": "T1"});
        let signed_in = self.signs_in("/auth/login", by_name).await;
        self.signs_in("/auth/pin-login", by_pin).await;
        self.signs_in("/auth/refresh", json!({"refreshToken": signed_in["data"]["refreshToken"]})).await;
    }

    async fn signs_in(&mut self, path: &str, body: Json) -> Json {
        let server = self.server;
        let route = server.routes.iter().find(|route| route.path == path && route.protection == Protection::Open);
        let Some(route) = route else { return Json::Null };
        let got = server.call(route.method, path, None, Some(body.clone())).await;
        self.keep(route, Some(&body), &got);
        got.body
    }

    async fn posts(&mut self) {
        let server = self.server;
        let is_a_post = |route: &&Route| {
            route.method == "POST" && route.owner.is_none() && matches!(route.protection, Protection::User(_))
        };
        for (place, route) in server.routes.iter().filter(is_a_post).enumerate() {
            // The numbers of the other tests of this scene are lower.
            let Some((path, body)) = self.scene.request(server, route.path, 500 + place).await else { continue };
            let got = server.post(self.token(), &path, body.clone()).await;
            self.keep(route, Some(&body), &got);
        }
    }

    async fn changes(&mut self) {
        let server = self.server;
        // A price is taken back after it was set.
        for method in ["PATCH", "PUT", "DELETE"] {
            for route in server.routes.iter().filter(|route| route.method == method && route.owner.is_none()) {
                let Some((path, body)) = self.change(route).await else { continue };
                let authorization = format!("Bearer {}", self.token());
                let body = Some(body).filter(|body| !body.is_null());
                let got = server.call(method, &path, Some(&authorization), body.clone()).await;
                self.keep(route, body.as_ref(), &got);
            }
        }
    }

    /// The first row of a list of which this is true.
    async fn row(&self, list: &str, is_it: impl Fn(&Json) -> bool) -> Option<Json> {
        let rows = self.server.get(self.token(), list).await.body["data"].take();
        rows.as_array()?.iter().find(|row| is_it(row)).cloned()
    }

    /// The id of a row that the posts made.
    async fn made(&self, list: &str) -> Option<String> {
        let row = self.row(list, |row| row["code"].as_str().is_some_and(|code| code.starts_with("N5"))).await?;
        Some(row["id"].as_str()?.to_owned())
    }

    /// What a change of a row sends.
    async fn change(&self, route: &Route) -> Option<Request> {
        let of = |id: &dyn ToString| route.path.replace("{id}", &id.to_string());
        let price = || {
            let (store, product) = (self.scene.world.s01.to_string(), self.scene.product.to_string());
            route.path.replace("{storeId}", &store).replace("{productId}", &product)
        };
        let list = route.path.split("/{").next().unwrap_or_default();
        Some(match (route.method, route.path) {
            ("PATCH", "/chain") => (
                route.path.to_owned(),
                json!({"countryCode": "US", "currencyCode": "USD", "timezone": "America/New_York", "locale": "en-US"}),
            ),
            ("PATCH", "/accounting/accounts") => (
                route.path.to_owned(),
                json!({"accounts": [
                    {"kind": "revenue", "code": "VAT19", "account": "8400"},
                    {"kind": "card", "account": "1360"},
                ]}),
            ),
            ("PATCH", "/customers/{id}") => {
                (of(&self.scene.customer), json!({"lastName": "Lee", "email": "ann@example.org"}))
            }
            ("PATCH", "/alert-hooks/{id}") => {
                let hook = self.row(list, |_| true).await?;
                (of(&hook["id"].as_str()?), json!({"kinds": ["store_silent"], "active": true}))
            }
            ("PATCH", "/departments/{id}") => (of(&ids::named("department:GENERAL")), json!({"name": "Groceries"})),
            ("PATCH", "/products/{id}") => (of(&self.scene.product), json!({"price": 1100, "brand": "Hill"})),
            ("PATCH", "/roles/{id}") => (of(&self.scene.role), json!({"name": "Stock taker"})),
            ("PUT", "/roles/{id}/permissions") => (of(&self.scene.role), json!({"permissions": ["inventory.view"]})),
            ("PATCH", "/stores/{id}") => (of(&self.scene.world.s02), json!({"name": "Harbour", "city": "Bristol"})),
            ("PATCH", "/users/{id}") => (of(&self.scene.world.admin), json!({"displayName": "Ada"})),
            ("PATCH", "/registers/{id}") => (of(&self.scene.register), json!({"name": "By the door"})),
            ("PUT", "/store-prices/{storeId}/{productId}") => (price(), json!({"price": 950})),
            ("DELETE", "/store-prices/{storeId}/{productId}") => (price(), Json::Null),
            ("PUT", "/tax-groups/{id}/rates") => {
                let rate = self.made("/tax-rates").await?;
                (of(&self.made("/tax-groups").await?), json!([{"taxRateId": rate, "sequence": 1}]))
            }
            (
                "PATCH",
                "/reasons/{id}" | "/sales-reps/{id}" | "/specials/{id}" | "/tax-groups/{id}" | "/tax-rates/{id}"
                | "/tenders/{id}",
            ) => (of(&self.made(list).await?), json!({"name": "Another name"})),
            ("DELETE", "/pos/parked-carts/{id}") => {
                let (path, body) = self.scene.request(self.server, "/pos/parked-carts", 590).await?;
                let parked = self.server.post(self.token(), &path, body).await.data();
                (of(&parked["id"].as_str()?), json!({"terminalId": "T1", "reason": "nobody came back"}))
            }
            _ => return None,
        })
    }

    /// The one body that is no JSON.
    async fn picture(&mut self) {
        let server = self.server;
        let is_it = |route: &&Route| (route.method, route.path) == ("PUT", PICTURE) && route.owner.is_none();
        if let Some(route) = server.routes.iter().find(is_it) {
            let got = upload(server, self.token(), self.scene.product).await;
            self.keep(route, None, &got);
        }
    }

    async fn reads(&mut self) {
        let server = self.server;
        for route in server.routes.iter().filter(|route| route.method == "GET" && route.owner.is_none()) {
            if !matches!(route.protection, Protection::User(_)) {
                continue;
            }
            let mut got = server.get(self.token(), &self.address(route)).await;
            if got.status >= 400 {
                for path in self.others(route).await {
                    got = server.get(self.token(), &path).await;
                    if got.status < 400 {
                        break;
                    }
                }
            }
            self.keep(route, None, &got);
        }
    }

    fn address(&self, route: &Route) -> String {
        let (world, path) = (&self.scene.world, self.scene.path(route.path));
        let today = self.server.auth.clock.now().to_string();
        let today = today.get(..10).unwrap_or_default();
        match route.path {
            "/permissions/explain" => format!("{path}?userId={}&code=products.view", world.admin),
            "/reports/variance" | "/reports/best-sellers" | "/reports/journal" => {
                format!("{path}?from={today}&to={today}")
            }
            "/search" => format!("{path}?q=tea"),
            "/specials/active" if self.server.name == "hq" => format!("{path}?storeId={}", world.s01),
            "/sync/completeness" => format!("{path}?storeId={}&date={today}", world.s01),
            "/sync/history" => format!("{path}?storeId={}", world.s01),
            "/sync/rollout" => format!("{path}?entityType=products"),
            "/pos/customers" => format!("{path}?search=Ann"),
            _ => path,
        }
    }

    /// Addresses with the rows of the list that the route is below.
    async fn others(&self, route: &Route) -> Vec<String> {
        let Some((list, _)) = route.path.split_once("/{") else { return Vec::new() };
        let rows = self.server.get(self.token(), list).await.body["data"].take();
        rows.as_array().into_iter().flatten().take(5).map(|row| filled(route.path, row)).collect()
    }
}

/// A path with what a row has for its values: by their names, else its id.
fn filled(path: &str, row: &Json) -> String {
    let part = |part: &str| {
        let Some(name) = part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) else { return part.to_owned() };
        let found = [name, "id", "sessionId"].iter().map(|key| &row[*key]).find(|value| !value.is_null());
        match found {
            Some(Json::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => Uuid::nil().to_string(),
        }
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

/// Waits for what the store has made to be at headquarters; what does not arrive is of no example.
async fn arrived(scene: &Scene) {
    for _ in 0..200 {
        let left = outbox::Entity::find().count(scene.world.store.test_db().reader()).await.expect("a count");
        if left == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn recorded(scene: &Scene, server: &Server) -> Examples {
    arrived(scene).await;
    let mut recorder = Recorder { scene, server, examples: Examples::new() };
    recorder.sign_ins().await;
    recorder.posts().await;
    recorder.changes().await;
    recorder.picture().await;
    recorder.reads().await;
    recorder.examples
}

/// The keys of what an answer is about: of its object, or of the first row of its list.
fn top(example: &Json) -> Option<BTreeSet<&str>> {
    let data = &example["answer"]["data"];
    let row = if data.is_array() { &data[0] } else { data };
    Some(row.as_object()?.keys().map(String::as_str).collect())
}

/// Every key in it.
fn keys<'a>(json: &'a Json, found: &mut BTreeSet<&'a str>) {
    match json {
        Json::Object(entries) => {
            found.extend(entries.keys().map(String::as_str));
            entries.values().for_each(|value| keys(value, found));
        }
        Json::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

/// What is not true any more of an example that is checked in: a key that no answer has, one that each has and it has not.
fn stale(which: &str, document: &Json, kept: &Json, now: &Json) -> Vec<String> {
    let mut wrong = Vec::new();
    if kept["status"] != now["status"] {
        wrong.push(format!("{which} answers {} now, not {}", now["status"], kept["status"]));
    }
    let (mut asked, mut asks) = (BTreeSet::new(), BTreeSet::new());
    keys(&kept["request"], &mut asked);
    keys(&now["request"], &mut asks);
    if asked != asks {
        wrong.push(format!("{which} is asked with {asks:?}, not with {asked:?}"));
    }
    let (method, path) = which.split_once(' ').unwrap_or_default();
    let operation = &document["paths"][format!("/api/v1{path}")][method.to_lowercase()];
    let (mut has, mut had) = (BTreeSet::new(), BTreeSet::new());
    keys(&now["answer"], &mut has);
    let schema = &operation["responses"][now["status"].to_string()]["content"]["application/json"]["schema"];
    names(document, schema, &mut has, &mut BTreeSet::new());
    keys(&kept["answer"], &mut had);
    let gone: Vec<_> = had.difference(&has).collect();
    // What an envelope carries is of whichever kind was waiting at that moment.
    if !gone.is_empty() && which != "GET /sync/outbox" {
        wrong.push(format!("{which} has no {gone:?}"));
    }
    if let (Some(before), Some(after)) = (top(kept), top(now)) {
        let new: Vec<_> = after.difference(&before).collect();
        if !new.is_empty() {
            wrong.push(format!("{which} has {new:?} too"));
        }
    }
    wrong
}

#[tokio::test]
async fn the_examples_are_the_ones_that_are_checked_in() {
    let scene = Scene::new().await;
    let mut wrong = Vec::new();
    // What the store makes is shown at headquarters too.
    for (server, (_, document)) in scene.world.servers.iter().zip(documents()).rev() {
        let now = recorded(&scene, server).await;
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/generated");
        let path = path.join(format!("examples-{}.json", server.name));
        let text = serde_json::to_string_pretty(&now).expect("JSON") + "\n";
        for secret in [PIN, &scene.world.sync_token, scene.token(server), "eyJ", "otpauth"] {
            assert!(!text.contains(secret), "an example of {} has a secret: {secret}", server.name);
        }
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            std::fs::write(&path, text).expect("a file");
        }
        let kept: Examples = serde_json::from_str(&std::fs::read_to_string(&path).expect("a file")).expect("JSON");
        let (before, after): (BTreeSet<_>, BTreeSet<_>) = (kept.keys().collect(), now.keys().collect());
        wrong.extend(before.symmetric_difference(&after).map(|which| format!("{which} at {}", server.name)));
        for (which, kept) in &kept {
            if let Some(now) = now.get(which) {
                wrong.extend(stale(which, &document, kept, now));
            }
        }
    }
    assert!(wrong.is_empty(), "run: make generated\n{}", wrong.join("\n"));
}

#[test]
fn every_body_and_every_answer_of_people_has_an_example() {
    let tables = [
        tillkeep_hq::routes::table(&tillkeep_store::routes::writes()).1,
        tillkeep_store::routes::table(&tillkeep_hq::routes::writes()).1,
    ];
    let mut missing = Vec::new();
    for ((name, document), routes) in documents().iter().zip(tables) {
        for route in routes.iter().filter(|route| route.protection != Protection::Sync && route.owner.is_none()) {
            if WITHOUT.contains(&route.path) || NONE_RECORDED.contains(&route.path) {
                continue;
            }
            let operation = &document["paths"][route.full_path()][route.method.to_lowercase()];
            let body = &operation["requestBody"]["content"]["application/json"];
            let good = |status: &str| &operation["responses"][status]["content"]["application/json"];
            let answers = [good("200"), good("201")];
            let is_shown = |content: &Json| !content["example"].is_null();
            let is_answered = answers.iter().any(|content| content.is_object());
            if (body.is_object() && !is_shown(body)) || (is_answered && !answers.into_iter().any(is_shown)) {
                missing.push(format!("{name}: {} {}", route.method, route.path));
            }
        }
    }
    assert!(missing.is_empty(), "give these a request in tests/contract/examples.rs:\n{}", missing.join("\n"));
}

#[test]
fn what_differs_from_run_to_run_is_not_in_an_example() {
    let mut cleaner = Cleaner::default();
    let (one, two) = (Uuid::now_v7().to_string(), Uuid::now_v7().to_string());
    let said = json!({
        "id": one, "text": format!("of {one} and {two}"), "at": "2031-10-01T09:30:00.123Z", "day": "2031-10-01",
        "sign": "ab".repeat(20), "accessToken": "abc", "pin": "739154", "tokenType": "Bearer", "list": [1, 2, 3],
    });
    let first = "00000000-0000-4000-8000-000000000001";
    assert_eq!(
        cleaner.clean("", &said),
        json!({
            "id": first, "text": format!("of {first} and 00000000-0000-4000-8000-000000000002"), "at": MOMENT, "day": DAY,
            "sign": "0123456789abcdef0123456789abcdef01234567", "accessToken": HIDDEN, "pin": NO_PIN,
            "tokenType": "Bearer", "list": [1, 2],
        })
    );
}
