//! What may break among several servers of headquarters, by lot.

use std::process::Command;

use tokio::time::sleep;

use super::Fleet;
use crate::chaos::dice::Dice;
use crate::kit::Fault;
use crate::standby::Standby;

/// Kinds of strikes.
const KINDS: usize = 12;

/// All kinds once, in an order drawn by lot.
pub fn deck(dice: &mut Dice) -> Vec<usize> {
    let mut kinds: Vec<usize> = (0..KINDS).collect();
    for at in (1..kinds.len()).rev() {
        kinds.swap(at, dice.below(at + 1));
    }
    kinds
}

/// Breaks one thing of this kind, and mends it; what it was.
pub async fn strike(fleet: &mut Fleet, dice: &mut Dice, kind: usize) -> &'static str {
    let victim = dice.below(fleet.sites.len());
    let node = dice.below(fleet.nodes());
    let name = match kind {
        0 | 1 => {
            fleet.node(node).kill();
            sleep(dice.millis(0, 2000)).await;
            fleet.node(node).restart();
            "server killed"
        }
        2 => {
            fleet.node(node).stop();
            sleep(dice.millis(0, 500)).await;
            fleet.node(node).restart();
            "server stopped"
        }
        3 => {
            fleet.broker.kill();
            sleep(dice.millis(0, 3000)).await;
            // Its memory is gone with it.
            fleet.broker.start();
            "broker stopped and wiped"
        }
        4 => {
            signal(fleet, "STOP");
            sleep(dice.millis(500, 3500)).await;
            signal(fleet, "CONT");
            "broker slowed"
        }
        5 => {
            fleet.database.crash();
            sleep(dice.millis(0, 1000)).await;
            fleet.database.start();
            "database restarted"
        }
        6 => {
            let standby = Standby::new(&fleet.database);
            sleep(dice.millis(0, 500)).await;
            standby.take_over(&mut fleet.database);
            "database failed over"
        }
        7 => {
            fleet.balancer.reload();
            "balancer reloaded"
        }
        8 => {
            let process = &mut fleet.sites[victim].process;
            process.kill();
            sleep(dice.millis(0, 500)).await;
            process.restart();
            "store killed"
        }
        9 => {
            // Two at once: one is left.
            let other = (node + 1) % fleet.nodes();
            fleet.node(node).kill();
            fleet.node(other).kill();
            sleep(dice.millis(0, 1000)).await;
            fleet.node(node).restart();
            fleet.node(other).restart();
            "all servers but one killed"
        }
        _ => {
            let faults = [Fault::Down, Fault::LoseAnswers, Fault::CutAnswer(1 + dice.below(3000)), Fault::Duplicate];
            fleet.sites[victim].proxy.set(faults[dice.below(faults.len())]);
            sleep(dice.millis(300, 1500)).await;
            fleet.sites[victim].proxy.set(Fault::None);
            "line broken"
        }
    };
    sleep(dice.millis(100, 500)).await;
    name
}

fn signal(fleet: &Fleet, signal: &str) {
    let id = fleet.broker.child.as_ref().expect("running").id().to_string();
    assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().expect("kill").success());
}
