//! Which entry it is that gets no verdict: unknown while no other one gets any. `docs/sync.md`, rule U2.

use std::collections::BTreeMap;

/// Entries that got no verdict when they were sent by themselves.
#[derive(Default)]
pub(super) struct Suspects {
    /// Requests that got verdicts.
    verdicts: u64,
    /// How many there had been when the entry with this number last got none.
    known: BTreeMap<i64, u64>,
    /// The one that was tried last, since the last verdict.
    after: i64,
}

impl Suspects {
    /// Only entries after this number are tried, as long as there are any: they take turns.
    pub(super) const fn after(&self) -> i64 {
        self.after
    }

    /// These got a verdict. Whatever else waits is tried from the first one on.
    pub(super) fn judged(&mut self, seqs: impl Iterator<Item = i64>) {
        self.verdicts += 1;
        self.after = 0;
        for seq in seqs {
            self.known.remove(&seq);
        }
    }

    /// This one got none by itself. Whether another one has got one since it last did not.
    pub(super) fn is_the_culprit(&mut self, seq: i64) -> bool {
        self.after = seq;
        self.known.insert(seq, self.verdicts).is_some_and(|before| before < self.verdicts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_the_culprit_once_another_one_got_a_verdict_and_it_got_none_again() {
        let mut suspects = Suspects::default();
        for _ in 0..3 {
            for seq in 1..=5 {
                assert!(!suspects.is_the_culprit(seq), "nothing got a verdict: there is no culprit");
                assert_eq!(suspects.after(), seq, "the next one is tried");
            }
        }
        suspects.judged([3].into_iter());
        assert_eq!(suspects.after(), 0);
        assert!(suspects.is_the_culprit(1));
        // A verdict on itself says nothing of others.
        suspects.judged([2].into_iter());
        assert!(!suspects.is_the_culprit(2));
        assert!(!suspects.is_the_culprit(2), "no other entry got one since");
    }
}
