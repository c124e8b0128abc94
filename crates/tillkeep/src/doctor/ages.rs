//! Times and sizes as people read them.

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;

/// A length of time in its largest whole unit, from two of it on.
pub fn length(millis: i64) -> String {
    let millis = millis.saturating_abs();
    let units = [(DAY, "days"), (HOUR, "h"), (MINUTE, "min"), (SECOND, "s")];
    let fits = units.into_iter().find(|(unit, _)| millis >= 2 * unit);
    fits.map_or_else(|| format!("{millis} ms"), |(unit, name)| format!("{} {name}", millis / unit))
}

/// Bytes in MiB, or in GiB from ten on.
pub fn size(bytes: u64) -> String {
    let gib = bytes >> 30;
    if gib >= 10 { format!("{gib} GiB") } else { format!("{} MiB", bytes >> 20) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_has_the_unit_of_which_there_are_two() {
        for (millis, text) in [
            (0, "0 ms"),
            (1_999, "1999 ms"),
            (2_000, "2 s"),
            (119_999, "119 s"),
            (120_000, "2 min"),
            (3 * HOUR, "3 h"),
            (47 * HOUR, "47 h"),
            (48 * HOUR, "2 days"),
            (-90 * MINUTE, "90 min"),
            (i64::MIN, "106751991167 days"),
        ] {
            assert_eq!(length(millis), text);
        }
        assert_eq!(
            (size(5 << 20), size(3 << 30), size(40 << 30)),
            ("5 MiB".into(), "3072 MiB".into(), "40 GiB".into())
        );
    }
}
