//! A PIN that was hashed, as `users` keeps it.

/// A hashed PIN as `users` keeps it.
#[derive(Clone, Debug)]
pub struct Hashed {
    pub hash: String,
    pub lookup: String,
    /// How many digits it has.
    pub digits: i16,
    /// Under which a user may have this PIN since release 0.1.0.
    pub(super) former_lookup: Option<String>,
}

impl Hashed {
    /// Whoever has one of these has this PIN.
    pub fn lookups(&self) -> impl Iterator<Item = &str> {
        [Some(self.lookup.as_str()), self.former_lookup.as_deref()].into_iter().flatten()
    }
}
