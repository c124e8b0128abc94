//! Names that people sign in with: one name is written in one way, and none looks like another one. Unicode TR 15 (NFKC) and
//! TS 39 (identifiers, highly restrictive).

use unicode_normalization::UnicodeNormalization;
use unicode_security::{GeneralSecurityProfile, RestrictionLevel, RestrictionLevelDetection};

/// `name` as it is kept: letters that are written in several ways in one of them.
pub fn normal(name: &str) -> String {
    name.nfkc().collect()
}

/// Why no new user may have `name`, which is [`normal`].
pub fn flaw(name: &str) -> Option<&'static str> {
    if name.trim() != name {
        return Some("must not begin or end with a space");
    }
    // What stands on every keyboard may be in a name beside the letters of the world: addresses of mail do.
    let allowed = |letter: char| matches!(letter, ' '..='~') || letter.identifier_allowed();
    if !name.chars().all(allowed) {
        return Some("must have letters, digits and plain signs only: nothing invisible, and no letter out of use");
    }
    let letters: String = name.chars().filter(|letter| letter.is_alphanumeric()).collect();
    if letters.detect_restriction_level() > RestrictionLevel::HighlyRestrictive {
        return Some("must not mix letters of several alphabets, which look alike");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_alphabet_and_nothing_invisible() {
        for name in
            ["ann", "Émile Z.", "o'neil", "a.b+c@example.com", "Анна", "李小龍", "さくら花", "müller-2", "ann_b"]
        {
            assert_eq!(flaw(&normal(name)), None, "{name}");
        }
        // A Cyrillic a, an invisible space, a mark that turns the direction, a tab, a letter out of use.
        for name in ["\u{430}nn", "a\u{200b}nn", "ann\u{202e}", "a\tb", "a\u{0}", " ann", "\u{10330}", "ann\u{feff}"] {
            assert!(flaw(&normal(name)).is_some(), "{name:?}");
        }
    }

    #[test]
    fn a_name_is_kept_in_one_way_of_writing_it() {
        for (typed, kept) in [("\u{ff21}nn", "Ann"), ("Jose\u{301}", "José"), ("\u{fb01}n", "fin"), ("ann", "ann")] {
            assert_eq!(normal(typed), kept);
        }
    }
}
