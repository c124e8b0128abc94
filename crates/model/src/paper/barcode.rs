//! Code 128, set B: the letters, digits and signs of a receipt number as bars.

use std::fmt::Write;

/// Widths of bars and gaps in turn, of each value from 0; the last ones are start A, B and C.
const PATTERNS: [&str; 106] = [
    "212222", "222122", "222221", "121223", "121322", "131222", "122213", "122312", "132212", "221213", "221312",
    "231212", "112232", "122132", "122231", "113222", "123122", "123221", "223211", "221132", "221231", "213212",
    "223112", "312131", "311222", "321122", "321221", "312212", "322112", "322211", "212123", "212321", "232121",
    "111323", "131123", "131321", "112313", "132113", "132311", "211313", "231113", "231311", "112133", "112331",
    "132131", "113123", "113321", "133121", "313121", "211331", "231131", "213113", "213311", "213131", "311123",
    "311321", "331121", "312113", "312311", "332111", "314111", "221411", "431111", "111224", "111422", "121124",
    "121421", "141122", "141221", "112214", "112412", "122114", "122411", "142112", "142211", "241211", "221114",
    "413111", "241112", "134111", "111242", "121142", "121241", "114212", "124112", "124211", "411212", "421112",
    "421211", "212141", "214121", "412121", "111143", "111341", "131141", "114113", "114311", "411113", "411311",
    "113141", "114131", "311141", "411131", "211412", "211214", "211232",
];
const START_B: usize = 104;
const STOP: &str = "2331112";

/// Widths of bars and gaps in turn, beginning with a bar; `None` for a text that has other signs than set B, or none.
pub(super) fn bars(text: &str) -> Option<Vec<u8>> {
    let value = |letter: u8| matches!(letter, 32..=126).then(|| usize::from(letter) - 32);
    let values: Vec<usize> = text.bytes().map(value).collect::<Option<_>>()?;
    if values.is_empty() {
        return None;
    }
    let weighted = values.iter().enumerate().map(|(place, value)| (place + 1) * value);
    let check = (START_B + weighted.sum::<usize>()) % 103;
    let all = [START_B].into_iter().chain(values).chain([check]);
    let widths = all.map(|value| PATTERNS[value]).chain([STOP]).flat_map(str::bytes);
    Some(widths.map(|digit| digit - b'0').collect())
}

/// The bars as one path in a drawing that is as wide as they are, with the gap that a reader needs at both sides, and `height`.
pub(super) fn svg(text: &str) -> Option<String> {
    const QUIET: u32 = 10;
    let widths = bars(text)?;
    let (mut left, mut path) = (QUIET, String::new());
    for (place, width) in widths.into_iter().enumerate() {
        if place % 2 == 0 {
            // Writing to a text does not fail.
            let _ = write!(path, "M{left} 0h{width}v1h-{width}z");
        }
        left += u32::from(width);
    }
    let whole = left + QUIET;
    Some(format!(
        "<svg viewBox=\"0 0 {whole} 1\" preserveAspectRatio=\"none\" shape-rendering=\"crispEdges\" role=\"img\" \
         aria-hidden=\"true\"><path d=\"{path}\"/></svg>"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_128_is_the_one_of_its_standard() {
        // 11 modules a sign, 13 at the end; the check sign of "PJJ123C" has the value 55.
        let widths = bars("PJJ123C").expect("bars");
        assert_eq!(widths.iter().map(|width| u32::from(*width)).sum::<u32>(), 9 * 11 + 13);
        let check: String = widths[8 * 6..9 * 6].iter().map(ToString::to_string).collect();
        assert_eq!(check, PATTERNS[55]);
        assert!(widths.iter().all(|width| (1..=4).contains(width)));
    }

    #[test]
    fn each_pattern_is_another_one_of_eleven_modules() {
        let mut seen = std::collections::BTreeSet::new();
        for pattern in PATTERNS {
            assert_eq!(pattern.bytes().map(|digit| u32::from(digit - b'0')).sum::<u32>(), 11, "{pattern}");
            assert!(seen.insert(pattern), "{pattern}");
        }
    }

    #[test]
    fn what_has_no_bars_has_none() {
        assert_eq!(bars(""), None);
        assert_eq!(bars("Bon-Ä1"), None);
    }
}
