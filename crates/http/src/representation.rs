//! In which form a client takes an answer, and whether it has it already.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// In the extensions of an answer: it is sent as it is, since whoever made it has chosen its coding.
#[derive(Clone, Copy, Debug)]
pub struct AsItIs;

/// The items of a header that is a list, which may stand in several lines.
fn items(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let lines = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

/// Whether the client takes this coding of a body: it names it, and not with q=0.
pub fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    takes(headers, header::ACCEPT_ENCODING, coding)
}

/// Whether the client is one that shows pages to a person: it names them. A program takes anything.
pub fn shows_pages(headers: &HeaderMap) -> bool {
    takes(headers, header::ACCEPT, "text/html")
}

/// Whether a header names `wanted`, and not with q=0.
fn takes(headers: &HeaderMap, header: HeaderName, wanted: &str) -> bool {
    items(headers, header).any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let refused = parts.any(|part| {
            let weight = part.strip_prefix("q=").or_else(|| part.strip_prefix("Q="));
            weight.is_some_and(|weight| weight.chars().all(|digit| matches!(digit, '0' | '.')))
        });
        name.eq_ignore_ascii_case(wanted) && !refused
    })
}

/// Whether the client says that it has what this tag names. As If-None-Match compares, weak and strong tags are one.
pub fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    fn opaque(tag: &[u8]) -> &[u8] {
        tag.strip_prefix(b"W/").unwrap_or(tag)
    }
    let mut known = items(headers, header::IF_NONE_MATCH);
    known.any(|known| known == "*" || opaque(known.as_bytes()) == opaque(tag.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &HeaderName, lines: &[&'static str]) -> HeaderMap {
        lines.iter().map(|line| (name.clone(), HeaderValue::from_static(line))).collect()
    }

    #[test]
    fn a_coding_is_taken_when_it_is_named_without_a_weight_of_nothing() {
        for (lines, taken) in [
            (vec![], false),
            (vec![""], false),
            (vec!["br"], true),
            (vec!["BR"], true),
            (vec!["gzip, deflate, br, zstd"], true),
            (vec!["gzip", "br"], true),
            (vec!["gzip"], false),
            (vec!["brotli"], false),
            (vec!["br;q=1.0"], true),
            (vec!["br;q=0.001"], true),
            (vec!["br;q=0"], false),
            (vec!["br;Q=0"], false),
            (vec!["gzip, br ; q=0.000"], false),
            (vec!["gzip;q=0, br"], true),
        ] {
            assert_eq!(accepts(&headers(&header::ACCEPT_ENCODING, &lines), "br"), taken, "{lines:?}");
        }
    }

    #[test]
    fn who_names_pages_shows_them_and_who_takes_anything_does_not() {
        for (lines, shows) in [
            (vec![], false),
            (vec!["*/*"], false),
            (vec!["application/json"], false),
            (vec!["application/json, text/html;q=0"], false),
            (vec!["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"], true),
            (vec!["Text/HTML; charset=utf-8"], true),
        ] {
            assert_eq!(shows_pages(&headers(&header::ACCEPT, &lines)), shows, "{lines:?}");
        }
    }

    #[test]
    fn what_a_client_names_by_its_tag_or_by_a_star_is_known() {
        let (strong, weak) = (HeaderValue::from_static("\"a1\""), HeaderValue::from_static("W/\"a1\""));
        for (lines, known) in [
            (vec![], false),
            (vec![""], false),
            (vec!["\"a1\""], true),
            (vec!["W/\"a1\""], true),
            (vec!["W/W/\"a1\""], false),
            (vec!["a1"], false),
            (vec!["\"a\""], false),
            (vec!["\"a12\""], false),
            (vec!["\"other\", W/\"a1\""], true),
            (vec!["\"other\",\"a1\" , \"third\""], true),
            (vec!["\"other\"", "\"a1\""], true),
            (vec!["*"], true),
            (vec![" * "], true),
            (vec!["\"*\""], false),
        ] {
            for tag in [&strong, &weak] {
                assert_eq!(is_known(&headers(&header::IF_NONE_MATCH, &lines), tag), known, "{tag:?} {lines:?}");
            }
        }
    }
}
