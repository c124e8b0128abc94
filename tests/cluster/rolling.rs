//! Three servers of headquarters on one `PostgreSQL` behind a balancer, and a newer release that takes their places one after
//! another. `docs/operations.md`, *Upgrading*.

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;

use crate::haproxy::{BEHIND, HaProxy};
use crate::kit::{ADMIN, Client, Process, Program, TestCluster, eventually};
use crate::private_postgres::programs;
use crate::upgrade::verify_with_next;

/// Long enough for a balancer that asks five times a second.
const LEAVE: (&str, &str) = ("LEAVE_SECONDS", "2");

/// What a client that asks all the time was answered, and what went wrong.
#[derive(Default)]
struct Asked {
    answered: AtomicU64,
    failed: std::sync::Mutex<Vec<String>>,
    over: AtomicBool,
}

impl Asked {
    async fn ask(&self, client: &Client, method: Method, path: &str, body: Option<serde_json::Value>) {
        match client.try_call(method, path, body).await {
            Ok(reply) if reply.status.is_success() => {
                self.answered.fetch_add(1, Ordering::SeqCst);
            }
            Ok(reply) => self.fails(format!("{path}: {} {}", reply.status, reply.text)),
            Err(error) => self.fails(format!("{path}: {error:?}")),
        }
    }

    fn fails(&self, what: String) {
        self.failed.lock().expect("a lock").push(what);
    }

    /// Waits for this many more answers.
    async fn goes_on(&self, more: u64) {
        let wanted = self.answered.load(Ordering::SeqCst) + more;
        eventually("requests go on", async || (self.answered.load(Ordering::SeqCst) >= wanted).then_some(())).await;
    }
}

/// Reads and writes until it is over: one with a connection that stays, one with a new one each time, and one who writes.
fn ask(url: &str, admin: &Client, product: &str) -> (Arc<Asked>, Vec<tokio::task::JoinHandle<()>>) {
    let asked = Arc::new(Asked::default());
    let token = admin.token.clone().expect("a token");
    let mut tasks = Vec::new();
    for (kind, path) in ["/departments", "/customers?pageSize=50", "/products"].into_iter().enumerate() {
        let (asked, url, token, product) = (asked.clone(), url.to_owned(), token.clone(), product.to_owned());
        tasks.push(tokio::spawn(async move {
            let kept = Client::new(&url).with_token(&token);
            let mut price = 1000;
            while !asked.over.load(Ordering::SeqCst) {
                match kind {
                    0 => asked.ask(&kept, Method::GET, path, None).await,
                    1 => asked.ask(&Client::new(&url).with_token(&token), Method::GET, path, None).await,
                    _ => {
                        price += 1;
                        let path = format!("{path}/{product}");
                        asked.ask(&kept, Method::PATCH, &path, Some(json!({"price": price}))).await;
                        let read = kept.try_call(Method::GET, &path, None).await;
                        let is_there = read.as_ref().is_ok_and(|reply| reply.body["data"]["price"] == price);
                        if !is_there {
                            asked.fails(format!("the price {price} is not read back: {read:?}"));
                        }
                    }
                }
            }
        }));
    }
    (asked, tasks)
}

/// Two more servers beside the one of `chain`, behind `balancer` with it.
fn two_more(chain: &TestCluster, balancer: &mut HaProxy) -> (Process, Process) {
    let mut others = ["two", "three"].map(|name| chain.hq.beside_as(name));
    others.iter_mut().for_each(Process::start_prepared);
    let [two, three] = others;
    let urls = [&*chain.hq.url, &*two.url, &*three.url];
    balancer.set_servers(&urls);
    balancer.has_up(&urls);
    (two, three)
}

#[tokio::test(flavor = "multi_thread")]
async fn three_servers_are_replaced_by_the_next_release_one_after_another_without_a_failed_request() {
    let mut chain = TestCluster::with(&[LEAVE, BEHIND]).await;
    let product = chain.product("A1", 1000).await;
    chain.admin.post("/customers", json!({"lastName": "Known", "creditLimit": 5000})).await.data();
    // Stores come through the balancer too.
    let mut balancer = HaProxy::before(&[&chain.hq.url]);
    balancer.has_up(&[&chain.hq.url]);
    let own = std::mem::replace(&mut chain.hq.url, balancer.url());
    let mut site = chain.store().await;
    chain.hq.url = own;
    let till = site.open_till().await;
    site.knows(&till, &product, None).await;
    let (mut two, mut three) = two_more(&chain, &mut balancer);
    let (asked, tasks) = ask(&balancer.url(), &chain.admin, &product);
    let mut sold = 0;
    let urls = [chain.hq.url.clone(), two.url.clone(), three.url.clone()];
    for (number, node) in [&mut chain.hq, &mut two, &mut three].into_iter().enumerate() {
        site.sell(&till, &product, 1).await;
        asked.goes_on(50).await;
        node.ask_to_stop();
        let others: Vec<&str> = urls.iter().map(String::as_str).filter(|url| *url != urls[number]).collect();
        balancer.has_up(&others);
        site.sell(&till, &product, 1).await;
        asked.goes_on(20).await;
        node.has_stopped();
        node.is_of(Program::Next);
        node.restart();
        balancer.has_up(&urls.iter().map(String::as_str).collect::<Vec<_>>());
        asked.goes_on(50).await;
        sold += 2;
    }
    asked.over.store(true, Ordering::SeqCst);
    for task in tasks {
        task.await.expect("they asked until the end");
    }
    let failed = asked.failed.lock().expect("a lock").clone();
    let answered = asked.answered.load(Ordering::SeqCst);
    assert_eq!(failed, Vec::<String>::new(), "of {answered}");
    eprintln!("{answered} requests were answered, and {} not", failed.len());
    site.drained(&till).await;
    let at_hq = Client::new(&balancer.url()).with_token(chain.admin.token.as_deref().expect("a token"));
    let sales = at_hq.get(&format!("/sales?storeId={}&pageSize=1", site.id)).await;
    assert_eq!(sales.body["pagination"]["total"], sold);
    // The store follows, and the newer release's checker looks at both.
    for node in [&mut two, &mut three, &mut chain.hq] {
        node.stop();
    }
    chain.hq.restart();
    balancer.has_up(&[&chain.hq.url]);
    site.process.upgrade();
    let till = site.admin().await;
    site.drained(&till).await;
    chain.caught_up(&site, &till).await;
    verify_with_next(&chain, &site).await;
}

/// A read that is not over, in a database session of its own.
struct LongRead(Child);

impl LongRead {
    fn start(url: &str, table: &str) -> Self {
        let mut psql = Command::new(programs().join("psql"));
        psql.arg(url).arg("-qAt").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut psql = psql.spawn().expect("psql");
        writeln!(psql.stdin.as_mut().expect("input"), "BEGIN; SELECT count(*) FROM {table};").expect("a statement");
        let mut answer = [0; 1];
        std::io::Read::read_exact(psql.stdout.as_mut().expect("output"), &mut answer).expect("an answer");
        Self(psql)
    }

    fn ends(mut self) {
        drop(self.0.stdin.take());
        self.0.wait().expect("psql ends");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_waits_for_a_long_read_holds_no_request_up_and_is_made_when_that_is_over() {
    let mut chain = TestCluster::with(&[LEAVE]).await;
    let read = LongRead::start(&chain.hq.database(), "customers");
    let mut newer = chain.hq.beside();
    newer.is_of(Program::Next);
    let starting = std::thread::spawn(move || {
        newer.start_prepared();
        newer
    });
    let log = chain.hq.dir.with_extension("beside").join("server.log");
    let waits = || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("the schema waits until others"));
    let (mut slowest, mut asked) = (Duration::ZERO, 0);
    // On through two tries of the step.
    let mut until = None;
    while asked <= 20 || until.is_none_or(|until| Instant::now() < until) {
        if until.is_none() && waits() {
            until = Some(Instant::now() + Duration::from_secs(4));
        }
        let begun = Instant::now();
        chain.admin.get("/customers").await.data();
        (slowest, asked) = (slowest.max(begun.elapsed()), asked + 1);
    }
    println!("{asked} requests, the slowest took {slowest:?}");
    // It would wait for the whole read, which lasts until this is over: none of them did.
    assert!(!starting.is_finished(), "{asked} requests");
    read.ends();
    let newer = starting.join().expect("it starts when the read is over");
    Client::new(&newer.url).sign_in(ADMIN.0, ADMIN.1).await.expect("it works");
    chain.hq.upgrade();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_the_older_release_that_crashes_during_an_upgrade_comes_back_and_works() {
    let mut chain = TestCluster::with(&[LEAVE]).await;
    let product = chain.product("A1", 1000).await;
    let mut newer = chain.hq.beside();
    newer.is_of(Program::Next);
    newer.start_prepared();
    chain.hq.kill();
    chain.hq.restart();
    let said = "the database is of a newer release, beside which this program works";
    assert!(chain.hq.log().contains(said), "{}", chain.hq.log());
    // It writes what the next release knows more of, and reads what that has written.
    let made = json!({"lastName": "Between"});
    let made = chain.admin.post("/customers", made).await.data();
    let at_newer = Client::new(&newer.url).with_token(chain.admin.token.as_deref().expect("a token"));
    let path = format!("/customers/{}", made["id"].as_str().expect("an id"));
    assert_eq!(at_newer.get(&path).await.data()["loyaltyTier"], "standard");
    at_newer.patch(&format!("/products/{product}"), json!({"price": 1100})).await.data();
    assert_eq!(chain.admin.get(&format!("/products/{product}")).await.data()["price"], 1100);
    chain.admin.patch(&path, json!({"lastName": "After"})).await.data();
    assert_eq!(at_newer.get(&path).await.data()["loyaltyTier"], "standard");
    chain.hq.upgrade();
    assert_eq!(chain.admin.get(&path).await.data()["lastName"], "After");
}
