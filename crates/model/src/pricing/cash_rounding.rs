//! Rounding of what is paid in cash, where the smallest coin is worth more than one minor unit.

use crate::{Money, rdiv};

/// Which multiple of the increment is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RoundingMode {
    /// The nearest; of two that are equally near the one further from zero.
    #[default]
    Nearest,
    /// Away from zero.
    Up,
    /// Towards zero.
    Down,
}

impl RoundingMode {
    /// The word in `stores.cash_rounding_mode`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nearest => "nearest",
            Self::Up => "up",
            Self::Down => "down",
        }
    }

    /// The mode with this word; `None` for an unknown one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Nearest, Self::Up, Self::Down].into_iter().find(|mode| mode.as_str() == text)
    }
}

/// How a store rounds what is paid in cash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CashRounding {
    /// In minor units: 5 rounds to 0.05; 1 and less do not round.
    pub increment: i64,
    pub mode: RoundingMode,
}

impl CashRounding {
    /// For stores with a coin of one minor unit.
    pub const NONE: Self = Self { increment: 1, mode: RoundingMode::Nearest };

    /// The amount that is due in cash for `rest`; a refund is rounded like the sale that it mirrors.
    #[must_use]
    pub fn due(self, rest: Money) -> Money {
        Money::from_wide(self.due_wide(i128::from(rest.0)))
    }

    pub(super) fn due_wide(self, rest: i128) -> i128 {
        let increment = i128::from(self.increment.max(1));
        let coins = match self.mode {
            RoundingMode::Nearest => rdiv(rest, increment),
            RoundingMode::Down => rest / increment,
            RoundingMode::Up => (rest + rest.signum() * (increment - 1)) / increment,
        };
        coins * increment
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MODES: [RoundingMode; 3] = [RoundingMode::Nearest, RoundingMode::Up, RoundingMode::Down];

    #[test]
    fn an_increment_of_one_or_less_rounds_nothing() {
        for increment in [1, 0, -5] {
            assert_eq!(CashRounding { increment, mode: RoundingMode::Up }.due(Money(2176)), Money(2176));
        }
    }

    #[test]
    fn every_mode_is_read_as_it_was_written() {
        for mode in MODES {
            assert_eq!(RoundingMode::parse(mode.as_str()), Some(mode));
        }
        assert_eq!(RoundingMode::parse("half"), None);
    }

    proptest! {
        #[test]
        fn a_rounded_amount_is_a_multiple_less_than_one_increment_away(
            rest in -1_000_000_i64..1_000_000, increment in 1_i64..1000, mode in prop::sample::select(&MODES[..]),
        ) {
            let rounding = CashRounding { increment, mode };
            let due = rounding.due(Money(rest)).0;
            prop_assert_eq!(due % increment, 0);
            prop_assert!((due - rest).abs() < increment);
            prop_assert_eq!(rounding.due(Money(-rest)).0, -due);
            match mode {
                RoundingMode::Nearest => prop_assert!((due - rest).abs() * 2 <= increment),
                RoundingMode::Up => prop_assert!(due.abs() >= rest.abs()),
                RoundingMode::Down => prop_assert!(due.abs() <= rest.abs()),
            }
        }
    }
}
