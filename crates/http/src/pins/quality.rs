//! Which PINs are good enough, and new ones.

use crate::files;

/// Digits of a PIN at the least and at the most, whatever an operator configures.
pub const SHORTEST: usize = 4;
pub const LONGEST: usize = 12;
/// Digits of a PIN that is made here.
const MADE: usize = 6;

/// Why `pin` is no good where PINs have `shortest` digits or more: too short or long, a repeat, a run, a year or a date.
pub fn weakness(pin: &str, shortest: usize) -> Option<&'static str> {
    let digits = pin.as_bytes();
    if !(shortest..=LONGEST).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return Some("a PIN has 4 to 12 digits, or more where that was configured");
    }
    let step = |by: i16| digits.windows(2).all(|pair| i16::from(pair[1]) - i16::from(pair[0]) == by);
    if step(0) || step(1) || step(-1) {
        return Some("a PIN must not repeat one digit or count up or down");
    }
    if digits.len() == 4 && is_year(number(digits)) {
        return Some("a PIN must not look like a year");
    }
    if is_date(digits) {
        return Some("a PIN must not be a date");
    }
    let half = &digits[..digits.len() / 2];
    if digits.len().is_multiple_of(2) && digits.chunks(half.len()).all(|chunk| chunk == half) {
        return Some("a PIN must not repeat itself");
    }
    None
}

fn number(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
}

const fn is_year(number: u32) -> bool {
    matches!(number, 1900..=2099)
}

const fn is_day(day: u32, month: u32) -> bool {
    matches!((day, month), (1..=31, 1..=12))
}

/// Whether these are a day and a month, with or without a year before or after them, in any country's order: the birthdays
/// of a family are the first PINs that a guesser tries.
fn is_date(digits: &[u8]) -> bool {
    let day_of = |digits: &[u8]| {
        let (one, other) = (number(&digits[..2]), number(&digits[2..]));
        is_day(one, other) || is_day(other, one)
    };
    match digits.len() {
        4 => day_of(digits),
        6 => day_of(&digits[..4]) || day_of(&digits[2..]),
        8 => {
            (day_of(&digits[..4]) && is_year(number(&digits[4..])))
                || (is_year(number(&digits[..4])) && day_of(&digits[4..]))
        }
        _ => false,
    }
}

/// A random PIN of six digits, or `shortest` if that is more, that is no weak one.
pub fn generate(shortest: usize) -> String {
    let length = shortest.clamp(MADE, LONGEST);
    loop {
        let mut pin = String::with_capacity(length);
        while pin.len() < length {
            let [byte] = files::random::<1>();
            // Rejection keeps every digit as likely as any other.
            if byte < 250 {
                pin.push(char::from(b'0' + byte % 10));
            }
        }
        if weakness(&pin, shortest).is_none() {
            return pin;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_runs_years_and_dates_are_weak() {
        let weak = ["123", "1111", "1234", "987654", "1987", "2026", "12a4", "1212", "123123", "1234567890123"];
        let dates = ["3112", "1231", "240787", "072487", "870724", "24071987", "07241987", "19870724", "20261122"];
        for pin in weak.into_iter().chain(dates) {
            assert!(weakness(pin, SHORTEST).is_some(), "{pin}");
        }
        for pin in ["4821", "739154", "98704239", "3213", "24078799"] {
            assert!(weakness(pin, SHORTEST).is_none(), "{pin}");
        }
        assert!(weakness("4821", 6).is_some() && weakness("482159", 6).is_none());
    }

    #[test]
    fn a_made_pin_is_as_long_as_pins_must_be() {
        for (shortest, length) in [(4, 6), (6, 6), (9, 9), (12, 12)] {
            let pin = generate(shortest);
            assert_eq!((pin.len(), weakness(&pin, shortest)), (length, None));
        }
    }
}
