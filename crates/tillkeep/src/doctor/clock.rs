//! The clock of this machine, against the one that the chain goes by.

use std::sync::Arc;

use tillkeep_hq::live::is_off;
use tillkeep_model::alarm::is_clock_off;
use tillkeep_storage::{Side, hq_nodes};

use super::ages::length;
use super::finding::{Checked, Finding, Unchecked, note, ok, warning};
use super::installation::Installation;

/// An answer that took longer says too little of a clock.
const TOOK_LONG_MS: i64 = 5_000;

pub async fn right(at: Arc<Installation>) -> Checked {
    match at.side {
        Side::Hq if at.file().is_some() => Ok(vec![note(
            "the clock of this machine is the one of the chain, and is compared with no other: keep it set (NTP)",
        )]),
        Side::Hq => {
            let asked = at.clock.now();
            let there = hq_nodes::time(at.conn()?, asked).await?;
            let took = at.clock.now().millis_since(asked);
            if !(0..=TOOK_LONG_MS).contains(&took) {
                return Err(Unchecked::Because("the database took too long to say what time it is".to_owned()));
            }
            let ahead = asked.plus_millis(took / 2).millis_since(there);
            Ok(vec![compared("the database", ahead, is_off(ahead))])
        }
        Side::Store => {
            let Ok(heard) = at.headquarters().await? else {
                return Err(Unchecked::Because("headquarters does not answer".to_owned()));
            };
            let Some(ahead) = heard.ahead_ms else {
                return Err(Unchecked::Because("what answers at HQ_URL does not say what time it is".to_owned()));
            };
            Ok(vec![compared("headquarters", ahead, is_clock_off(ahead))])
        }
    }
}

fn compared(whose: &str, ahead_ms: i64, is_off: bool) -> Finding {
    let direction = if ahead_ms < 0 { "behind" } else { "ahead of" };
    let text = format!("the clock of this machine is {} {direction} that of {whose}", length(ahead_ms));
    if is_off { warning(text, "set it, and keep it set: `timedatectl set-ntp true`") } else { ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn a_clock_is_said_to_be_ahead_or_behind() {
        let behind = compared("headquarters", -600_000, true);
        assert_eq!(behind.level, Level::Warning);
        assert!(behind.text.contains("10 min behind that of headquarters"), "{}", behind.text);
        let ahead = compared("the database", 3_000, false);
        assert!(ahead.level == Level::Ok && ahead.text.contains("3 s ahead of"), "{}", ahead.text);
    }
}
