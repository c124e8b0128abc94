//! Drawers that are counted, closed and opened again all the time, while tills sell into them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures_util::future::join_all;
use serde_json::json;

use super::act::Act;
use super::identities::{Broken, of_all, of_answers, of_movements};
use super::kept::{Kept, moved};
use super::till::{Book, Till};
use crate::chaos::empty;
use crate::kit::{TestCluster, TestStore, eventually};

const TILLS: usize = 4;
/// Who sells at them.
const CLIENTS: usize = 8;

/// What clients do, the more often the more often it is here.
const AT_WORK: &[Act] = &[
    Act::Sell,
    Act::Sell,
    Act::Sell,
    Act::SellForLess,
    Act::SellForLess,
    Act::Void,
    Act::GiveBack,
    Act::Exchange,
    Act::PaidIn,
    Act::PaidOut,
    Act::Drop,
    Act::FloatAdd,
    Act::NoSale,
    Act::Park,
    Act::Resume,
    Act::SellResumed,
];

/// The ways in which a drawer ends. Each is about as frequent as the others.
const ENDINGS: &[&[Act]] = &[
    &[Act::Count, Act::CloseCounted],
    &[Act::Count, Act::Reopen, Act::Sell, Act::Count, Act::CloseCounted],
    &[Act::Count, Act::Count, Act::CloseCounted],
    &[Act::Close],
    &[Act::Force],
    &[Act::Count, Act::Force],
    &[Act::Count, Act::Reopen, Act::Drop, Act::Close],
];

/// Closes of a run: few in every run, many for a long proof (`make drawer-closes`).
fn closes() -> usize {
    std::env::var("DRAWER_CLOSES").ok().map_or(30, |number| number.parse().expect("DRAWER_CLOSES: a number"))
}

/// Asks until there is an answer.
async fn answered(till: &mut Till, act: Act) {
    eventually("there is an answer", async || till.act(act).await.then_some(())).await;
}

/// Ends so many drawers of a till one after the other; each has something of its own at least.
async fn ends(mut till: Till, drawers: usize) -> Book {
    for drawer in 0..drawers {
        for act in [Act::Open, Act::Sell, Act::FloatAdd, Act::SellForLess, Act::PaidOut, Act::Void, Act::Exchange] {
            answered(&mut till, act).await;
        }
        for act in ENDINGS[drawer % ENDINGS.len()] {
            answered(&mut till, *act).await;
        }
    }
    till.book
}

/// Works until it is told to stop.
async fn works(mut till: Till, stop: &AtomicBool) -> Book {
    while !stop.load(Ordering::Relaxed) {
        let act = till.any(AT_WORK);
        answered(&mut till, act).await;
    }
    till.book
}

/// All of it; what all tills were answered.
async fn many_closes(site: &TestStore, product: &str, closes: usize) -> Book {
    let first = site.open_till().await;
    let mut tills = Vec::new();
    for number in 1..=TILLS {
        let mut till = Till::at(site, &first, number, product).await;
        answered(&mut till, Act::Open).await;
        tills.push(till);
    }
    let clients: Vec<Till> = (0..CLIENTS).map(|client| tills[client % TILLS].colleague(1000 + client as u64)).collect();
    let stop = AtomicBool::new(false);
    let working = join_all(clients.into_iter().map(|till| works(till, &stop)));
    let ending = async {
        let books = join_all(tills.into_iter().map(|till| ends(till, closes.div_ceil(TILLS)))).await;
        stop.store(true, Ordering::Relaxed);
        books
    };
    let (ended, worked) = tokio::join!(ending, working);
    let mut book = Book::default();
    for of_till in ended.into_iter().chain(worked) {
        book.take(of_till);
    }
    book
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_closes_under_selling_clients_each_has_all_that_was_answered_and_adds_up() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    chain.admin.post("/users", json!({"username": "bob", "displayName": "Bob"})).await.data();
    let mut site = chain.store().await;
    let (closes, begun) = (closes(), Instant::now());
    let book = many_closes(&site, &product, closes).await;
    assert!(book.closed.len() >= closes, "{} drawers were closed", book.closed.len());
    // Headquarters comes after.
    empty(site.process.database()).await;
    chain.settled(&[&site], &book.documents).await;
    site.process.stop();
    let url = site.process.database();
    let kept = Kept::read(&url, &site.id).await;
    let (cash, safe) = (moved(&url, "cash_movements").await, moved(&url, "safe_movements").await);
    let mut broken = Broken::default();
    of_all(&kept, &mut broken);
    of_movements(&kept, &cash, |drawer| &drawer.moved, &mut broken);
    of_movements(&kept, &safe, |drawer| &drawer.safe, &mut broken);
    of_answers(&book, &kept, (&cash, &safe), &mut broken);
    broken.none("the store");
    assert!(!book.refused.is_empty(), "nobody came while a drawer was counted or closed");
    eprintln!(
        "{} closes, {} documents, {} voids, {} movements of cash, {} refused, 0 identities broken, {:?}",
        book.closed.len(),
        book.documents.len(),
        book.voided.len(),
        book.moved.len(),
        book.refused.len(),
        begun.elapsed()
    );
}
