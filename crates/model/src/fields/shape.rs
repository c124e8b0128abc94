//! Forms that a text may have to keep.

use std::net::Ipv6Addr;
use std::ops::RangeInclusive;

use chrono_tz::Tz;
use iso_country::Country;
use iso_currency::Currency;
use oxilangtag::LanguageTag;

use crate::Instant;

/// A form of a text.
#[derive(Debug)]
pub struct Shape {
    pub is: fn(&str, Instant) -> bool,
    /// What is said to a text of another form.
    pub says: &'static str,
    /// The same as a regular expression, as far as one can say it.
    pub pattern: &'static str,
}

pub static EMAIL: Shape = Shape {
    is: |text, _| is_email(text),
    says: "must be an e-mail address of at most 200 characters, such as ann@example.com",
    pattern: r"^([^@\s]+@[^@\s]+)?$",
};

/// What people are called: all that stands in it is seen, and in the order in which it is read.
pub static DISPLAY_NAME: Shape = Shape {
    is: |text, _| !text.trim().is_empty() && is_seen(text),
    says: "must have 1 to 100 characters, none of them invisible and none that turns the direction of writing",
    pattern: r"^[^\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u2800\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB]*$",
};

pub static COUNTRY: Shape = Shape {
    is: |text, _| text.parse::<Country>().is_ok_and(|country| country != Country::Unspecified),
    says: "must be a country code of ISO 3166, such as US",
    pattern: "^[A-Z]{2}$",
};

pub static CURRENCY: Shape = Shape {
    is: |text, _| exponent(text).is_some(),
    says: "must be a currency code of ISO 4217, such as USD",
    pattern: "^[A-Z]{3}$",
};

pub static LOCALE: Shape = Shape {
    is: |text, _| is_locale(text),
    says: "must be a language tag of BCP 47, such as en-US",
    pattern: "^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$",
};

pub static TIME_ZONE: Shape = Shape {
    is: |text, _| text.parse::<Tz>().is_ok(),
    says: "must be an IANA time zone, such as America/New_York",
    pattern: "^[A-Za-z0-9_+/-]+$",
};

pub static BIRTH_DATE: Shape = Shape {
    is: |text, now| is_date(text) && text <= today_anywhere(now).as_str(),
    says: "must be a date like 1990-01-31, not after today",
    pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
};

pub static DATE: Shape = Shape {
    is: |text, _| is_date(text),
    says: "must be a date like 2026-11-20",
    pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
};

pub static TIME_OF_DAY: Shape = Shape {
    is: |text, _| is_time(text),
    says: "must be a time of day like 04:00",
    pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$",
};

pub static BARCODE: Shape = Shape {
    is: |text, _| !text.is_empty() && !text.contains(|letter: char| letter.is_whitespace() || letter.is_control()),
    says: "must have 1 to 40 characters, none of them a space",
    pattern: r"^\S+$",
};

pub static PLU: Shape = Shape {
    is: |text, _| (4..=5).contains(&text.len()) && is_digits(text),
    says: "must have 4 or 5 digits",
    pattern: "^[0-9]{4,5}$",
};

pub static SCALE_PREFIX: Shape = Shape {
    is: |text, _| (1..=3).contains(&text.len()) && is_digits(text),
    says: "must have 1 to 3 digits",
    pattern: "^[0-9]{1,3}$",
};

pub static REGISTER_CODE: Shape = Shape {
    is: |text, _| text.len() == 2 && is_digits(text),
    says: "must have two digits, like 01",
    pattern: "^[0-9]{2}$",
};

pub static PRINTER_ADDRESS: Shape = Shape {
    is: |text, _| is_host_and_port(text),
    says: "must be a host and a port without a scheme, such as 192.168.1.50:9100",
    pattern: r"^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[1-9][0-9]{0,4}$",
};

pub static STORE_CODE: Shape = Shape {
    is: |text, _| {
        (2..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    },
    says: "must have 2 to 10 characters of A to Z and 0 to 9",
    pattern: "^[A-Z0-9]{2,10}$",
};

pub static ROLE_CODE: Shape = Shape {
    is: |text, _| {
        let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        (2..=40).contains(&text.len()) && text.bytes().all(letter)
    },
    says: "must have 2 to 40 characters of a to z, 0 to 9 and _",
    pattern: "^[a-z0-9_]{2,40}$",
};

/// Decimals of a currency of ISO 4217; `None` for what is no currency that people pay with.
pub fn exponent(currency: &str) -> Option<i16> {
    Currency::from_code(currency)?.exponent().and_then(|exponent| exponent.try_into().ok())
}

/// Whether `text` is a day of the calendar, `2026-11-20`.
pub fn is_date(text: &str) -> bool {
    text.len() == 10 && Instant::parse(&format!("{text}T00:00:00Z")).is_some()
}

/// The latest day that it is anywhere: what is today for a shop in the far east is tomorrow in UTC.
fn today_anywhere(now: Instant) -> String {
    const FARTHEST_MS: i64 = 14 * 60 * 60 * 1000;
    now.plus_millis(FARTHEST_MS).to_string().chars().take(10).collect()
}

/// A tag that a browser takes too: it begins with a language, and not with a private or an irregular name.
fn is_locale(text: &str) -> bool {
    let language = text.split('-').next().unwrap_or_default();
    (2..=3).contains(&language.len()) && LanguageTag::parse(text).is_ok()
}

/// A name or an address of a machine, an IPv6 one in brackets, with the port behind it.
fn is_host_and_port(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let is_port = is_digits(port) && !port.starts_with('0') && port.parse::<u16>().is_ok();
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let is_host = match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => (1..=253).contains(&host.len()) && host.bytes().all(in_name),
    };
    is_port && is_host
}

fn is_email(text: &str) -> bool {
    let part = |part: &str| !part.is_empty() && !part.contains(|letter: char| letter == '@' || letter.is_whitespace());
    text.split_once('@').is_some_and(|(name, host)| part(name) && part(host))
}

/// Characters that are not seen, or change where others are: control characters and separators of lines, and what Unicode may
/// show as nothing (`Default_Ignorable_Code_Point`), marks of direction among them.
const UNSEEN: &[RangeInclusive<char>] = &[
    '\0'..='\u{1f}',
    '\u{7f}'..='\u{9f}',
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];
/// What joins or parts two letters, in scripts in which that changes how they look: Arabic to Sinhala. Names of people there
/// have them.
const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];
const OF_JOINED_SCRIPTS: RangeInclusive<char> = '\u{600}'..='\u{dff}';

fn is_seen(text: &str) -> bool {
    let mut before = None;
    text.chars().all(|letter| {
        let joins = JOINERS.contains(&letter) && before.is_some_and(|before| OF_JOINED_SCRIPTS.contains(&before));
        before = Some(letter);
        joins || !UNSEEN.iter().any(|range| range.contains(&letter))
    })
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_time(text: &str) -> bool {
    let part = |text: &str, below: u8| {
        text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u8>().is_ok_and(|n| n < below)
    };
    text.split_once(':').is_some_and(|(hours, minutes)| part(hours, 24) && part(minutes, 60))
}
