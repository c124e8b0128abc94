//! What may break, by lot.

use std::time::{Duration, Instant};

use tillkeep_storage::fault::PLACES;
use tokio::time::sleep;

use super::dice::Dice;
use crate::LossyDatabase;
use crate::kit::{Fault, Process, TestCluster, TestStore};

const DAY_MS: i64 = 24 * 3600 * 1000;
/// Places that only a refusal, a command, a printer, the safe, a drawer that does not sell or what is months old comes by, of
/// which there are none here.
const NOT_REACHED: &[&str] = &[
    "outbox.refuse",
    "push.refusals",
    "backup.copied",
    "export.written",
    "prune.kept",
    "print.marked",
    "print.sent",
    "movement.written",
    "movement.committed",
    "count.written",
    "session.forced",
    "reassign.written",
    "safe.written",
];
/// Places that a store comes by when headquarters has lost something.
const OF_LOSSES: &[&str] = &["outbox.resend", "apply.begin_reload", "apply.end_reload"];
/// Rooms that a server comes by once after its start, or about once a second.
const RARE: &[&str] = &["cycle.", "handshake.", "session.", "tracker.", "void.", "refund.", "exchange."];

fn restart(process: &mut Process) {
    process.forget_environment("FAILPOINTS");
    while !process.try_restart() {}
}

/// One of the places of fault.rs that a server of this kind comes by under this load, to die at after some passes.
fn place(dice: &mut Dice, hq: bool) -> String {
    let within = |place: &str, rooms: &[&str]| rooms.iter().any(|room| place.starts_with(room));
    let of_hq = |place: &str| within(place, &["pull.", "push.", "handshake.", "tracker."]);
    let here = |place: &&str| within(place, &["tx."]) || of_hq(place) == hq;
    let common = |place: &&str| !NOT_REACHED.contains(place) && !OF_LOSSES.contains(place);
    let all: Vec<&str> = PLACES.iter().map(|(place, _)| *place).filter(common).filter(here).collect();
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

/// Breaks one thing, drawn by lot; what it was.
pub async fn strike(
    chain: &mut TestCluster,
    sites: &mut [TestStore],
    database: &mut LossyDatabase,
    dice: &mut Dice,
) -> &'static str {
    let victim = dice.below(sites.len());
    let name = match dice.below(10) {
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
        6 => {
            database.keep(&chain.hq).await;
            sleep(dice.millis(100, 2500)).await;
            chain.hq.forget_environment("FAILPOINTS");
            let place = OF_LOSSES[dice.below(OF_LOSSES.len())];
            let process = &mut sites[victim].process;
            process.kill();
            process.set_environment("FAILPOINTS", &format!("{place}=1*return(kill)"));
            database.lose(&mut chain.hq);
            // Its first handshake tells it what was lost, if something was.
            if die(process).await {
                "moments of headquarters lost, store killed"
            } else {
                "moments of headquarters lost"
            }
        }
        7 if database.crash() => "database crashed",
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
    sleep(dice.millis(100, 500)).await;
    name
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
        assert!(!rare || actions == "1*return(kill)", "{fault}: no request comes by twice in time");
        drawn.push(place.to_owned());
    }
    drawn.sort_unstable();
    drawn.dedup();
    drawn.extend(OF_LOSSES.iter().map(|place| (*place).to_owned()));
    drawn.sort_unstable();
    let reached = PLACES.iter().map(|(place, _)| *place).filter(|place| !NOT_REACHED.contains(place));
    let mut reached: Vec<&str> = reached.collect();
    reached.sort_unstable();
    assert_eq!(drawn, reached);
}
