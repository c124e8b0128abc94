//! In which form a client takes an answer, and whether it has it already.

use axum::http::{HeaderMap, HeaderValue, header};

/// Whether the client takes this coding of a body: it names it, and not with q=0.
pub fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    let lists = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let refused = parts.any(|part| {
            part.strip_prefix("q=").is_some_and(|weight| weight.chars().all(|digit| matches!(digit, '0' | '.')))
        });
        name.eq_ignore_ascii_case(coding) && !refused
    })
}

/// Whether the client says that it has what this tag names.
pub fn is_known(headers: &HeaderMap, tag: &HeaderValue) -> bool {
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
    known.split(',').any(|known| known.trim().trim_start_matches("W/").as_bytes() == tag.as_bytes())
}
