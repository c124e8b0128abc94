//! How amounts, quantities and times are written where a store is.

use crate::{Money, Ppm, Qty};

/// In which order a date stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// `20.11.2026`
    Points,
    /// `20/11/2026`
    Slashes,
    /// `11/20/2026 2:05 PM`
    MonthFirst,
    /// `2026-11-20`
    YearFirst,
}

/// How one locale writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    decimal: char,
    group: &'static str,
    order: Order,
}

const fn format(decimal: char, group: &'static str, order: Order) -> Format {
    Format { decimal, group, order }
}

/// By language, or by language and country where that is another one. A space stands for the narrow one, which no printer has.
const FORMATS: &[(&str, Format)] = &[
    ("de", format(',', ".", Order::Points)),
    ("de-CH", format('.', "'", Order::Points)),
    ("de-LI", format('.', "'", Order::Points)),
    ("fr", format(',', " ", Order::Slashes)),
    ("fr-CH", format('.', "'", Order::Points)),
    ("fr-CA", format(',', " ", Order::YearFirst)),
    ("en", format('.', ",", Order::Slashes)),
    ("en-US", format('.', ",", Order::MonthFirst)),
    ("en-CA", format('.', ",", Order::YearFirst)),
    ("en-ZA", format(',', " ", Order::YearFirst)),
    ("es", format(',', ".", Order::Slashes)),
    ("es-MX", format('.', ",", Order::Slashes)),
    ("it", format(',', ".", Order::Slashes)),
    ("it-CH", format('.', "'", Order::Points)),
    ("pt", format(',', ".", Order::Slashes)),
    ("nl", format(',', ".", Order::Slashes)),
    ("da", format(',', ".", Order::Points)),
    ("nb", format(',', " ", Order::Points)),
    ("no", format(',', " ", Order::Points)),
    ("fi", format(',', " ", Order::Points)),
    ("pl", format(',', " ", Order::Points)),
    ("cs", format(',', " ", Order::Points)),
    ("sv", format(',', " ", Order::YearFirst)),
];

impl Format {
    pub(super) fn of(locale: &str) -> Self {
        let named =
            |name: &str| FORMATS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, found)| *found);
        let found = named(&locale.replace('_', "-")).or_else(|| named(&language(locale)));
        found.unwrap_or(format('.', ",", Order::YearFirst))
    }

    /// Minor units of which a major one has `exponent` digits.
    pub(super) fn decimal(self, amount: Money, exponent: i16) -> String {
        let places = usize::try_from(exponent).unwrap_or_default();
        let digits = format!("{:0>width$}", amount.0.unsigned_abs(), width = places + 1);
        let (whole, rest) = digits.split_at(digits.len() - places);
        let sign = if amount.0 < 0 { "-" } else { "" };
        let mut text = format!("{sign}{}", self.grouped(whole));
        if places > 0 {
            text.push(self.decimal);
            text.push_str(rest);
        }
        text
    }

    fn grouped(self, digits: &str) -> String {
        let mut text = String::new();
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                text.push_str(self.group);
            }
            text.push(digit);
        }
        text
    }

    pub(super) fn quantity(self, quantity: Qty) -> String {
        if quantity.0 % 1000 == 0 {
            return self.decimal(Money(quantity.0 / 1000), 0);
        }
        without_zeros(&self.decimal(Money(quantity.0), 3)).to_owned()
    }

    pub(super) fn rate(self, rate: Ppm) -> String {
        format!("{} %", without_zeros(&self.decimal(Money(rate.0.into()), 4)))
    }

    /// `2026-11-20T14:05:56` as people here write it; anything else as it is.
    pub(super) fn time(self, local: &str) -> String {
        let Some((date, clock)) = local.get(0..10).zip(local.get(11..16)) else { return local.to_owned() };
        let clock = if self.order == Order::MonthFirst { of_twelve(clock) } else { clock.to_owned() };
        format!("{} {clock}", self.date(date))
    }

    /// `2026-11-20` likewise.
    pub(super) fn date(self, date: &str) -> String {
        let parts = date.get(0..4).zip(date.get(5..7)).zip(date.get(8..10));
        let Some(((year, month), day)) = parts else { return date.to_owned() };
        match self.order {
            Order::Points => format!("{day}.{month}.{year}"),
            Order::Slashes => format!("{day}/{month}/{year}"),
            Order::YearFirst => format!("{year}-{month}-{day}"),
            Order::MonthFirst => format!("{month}/{day}/{year}"),
        }
    }
}

/// `14:05` as `2:05 PM`.
fn of_twelve(clock: &str) -> String {
    let (hour, rest) = clock.split_at(2);
    let hour: u8 = hour.parse().unwrap_or_default();
    let half = if hour < 12 { "AM" } else { "PM" };
    format!("{}{rest} {half}", (hour + 11) % 12 + 1)
}

/// The language of `de-CH`.
pub(super) fn language(locale: &str) -> String {
    locale.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase()
}

/// `10,50` as `10,5`, `10.00` as `10`.
pub(super) fn without_zeros(decimal: &str) -> &str {
    decimal.trim_end_matches('0').trim_end_matches(['.', ','])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_as_people_of_a_place_write_them() {
        for (locale, amount, exponent, text) in [
            ("en-US", 123_456_789, 2, "1,234,567.89"),
            ("de-DE", 123_456_789, 2, "1.234.567,89"),
            ("de_DE", -5, 2, "-0,05"),
            ("de-CH", 123_450, 2, "1'234.50"),
            ("fr-SN", 12_500, 0, "12 500"),
            ("en-KW", -1_234_567, 3, "-1,234.567"),
            ("ja-JP", 1_200, 0, "1,200"),
            ("", 1, 2, "0.01"),
        ] {
            assert_eq!(Format::of(locale).decimal(Money(amount), exponent), text, "{locale}");
        }
        assert_eq!(Format::of("de").decimal(Money(i64::MIN), 2), "-92.233.720.368.547.758,08");
    }

    #[test]
    fn quantities_and_rates_have_no_zeros_at_their_end() {
        let german = Format::of("de-AT");
        assert_eq!(german.quantity(Qty(2000)), "2");
        assert_eq!(german.quantity(Qty(10_000)), "10");
        assert_eq!(german.quantity(Qty(-1_250)), "-1,25");
        assert_eq!(german.rate(Ppm(200_000)), "20 %");
        assert_eq!(Format::of("en-US").rate(Ppm(88_750)), "8.875 %");
        assert_eq!(Format::of("en-US").rate(Ppm(0)), "0 %");
    }

    #[test]
    fn a_time_is_that_of_the_clock_on_the_wall_in_the_order_of_the_place() {
        for (locale, text) in [
            ("en-US", "11/20/2026 2:05 PM"),
            ("en-GB", "20/11/2026 14:05"),
            ("de-DE", "20.11.2026 14:05"),
            ("fr-FR", "20/11/2026 14:05"),
            ("sv-SE", "2026-11-20 14:05"),
            ("ko-KR", "2026-11-20 14:05"),
        ] {
            assert_eq!(Format::of(locale).time("2026-11-20T14:05:56"), text, "{locale}");
        }
        assert_eq!(Format::of("en-US").time("2026-11-20T00:05:56"), "11/20/2026 12:05 AM");
        assert_eq!(Format::of("en-US").time("soon"), "soon");
    }
}
