//! What keeps accounts their owners': second factors, PINs that are worth nothing to a finder. `docs/security.md`.

use super::step::Change;

pub(super) const CHANGES: &[Change] = &[];
