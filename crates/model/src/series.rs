//! Series of numbers: after numbers were lost a store goes on with a letter.

/// Numbers of drawers up to here are of the series without a letter; each letter has as many.
pub const SESSIONS_OF_A_LETTER: i64 = 100_000;

/// The letter at this place of their order: none, A to Z, AA and so on.
#[must_use]
pub fn letter(index: i64) -> String {
    let mut rest = index;
    let mut letters = Vec::new();
    while rest > 0 {
        letters.push(char::from(b'A' + u8::try_from((rest - 1) % 26).unwrap_or_default()));
        rest = (rest - 1) / 26;
    }
    letters.iter().rev().collect()
}

/// What the number of a drawer says: the letter of its series, and its number there.
#[must_use]
pub fn session(number: i64) -> (String, i64) {
    (letter(number / SESSIONS_OF_A_LETTER), number % SESSIONS_OF_A_LETTER)
}

/// The number of a drawer as people read it: `A3` of 100003.
#[must_use]
pub fn session_name(number: i32) -> String {
    let (letter, number) = session(number.into());
    format!("{letter}{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawers_are_named_with_the_letter_of_their_series() {
        let letters = [0, 1, 26, 27, 53].map(letter);
        assert_eq!(letters, ["", "A", "Z", "AA", "BA"]);
        assert_eq!([12, 100_003, 2_700_001].map(session_name), ["12", "A3", "AA1"]);
    }
}
