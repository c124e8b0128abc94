//! Why a level is changed besides by sales: what each reason may do, and who may give it.

use crate::Qty;

/// Which way goods go for a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    In,
    Out,
    Either,
}

/// One word of `inventory_adjustments.reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    pub word: &'static str,
    pub way: Way,
    /// Only a document gives it, never a person by hand.
    pub of_documents: bool,
    /// Goods come in at a cost, which feeds the moving average.
    pub priced: bool,
}

const fn by_hand(word: &'static str, way: Way) -> Reason {
    Reason { word, way, of_documents: false, priced: false }
}

const fn of_document(word: &'static str, way: Way) -> Reason {
    Reason { of_documents: true, ..by_hand(word, way) }
}

/// Every reason there is.
pub const REASONS: &[Reason] = &[
    // By hand until purchase orders write it.
    Reason { priced: true, ..by_hand("received", Way::In) },
    Reason { priced: true, ..of_document("transfer_in", Way::In) },
    of_document("transfer_out", Way::Out),
    of_document("count", Way::Either),
    by_hand("damaged", Way::Out),
    by_hand("expired", Way::Out),
    by_hand("theft", Way::Out),
    by_hand("lost", Way::Out),
    by_hand("found", Way::In),
    by_hand("internal_use", Way::Out),
    by_hand("return_to_supplier", Way::Out),
    by_hand("correction", Way::Either),
    Reason { priced: true, ..by_hand("opening", Way::In) },
];

/// The words of all reasons.
pub const WORDS: [&str; REASONS.len()] = {
    let mut words = [""; REASONS.len()];
    let mut index = 0;
    while index < words.len() {
        words[index] = REASONS[index].word;
        index += 1;
    }
    words
};

/// How many of them a person may give.
const BY_HAND: usize = {
    let (mut count, mut index) = (0, 0);
    while index < REASONS.len() {
        if !REASONS[index].of_documents {
            count += 1;
        }
        index += 1;
    }
    count
};

/// The words that a person may give.
pub const WORDS_BY_HAND: [&str; BY_HAND] = {
    let (mut words, mut index, mut place) = ([""; BY_HAND], 0, 0);
    while index < REASONS.len() {
        if !REASONS[index].of_documents {
            words[place] = REASONS[index].word;
            place += 1;
        }
        index += 1;
    }
    words
};

impl Reason {
    /// The reason with this word; `None` for an unknown one.
    #[must_use]
    pub fn find(word: &str) -> Option<&'static Self> {
        REASONS.iter().find(|reason| reason.word == word)
    }

    /// Whether goods may move by `change` for this reason.
    #[must_use]
    pub fn fits(&self, change: Qty) -> bool {
        match self.way {
            Way::In => change > Qty::ZERO,
            Way::Out => change < Qty::ZERO,
            Way::Either => change != Qty::ZERO,
        }
    }

    /// What [`Reason::fits`] asks for, as the end of a sentence about a quantity, and what else may be meant.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self.way {
            Way::In => "only adds: send more than is on hand, a change above 0, or choose lost, damaged or correction",
            Way::Out => "only takes away: send less than is on hand, a change below 0, or choose found or correction",
            Way::Either => "changes a level: send another quantity than is on hand, a change that is not 0",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_words_are_those_of_the_design_each_once() {
        let mut words: Vec<_> = REASONS.iter().map(|reason| reason.word).collect();
        assert_eq!(words.len(), 13);
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 13);
        assert!(REASONS.iter().all(|reason| Reason::find(reason.word) == Some(reason)));
        assert_eq!(Reason::find("magic"), None);
        let reserved: Vec<_> = REASONS.iter().filter(|reason| reason.of_documents).map(|reason| reason.word).collect();
        assert_eq!(reserved, ["transfer_in", "transfer_out", "count"]);
    }

    proptest! {
        #[test]
        fn a_reason_moves_goods_its_own_way_and_never_by_nothing(change in any::<i64>()) {
            for reason in REASONS {
                let expected = match reason.word {
                    "received" | "transfer_in" | "found" | "opening" => change > 0,
                    "correction" | "count" => change != 0,
                    _ => change < 0,
                };
                prop_assert_eq!(reason.fits(Qty(change)), expected, "{} by {}", reason.word, change);
                prop_assert!(!reason.fits(Qty::ZERO));
                prop_assert!(!reason.priced || reason.way == Way::In);
            }
        }
    }
}
