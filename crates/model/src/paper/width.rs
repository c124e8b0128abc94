//! How many columns a text takes on paper and screen: letters of China, Japan and Korea take two, what is put above another
//! letter takes none.

/// First and last of those that take two columns.
const WIDE: &[(char, char)] = &[
    ('\u{1100}', '\u{115f}'),
    ('\u{231a}', '\u{231b}'),
    ('\u{2e80}', '\u{303e}'),
    ('\u{3041}', '\u{a4cf}'),
    ('\u{a960}', '\u{a97f}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{fe30}', '\u{fe6f}'),
    ('\u{ff00}', '\u{ff60}'),
    ('\u{ffe0}', '\u{ffe6}'),
    ('\u{1f300}', '\u{1f64f}'),
    ('\u{1f680}', '\u{1f6ff}'),
    ('\u{1f900}', '\u{1faff}'),
    ('\u{20000}', '\u{3fffd}'),
];

/// First and last of those that take none.
const NONE: &[(char, char)] = &[
    ('\u{300}', '\u{36f}'),
    ('\u{483}', '\u{489}'),
    ('\u{591}', '\u{5bd}'),
    ('\u{610}', '\u{61a}'),
    ('\u{64b}', '\u{65f}'),
    ('\u{e31}', '\u{e31}'),
    ('\u{e34}', '\u{e3a}'),
    ('\u{e47}', '\u{e4e}'),
    ('\u{1ab0}', '\u{1aff}'),
    ('\u{1dc0}', '\u{1dff}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{20d0}', '\u{20ff}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{fe20}', '\u{fe2f}'),
];

fn is_in(ranges: &[(char, char)], letter: char) -> bool {
    ranges.iter().any(|(first, last)| (*first..=*last).contains(&letter))
}

fn of_letter(letter: char) -> usize {
    if letter.is_control() || is_in(NONE, letter) {
        return 0;
    }
    1 + usize::from(is_in(WIDE, letter))
}

/// The columns of `text`.
#[must_use]
pub fn width(text: &str) -> usize {
    text.chars().map(of_letter).sum()
}

/// The beginning of `text` that fits into `columns`, at least one letter, and the rest.
pub(super) fn cut(text: &str, columns: usize) -> (&str, &str) {
    let mut taken = 0;
    for (place, letter) in text.char_indices() {
        taken += of_letter(letter);
        if taken > columns && place > 0 {
            return text.split_at(place);
        }
    }
    (text, "")
}
