//! A file of variables, as systemd reads one (`EnvironmentFile=`): quotes, escapes, and values of several lines.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// What loses its meaning behind a backslash within double quotes.
const ESCAPED: &str = "\"\\`$";

/// A part of a file: what it sets, and how that stands there.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its lines as they are, without the end of the last one.
    pub text: String,
    /// Name and value; nothing of a comment, a blank line and what is no variable.
    pub set: Option<(String, String)>,
}

/// Every variable that a file sets: the last one of a name.
pub fn variables(path: &Path) -> io::Result<BTreeMap<String, String>> {
    let text = fs::read_to_string(path)?;
    Ok(entries(&text).into_iter().filter_map(|entry| entry.set).collect())
}

/// All that is in a file, in its order.
pub fn entries(text: &str) -> Vec<Entry> {
    let (mut all, mut reader) = (Vec::new(), Reader::default());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if reader.ends_with(letter) {
            all.push(std::mem::take(&mut reader).ended());
            if letter == '\r' {
                letters.next_if_eq(&'\n');
            }
        } else {
            reader.text.push(letter);
        }
    }
    if !reader.text.is_empty() {
        all.push(reader.ended());
    }
    all
}

#[derive(Clone, Copy, Default)]
enum State {
    #[default]
    Before,
    Comment,
    Name,
    /// Behind the equals sign, or behind a quote that was closed.
    BeforeValue,
    Value,
    Escaped,
    Single,
    Double,
    EscapedWithin,
}

#[derive(Default)]
struct Reader {
    state: State,
    text: String,
    name: String,
    value: String,
    /// Bytes of the value without the blanks at its end.
    kept: usize,
}

impl Reader {
    /// Takes one letter; whether it is the end of the entry.
    fn ends_with(&mut self, letter: char) -> bool {
        let is_end = matches!(letter, '\n' | '\r');
        let is_blank = is_end || matches!(letter, ' ' | '\t');
        match self.state {
            State::Before | State::Comment | State::Name | State::BeforeValue | State::Value if is_end => return true,
            State::Before if matches!(letter, '#' | ';') => self.state = State::Comment,
            State::Before if !is_blank => {
                self.state = State::Name;
                self.name.push(letter);
            }
            State::Before | State::Comment => {}
            State::Name if letter == '=' => self.state = State::BeforeValue,
            State::Name => self.name.push(letter),
            State::BeforeValue if letter == '\'' => self.state = State::Single,
            State::BeforeValue if letter == '"' => self.state = State::Double,
            State::BeforeValue | State::Value if letter == '\\' => {
                self.state = State::Escaped;
                self.kept = self.value.len();
            }
            State::BeforeValue if is_blank => {}
            State::BeforeValue | State::Value => {
                self.state = State::Value;
                self.value.push(letter);
                if !is_blank {
                    self.kept = self.value.len();
                }
            }
            State::Escaped => {
                self.state = State::Value;
                // The end of a line goes with the backslash: the value goes on in the next one.
                if !is_end {
                    self.keep(letter);
                }
            }
            State::Single if letter == '\'' => self.state = State::BeforeValue,
            State::Double if letter == '"' => self.state = State::BeforeValue,
            State::Double if letter == '\\' => self.state = State::EscapedWithin,
            State::Single | State::Double => self.keep(letter),
            State::EscapedWithin => {
                self.state = State::Double;
                if letter != '\n' {
                    if !ESCAPED.contains(letter) {
                        self.keep('\\');
                    }
                    self.keep(letter);
                }
            }
        }
        false
    }

    fn keep(&mut self, letter: char) {
        self.value.push(letter);
        self.kept = self.value.len();
    }

    fn ended(self) -> Entry {
        let Self { state, text, name, mut value, kept } = self;
        value.truncate(kept);
        let name = name.trim_end();
        let has_value = !matches!(state, State::Before | State::Comment | State::Name);
        Entry { text, set: (has_value && is_name(name)).then(|| (name.to_owned(), value)) }
    }
}

/// Whether systemd takes it as the name of a variable; `export A` is none.
fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    name.starts_with(|letter: char| is_letter(letter) && !letter.is_ascii_digit()) && name.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_what_systemd_makes_of_it() {
        for (text, value) in [
            ("A=b", "b"),
            ("A=", ""),
            ("  A =  b c\t \n", "b c"),
            ("A=b # no comment", "b # no comment"),
            // Quotes, which stand at the beginning.
            ("A=\"b c \"", "b c "),
            ("A='b \"c\" \\n'", "b \"c\" \\n"),
            ("A=\"b\"'c' d", "bcd"),
            ("A=b\"c\"", "b\"c\""),
            ("A=\"b\nc\"\n", "b\nc"),
            ("A='b\nc'\n", "b\nc"),
            ("A=\"b", "b"),
            // Backslashes within double quotes, and outside of quotes.
            (r#"A="\"\\\$\`""#, "\"\\$`"),
            (r#"A="C:\new""#, r"C:\new"),
            ("A=\"b\\\nc\"", "bc"),
            (r"A=b\c\ ", "bc "),
            (r"A=\\\$\#", r"\$#"),
            ("A=b \\\n  c\nB=d", "b   c"),
            // Ends of lines of another system.
            ("A=b\r\nB=c\r\n", "b"),
        ] {
            let found = entries(text).into_iter().find_map(|entry| entry.set);
            assert_eq!(found, Some(("A".to_owned(), value.to_owned())), "{text:?}");
        }
    }

    #[test]
    fn what_sets_nothing_is_passed_over_and_the_last_of_a_name_counts() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("hq.env");
        let text = "# A=1\n; B=2\n\nexport C=3\n1D=4\nE\nF=5\nF=\"6\n# of the value\"\n_g2=7\n";
        fs::write(&path, text).expect("a file");
        let found = variables(&path).expect("readable");
        let found: Vec<_> = found.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(found, [("F", "6\n# of the value"), ("_g2", "7")]);
        let lines: Vec<String> = entries(text).into_iter().map(|entry| entry.text).collect();
        assert_eq!(lines.join("\n") + "\n", text, "all of it is there, as it stands");
    }
}
