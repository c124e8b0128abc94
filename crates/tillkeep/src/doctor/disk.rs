//! Room for what the server writes.

use std::path::{Path, PathBuf};

use tillkeep_storage::Side;
use tillkeep_storage::disk::{self, Room};

use super::ages::size;
use super::finding::{Checked, Finding, Unchecked, fault, ok, warning};
use super::installation::Installation;

/// Files that can still be made, below which it is a fault.
const LEAST_FILES: u64 = 1000;

pub fn room(at: &Installation) -> Checked {
    let mut places: Vec<PathBuf> = vec![at.data_dir.clone()];
    let numbers = (at.side == Side::Store).then(|| at.numbers_file());
    for file in at.file().into_iter().chain(numbers) {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !places.iter().any(|place| place == folder) {
            places.push(folder.to_owned());
        }
    }
    places.retain(|place| place.is_dir());
    if places.is_empty() {
        return Err(Unchecked::Because(format!("{} is not there", at.data_dir.display())));
    }
    places.iter().map(|place| Ok(judged(place, &disk::room(place)?, at.least_free))).collect()
}

fn judged(place: &Path, room: &Room, least: u64) -> Finding {
    let Room { free, size: bytes, free_files, files } = *room;
    let name = place.display();
    let room = format!("{} of {} are free in {name}", size(free), size(bytes));
    let remedy = format!("make room: `du -xh {name} | sort -h | tail` says what takes it; or move it to a larger disk");
    let of_files = format!("{free_files} more files can be made in {name} (inodes)");
    let fewer = format!("`df -i {name}` counts them: remove what makes so many small files there");
    let counts_files = files > 0;
    if free < least / 4 {
        fault(room, remedy)
    } else if counts_files && free_files < LEAST_FILES {
        fault(of_files, fewer)
    } else if free < least {
        warning(room, remedy)
    } else if counts_files && free_files < files / 50 {
        warning(of_files, fewer)
    } else {
        ok(room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    #[test]
    fn a_disk_is_too_full_by_its_bytes_or_by_its_files() {
        const MIB: u64 = 1 << 20;
        let level = |free, free_files, files| {
            let space = Room { free, size: 100_000 * MIB, free_files, files };
            judged(Path::new("/data"), &space, 1024 * MIB).level
        };
        assert_eq!(level(1024 * MIB, 900_000, 1_000_000), Level::Ok);
        assert_eq!(level(1023 * MIB, 900_000, 1_000_000), Level::Warning);
        assert_eq!(level(255 * MIB, 900_000, 1_000_000), Level::Fault);
        assert_eq!(level(9000 * MIB, 19_999, 1_000_000), Level::Warning);
        assert_eq!(level(9000 * MIB, 999, 1_000_000), Level::Fault);
        assert_eq!(level(9000 * MIB, 0, 0), Level::Ok, "files are not counted there");
    }
}
