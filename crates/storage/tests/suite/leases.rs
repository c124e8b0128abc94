//! Work that one server of headquarters does at a time. `docs/operations.md`.

use std::time::{Duration, Instant};

use tillkeep_storage::leases::Leases;

use crate::kit::Hq;

const WORK: &str = "counting of sheep";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_servers_that_want_a_piece_of_work_at_once_exactly_one_gets_it_and_keeps_it() {
    let hq = Hq::postgres().await;
    let servers: Vec<Leases> = (0..8).map(|_| Leases::new(hq.db.clone())).collect();
    let mut holders = Vec::new();
    for _ in 0..5 {
        let asked: Vec<_> = servers
            .iter()
            .cloned()
            .map(|server| tokio::spawn(async move { server.take(WORK).await.expect("an answer") }))
            .collect();
        let mut has = Vec::new();
        for (place, asked) in asked.into_iter().enumerate() {
            has.extend(asked.await.expect("an answer").then_some(place));
        }
        assert_eq!(has.len(), 1, "each of {has:?} has it");
        holders.extend(has);
    }
    assert!(holders.iter().all(|holder| *holder == holders[0]), "whoever has it renews it: {holders:?}");
    let other = &servers[(holders[0] + 1) % servers.len()];
    assert!(other.take("another piece").await.expect("an answer"), "each piece of work has a lease of its own");
}

#[tokio::test]
async fn a_server_that_died_is_replaced_when_its_lease_is_over_and_one_that_stops_at_once() {
    let hq = Hq::postgres().await;
    let lasts = Duration::from_millis(300);
    let server = |lasts| Leases::lasting(hq.db.clone(), lasts);
    let (dies, follows) = (server(lasts), server(Duration::from_mins(1)));
    // Before it is taken: the lease does not end earlier.
    let began = Instant::now();
    assert!(dies.take(WORK).await.expect("an answer"));
    drop(dies);
    while !follows.take(WORK).await.expect("an answer") {
        assert!(began.elapsed() < Duration::from_secs(30), "no server follows");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(began.elapsed() >= lasts, "after {:?}", began.elapsed());
    let waits = server(lasts);
    assert!(!waits.take(WORK).await.expect("an answer"), "the one that follows has it");
    follows.give_back().await.expect("given back");
    assert!(waits.take(WORK).await.expect("an answer"), "what was given back is not waited for");
    follows.give_back().await.expect("nothing to give back");
    assert!(!follows.take(WORK).await.expect("an answer"), "what another one has is not given back");
}

#[tokio::test]
async fn the_one_server_on_a_file_always_has_every_lease() {
    let hq = Hq::sqlite().await;
    let leases = Leases::new(hq.db.clone());
    for _ in 0..2 {
        assert!(leases.take(WORK).await.expect("an answer"));
        leases.give_back().await.expect("given back");
    }
}
