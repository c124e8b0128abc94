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

/// What stands before the hosts of an address and is no name: passwords, and the token of a broker. Some may be empty.
pub fn before_hosts(url: &str) -> Vec<&str> {
    // A password that was not encoded may have an @ in it. Behind a comma another address may follow.
    let before = url.split_once("://").and_then(|(_, rest)| rest.rsplit_once('@'));
    let Some((before, _)) = before else { return Vec::new() };
    let secret = |part| {
        let who = str::rsplit_once(part, "://").map_or(part, |(_, who)| who);
        let who = who.split_once('@').map_or(who, |(who, _)| who);
        match who.split_once(':') {
            Some((_, password)) => Some(password),
            // A token of NATS stands alone; a name of PostgreSQL is none.
            None => (!url.starts_with("postgres")).then_some(who),
        }
    };
    let whole = before.split_once(':').map(|(_, password)| password);
    before.split(',').chain([before]).filter_map(secret).chain(whole).collect()
}

/// Passwords among the parameters of an address.
pub fn among_parameters(url: &str) -> impl Iterator<Item = &str> {
    let parameters = url.split_once('?').map_or("", |(_, parameters)| parameters);
    parameters.split('&').filter_map(|pair| pair.strip_prefix("password="))
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
