//! Numbers as they are printed: the name of a series, and the letter that it has after numbers were lost.

pub use tillkeep_model::series::SESSIONS_OF_A_LETTER;

/// A number of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub letter: String,
    pub number: i64,
}

impl Given {
    /// What the number of a session says.
    pub fn session(number: i64) -> Self {
        let (letter, number) = tillkeep_model::series::session(number);
        Self { letter, number }
    }

    /// The number of a session, which is one number with its letter.
    pub fn of_session(&self) -> i64 {
        self.number.saturating_add(letter::index(&self.letter).saturating_mul(SESSIONS_OF_A_LETTER))
    }

    /// Whether no number lies between `before` and this one, which may be the same where two copies of a store went on. A letter
    /// begins where the series before it was left off.
    pub fn follows(&self, before: &Self) -> bool {
        if self.letter == before.letter {
            return (0..=1).contains(&(self.number - before.number));
        }
        self.number == 1 && letter::index(&self.letter) > letter::index(&before.letter)
    }
}

/// `receipt:02`, `receipt:02A`, `customer`, `customer:A`.
pub fn series_name(kind: &str, part: &str, letter: &str) -> String {
    if part.is_empty() && letter.is_empty() { kind.to_owned() } else { format!("{kind}:{part}{letter}") }
}

/// Letters of series: none, A to Z, AA and so on.
pub(super) mod letter {
    /// Its place in their order: 0 is none.
    pub(crate) fn index(letter: &str) -> i64 {
        letter
            .bytes()
            .fold(0, |sum: i64, byte| sum.saturating_mul(26).saturating_add(i64::from(byte.saturating_sub(b'A')) + 1))
    }

    pub(crate) fn next(letter: &str) -> String {
        tillkeep_model::series::letter(index(letter) + 1)
    }

    pub(crate) fn later(one: String, other: String) -> String {
        if index(&other) > index(&one) { other } else { one }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_follow_one_another_and_sessions_have_a_room_for_each() {
        let mut present = String::new();
        for expected in ["A", "B", "C"] {
            present = letter::next(&present);
            assert_eq!(present, expected);
        }
        assert_eq!([letter::next("Z"), letter::next("AZ")], ["AA", "BA"]);
        assert_eq!(letter::later("Z".to_owned(), "AA".to_owned()), "AA");
        let session = |letter: &str| Given { letter: letter.to_owned(), number: 7 }.of_session();
        assert_eq!([session(""), session("A"), session("B")], [7, 100_007, 200_007]);
        assert_eq!(Given::session(200_007), Given { letter: "B".to_owned(), number: 7 });
        assert_eq!(series_name("receipt", "02", "A"), "receipt:02A");
        assert_eq!([series_name("customer", "", ""), series_name("customer", "", "A")], ["customer", "customer:A"]);
    }
}
