//! The letters that a printer has: one table of 256, of which it says the name. What is not among them is written as its nearest
//! letters, so that nothing on a paper is a question mark or a piece of UTF-8.

use std::cell::RefCell;

use deunicode::deunicode_char;
use escpos::driver::Driver;
use escpos::errors::Result;
use escpos::printer::Printer;
use escpos::printer_options::PrinterOptions;
use escpos::utils::{PageCode, Protocol};
use unicode_normalization::UnicodeNormalization;

/// The tables, by the names in the book of registers.
const PAGES: [(&str, PageCode); 20] = [
    ("PC437", PageCode::PC437),
    ("PC850", PageCode::PC850),
    ("PC852", PageCode::PC852),
    ("PC857", PageCode::PC857),
    ("PC858", PageCode::PC858),
    ("PC860", PageCode::PC860),
    ("PC863", PageCode::PC863),
    ("PC865", PageCode::PC865),
    ("PC866", PageCode::PC866),
    ("PC737", PageCode::PC737),
    ("WPC775", PageCode::WPC775),
    ("ISO8859_2", PageCode::ISO8859_2),
    ("ISO8859_7", PageCode::ISO8859_7),
    ("ISO8859_15", PageCode::ISO8859_15),
    ("WPC1250", PageCode::WPC1250),
    ("WPC1251", PageCode::WPC1251),
    ("WPC1252", PageCode::WPC1252),
    ("WPC1253", PageCode::WPC1253),
    ("WPC1254", PageCode::WPC1254),
    ("WPC1257", PageCode::WPC1257),
];

/// What is nearer than the sound of a sign.
const NEAREST: [(char, &str); 10] = [
    ('\u{ad}', ""),
    ('£', "GBP"),
    ('¥', "Y"),
    ('¢', "c"),
    ('¤', "*"),
    ('·', "."),
    ('‚', "'"),
    ('„', "\""),
    ('«', "\""),
    ('»', "\""),
];

/// What stands for a sign that has no name.
const NAMELESS: &str = "*";

/// What is written to a printer, kept.
#[derive(Default)]
pub(super) struct Bytes(RefCell<Vec<u8>>);

impl Bytes {
    pub(super) fn into_inner(self) -> Vec<u8> {
        self.0.into_inner()
    }
}

impl Driver for Bytes {
    fn name(&self) -> String {
        "bytes".to_owned()
    }

    fn write(&self, data: &[u8]) -> Result<()> {
        self.0.borrow_mut().extend_from_slice(data);
        Ok(())
    }

    fn read(&self, _: &mut [u8]) -> Result<usize> {
        Ok(0)
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }
}

/// The letters of one printer.
#[derive(Clone, Copy)]
pub(super) struct Letters(PageCode);

impl Letters {
    /// Those of the table `name`; the first one, which every printer has, for a name that is none.
    pub(super) fn of(name: &str) -> Self {
        let page = PAGES.iter().find(|(known, _)| *known == name);
        Self(page.map_or(PageCode::PC437, |(_, page)| *page))
    }

    pub(super) const fn page(self) -> PageCode {
        self.0
    }

    /// `text` in letters that the printer has. Nothing of it is a command: signs that are not printed are left out.
    pub(super) fn spelled(self, text: &str) -> String {
        let mut spelled = String::with_capacity(text.len());
        for letter in text.nfc() {
            match letter {
                '\n' => spelled.push('\n'),
                _ if letter.is_whitespace() => spelled.push(' '),
                _ if letter.is_control() => {}
                _ if self.byte(letter).is_some() => spelled.push(letter),
                _ => spelled.push_str(&nearest(letter)),
            }
        }
        spelled
    }

    /// The bytes of a text that is spelled so.
    pub(super) fn encoded(self, spelled: &str) -> Vec<u8> {
        spelled.chars().filter_map(|letter| self.byte(letter)).collect()
    }

    /// Where `letter` stands in the table.
    fn byte(self, letter: char) -> Option<u8> {
        if letter.is_ascii() {
            return u8::try_from(letter).ok().filter(|byte| !byte.is_ascii_control());
        }
        match (self.0, letter) {
            // The crate has these at wrong places, and an euro sign that older printers with this table lack.
            (PageCode::PC858, '¿') => Some(0xA8),
            (PageCode::PC858, '®') => Some(0xA9),
            (PageCode::PC858, 'Ô') => Some(0xE2),
            (PageCode::PC858, 'Ò') => Some(0xE3),
            (PageCode::PC858, '⌐') | (PageCode::PC857, '€') | (_, '\u{ad}') => None,
            (page, letter) => in_table(page, letter),
        }
    }
}

/// What the crate writes of `letter`: one byte when it is in the table, else UTF-8, which is never one byte.
fn in_table(page: PageCode, letter: char) -> Option<u8> {
    let options = PrinterOptions::new(Some(page), None, 42);
    let mut printer = Printer::new(Bytes::default(), Protocol::default(), Some(options));
    printer.write(letter.encode_utf8(&mut [0; 4])).and_then(Printer::print).ok()?;
    match printer.driver().into_inner()[..] {
        [byte] => Some(byte),
        _ => None,
    }
}

/// The letters of the alphabet that come nearest, which every table has.
fn nearest(letter: char) -> String {
    if let Some((_, near)) = NEAREST.iter().find(|(known, _)| *known == letter) {
        return (*near).to_owned();
    }
    let Some(near) = deunicode_char(letter) else { return NAMELESS.to_owned() };
    let said: String = near.chars().filter(|letter| *letter != '?' && !letter.is_control()).collect();
    if said.is_empty() && !near.is_empty() { NAMELESS.to_owned() } else { said }
}

#[cfg(test)]
mod tests {
    use tillkeep_model::fields::register::CODE_PAGES;

    use super::*;

    fn written(page: &str, text: &str) -> Vec<u8> {
        let letters = Letters::of(page);
        letters.encoded(&letters.spelled(text))
    }

    #[test]
    fn every_table_that_a_register_may_name_is_one_of_the_crate() {
        let names: Vec<&str> = PAGES.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, CODE_PAGES);
        for (name, page) in PAGES {
            assert_eq!(page.to_string(), name);
            assert!(in_table(page, '°').is_some(), "{name}");
        }
    }

    #[test]
    fn letters_of_a_table_are_where_its_standard_has_them() {
        for (page, letters, bytes) in [
            ("PC437", "ßéñ½", &[0xE1, 0x82, 0xA4, 0xAB][..]),
            ("PC850", "ßéØÓ", &[0xE1, 0x82, 0x9D, 0xE0]),
            ("PC858", "ßé€¿®ÔÒ", &[0xE1, 0x82, 0xD5, 0xA8, 0xA9, 0xE2, 0xE3]),
            ("PC852", "ßéőş", &[0xE1, 0x82, 0x8B, 0xAD]),
            ("PC857", "ßéşİı", &[0xE1, 0x82, 0x9F, 0x98, 0x8D]),
            ("PC866", "ЖжЁ№", &[0x86, 0xA6, 0xF0, 0xFC]),
            ("PC737", "Ωάς", &[0x97, 0xE1, 0xAA]),
            ("ISO8859_15", "ßé€œ", &[0xDF, 0xE9, 0xA4, 0xBD]),
            ("WPC1252", "ßé€’”", &[0xDF, 0xE9, 0x80, 0x92, 0x94]),
            ("WPC1250", "ßé€őş’", &[0xDF, 0xE9, 0x80, 0xF5, 0xBA, 0x92]),
        ] {
            assert_eq!(written(page, letters), bytes, "{page}");
        }
    }

    #[test]
    fn what_a_table_lacks_is_written_as_its_nearest_letters() {
        for (page, text, written_as) in [
            ("PC437", "€ ő ş Ж ’ ”", "EUR o s Zh ' \""),
            ("PC437", "中\u{202f}1\u{a0}000", "Zhong  1 000"),
            ("PC866", "Straße café", "Strasse cafe"),
            ("PC737", "10\u{202f}€", "10 EUR"),
            ("PC857", "5 €", "5 EUR"),
            ("PC852", "“№ 1”", "\"No 1\""),
            ("WPC1252", "Жő", "Zho"),
            ("PC850", "🧀", "cheese "),
            ("PC850", "œuf £ soft\u{ad}hyphen", "oeuf £ softhyphen"),
            ("PC866", "£2 5¢", "GBP2 5c"),
        ] {
            let letters = Letters::of(page);
            assert_eq!(letters.spelled(text), written_as, "{page}");
        }
        // An accent of its own is put together with its letter first.
        assert_eq!(written("PC437", "cafe\u{301}"), b"caf\x82");
    }

    #[test]
    fn nothing_is_a_question_mark_that_was_none_and_nothing_is_utf_8() {
        let all = (' '..='\u{5ff}').chain('\u{2000}'..='\u{27ff}').chain('\u{4e00}'..='\u{4e40}');
        let all = all.chain('\u{1f300}'..='\u{1f340}').chain(['\u{e000}', '\u{fffd}', '؟']);
        let all: String = all.filter(|letter| *letter != '?').collect();
        for (page, _) in PAGES {
            let letters = Letters::of(page);
            let spelled = letters.spelled(&all);
            assert!(!spelled.contains('?'), "{page}");
            assert_eq!(letters.encoded(&spelled).len(), spelled.chars().count(), "{page}: a byte for each letter");
        }
        assert_eq!(written("PC437", "Why?"), b"Why?");
    }

    #[test]
    fn a_name_of_a_product_is_no_command_for_the_printer() {
        assert_eq!(written("PC437", "Tea\u{1b}p\0\u{9b}\u{7f}\tgreen"), b"Teap green");
    }
}
