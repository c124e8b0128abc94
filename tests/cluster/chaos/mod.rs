//! Stores and headquarters under load while everything that may break does, by a seed: then all is healed, and the
//! checker looks at every database. The figures are printed. `make chaos` runs it for minutes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;
use tillkeep_storage::fault::PLACES;
use tillkeep_storage::verify::{Acknowledged, Options};
use tillkeep_storage::{Db, outbox};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::kit::{Client, Fault, Process, Shift, TestCluster, TestStore, id, verdict};

const STORES: usize = 3;
/// P3: whatever happened, the outbox is empty so long after the line is back.
const EMPTY_WITHIN: Duration = Duration::from_secs(35);
/// Faults between two heals.
const FAULTS_OF_A_ROUND: usize = 6;
const DAY_MS: i64 = 24 * 3600 * 1000;
/// Places that only a refusal, a load anew or a command comes by, of which there are none here.
const NOT_REACHED: &[&str] =
    &["outbox.refuse", "outbox.resend", "apply.begin_reload", "apply.end_reload", "push.refusals", "backup.copied"];
/// Rooms that a server comes by once after its start, or about once a second.
const RARE: &[&str] = &["cycle.", "handshake.", "session.", "tracker."];

/// Numbers by a seed: `SplitMix64`, as published by Steele, Lea and Flood.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.roll() % end as u64).expect("small")
    }

    fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.roll() % (to - from))
    }
}

#[derive(Default)]
struct Figures {
    rounds: Vec<Duration>,
    faults: BTreeMap<&'static str, usize>,
    healed: Vec<Duration>,
}

fn at_work(mut shift: Shift, products: Vec<String>, seed: u64, stop: Arc<AtomicBool>) -> JoinHandle<Shift> {
    tokio::spawn(async move {
        let mut dice = Dice(seed);
        while !stop.load(Ordering::Relaxed) {
            let product = &products[dice.below(products.len())];
            match dice.below(40) {
                0 => shift.drawer(true).await,
                1 => shift.customer("Hopper").await,
                2 => shift.receive(product, 5).await,
                _ => drop(shift.sell(product, 1).await),
            }
            sleep(dice.millis(5, 40)).await;
        }
        shift
    })
}

/// Edits at headquarters: prices, a product that comes and goes, a customer, what a role may do.
fn at_office(
    admin: Client,
    products: Vec<String>,
    (body, role): (serde_json::Value, String),
    stop: Arc<AtomicBool>,
) -> JoinHandle<usize> {
    tokio::spawn(async move {
        let (mut turn, mut wrong) = (0, 0);
        while !stop.load(Ordering::Relaxed) {
            turn += 1;
            let call = match turn % 5 {
                0 => {
                    let mut product = body.clone();
                    product["sku"] = format!("T{turn}").into();
                    let made = admin.try_call(Method::POST, "/products", Some(product)).await;
                    if let Ok(made) = made
                        && made.status.is_success()
                    {
                        sleep(Duration::from_millis(50)).await;
                        let path = format!("/products/{}", id(&made.body["data"]));
                        drop(admin.try_call(Method::DELETE, &path, None).await);
                    }
                    continue;
                }
                1 => {
                    let codes = if turn % 2 == 0 { json!(["pos.sell"]) } else { json!(["pos.sell", "inventory.view"]) };
                    let path = format!("/roles/{role}/permissions");
                    admin.try_call(Method::PUT, &path, Some(json!({"permissions": codes}))).await
                }
                2 => admin.try_call(Method::POST, "/customers", Some(json!({"lastName": "Office"}))).await,
                _ => {
                    let path = format!("/products/{}", products[turn % products.len()]);
                    admin.try_call(Method::PATCH, &path, Some(json!({"price": 1000 + turn}))).await
                }
            };
            if let Ok(reply) = call
                && reply.status.is_server_error()
                && reply.status != 503
            {
                eprintln!("headquarters answered {}: {}", reply.status, reply.text);
                wrong += 1;
            }
            sleep(Duration::from_millis(60)).await;
        }
        wrong
    })
}

fn restart(process: &mut Process) {
    process.forget_environment("FAILPOINTS");
    while !process.try_restart() {}
}

/// One of the places of fault.rs that a server of this kind comes by under this load, to die at after some passes.
fn place(dice: &mut Dice, hq: bool) -> String {
    let within = |place: &str, rooms: &[&str]| rooms.iter().any(|room| place.starts_with(room));
    let of_hq = |place: &str| within(place, &["pull.", "push.", "handshake.", "tracker."]);
    let here = |place: &&str| within(place, &["tx."]) || of_hq(place) == hq;
    let reached = PLACES.iter().map(|(place, _)| *place).filter(|place| !NOT_REACHED.contains(place));
    let all: Vec<&str> = reached.filter(here).collect();
    let place = all[dice.below(all.len())];
    let passes = if within(place, &["tx."]) {
        // A start makes a dozen of them.
        13 + dice.below(20)
    } else if within(place, RARE) {
        0
    } else {
        dice.below(5)
    };
    let skip = if passes == 0 { String::new() } else { format!("{passes}*off->") };
    format!("{place}={skip}1*return(kill)")
}

async fn strike(chain: &mut TestCluster, sites: &mut [TestStore], dice: &mut Dice, figures: &mut Figures) {
    let victim = dice.below(sites.len());
    let name = match dice.below(8) {
        0 => {
            chain.hq.kill();
            sleep(dice.millis(0, 600)).await;
            restart(&mut chain.hq);
            "headquarters killed"
        }
        1 | 2 => {
            sites[victim].process.kill();
            sleep(dice.millis(0, 300)).await;
            restart(&mut sites[victim].process);
            "store killed"
        }
        3 => {
            let process = &mut sites[victim].process;
            process.kill();
            process.set_environment("FAILPOINTS", &place(dice, false));
            if die(process).await { "store killed at a place" } else { "store killed" }
        }
        4 => {
            chain.hq.kill();
            chain.hq.set_environment("FAILPOINTS", &place(dice, true));
            if die(&mut chain.hq).await { "headquarters killed at a place" } else { "headquarters killed" }
        }
        5 => {
            let process = &mut sites[victim].process;
            process.stop();
            let offset = [DAY_MS, -DAY_MS, 0][dice.below(3)];
            process.set_environment("CLOCK_OFFSET_MS", &offset.to_string());
            restart(process);
            "clock of a store set"
        }
        _ => {
            let faults = [
                Fault::Down,
                Fault::LoseAnswers,
                Fault::CutRequest(50 + dice.below(3000)),
                Fault::CutAnswer(1 + dice.below(3000)),
                Fault::Duplicate,
                Fault::HalfOpen,
                Fault::Reset,
                Fault::Portal,
                Fault::Delay(Duration::from_millis(100)),
                Fault::Throttle(20_000),
                Fault::Flapping(Duration::from_millis(200)),
            ];
            sites[victim].proxy.set(faults[dice.below(faults.len())]);
            sleep(dice.millis(300, 1500)).await;
            sites[victim].proxy.set(Fault::None);
            "line broken"
        }
    };
    *figures.faults.entry(name).or_default() += 1;
    sleep(dice.millis(100, 500)).await;
}

/// Starts a server that dies at a place, if it comes by within a moment, and starts it again; whether it died there.
async fn die(process: &mut Process) -> bool {
    let mut died = !process.try_restart();
    let deadline = Instant::now() + Duration::from_secs(2);
    while !died && Instant::now() < deadline {
        sleep(Duration::from_millis(20)).await;
        died = process.has_ended();
    }
    process.kill();
    restart(process);
    died
}

/// Waits until the outbox in the file is empty; how long that took.
async fn empty(url: String) -> Duration {
    let begun = Instant::now();
    let conn = Db::open_to_read(&url).await.expect("database");
    loop {
        let state = outbox::state(&conn).await.expect("the outbox");
        if state.pending == 0 && state.dead_lettered == 0 {
            return begun.elapsed();
        }
        assert!(begun.elapsed() < Duration::from_mins(2), "the outbox of {url} does not empty: {state:?}");
        sleep(Duration::from_millis(20)).await;
    }
}

async fn run(length: Duration, seed: u64) {
    let begun = Instant::now();
    let mut dice = Dice(seed);
    let mut chain = TestCluster::new().await;
    let mut products = Vec::new();
    for number in 0..5 {
        products.push(chain.product(&format!("A{number}"), 1000).await);
    }
    let mut sites = Vec::new();
    let mut shifts = Vec::new();
    for _ in 0..STORES {
        let site = chain.store().await;
        shifts.push(Shift::begin(&site, &products[4]).await);
        sites.push(site);
    }
    let (memory, files) = chain.hq.footprint();
    let body = json!({
        "name": "Passing", "price": 500, "cost": 250, "departmentId": chain.department, "taxGroupId": chain.tax_group,
    });
    let roles = chain.admin.get("/roles").await.data();
    let cashier = roles.as_array().and_then(|roles| roles.iter().find(|role| role["code"] == "cashier")).map(id);
    let cashier = cashier.expect("the cashier");
    let mut figures = Figures::default();
    let mut wrong = 0;
    while begun.elapsed() < length || figures.rounds.is_empty() {
        let round = Instant::now();
        let stop = Arc::new(AtomicBool::new(false));
        let working: Vec<_> =
            shifts.drain(..).map(|shift| at_work(shift, products.clone(), dice.roll(), stop.clone())).collect();
        let office = at_office(chain.admin.clone(), products.clone(), (body.clone(), cashier.clone()), stop.clone());
        for _ in 0..FAULTS_OF_A_ROUND {
            strike(&mut chain, &mut sites, &mut dice, &mut figures).await;
        }
        stop.store(true, Ordering::Relaxed);
        for working in working {
            shifts.push(working.await.expect("a shift"));
        }
        wrong += office.await.expect("the office");
        let emptied: Vec<_> = sites.iter().map(|site| tokio::spawn(empty(site.process.database()))).collect();
        for emptied in emptied {
            figures.healed.push(emptied.await.expect("an outbox"));
        }
        let all: Vec<&TestStore> = sites.iter().collect();
        let sold: Vec<Acknowledged> = shifts.iter().flat_map(|shift| shift.sold.clone()).collect();
        eprintln!("seed {seed}, round {}: {} sales", figures.rounds.len() + 1, sold.len());
        chain.settled(&all, &sold).await;
        figures.rounds.push(round.elapsed());
    }
    let (memory_after, files_after) = chain.hq.footprint();
    let sold: Vec<Acknowledged> = shifts.iter().flat_map(|shift| shift.sold.clone()).collect();
    let urls: Vec<String> = sites.iter().map(|site| site.process.database()).collect();
    let options = Options { settled: true, acknowledged: sold.clone(), moving_since: None };
    let findings = verdict::look(Some(&chain.hq.database()), &urls, options).await;
    let of = |invariants: &[&str]| findings.iter().filter(|finding| invariants.contains(&finding.invariant)).count();
    let mut healed = figures.healed.clone();
    healed.sort_unstable();
    let quantile = |part: usize| healed[(healed.len() - 1) * part / 100];
    println!(
        "chaos, seed {seed}: {} rounds in {:?} ({:?} each on average)\nfaults: {:?}\nsales acknowledged {}, lost {}, \
         doubled or foreign {}, other findings {}\nfrom the heal to an empty outbox: median {:?}, p99 {:?}, worst {:?}\n\
         headquarters: {memory} KiB and {files} files at the start, {memory_after} KiB and {files_after} at the end",
        figures.rounds.len(),
        begun.elapsed(),
        figures.rounds.iter().sum::<Duration>() / u32::try_from(figures.rounds.len()).expect("few"),
        figures.faults,
        sold.len(),
        of(&["I1", "I2"]),
        of(&["I3"]),
        findings.len() - of(&["I1", "I2", "I3"]),
        quantile(50),
        quantile(99),
        quantile(100),
    );
    assert!(findings.is_empty(), "{}", verdict::list(&findings));
    let shops: Vec<&String> = shifts.iter().flat_map(|shift| &shift.wrong).collect();
    assert!(shops.is_empty() && wrong == 0, "5xx: {wrong} at headquarters, {shops:?}");
    assert!(quantile(100) < EMPTY_WITHIN, "{:?}", quantile(100));
    assert!(memory_after < memory + 200 * 1024, "{memory} KiB, then {memory_after} KiB");
    assert!(files_after < files + 60, "{files} files, then {files_after}");
}

#[tokio::test(flavor = "multi_thread")]
async fn under_load_and_faults_nothing_is_lost_or_doubled() {
    run(Duration::from_secs(20), 20_261_121).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_counts_as_killed_at_a_place_when_it_ended_there_and_not_otherwise() {
    let mut chain = TestCluster::new().await;
    let mut site = chain.store().await;
    for (fault, died) in [("backup.copied=1*return(kill)", false), ("cycle.handshake=1*return(kill)", true)] {
        site.process.kill();
        site.process.set_environment("FAILPOINTS", fault);
        assert_eq!(die(&mut site.process).await, died, "{fault}");
    }
    site.admin().await;
}

#[test]
fn chaos_draws_each_place_that_its_load_comes_by_and_no_other() {
    let mut dice = Dice(1);
    let mut drawn: Vec<String> = Vec::new();
    for turn in 0..4000 {
        let fault = place(&mut dice, turn % 2 == 0);
        let (place, actions) = fault.split_once('=').expect("a place and what happens there");
        let rare = RARE.iter().any(|room| place.starts_with(room));
        assert!(!rare || actions == "1*return(kill)", "{fault}: nobody comes by twice in time");
        drawn.push(place.to_owned());
    }
    drawn.sort_unstable();
    drawn.dedup();
    let reached = PLACES.iter().map(|(place, _)| *place).filter(|place| !NOT_REACHED.contains(place));
    let mut reached: Vec<&str> = reached.collect();
    reached.sort_unstable();
    assert_eq!(drawn, reached);
}

/// `make chaos ARGS="--minutes 5 --seed 7"`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "as long as it is told to"]
async fn chaos_for_long() {
    let number =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    run(Duration::from_mins(number("CHAOS_MINUTES", 5)), number("CHAOS_SEED", 1)).await;
}
