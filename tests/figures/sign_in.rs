//! What signing in costs, and what that cost gives away: an in-process headquarters, so that nothing but it is measured.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant as Stopwatch};

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use serde_json::{Value, json};
use tillkeep_hq::{Hq, Settings, routes};
use tillkeep_http::Clock;
use tillkeep_http::auth::SignInSettings;
use tillkeep_storage::Opening;
use tillkeep_storage::entity::{store, user};
use tillkeep_storage::registry::fold;
use tillkeep_storage::sea_orm::{EntityTrait, IntoActiveModel};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use uuid::Uuid;

/// Tries of each kind against `POST /auth/login`.
const TRIES: usize = 2_000;
/// Sign-ins of each kind and size against `POST /auth/pin-login`.
const SIGN_INS: usize = 50;
/// A day later the brakes on guessing have let go.
const DAY_MS: i64 = 25 * 3_600_000;
const PIN: &str = "739154";

struct Bench {
    hq: Arc<Hq>,
    clock: Clock,
    router: Router,
    store: Uuid,
    people: usize,
    _dir: tempfile::TempDir,
}

/// Runs all of it; prints, and answers the figures.
pub async fn run() -> Value {
    let mut bench = Bench::new().await;
    let mut unknown = Vec::new();
    let mut wrong = Vec::new();
    for _ in 0..TRIES {
        // In turn, so that whatever else the machine does falls on both.
        unknown.push(bench.login("nobody").await);
        wrong.push(bench.login("person-0").await);
    }
    let (unknown, wrong) = (median(&mut unknown), median(&mut wrong));
    let apart = unknown.abs_diff(wrong);
    println!(
        "sign-in          unknown user {} µs, wrong PIN {} µs: {} µs apart (medians of {TRIES})",
        unknown.as_micros(),
        wrong.as_micros(),
        apart.as_micros()
    );
    let mut sizes = Vec::new();
    for people in [10, 1_000, 100_000] {
        bench.grow(people).await;
        let (mut hits, mut misses) = (Vec::new(), Vec::new());
        let before = bench.hq.auth.pins.computed();
        for _ in 0..SIGN_INS {
            hits.push(bench.pin_login(PIN, 200).await);
            misses.push(bench.pin_login("918273", 401).await);
        }
        let hashes = bench.hq.auth.pins.computed() - before;
        let (hit, miss) = (median(&mut hits), median(&mut misses));
        println!(
            "PIN at a till    {people} users: {} µs, wrong {} µs, {} hashes for {} sign-ins",
            hit.as_micros(),
            miss.as_micros(),
            hashes,
            2 * SIGN_INS
        );
        sizes.push(json!({
            "users": people, "hitMedianMicros": micros(hit), "missMedianMicros": micros(miss),
            "hashesPerHundredSignIns": hashes * 100 / (2 * SIGN_INS as u64),
        }));
    }
    json!({
        "login": {"tries": TRIES, "unknownMedianMicros": micros(unknown), "wrongMedianMicros": micros(wrong),
                  "apartMicros": micros(apart)},
        "pinLogin": sizes,
    })
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).expect("short")
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

impl Bench {
    async fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let clock = Clock::default();
        let settings = Settings {
            data_dir: dir.path().to_owned(),
            database_url: None,
            database: Opening::default(),
            public_url: None,
            allow_insecure: false,
            sign_in: SignInSettings::default(),
            broker: None,
        };
        let hq = Hq::open(&settings, clock.clone(), CancellationToken::new()).await.expect("headquarters");
        let row = store::Model {
            id: Uuid::now_v7(),
            code: "S01".to_owned(),
            is_active: true,
            created_at: clock.now(),
            updated_at: clock.now(),
            ..store::Model::default()
        };
        let store = row.id;
        let mut tx = hq.db().begin().await.expect("a transaction");
        store::Entity::insert(row.into_active_model()).exec_without_returning(&tx).await.expect("a store");
        tx.touch("stores");
        hq.commit(tx).await.expect("a commit");
        let router = routes::router(hq.clone(), &[]);
        let mut bench = Self { hq, clock, router, store, people: 0, _dir: dir };
        bench.grow(10).await;
        bench
    }

    /// Adds people until there are so many. The first one has a PIN; the others have what looks like one.
    async fn grow(&mut self, people: usize) {
        let real = self.hq.auth.pins.hash(PIN).await.expect("a hash");
        let now = self.clock.now();
        let rows: Vec<_> = (self.people..people)
            .map(|number| user::Model {
                id: Uuid::now_v7(),
                username: format!("person-{number}"),
                username_folded: fold(&format!("person-{number}")),
                display_name: format!("Person {number}"),
                pin_hash: Some(real.hash.clone()),
                pin_lookup: Some(if number == 0 { real.lookup.clone() } else { Uuid::now_v7().to_string() }),
                is_active: true,
                created_at: now,
                updated_at: now,
                ..user::Model::default()
            })
            .map(IntoActiveModel::into_active_model)
            .collect();
        let mut tx = self.hq.db().begin().await.expect("a transaction");
        for chunk in rows.chunks(500) {
            user::Entity::insert_many(chunk.to_vec()).exec_without_returning(&tx).await.expect("people");
        }
        tx.touch("users");
        self.hq.commit(tx).await.expect("a commit");
        self.people = people;
    }

    async fn login(&self, username: &str) -> Duration {
        self.ask("/auth/login", &json!({"username": username, "pin": "918273"}), 401).await
    }

    async fn pin_login(&self, pin: &str, status: u16) -> Duration {
        self.ask("/auth/pin-login", &json!({"pin": pin, "storeId": self.store, "terminalId": "T1"}), status).await
    }

    async fn ask(&self, path: &str, body: &Value, status: u16) -> Duration {
        self.clock.advance(DAY_MS);
        let mut request = Request::post(format!("/api/v1{path}"))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body.to_string()))
            .expect("a request");
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1))));
        let router = self.router.clone();
        let begun = Stopwatch::now();
        let answer = router.oneshot(request).await.expect("an answer");
        let took = begun.elapsed();
        assert_eq!(answer.status().as_u16(), status, "{path}");
        took
    }
}
