//! How the stores of headquarters stand, by what is written of them.

use std::sync::Arc;

use tillkeep_model::Instant;
use tillkeep_model::alarm::is_clock_off;
use tillkeep_storage::doctor::{self, Seen};

use super::ages::length;
use super::finding::{Checked, Finding, Level, hint, ok, warning};
use super::installation::Installation;
use super::versions::named;

/// A store says something in each of its cycles, which are an hour apart at the most and usually half a minute.
const SILENT_MS: i64 = 15 * 60 * 1000;
/// Stores that are named at the most.
const MOST: usize = 10;

pub async fn heard(at: Arc<Installation>) -> Checked {
    let stores = doctor::seen(at.tables()?).await?;
    // Several servers may be behind one `PostgreSQL`: that none runs here says nothing of the others.
    let listens = at.is_running() || at.file().is_none();
    Ok(of_stores(&stores, at.clock.now(), listens))
}

fn of_stores(stores: &[Seen], now: Instant, listens: bool) -> Vec<Finding> {
    let these = |fits: &dyn Fn(&Seen) -> bool| -> Option<(usize, String)> {
        let codes: Vec<&str> = stores.iter().filter(|store| fits(store)).map(|store| &*store.code).collect();
        (!codes.is_empty()).then(|| (codes.len(), named(&codes, MOST)))
    };
    let silent = |store: &Seen| store.last_seen_at.is_none_or(|at| now.millis_since(at) > SILENT_MS);
    let mut found = Vec::new();
    if listens && let Some((count, codes)) = these(&silent) {
        found.push(warning(
            format!("{count} stores were not heard for {}: {codes}", length(SILENT_MS)),
            "run `tillkeep doctor store` there, and see that HQ_URL leads here",
        ));
    } else if !listens {
        found.push(hint("whether stores are silent is not judged while no server runs here", "start headquarters"));
    }
    if let Some((count, codes)) = these(&|store| store.dead_lettered > 0) {
        found.push(warning(
            format!("{count} stores have entries that were refused ten times: {codes}"),
            "the dashboard says which; settle them there, then `tillkeep store outbox requeue` at the store",
        ));
    }
    if let Some((count, codes)) = these(&|store| store.unstored > 0) {
        found.push(warning(
            format!("{count} stores could not store what they pulled: {codes}"),
            "Failed entries say why; make room there, update the store, or put back a backup, then Retry",
        ));
    }
    if let Some((count, codes)) = these(&|store| store.clock_offset_ms.is_some_and(is_clock_off)) {
        found.push(warning(
            format!("the clocks of {count} stores are more than two minutes off: {codes}"),
            "set them, and keep them set: `timedatectl set-ntp true`",
        ));
    }
    if found.iter().all(|finding| finding.level == Level::Hint) {
        found.push(ok(format!("{} stores have shaken hands, and none of them needs anybody", stores.len())));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_are_named_by_what_is_wrong_with_them() {
        let now = Instant::default().plus_millis(3_600_000);
        let store = |code: &str, minutes: i64| Seen {
            code: code.to_owned(),
            last_seen_at: Some(now.plus_millis(-minutes * 60_000)),
            ..Seen::default()
        };
        let well = [store("S01", 1), store("S02", 14)];
        assert_eq!(of_stores(&well, now, true)[0].level, Level::Ok);
        let ill = [
            store("S01", 16),
            Seen { last_seen_at: None, ..store("S02", 0) },
            Seen { dead_lettered: 1, ..store("S03", 0) },
            Seen { unstored: 1, ..store("S04", 0) },
            Seen { clock_offset_ms: Some(-200_000), ..store("S05", 0) },
        ];
        let found = of_stores(&ill, now, true);
        let named = ["S01, S02", "S03", "S04", "S05"];
        assert_eq!(found.len(), named.len(), "{found:?}");
        for (finding, codes) in found.iter().zip(named) {
            assert!(finding.level == Level::Warning && finding.text.ends_with(codes), "{finding:?}");
        }
        let stopped = of_stores(&ill[..2], now, false);
        assert!(stopped.iter().all(|finding| finding.level <= Level::Hint), "{stopped:?}");
    }
}
