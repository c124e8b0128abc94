//! A day of three stores in which the servers die wherever they may: every request is sent with its id until it is answered.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::json;
use tillkeep_storage::fault;

use super::act::Act;
use super::identities::{Broken, of_all, of_answers, of_movements};
use super::journal::{Journal, of_journal};
use super::kept::{Kept, moved, zzs};
use super::reports::{at_headquarters, in_the_safe, of_documents, of_drawers, of_zzs};
use super::till::Till;
use crate::chaos::empty;
use crate::kit::{Fault, TestCluster, TestStore, eventually};
use crate::verify::verify;

const STORES: usize = 3;

/// A part of the day: each kind of document, and three drawers.
const ROUND: &[Act] = &[
    Act::Open,
    Act::FloatAdd,
    Act::Sell,
    Act::SellForLess,
    Act::Park,
    Act::Sell,
    Act::PaidIn,
    Act::Void,
    Act::Resume,
    Act::SellResumed,
    Act::GiveBack,
    Act::NoSale,
    Act::Exchange,
    Act::PaidOut,
    Act::Drop,
    Act::Count,
    Act::Reopen,
    Act::SellForLess,
    Act::Park,
    Act::Count,
    Act::CloseCounted,
    Act::Deposit,
    // The cart waits for the next drawer.
    Act::Open,
    Act::Resume,
    Act::SellResumed,
    Act::Reassign,
    Act::Sell,
    Act::Drop,
    Act::Force,
    Act::Correct,
    Act::Open,
    Act::Sell,
    Act::Park,
    Act::DropCart,
    Act::GiveBack,
    Act::Close,
    Act::Zz,
];

/// Documents of a run: few in every run, many for a long proof (`make drawer-day`).
fn documents() -> usize {
    asked().unwrap_or(60)
}

fn asked() -> Option<usize> {
    std::env::var("DRAWER_DAY").ok().map(|number| number.parse().expect("DRAWER_DAY: a number"))
}

/// A server dies at every so many acts.
fn every() -> usize {
    if asked().is_some() { 2 } else { 3 }
}

struct Shop {
    site: TestStore,
    till: Till,
    index: usize,
    /// Where the server dies next.
    armed: Option<&'static str>,
    /// Where it died.
    died: BTreeSet<&'static str>,
    kills: usize,
    acts: usize,
}

impl Shop {
    /// Its part of the day, with the server dying at one act of so many.
    async fn round(mut self, round: usize) -> Self {
        for (place, act) in ROUND.iter().enumerate() {
            if (place + self.index + round).is_multiple_of(every()) {
                self.arm(*act, round);
            }
            self.answered(*act).await;
        }
        self
    }

    /// From now on the server dies where it comes by for `act`: at another of these places in each store, and in each part of
    /// the day.
    fn arm(&mut self, act: Act, round: usize) {
        let places = act.places();
        let Some(place) = places.get((self.index + round / 2) % places.len().max(1)) else { return };
        let process = &mut self.site.process;
        if !process.has_ended() {
            process.stop();
        }
        process.set_environment("FAILPOINTS", &format!("{place}=1*return(kill)"));
        process.restart();
        self.armed = Some(*place);
    }

    /// Asks until there is an answer; a server that died is started again.
    async fn answered(&mut self, act: Act) {
        self.acts += 1;
        eventually("there is an answer", async || {
            if self.till.act(act).await {
                return Some(());
            }
            self.start_again();
            None
        })
        .await;
    }

    fn start_again(&mut self) {
        if self.site.process.has_ended() {
            self.kills += 1;
            self.died.extend(self.armed.take());
            self.site.process.forget_environment("FAILPOINTS");
            self.site.process.restart();
        }
    }
}

struct Day {
    shops: Vec<Shop>,
    chain: TestCluster,
}

impl Day {
    async fn begin() -> Self {
        let mut chain = TestCluster::new().await;
        let product = chain.product("A1", 1000).await;
        chain.admin.post("/users", json!({"username": "bob", "displayName": "Bob"})).await.data();
        let mut shops = Vec::new();
        for index in 0..STORES {
            let site = chain.store().await;
            let first = site.open_till().await;
            let till = Till::at(&site, &first, 1, &product).await;
            shops.push(Shop { site, till, index, armed: None, died: BTreeSet::new(), kills: 0, acts: 0 });
        }
        Self { shops, chain }
    }

    /// A part of the day in each store at once; one of them has no line, and headquarters dies after it.
    async fn round(&mut self, round: usize) {
        for shop in &self.shops {
            let has_no_line = (round + 1) % (STORES + 1) == shop.index;
            shop.site.proxy.set(if has_no_line { Fault::Down } else { Fault::None });
        }
        let working = std::mem::take(&mut self.shops).into_iter().map(|shop| shop.round(round));
        self.shops = futures_util::future::join_all(working).await;
        self.chain.hq.kill();
        self.chain.hq.restart();
    }

    /// The day of each store is reported, and everything is at headquarters; how many documents were answered.
    async fn end(&mut self) -> usize {
        for shop in &mut self.shops {
            shop.answered(Act::StoreZz).await;
            shop.site.proxy.set(Fault::None);
            shop.site.process.stop();
            shop.site.process.forget_environment("FAILPOINTS");
            shop.site.process.restart();
        }
        for shop in &self.shops {
            empty(shop.site.process.database()).await;
        }
        let sites: Vec<&TestStore> = self.shops.iter().map(|shop| &shop.site).collect();
        let documents: Vec<_> = self.shops.iter().flat_map(|shop| shop.till.book.documents.clone()).collect();
        self.chain.settled(&sites, &documents).await;
        // As an operator asks.
        let [first, others @ ..] = sites.as_slice() else { unreachable!("there are stores") };
        let mut arguments = vec!["--settled"];
        for site in others {
            arguments.extend(["--store", site.process.dir.to_str().expect("a path")]);
        }
        eventually("every database is sound", async || {
            verify(&arguments, &self.chain.hq.dir, &first.process.dir).0.then_some(())
        })
        .await;
        documents.len()
    }
}

/// Everything that must hold of one store, by its database, by that of headquarters and by its journal there.
async fn look(shop: &mut Shop, hq: &str, journal: &Journal) -> ([i64; 4], [i64; 4]) {
    let url = shop.site.process.database();
    // The sign-in of before may be over.
    shop.till.client = shop.site.admin().await;
    let balance = shop.till.client.get("/safe").await.data()["balance"].as_i64();
    shop.site.process.stop();
    let kept = Kept::read(&url, &shop.site.id).await;
    let there = Kept::read(hq, &shop.site.id).await;
    let (cash, safe) = (moved(&url, "cash_movements").await, moved(&url, "safe_movements").await);
    let mut broken = Broken::default();
    for server in [&kept, &there] {
        of_all(server, &mut broken);
        of_movements(server, &cash, |drawer| &drawer.moved, &mut broken);
        of_movements(server, &safe, |drawer| &drawer.safe, &mut broken);
        of_answers(&shop.till.book, server, (&cash, &safe), &mut broken);
    }
    at_headquarters(&kept, &there, &mut broken);
    of_zzs(&kept, &zzs(&url).await, &mut broken);
    let reckoned = in_the_safe(&kept, &cash, &safe);
    of_journal(journal, &kept, reckoned, &mut broken);
    broken.that(balance == Some(reckoned), || format!("the safe has {balance:?}, and should have {reckoned}"));
    let open = kept.drawers.values().filter(|drawer| !drawer.is_closed).count();
    broken.that(open == 0, || format!("{open} drawers are open still"));
    broken.none(&format!("store {}", shop.index + 1));
    (of_drawers(&kept), of_documents(&there))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_of_three_stores_that_die_all_the_time_is_the_same_to_the_cent_at_headquarters() {
    let (wanted, begun) = (documents(), Instant::now());
    let mut day = Day::begin().await;
    let rounds = wanted.div_ceil(STORES * ROUND.len());
    for round in 0..rounds {
        day.round(round).await;
    }
    let documents = day.end().await;
    // No act was passed over because of a refusal, such as that of a cart that waits.
    let due: usize = ROUND.iter().map(|act| act.documents()).sum();
    assert_eq!(documents, due * rounds * STORES, "each part of the day was done in each store");
    let mut journals = Vec::new();
    for shop in &day.shops {
        journals.push(Journal::read(&day.chain.admin, &shop.site.id).await);
    }
    day.chain.hq.stop();
    let hq = day.chain.hq.database();
    let (mut of_stores, mut of_hq) = ([0; 4], [0; 4]);
    for (shop, journal) in day.shops.iter_mut().zip(&journals) {
        assert!(shop.till.book.refused.is_empty(), "refused: {:?}", shop.till.book.refused);
        let (drawers, at_hq) = look(shop, &hq, journal).await;
        add(&mut of_stores, drawers);
        add(&mut of_hq, at_hq);
    }
    assert_eq!(of_stores, of_hq, "net, tax, total and rounding of all Z, and of all documents of headquarters");
    let died: BTreeSet<&str> = day.shops.iter().flat_map(|shop| &shop.died).copied().collect();
    let never: Vec<&str> = places().into_iter().filter(|place| !died.contains(place)).collect();
    // A short day does not come by all of them.
    assert!(never.is_empty() || rounds < 4, "no server died at {never:?}");
    let kills: usize = day.shops.iter().map(|shop| shop.kills).sum();
    assert!(kills >= rounds * STORES, "{kills} kills");
    eprintln!(
        "{} acts, {documents} documents, {kills} kills at {} places and {rounds} of headquarters, total of all Z {}, \
         0 lost, 0 doubled, {:?}",
        day.shops.iter().map(|shop| shop.acts).sum::<usize>(),
        died.len(),
        of_stores[2],
        begun.elapsed()
    );
}

fn add(sums: &mut [i64; 4], more: [i64; 4]) {
    for (sum, amount) in sums.iter_mut().zip(more) {
        *sum += amount;
    }
}

/// Where the servers of a day die.
fn places() -> BTreeSet<&'static str> {
    ROUND.iter().flat_map(|act| act.places()).copied().collect()
}

#[test]
fn a_day_dies_at_every_place_of_drawers_and_of_what_is_sold_there() {
    let rooms = [
        "sale.",
        "void.",
        "refund.",
        "exchange.",
        "movement.",
        "count.",
        "session.",
        "reassign.",
        "parked.",
        "safe.",
        "zz.",
    ];
    let all = fault::PLACES.iter().map(|(place, _)| *place);
    let wanted: BTreeSet<&str> = all.filter(|place| rooms.iter().any(|room| place.starts_with(room))).collect();
    let missing: Vec<&&str> = wanted.iter().filter(|place| !places().contains(**place)).collect();
    assert!(missing.is_empty(), "no act of a day comes by {missing:?}");
}
