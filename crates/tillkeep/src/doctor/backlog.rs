//! What a store has that headquarters has not taken.

use std::sync::Arc;

use tillkeep_model::Instant;
use tillkeep_model::wire::OutboxState;
use tillkeep_storage::outbox;

use super::ages::length;
use super::finding::{Checked, Finding, fault, hint, ok, warning};
use super::installation::Installation;

/// With a line an entry is sent in seconds.
const MAY_WAIT_MS: i64 = 5 * 60 * 1000;

pub async fn outbox(at: Arc<Installation>) -> Checked {
    let (conn, now) = (at.tables()?, at.clock.now());
    let (state, stuck) = (outbox::state(conn).await?, outbox::stuck(conn, now).await?);
    Ok(of_outbox(&state, stuck, now, at.is_running()))
}

fn of_outbox(state: &OutboxState, stuck: i64, now: Instant, is_running: bool) -> Vec<Finding> {
    let OutboxState { pending, dead_lettered, oldest, .. } = state;
    let mut found = Vec::new();
    if *dead_lettered > 0 {
        found.push(fault(
            format!("headquarters refused {dead_lettered} entries ten times: they are not sent any more"),
            "`tillkeep store outbox list --dead --data-dir DIR` says why; put that right, then `tillkeep store outbox requeue`",
        ));
    }
    if stuck > 0 {
        found.push(warning(
            format!("{stuck} entries wait alone: headquarters gives no verdict on them"),
            "`tillkeep store outbox list --data-dir DIR` names them; the log of headquarters says what it makes of them",
        ));
    }
    let waits = oldest.map_or(0, |oldest| now.millis_since(oldest).max(0));
    if *pending > 0 && waits > MAY_WAIT_MS {
        let text = format!("{pending} entries wait, the oldest for {}", length(waits));
        found.push(if is_running {
            warning(
                text,
                "see the check headquarters; `lastError` of GET /sync/status says what the sender met. Nothing is lost",
            )
        } else {
            hint(text, "the server sends them when it runs")
        });
    } else if found.is_empty() {
        found.push(ok(format!("{pending} entries wait")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn what_waits_too_long_is_a_warning_and_what_is_dead_a_fault() {
        let now = Instant::default().plus_millis(3_600_000);
        let waiting = |minutes: i64| OutboxState {
            pending: 3,
            oldest: Some(now.plus_millis(-minutes * 60_000)),
            ..OutboxState::default()
        };
        let levels = |state: &OutboxState, stuck, is_running| -> Vec<Level> {
            of_outbox(state, stuck, now, is_running).iter().map(|finding| finding.level).collect()
        };
        assert_eq!(levels(&OutboxState::default(), 0, true), [Level::Ok]);
        assert_eq!(levels(&waiting(4), 0, true), [Level::Ok]);
        assert_eq!(levels(&waiting(6), 0, true), [Level::Warning]);
        assert_eq!(levels(&waiting(6), 0, false), [Level::Hint]);
        let dead = OutboxState { dead_lettered: 1, ..OutboxState::default() };
        assert_eq!(levels(&dead, 2, true), [Level::Fault, Level::Warning]);
        let text = &of_outbox(&waiting(50), 0, now, true)[0].text;
        assert!(text.contains("3 entries wait, the oldest for 50 min"), "{text}");
    }
}
