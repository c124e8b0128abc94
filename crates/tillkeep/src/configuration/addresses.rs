//! Addresses as people write them, looked at before anything connects or listens.

use anyhow::{Context, Result, bail};

/// Refuses what no server can listen on.
pub fn address_to_listen_on(text: &str) -> Result<()> {
    let port = |port: &str| port.parse::<u16>().is_ok();
    let is_address = match text.rsplit_once(':') {
        // An address of version 6 has colons of its own.
        Some((host, number)) if host.contains(':') => host.starts_with('[') && host.ends_with(']') && port(number),
        Some((host, number)) => !host.is_empty() && port(number),
        None => false,
    };
    if !is_address {
        bail!("{text:?} is no address to listen on; write host:port, such as 127.0.0.1:8080, with a port up to 65535");
    }
    Ok(())
}

/// An address of the web: `http` or `https`, a host, and nothing that a client would drop.
pub fn web_address(text: &str) -> Result<reqwest::Url> {
    let example = "write it as https://hq.example.com";
    let url = reqwest::Url::parse(text).with_context(|| format!("{text:?} is no address; {example}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        bail!("{text}: {} is not http or https; {example}", url.scheme());
    }
    if url.host_str().is_none_or(str::is_empty) {
        bail!("{text} names no host; {example}");
    }
    if url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        bail!("{text} has more than an address; {example}");
    }
    Ok(url)
}

/// Where a page comes from, as a browser says it: `http` or `https`, a host, and a port that is not the usual one. A browser's text is
/// compared letter by letter, so that anything else would never fit.
pub fn origin(text: &str) -> std::result::Result<String, String> {
    let example = "name each origin, such as https://till.example.com";
    if text.contains('*') {
        return Err(format!("{text:?} would let in pages that nobody here knows; {example}"));
    }
    let url = reqwest::Url::parse(text).map_err(|_| format!("{text:?} is no origin; {example}"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(format!("{text:?} is no origin of pages; {example}"));
    }
    let written = url.origin().ascii_serialization();
    if written == text {
        return Ok(written);
    }
    if text.strip_suffix('/') == Some(&*written) {
        return Err(format!("{text:?} ends with a slash, which no browser says; write {written}"));
    }
    Err(format!("{text:?} is not how a browser says it; write {written}"))
}
