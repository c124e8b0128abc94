//! Three headquarters servers on one database, with a broker between them and a balancer before them, stores and their tills at
//! work, while everything that may break does, by a seed. Then all is healed, and the checker looks at every database.
//! `make chaos ARGS="--nodes 3"` runs it for minutes.

mod strikes;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tillkeep_storage::verify::{Acknowledged, Options};

use crate::chaos::dice::Dice;
use crate::chaos::work::{Goods, Office, at_office, at_work};
use crate::chaos::{empty, errors};
use crate::haproxy::HaProxy;
use crate::kit::{Client, Process, Shift, TestCluster, TestStore, id, verdict};
use crate::nats_server::NatsServer;
use crate::own_postgres::Server;
use strikes::{deck, strike};

/// What runs besides the stores.
struct Fleet {
    chain: TestCluster,
    /// The servers beside that of the chain.
    others: Vec<Process>,
    database: Server,
    broker: NatsServer,
    balancer: HaProxy,
    sites: Vec<TestStore>,
}

impl Fleet {
    async fn start(nodes: usize) -> Self {
        let database = Server::new();
        let broker = NatsServer::start_with("");
        let environment = [
            ("DATABASE_URL", database.url.as_str()),
            ("TILLKEEP_ACCEPT_UNSAFE_DATABASE", ""),
            ("NATS_URL", &broker.url()),
            // As long as a balancer needs to see it.
            ("LEAVE_SECONDS", "1"),
            ("HQ_NODE", "node 1"),
            // The balancer is on this machine, and forwards.
            ("ALLOW_INSECURE_HQ", "1"),
        ];
        let mut chain = TestCluster::with(&environment).await;
        let mut others = Vec::new();
        for number in 2..=nodes {
            let mut node = chain.hq.beside_as(&format!("node{number}"));
            node.set_environment("HQ_NODE", &format!("node {number}"));
            node.start_prepared();
            others.push(node);
        }
        let urls: Vec<&str> = others.iter().chain([&chain.hq]).map(|node| node.url.as_str()).collect();
        let balancer = HaProxy::before(&urls);
        balancer.has_up(&urls);
        let admin = Client::new(&balancer.url()).with_token(chain.admin.token.as_deref().expect("a token"));
        (chain.admin, chain.front) = (admin, balancer.url());
        Self { chain, others, database, broker, balancer, sites: Vec::new() }
    }

    fn node(&mut self, number: usize) -> &mut Process {
        if number == 0 { &mut self.chain.hq } else { &mut self.others[number - 1] }
    }

    fn nodes(&self) -> usize {
        1 + self.others.len()
    }

    /// What the servers logged as their own fault.
    fn errors(&self) -> String {
        self.others.iter().chain([&self.chain.hq]).map(|node| errors(&node.log())).collect()
    }
}

#[derive(Default)]
struct Figures {
    rounds: usize,
    struck: BTreeMap<&'static str, usize>,
    healed: Vec<Duration>,
    answers: watch::Answers,
}

async fn run(length: Duration, nodes: usize, stores: usize, strikes: usize, seed: u64) {
    let begun = Instant::now();
    let mut dice = Dice(seed);
    let mut fleet = Fleet::start(nodes).await;
    let mut products = Vec::new();
    for number in 0..5 {
        products.push(fleet.chain.product(&format!("A{number}"), 1000).await);
    }
    let mut shifts = Vec::new();
    for _ in 0..stores {
        let site = fleet.chain.store().await;
        shifts.push(Shift::begin(&site, &products[4]).await);
        fleet.sites.push(site);
    }
    let goods = Goods::new(products);
    let special = Office::special(&fleet.chain.admin, &fleet.chain.department).await;
    let product = json!({
        "name": "Passing", "price": 500, "cost": 250, "departmentId": fleet.chain.department,
        "taxGroupId": fleet.chain.tax_group,
    });
    let roles = fleet.chain.admin.get("/roles").await.data();
    let cashier = roles.as_array().and_then(|roles| roles.iter().find(|role| role["code"] == "cashier")).map(id);
    let cashier = cashier.expect("the cashier");
    let (mut figures, mut kinds) = (Figures::default(), Vec::new());
    while begun.elapsed() < length || figures.rounds == 0 {
        let stop = Arc::new(AtomicBool::new(false));
        let working: Vec<_> =
            shifts.drain(..).map(|shift| at_work(shift, goods.clone(), dice.roll(), stop.clone())).collect();
        let (admin, product, role) = (fleet.chain.admin.clone(), product.clone(), cashier.clone());
        let office = Office { admin, product, role, special: special.clone() };
        let office = at_office(office, goods.clone(), stop.clone());
        let watching = watch::start(&fleet.balancer.url(), &fleet.sites, stop.clone());
        for _ in 0..strikes {
            // No kind comes again before all have come.
            if kinds.is_empty() {
                kinds = deck(&mut dice);
            }
            let name = strike(&mut fleet, &mut dice, kinds.pop().expect("a kind")).await;
            *figures.struck.entry(name).or_default() += 1;
        }
        stop.store(true, Ordering::Relaxed);
        for working in working {
            shifts.push(working.await.expect("a shift"));
        }
        let wrong = office.await.expect("the office");
        figures.answers.add(watching.await.expect("who watches"));
        let shops: Vec<&String> = shifts.iter().flat_map(|shift| &shift.wrong).collect();
        assert!(shops.is_empty() && wrong == 0, "5xx: {wrong} at headquarters, {shops:?}\n{}", fleet.errors());
        let wrong = &figures.answers.wrong;
        assert!(figures.answers.good > 20, "{} good answers", figures.answers.good);
        assert!(wrong.is_empty(), "neither a success nor a 503 with Retry-After: {wrong:?}\n{}", fleet.errors());
        let emptied: Vec<_> = fleet.sites.iter().map(|site| tokio::spawn(empty(site.process.database()))).collect();
        for emptied in emptied {
            figures.healed.push(emptied.await.expect("an outbox"));
        }
        let all: Vec<&TestStore> = fleet.sites.iter().collect();
        let sold: Vec<Acknowledged> = shifts.iter().flat_map(|shift| shift.sold.clone()).collect();
        figures.rounds += 1;
        eprintln!("seed {seed}, round {}: {} sales, {:?}", figures.rounds, sold.len(), figures.struck);
        fleet.chain.settled(&all, &sold).await;
    }
    report(&fleet, figures, &shifts, (begun, seed)).await;
}

async fn report(fleet: &Fleet, mut figures: Figures, shifts: &[Shift], (begun, seed): (Instant, u64)) {
    let sold: Vec<Acknowledged> = shifts.iter().flat_map(|shift| shift.sold.clone()).collect();
    let urls: Vec<String> = fleet.sites.iter().map(|site| site.process.database()).collect();
    let options = Options { settled: true, acknowledged: sold.clone(), ..Options::default() };
    let findings = verdict::look(Some(&fleet.chain.hq.database()), &urls, options).await;
    let of = |invariants: &[&str]| findings.iter().filter(|finding| invariants.contains(&finding.invariant)).count();
    figures.healed.sort_unstable();
    let quantile = |part: usize| figures.healed[(figures.healed.len() - 1) * part / 100];
    println!(
        "chaos, {} nodes, {} stores, seed {seed}: {} rounds in {:?}\nstruck: {:?}\nsales acknowledged {}, lost {}, doubled or \
         foreign {}, other findings {}\nasked through the balancer meanwhile: {} answered, {} to come again (503), {} \
         broken off\nfrom the heal to an empty outbox: median {:?}, p99 {:?}, worst {:?}",
        fleet.nodes(),
        fleet.sites.len(),
        figures.rounds,
        begun.elapsed(),
        figures.struck,
        sold.len(),
        of(&["I1", "I2"]),
        of(&["I3"]),
        findings.len() - of(&["I1", "I2", "I3"]),
        figures.answers.good,
        figures.answers.again,
        figures.answers.broken,
        quantile(50),
        quantile(99),
        quantile(100),
    );
    assert!(findings.is_empty(), "{}", verdict::list(&findings));
}

#[tokio::test(flavor = "multi_thread")]
async fn three_servers_under_load_and_faults_lose_and_double_nothing() {
    run(Duration::ZERO, 3, 3, 8, 20_261_123).await;
}

/// `make chaos ARGS="--nodes 3 --minutes 10 --seed 7"`.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "as long as the environment says"]
async fn nodes_for_long() {
    let number =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let nodes = usize::try_from(number("CHAOS_NODES", 3)).expect("few");
    run(Duration::from_mins(number("CHAOS_MINUTES", 10)), nodes, 8, 10, number("CHAOS_SEED", 1)).await;
}
