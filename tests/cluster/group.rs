//! A store that dies in the middle of commits which several sales share. What a till heard of is there, once.

use std::time::{Duration, Instant};

use crate::kit::{Shift, TestCluster, verdict};
use tillkeep_storage::verify::Options;

const TILLS: usize = 8;

/// Kills of a run: few in every run, many for a long proof (`make kills`).
fn kills() -> usize {
    std::env::var("GROUP_KILLS").ok().map_or(12, |number| number.parse().expect("GROUP_KILLS: a number"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_killed_in_the_middle_of_shared_commits_has_what_it_answered_once() {
    let mut chain = TestCluster::new().await;
    let product = chain.product("A1", 1000).await;
    let mut site = chain.store().await;
    let first = Shift::begin(&site, &product).await;
    let mut tills: Vec<_> = (1..TILLS).map(|_| first.colleague()).collect();
    tills.push(first);
    let (kills, begun, mut shared, mut often) = (kills(), Instant::now(), 0, 0);
    // Which sales share a commit is left to chance: where a busy machine lets them come one by one, it is tried again.
    let mut kill = 0;
    while kill < kills || (shared < 2 && kill < kills + 60) {
        // Before the one commit of several sales, and after it before any till has its answer.
        let place = if kill % 2 == 0 { "group.filled" } else { "group.committed" };
        site.process.stop();
        site.process.set_environment("FAILPOINTS", &format!("{place}={}*off->1*return(kill)", kill % 7));
        site.process.restart();
        let answered = tills.iter().map(|till| till.sold.len()).sum::<usize>();
        let deadline = Instant::now() + Duration::from_mins(1);
        // Each till has one sale on its way when the store dies.
        while !site.process.has_ended() {
            assert!(Instant::now() < deadline, "no request comes by {place}");
            futures_util::future::join_all(tills.iter_mut().map(|till| till.sell(&product, 1))).await;
        }
        // What is lost stays lost: in a long run every twentieth look is enough.
        if kills < 20 || kill % 20 == 0 {
            let options = Options { acknowledged: sold(&tills), ..Options::default() };
            let findings = verdict::look(None, &[site.process.database()], options).await;
            assert!(findings.is_empty(), "kill {kill} at {place}:\n{}", verdict::list(&findings));
        }
        // Those of the commit that no till heard of are found by the next try.
        let answers = sold(&tills).len() - answered;
        let kept = site.rows("sales").await.len() - answered;
        if place == "group.committed" {
            shared = shared.max(kept - answers);
            often += usize::from(kept - answers >= 2);
        }
        kill += 1;
    }
    site.process.forget_environment("FAILPOINTS");
    site.process.restart();
    for till in &mut tills {
        assert!(till.sell(&product, 1).await, "a sale without an answer is answered now");
        assert_eq!(till.wrong, Vec::<String>::new());
    }
    let sold = sold(&tills);
    chain.settled(&[&site], &sold).await;
    assert_eq!(chain.sales(&site).await, sold.len() as u64, "every sale has an answer by now");
    assert!(shared >= 2, "no commit was shared by sales: {shared}");
    eprintln!(
        "{kill} kills, {often} of shared commits, up to {shared} sales in one; {} sales, {:?}",
        sold.len(),
        begun.elapsed()
    );
}

fn sold(tills: &[Shift]) -> Vec<tillkeep_storage::verify::Acknowledged> {
    tills.iter().flat_map(|till| till.sold.clone()).collect()
}
