//! Which addresses alerts may be posted to: those of https, and of http on this machine alone. Where they lead an administrator decides.

use reqwest::Url;
use tillkeep_http::error::{Error, Result};

use crate::address::is_loopback;

/// Letters of an address at the most.
pub(super) const LONGEST: usize = 500;

/// The address as it is kept; a refusal names the field `url` and the remedy.
pub(super) fn judged(text: &str) -> Result<String> {
    let wrong = |message: &str| Error::field("url", message);
    if text.len() > LONGEST {
        return Err(wrong("must have at most 500 characters"));
    }
    let url = Url::parse(text).map_err(|_| wrong("must be an address like https://example.com/alerts"))?;
    if !url.has_host() || !matches!(url.scheme(), "https" | "http") {
        return Err(wrong("must be an address like https://example.com/alerts"));
    }
    if url.scheme() == "http" && !is_loopback(url.as_str()) {
        return Err(wrong(
            "must begin with https://; http:// is for a receiver on this machine alone, such as http://127.0.0.1:9000/",
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("must not hold a name or a password; posts are signed with the secret of the hook"));
    }
    if url.fragment().is_some() {
        return Err(wrong("must not have a part behind #, which is never sent"));
    }
    if url.as_str().len() > LONGEST {
        return Err(wrong("must have at most 500 characters"));
    }
    Ok(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alerts_go_to_https_or_to_this_machine() {
        for good in [
            "https://example.com/alerts?of=hq",
            "https://10.0.0.7:8443/",
            "http://127.0.0.1:9000/",
            "http://[::1]:9000/hook",
            "http://localhost/hook",
        ] {
            assert_eq!(judged(good).expect("taken"), good);
        }
        let long = format!("https://example.com/{}", "a".repeat(LONGEST));
        for bad in [
            "",
            "example.com",
            "/alerts",
            "ftp://example.com/",
            "file:///etc/passwd",
            "http://example.com/",
            "http://10.0.0.7/",
            "http://127.0.0.1.example.com/",
            "https://name:word@example.com/",
            "https://name@example.com/",
            "https://example.com/#here",
            &long,
        ] {
            let refusal = judged(bad).expect_err(bad);
            assert_eq!(refusal.details().first().map(|detail| detail.field.as_str()), Some("url"), "{bad}");
        }
    }
}
