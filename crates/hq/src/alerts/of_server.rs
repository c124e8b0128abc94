//! What this server of headquarters finds of itself: its disk, and its backups.

use std::path::Path;

use tillkeep_model::Instant;

use super::backups::newest_backup;
use crate::Hq;

/// Since when something is so, and what is said of it.
pub(super) type Said = Option<(Instant, String)>;

/// A disk with less than this free, or than one part of so many, is nearly full.
const LEAST_FREE: u64 = 1 << 30;
const LEAST_PART: u64 = 20;
/// A backup is an old one when so many should have been made since.
const MISSED: u32 = 2;

/// The disk of the data directory, in bytes.
#[derive(Clone, Copy, Debug)]
struct Disk {
    free: u64,
    size: u64,
}

/// What was measured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfServer {
    disk: Option<Disk>,
    newest_backup: Option<Instant>,
    /// How old a backup may be, in milliseconds.
    may_be: i64,
}

impl OfServer {
    /// Measures off the threads of requests: a disk may take its time.
    pub(super) async fn measure(hq: &Hq) -> Self {
        let data_dir = hq.alerting.data_dir().to_owned();
        let backups = hq.alerting.backups();
        let may_be =
            backups.as_ref().map_or(0, |(_, every)| i64::try_from((*every * MISSED).as_millis()).unwrap_or(i64::MAX));
        let measured = tokio::task::spawn_blocking(move || Self {
            disk: disk(&data_dir),
            newest_backup: backups.and_then(|(directory, _)| newest_backup(&directory)),
            may_be,
        });
        measured.await.unwrap_or_default()
    }

    pub(super) fn disk(&self, now: Instant) -> Said {
        let disk = self.disk.filter(|disk| is_nearly_full(*disk))?;
        Some((now, format!("{} MiB are free on the disk of its data directory.", disk.free >> 20)))
    }

    /// Where there never was a backup, none is expected there.
    pub(super) fn backup(&self, now: Instant) -> Said {
        let newest = self.newest_backup.filter(|at| now.millis_since(*at) > self.may_be)?;
        let hours = now.millis_since(newest) / 3_600_000;
        Some((newest, format!("Its newest backup is {hours} hours old.")))
    }
}

fn disk(data_dir: &Path) -> Option<Disk> {
    let of = rustix::fs::statvfs(data_dir).ok()?;
    Some(Disk { free: of.f_bavail.saturating_mul(of.f_frsize), size: of.f_blocks.saturating_mul(of.f_frsize) })
}

const fn is_nearly_full(disk: Disk) -> bool {
    disk.size > 0 && (disk.free < LEAST_FREE || disk.free < disk.size / LEAST_PART)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(is_nearly_full(Disk { free, size }), full, "{free} of {size}");
        }
    }

    #[test]
    fn a_backup_is_old_when_two_are_missing_and_none_is_no_alert() {
        let now = Instant::default().plus_millis(10 * 24 * 3_600_000);
        let may_be = 48 * 3_600_000;
        let of = |hours: i64| OfServer { disk: None, newest_backup: Some(now.plus_millis(-hours * 3_600_000)), may_be };
        assert!(of(48).backup(now).is_none());
        let (since, text) = of(49).backup(now).expect("an old one");
        assert_eq!((now.millis_since(since), text.as_str()), (49 * 3_600_000, "Its newest backup is 49 hours old."));
        assert!(OfServer::default().backup(now).is_none());
    }

    #[test]
    fn a_disk_that_is_there_is_measured() {
        let dir = tempfile::tempdir().expect("a directory");
        let disk = disk(dir.path()).expect("its disk");
        assert!(disk.size > 0 && disk.free <= disk.size, "{disk:?}");
    }
}
