//! Amounts as integers of their smallest unit; no floating point between a request and a row.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub};

use sea_orm::DeriveValueType;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Divides, rounding half away from zero, so that a refund is the mirror image of its sale.
///
/// # Panics
/// When `divisor` is not positive; every caller divides by a constant or by a checked quantity.
#[must_use]
pub const fn rdiv(dividend: i128, divisor: i128) -> i128 {
    assert!(divisor > 0, "rdiv needs a positive divisor");
    let half = divisor / 2;
    let magnitude = dividend.abs();
    let quotient = divided(magnitude, divisor);
    let rest = magnitude - quotient * divisor;
    let rounded = if rest > half || (divisor % 2 == 0 && rest == half) { quotient + 1 } else { quotient };
    if dividend < 0 { -rounded } else { rounded }
}

/// Nearly all of them fit into one word, which is divided many times as fast.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "looked at before")]
const fn divided(magnitude: i128, divisor: i128) -> i128 {
    const WORD: i128 = u64::MAX as i128;
    if magnitude <= WORD && divisor <= WORD {
        return (magnitude as u64 / divisor as u64) as i128;
    }
    magnitude / divisor
}

macro_rules! amount {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, DeriveValueType)]
        pub struct $name(pub $inner);

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self { Self(self.0 + other.0) }
        }
        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) { self.0 += other.0; }
        }
        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self { Self(self.0 - other.0) }
        }
        impl Neg for $name {
            type Output = Self;
            fn neg(self) -> Self { Self(-self.0) }
        }
        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self { iter.fold(Self(0), Add::add) }
        }
    };
}

amount! {
    /// Minor units of the store's currency (cents of a dollar, yen of Japan). JSON: an integer.
    Money(i64)
}
amount! {
    /// Thousandths of a unit of measure: one piece is 1000, 1.237 kg is 1237. JSON: a number of units with at most
    /// three decimals, because everybody who calls an API writes `2` for two pieces.
    Qty(i64)
}
amount! {
    /// A tax rate in parts per million: 8.875 % is `88_750`.
    Ppm(i32)
}
amount! {
    /// Basis points: 10 % is 1000. Discounts, limits, commissions, margins.
    Bps(i32)
}

macro_rules! plain_serde {
    ($($name:ident),*) => {$(
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> { self.0.serialize(serializer) }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Deserialize::deserialize(deserializer).map(Self)
            }
        }
    )*};
}
plain_serde!(Money, Ppm, Bps);

impl Money {
    pub const ZERO: Self = Self(0);

    /// This price for `quantity` units, rounded half away from zero.
    #[must_use]
    pub fn times(self, quantity: Qty) -> Self {
        Self::from_wide(rdiv(i128::from(self.0) * i128::from(quantity.0), 1000))
    }

    /// Back from the wide arithmetic of a calculation; what does not fit is cut to the largest amount, which no
    /// validated input reaches.
    #[must_use]
    pub fn from_wide(value: i128) -> Self {
        Self(i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX }))
    }
}

impl Qty {
    pub const ZERO: Self = Self(0);
    pub const ONE: Self = Self(1000);

    /// Whole pieces, without thousandths.
    #[must_use]
    pub const fn pieces(count: i64) -> Self {
        Self(count * 1000)
    }

    /// True when no more than `decimals` (0 to 3) decimals are used.
    #[must_use]
    pub const fn fits_decimals(self, decimals: i16) -> bool {
        let unit = match decimals {
            i16::MIN..=0 => 1000,
            1 => 100,
            2 => 10,
            _ => 1,
        };
        self.0 % unit == 0
    }

    /// Reads `2`, `1.237` or `-0.5`; `None` for anything else, more than three decimals included.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || whole.len() > 15 || fraction.len() > 3 || !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        if digits.ends_with('.') {
            return None;
        }
        let whole: i64 = whole.parse().ok()?;
        let fraction: i64 = format!("{fraction:0<3}").parse().ok()?;
        let value = whole * 1000 + fraction;
        Some(Self(if negative { -value } else { value }))
    }
}

impl fmt::Display for Qty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let magnitude = self.0.unsigned_abs();
        let (whole, rest) = (magnitude / 1000, magnitude % 1000);
        if rest == 0 {
            write!(f, "{sign}{whole}")
        } else {
            write!(f, "{sign}{whole}.{}", format!("{rest:03}").trim_end_matches('0'))
        }
    }
}

impl Serialize for Qty {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 % 1000 == 0 {
            return serializer.serialize_i64(self.0 / 1000);
        }
        // A decimal of at most 18 digits survives as its own shortest text; the number is never calculated with.
        let number: serde_json::Number = self.to_string().parse().map_err(serde::ser::Error::custom)?;
        number.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Qty {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(serde_json::Number),
            Text(String),
        }
        let text = match Written::deserialize(deserializer) {
            Ok(Written::Number(number)) => number.to_string(),
            Ok(Written::Text(text)) => text,
            Err(_) => return Err(serde::de::Error::custom("expected a number with at most three decimals")),
        };
        // `2.0` is how some languages write two; the zeros say nothing.
        let shortest = if text.contains('.') && !text.ends_with('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        Self::parse(shortest)
            .ok_or_else(|| serde::de::Error::custom(format!("{text} is not a quantity: at most three decimals")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn half_is_rounded_away_from_zero_on_both_sides() {
        assert_eq!(rdiv(5, 10), 1);
        assert_eq!(rdiv(-5, 10), -1);
        assert_eq!(rdiv(4, 10), 0);
        assert_eq!(rdiv(1, 3), 0);
        assert_eq!(rdiv(2, 3), 1);
        assert_eq!(rdiv(-2, 3), -1);
    }

    #[test]
    fn a_quantity_is_written_in_units() {
        assert_eq!(serde_json::to_string(&Qty(2000)).expect("json"), "2");
        assert_eq!(serde_json::to_string(&Qty(1237)).expect("json"), "1.237");
        assert_eq!(serde_json::to_string(&Qty(-500)).expect("json"), "-0.5");
    }

    #[test]
    fn a_quantity_with_more_than_three_decimals_is_refused() {
        for text in ["0.30000000000000004", "1.2375", "\"1.2375\"", "\"\"", "\"1.\"", "true"] {
            assert!(serde_json::from_str::<Qty>(text).is_err(), "{text}");
        }
        for (text, milli) in [("2", 2000), ("2.0", 2000), ("1.237", 1237), ("\"0.5\"", 500), ("-3", -3000)] {
            assert_eq!(serde_json::from_str::<Qty>(text).expect(text), Qty(milli));
        }
    }

    proptest! {
        #[test]
        fn every_quantity_survives_json(milli in -1_000_000_000_000_i64..1_000_000_000_000) {
            let text = serde_json::to_string(&Qty(milli)).expect("json");
            prop_assert_eq!(serde_json::from_str::<Qty>(&text).expect("quantity"), Qty(milli));
        }
    }
}
