//! A store that dies while a sale is undone, money is given back, goods are exchanged or a paper is printed. What its till asked
//! for is there once, whenever it asks again; the chain of its register is whole; and no paper comes out twice unless somebody
//! asks for it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::kit::printer::Printer;
use crate::kit::{Fault, Shift, TestCluster, TestStore, eventually, id};

const PLACES: [&str; 9] = [
    "void.written",
    "void.committed",
    "refund.claimed",
    "refund.written",
    "refund.committed",
    "exchange.written",
    "exchange.committed",
    "print.marked",
    "print.sent",
];

/// Kills of a run: each place twice in every run, many for a long proof (`make money-kills`).
fn kills() -> usize {
    std::env::var("MONEY_KILLS").ok().map_or(2 * PLACES.len(), |number| number.parse().expect("MONEY_KILLS: a number"))
}

struct Shop {
    // Before the chain: the checker looks at both at the end of a store.
    site: TestStore,
    chain: TestCluster,
    shift: Shift,
    printer: Printer,
    product: String,
    customer: String,
    /// Papers that were asked for again.
    copies: usize,
}

impl Shop {
    async fn open() -> Self {
        let mut chain = TestCluster::new().await;
        let account = json!({"code": "ACCOUNT", "name": "On account", "kind": "on_account", "requiresCustomer": true});
        chain.admin.post("/tenders", account).await.data();
        let customer = id(&chain.admin.post("/customers", json!({"lastName": "Hopper"})).await.data());
        let product = chain.product("A1", 1000).await;
        let site = chain.store().await;
        let shift = Shift::begin(&site, &product).await;
        eventually("the store has the customer and the account", async || {
            let there = shift.client().get(&format!("/customers/{customer}")).await.status.is_success();
            let tenders = shift.client().get("/tenders").await.body["data"].clone();
            let account = tenders.as_array()?.iter().any(|tender| tender["code"] == "ACCOUNT");
            (there && account).then_some(())
        })
        .await;
        let printer = Printer::at(&shift).await;
        Self { site, chain, shift, printer, product, customer, copies: 0 }
    }

    /// So few papers wait that none of them is given up because of that.
    async fn no_backlog(&self) {
        eventually("the printer comes after", async || (self.papers("waiting").await.len() < 100).then_some(())).await;
    }

    /// What comes by a place, or does the next time.
    async fn come_by(&mut self, place: &str) {
        self.shift.sell(&self.product, 3).await;
        match place.split('.').next() {
            Some("void") => self.shift.void().await,
            Some("refund") => self.shift.give_back().await,
            Some("exchange") => self.shift.exchange(&self.product).await,
            // Each document is printed.
            _ => self.shift.settle(&self.customer, 100).await,
        };
    }

    /// The store dies at a place, sooner or later after its start, with a line and without one.
    async fn kill(&mut self, kill: usize) {
        let (place, round) = (PLACES[kill % PLACES.len()], kill / PLACES.len());
        let is_cut = round % 2 == 1 && place != "refund.claimed";
        self.site.proxy.set(if is_cut { Fault::Down } else { Fault::None });
        let process = &mut self.site.process;
        process.stop();
        process.set_environment("FAILPOINTS", &format!("{place}={}*off->1*return(kill)", round % 3));
        process.restart();
        let deadline = Instant::now() + Duration::from_secs(90);
        while !self.site.process.has_ended() {
            assert!(Instant::now() < deadline, "nothing comes by {place}");
            self.come_by(place).await;
        }
        self.site.process.forget_environment("FAILPOINTS");
        self.site.process.restart();
        assert!(self.shift.again().await, "what got no answer when {place} was come by is answered now");
        if place.starts_with("print.") {
            eventually("the paper that was on its way is offered again", async || {
                (!self.papers("unknown").await.is_empty()).then_some(())
            })
            .await;
            self.ask_for_papers().await;
        }
    }

    async fn papers(&self, state: &str) -> Vec<Value> {
        let reply = self.shift.client().get(&format!("/pos/prints?state={state}&pageSize=200")).await;
        reply.data().as_array().expect("list").clone()
    }

    /// Somebody looks for the papers of which nobody knows whether they came out, and asks for them.
    async fn ask_for_papers(&mut self) {
        for paper in self.papers("unknown").await {
            let path = format!("/pos/prints/{}/again", id(&paper));
            let again = self.shift.client().post(&path, json!({})).await.data();
            assert!(again["copy"].as_i64() > paper["copy"].as_i64(), "it is offered as a copy: {again}");
            self.copies += 1;
        }
    }

    /// All is well again, and every paper is out.
    async fn printed(&mut self) {
        self.site.proxy.set(Fault::None);
        eventually("the papers come out", async || {
            if !self.papers("waiting").await.is_empty() || !self.papers("printing").await.is_empty() {
                return None;
            }
            if self.papers("unknown").await.is_empty() {
                return Some(());
            }
            self.ask_for_papers().await;
            None
        })
        .await;
        // One paper says that a sale was voided.
        let failed = self.papers("failed").await;
        assert!(failed.iter().all(|paper| paper["error"].to_string().contains("was voided before")), "{failed:?}");
        let papers = self.printer.papers();
        let different: BTreeSet<&Vec<u8>> = papers.iter().collect();
        assert_eq!(different.len(), papers.len(), "a paper came out twice by itself");
        let copies = papers.iter().filter(|paper| paper.windows(4).any(|letters| letters == b"COPY")).count();
        assert!(copies > 0 && copies <= self.copies, "{copies} copies came out, {} were asked for", self.copies);
    }

    /// Each document that a till has an answer for is at both servers, nothing else is, and their chain has no gap.
    async fn once_at_both(&mut self) {
        self.chain.settled(&[&self.site], &self.shift.sold).await;
        assert_eq!(self.shift.wrong, Vec::<String>::new());
        self.site.process.stop();
        self.chain.hq.stop();
        let claims = self.chain.claims().await;
        assert!(claims.is_empty(), "what was given back is held for nobody: {claims:?}");
        let answered: BTreeSet<String> = self.shift.sold.iter().map(|sold| sold.sale.to_string()).collect();
        assert_eq!(answered.len(), self.shift.sold.len(), "an answer came twice for one document");
        for (server, sales, entries) in [
            ("the store", self.site.rows("sales").await, self.site.rows("chain_entries").await),
            ("headquarters", self.chain.rows("sales").await, self.chain.rows("chain_entries").await),
        ] {
            let there: BTreeSet<String> = sales.values().map(id).collect();
            assert_eq!(there, answered, "{server} has what was answered");
            let voided = sales.values().filter(|sale| sale["status"] == "voided").count();
            assert_eq!(voided, self.shift.voided, "{server} has what was undone");
            let mut chains: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
            for entry in entries.values() {
                let numbers = chains.entry(entry["chainId"].to_string()).or_default();
                assert!(numbers.insert(entry["number"].as_i64().expect("a number")), "{server} has {entry} twice");
            }
            assert_eq!(entries.len(), answered.len() + voided, "each document has its entry at {server}");
            for numbers in chains.values() {
                let last = i64::try_from(numbers.len()).expect("few");
                assert!(numbers.iter().copied().eq(1..=last), "a chain has a gap at {server}: {numbers:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_killed_while_money_comes_back_or_a_paper_is_printed_has_each_of_them_once() {
    let mut shop = Shop::open().await;
    let (kills, begun) = (kills(), Instant::now());
    for kill in 0..kills {
        shop.no_backlog().await;
        shop.kill(kill).await;
    }
    shop.printed().await;
    shop.once_at_both().await;
    eprintln!(
        "{kills} kills, {} documents, {} voids, {} papers, {} of them asked for again, {:?}",
        shop.shift.sold.len(),
        shop.shift.voided,
        shop.printer.papers().len(),
        shop.copies,
        begun.elapsed()
    );
}

#[test]
fn every_place_of_money_that_comes_back_and_of_papers_is_one_to_die_at() {
    let rooms = ["void.", "refund.", "exchange.", "print."];
    let all = tillkeep_storage::fault::PLACES.iter().map(|(place, _)| *place);
    let wanted: Vec<&str> = all.filter(|place| rooms.iter().any(|room| place.starts_with(room))).collect();
    assert_eq!(wanted, PLACES);
}
