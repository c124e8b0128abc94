//! What synchronisation keeps since 0.2.0, beyond the first release. `docs/sync.md` has the rules by their numbers.

use super::step::Change;

pub(super) const CHANGES: &[Change] = &[];
