//! What a client makes of an answer that is no success: by its code, and where it has none that is known, by its status.

use crate::ErrorCode;

/// An answer that is no success, from one of the servers or from whatever stands in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub status: u16,
    /// The `code` as it came. What stands in between sends none, and so do the bodies that the specification fixes.
    pub code: Option<String>,
}

impl Refusal {
    /// The code, when this release knows it.
    #[must_use]
    pub fn known(&self) -> Option<ErrorCode> {
        self.code.as_deref().and_then(ErrorCode::parse)
    }

    /// Whether the same request may go through later.
    #[must_use]
    pub fn may_be_retried(&self) -> bool {
        self.known().map_or_else(|| by_status(self.status).0, ErrorCode::may_be_retried)
    }

    /// Whether what was asked for may have been done all the same.
    #[must_use]
    pub fn may_have_happened(&self) -> bool {
        self.known().map_or_else(|| by_status(self.status).1, ErrorCode::may_have_happened)
    }

    /// Whether it says who may ask, and nothing of what was asked.
    #[must_use]
    pub fn is_of_the_token(&self) -> bool {
        matches!(self.status, 401 | 403)
    }

    /// Whether the request did not arrive whole.
    #[must_use]
    pub fn is_of_the_line(&self) -> bool {
        match self.known() {
            Some(code) => matches!(code, ErrorCode::IncompleteBody | ErrorCode::RequestTimeout),
            None => self.status == 408,
        }
    }

    /// Whether the server cannot now, whatever it is asked.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        match self.known() {
            Some(code) => code.may_be_retried() && !self.is_of_the_line(),
            None => matches!(self.status, 429 | 503),
        }
    }

    /// Whether the data of headquarters is not what the asking store's is from. A newer headquarters may have more reasons
    /// than this release knows.
    #[must_use]
    pub fn asks_for_a_reload(&self) -> bool {
        match self.known() {
            Some(code) => {
                matches!(code, ErrorCode::CursorAhead | ErrorCode::EpochChanged | ErrorCode::HistoryChanged)
            }
            None => self.code.is_some() && self.status == 409,
        }
    }
}

/// The one place where a status decides: whether the request may be sent again, and whether it may have been done.
/// Nothing passes by itself that a client did wrong; what a server or a proxy did not finish may have been done.
const fn by_status(status: u16) -> (bool, bool) {
    match status {
        // Too slow, too early, too many.
        408 | 425 | 429 => (true, false),
        400..=499 => (false, false),
        500.. => (true, true),
        // The page of a network that wants a sign-in, which did not let the request through.
        _ => (true, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(status: u16, code: Option<&str>) -> Refusal {
        Refusal { status, code: code.map(str::to_owned) }
    }

    #[test]
    fn a_known_code_is_answered_by_its_row_whatever_the_status() {
        for code in ErrorCode::ALL {
            for status in [200, 404, 502, code.status()] {
                let refusal = refusal(status, Some(code.as_str()));
                assert_eq!(refusal.known(), Some(*code));
                assert_eq!(refusal.may_be_retried(), code.may_be_retried(), "{code:?}");
                assert_eq!(refusal.may_have_happened(), code.may_have_happened(), "{code:?}");
            }
        }
    }

    #[test]
    fn without_a_code_that_is_known_the_status_decides() {
        for code in [None, Some("of_a_newer_release")] {
            for (status, retried, happened) in [
                (302, true, false),
                (400, false, false),
                (404, false, false),
                (408, true, false),
                (409, false, false),
                (413, false, false),
                (422, false, false),
                (429, true, false),
                (500, true, true),
                (502, true, true),
                (503, true, true),
                (504, true, true),
            ] {
                let refusal = refusal(status, code);
                assert_eq!((refusal.may_be_retried(), refusal.may_have_happened()), (retried, happened), "{status}");
            }
        }
    }

    #[test]
    fn each_refusal_is_of_one_kind() {
        type Kind = fn(&Refusal) -> bool;
        let kinds: [(&str, Kind); 4] = [
            ("line", Refusal::is_of_the_line),
            ("busy", Refusal::is_busy),
            ("reload", Refusal::asks_for_a_reload),
            ("token", Refusal::is_of_the_token),
        ];
        let kind = |status, code: Option<&str>| {
            let refusal = refusal(status, code);
            let of: Vec<&str> = kinds.iter().filter(|(_, is)| is(&refusal)).map(|(name, _)| *name).collect();
            assert!(of.len() <= 1, "{status} {code:?} is {of:?}");
            of.first().copied().unwrap_or("content")
        };
        for code in ErrorCode::ALL {
            kind(code.status(), Some(code.as_str()));
        }
        for (status, code, expected) in [
            (401, None, "token"),
            (403, Some("must_change_pin"), "token"),
            (400, Some("incomplete_body"), "line"),
            (408, Some("request_timeout"), "line"),
            (408, None, "line"),
            (429, Some("too_many_requests"), "busy"),
            (429, None, "busy"),
            (503, Some("unavailable"), "busy"),
            (503, None, "busy"),
            (409, Some("epoch_changed"), "reload"),
            (409, Some("cursor_ahead"), "reload"),
            (409, Some("history_changed"), "reload"),
            (409, Some("of_a_newer_release"), "reload"),
            (409, Some("conflict"), "content"),
            (409, None, "content"),
            (400, Some("unreadable_json"), "content"),
            (413, None, "content"),
            (500, Some("internal"), "content"),
            (500, None, "content"),
            (502, None, "content"),
            (302, None, "content"),
        ] {
            assert_eq!(kind(status, code), expected, "{status} {code:?}");
        }
    }
}
