//! Secrets in files of the data directory: readable by their owner alone, replaced whole.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rand::RngExt;

/// Writes `content` to `path` with mode 0600; a reader sees the old file or the new one, which is on disk then.
pub fn write_secret(path: &Path, content: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    // One that a crash left behind may be anybody's to read.
    file.set_permissions(Permissions::from_mode(0o600))?;
    file.write_all(content)?;
    file.sync_all()?;
    std::fs::rename(&draft, path)?;
    // Without it the old file may be back after a power cut.
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory)?.sync_all()
}

/// `N` random bytes that cannot be foreseen.
#[expect(clippy::disallowed_methods, reason = "the chance of the program")]
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rand::rng().fill(&mut bytes[..]);
    bytes
}
