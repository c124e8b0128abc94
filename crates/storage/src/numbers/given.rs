//! Numbers as they are printed: the name of a series, and the letter that it has after numbers were lost.

/// Numbers of sessions up to here are of the series without a letter; each letter has as many.
pub const SESSIONS_OF_A_LETTER: i64 = 100_000;

/// A number of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub letter: String,
    pub number: i64,
}

impl Given {
    /// What the number of a session says.
    pub fn session(number: i64) -> Self {
        let letter = letter::of_index(number / SESSIONS_OF_A_LETTER);
        Self { letter, number: number % SESSIONS_OF_A_LETTER }
    }

    /// The number of a session, which is one number with its letter.
    pub fn of_session(&self) -> i64 {
        self.number.saturating_add(letter::index(&self.letter).saturating_mul(SESSIONS_OF_A_LETTER))
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

    pub(crate) fn of_index(index: i64) -> String {
        let mut rest = index;
        let mut letters = Vec::new();
        while rest > 0 {
            letters.push(char::from(b'A' + u8::try_from((rest - 1) % 26).unwrap_or_default()));
            rest = (rest - 1) / 26;
        }
        letters.iter().rev().collect()
    }

    pub(crate) fn next(letter: &str) -> String {
        of_index(index(letter) + 1)
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
