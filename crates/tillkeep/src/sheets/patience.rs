//! How long somebody waits for a headquarters that cannot answer now.

/// Seconds before each further try. Together they are longer than headquarters keeps what a server of it had begun before it died,
/// which is two minutes for a file: whoever gives up before hears of nothing but that.
const WAITS: &[u64] = &[1, 2, 4, 8, 15, 30, 30, 30, 30];

pub struct Patience(&'static [u64]);

impl Default for Patience {
    fn default() -> Self {
        Self(WAITS)
    }
}

impl Patience {
    /// Seconds until the next try, where headquarters asks to come no sooner than in so many. `None` when there is none: that would be
    /// later than anybody waits.
    pub fn wait(&mut self, asked: u64) -> Option<u64> {
        let left: u64 = self.0.iter().sum();
        let (next, rest) = self.0.split_first()?;
        self.0 = rest;
        (asked <= left).then(|| asked.max(*next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long headquarters keeps a file for a server of it that has died.
    const CLAIM: u64 = 120;

    #[test]
    fn a_file_is_sent_again_for_longer_than_a_dead_server_keeps_it() {
        let mut patience = Patience::default();
        let waits: Vec<u64> = std::iter::from_fn(|| patience.wait(0)).collect();
        assert_eq!(waits, WAITS);
        assert!(waits.iter().sum::<u64>() > CLAIM + 10, "{waits:?}");
    }

    #[test]
    fn who_is_asked_to_come_later_comes_then_or_not_at_all() {
        let mut patience = Patience::default();
        assert_eq!([patience.wait(20), patience.wait(1), patience.wait(3)], [Some(20), Some(2), Some(4)]);
        assert_eq!(patience.wait(900), None);
    }
}
