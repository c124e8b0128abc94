//! What this server of headquarters finds of itself: its disk, and its backups.

use std::time::Duration;

use tillkeep_model::Instant;
use tillkeep_storage::disk::{self, Room};

use super::backups::newest_backup;
use crate::Hq;

/// Since when something is so, and what is said of it.
pub(super) type Said = Option<(Instant, String)>;

/// A disk with less than this free, or than one part of so many, is nearly full.
const LEAST_FREE: u64 = 1 << 30;
const LEAST_PART: u64 = 20;
/// One that was nearly full is so until it has a part more than that: at the bound itself it would begin and end time and again.
const BETTER_BY: u64 = 4;
/// A backup is an old one when so many should have been made since.
const MISSED: u32 = 2;
/// The disk of backups may be one of another machine, and alerts wait for it no longer than so.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// What was measured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfServer {
    disk: Option<Room>,
    /// The alert of its disk fires already.
    pub was_nearly_full: bool,
    newest_backup: Option<Instant>,
    /// How old a backup may be, in milliseconds.
    may_be: i64,
}

impl OfServer {
    /// Measures off the threads of requests: a disk may take its time.
    pub(super) async fn measure(hq: &Hq) -> Self {
        let data_dir = hq.alerting.data_dir().to_owned();
        let disk = tokio::task::spawn_blocking(move || disk::room(&data_dir).ok());
        let (newest_backup, may_be) = match hq.alerting.backups() {
            Some((directory, every)) => {
                let look = move || newest_backup(&directory);
                let newest = hq.alerting.newest_backup.ask(ANSWERS_WITHIN, look).await;
                (newest, i64::try_from((every * MISSED).as_millis()).unwrap_or(i64::MAX))
            }
            None => (None, 0),
        };
        Self { disk: disk.await.unwrap_or_default(), was_nearly_full: false, newest_backup, may_be }
    }

    /// Whether its disk is nearly full only if it was before.
    pub(super) fn wavers(&self) -> bool {
        self.disk.is_some_and(|disk| !is_nearly_full(disk, false) && is_nearly_full(disk, true))
    }

    pub(super) fn disk(&self, now: Instant) -> Said {
        let disk = self.disk.filter(|disk| is_nearly_full(*disk, self.was_nearly_full))?;
        Some((now, format!("{} MiB are free on the disk of its data directory.", disk.free >> 20)))
    }

    /// Where there never was a backup, none is expected there.
    pub(super) fn backup(&self, now: Instant) -> Said {
        let newest = self.newest_backup.filter(|at| now.millis_since(*at) > self.may_be)?;
        let hours = now.millis_since(newest) / 3_600_000;
        Some((newest, format!("Its newest backup is {hours} hours old.")))
    }
}

fn is_nearly_full(disk: Room, was: bool) -> bool {
    let begins = LEAST_FREE.max(disk.size / LEAST_PART);
    // A small disk may never have so much.
    let ends = (begins + begins / BETTER_BY).min(disk.size / 2).max(begins);
    disk.size > 0 && disk.free < if was { ends } else { begins }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn room(free: u64, size: u64) -> Room {
        Room { free, size, free_files: 0, files: 0 }
    }

    #[test]
    fn a_disk_is_nearly_full_below_a_gibibyte_or_a_twentieth() {
        let gib = 1 << 30;
        for (free, size, full) in [
            (2 * gib, 10 * gib, false),
            (gib - 1, 10 * gib, true),
            (5 * gib, 100 * gib, false),
            (5 * gib - 1, 100 * gib, true),
            (0, 0, false),
        ] {
            assert_eq!(is_nearly_full(room(free, size), false), full, "{free} of {size}");
        }
    }

    #[test]
    fn a_disk_that_wavers_around_the_bound_is_one_alert_which_ends_a_quarter_above_it() {
        let mib: u64 = 1 << 20;
        let now = Instant::default();
        // Free mebibytes of a disk at one look after the other, and whether it is said then.
        let of_large: [(u64, bool); 7] = [
            (1_100, false),
            (1_020, true),
            (1_030, true),
            (1_279, true),
            (1_000, true),
            (1_280, false),
            (1_030, false),
        ];
        let of_small: [(u64, bool); 4] = [(1_030, false), (1_020, true), (1_023, true), (1_024, false)];
        for (size, looks) in [(10_240 * mib, &of_large[..]), (1_500 * mib, &of_small[..])] {
            let mut was_nearly_full = false;
            for (free, is_said) in looks {
                let disk = Some(room(free * mib, size));
                let mut measured = OfServer { disk, ..OfServer::default() };
                // As a look does it: what fires is asked for where it matters.
                measured.was_nearly_full = measured.wavers() && was_nearly_full;
                was_nearly_full = measured.disk(now).is_some();
                assert_eq!(was_nearly_full, *is_said, "{free} MiB of {size}");
            }
        }
    }

    #[test]
    fn a_backup_is_old_when_two_are_missing_and_none_is_no_alert() {
        let now = Instant::default().plus_millis(10 * 24 * 3_600_000);
        let may_be = 48 * 3_600_000;
        let of = |hours: i64| OfServer {
            newest_backup: Some(now.plus_millis(-hours * 3_600_000)),
            may_be,
            ..OfServer::default()
        };
        assert!(of(48).backup(now).is_none());
        let (since, text) = of(49).backup(now).expect("an old one");
        assert_eq!((now.millis_since(since), text.as_str()), (49 * 3_600_000, "Its newest backup is 49 hours old."));
        assert!(OfServer::default().backup(now).is_none());
    }
}
