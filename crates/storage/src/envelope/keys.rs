//! The keys that an envelope has of a row, in either spelling.

use std::collections::HashSet;

/// The keys that were sent: an older store knows fewer columns, and those it does not send keep their values.
pub(crate) struct Keys {
    /// By column, or the key of a list of lines.
    named: HashSet<&'static str>,
    /// How many keys its type does not know.
    pub unknown: usize,
    /// The columns of which something was cut off.
    pub cut: Vec<&'static str>,
}

impl Keys {
    pub(crate) fn new(unknown: usize) -> Self {
        Self { named: HashSet::new(), unknown, cut: Vec::new() }
    }

    pub(crate) fn add(&mut self, name: &'static str) {
        self.named.insert(name);
    }

    /// As if only `names` had been sent, in either spelling.
    pub(crate) fn keep(&mut self, names: &[String]) {
        let names: HashSet<String> = names.iter().map(|name| plain(name)).collect();
        self.named.retain(|name| names.contains(&plain(name)));
        self.cut.retain(|name| names.contains(&plain(name)));
    }

    pub(crate) fn columns(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.named.iter().copied()
    }

    pub(crate) fn name(&self, column: &str) -> bool {
        self.named.contains(column)
    }
}

/// The same for a column and its key in either spelling.
pub(crate) fn plain(name: &str) -> String {
    name.chars().filter(|letter| *letter != '_').map(|letter| letter.to_ascii_lowercase()).collect()
}
