//! Headquarters on its embedded database.

/// Where a headquarters keeps its data besides its directory: nowhere.
pub struct Home {
    environment: [(&'static str, &'static str); 0],
}

impl Home {
    pub const fn make() -> Self {
        Self { environment: [] }
    }

    /// What the environment of a headquarters says of it.
    pub const fn environment(&self) -> [(&str, &str); 0] {
        self.environment
    }
}
