//! The address at which others reach this headquarters: what a setting says, else the one in the browser of whoever asks, else
//! that of the listener. One that is good on this machine alone is never given without a word.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{Uri, header};
use serde::Serialize;
use tillkeep_http::describe::Argument;
use tillkeep_http::request::{Transport, is_forwarded};
use utoipa::ToSchema;

use crate::Hq;

/// Where an address comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = AddressSource)]
pub(crate) enum Source {
    /// `public_url`.
    Setting,
    /// What the request came to, as the browser or a trusted proxy says it.
    Browser,
    /// Where the server listens.
    Listener,
}

/// How others reach this headquarters, as far as it knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = HeadquartersAddress)]
pub(crate) struct Address {
    pub url: String,
    source: Source,
    /// Why nobody on another machine gets anywhere with it; null of one that may be good for all.
    warning: Option<String>,
}

impl Address {
    fn new(url: &str, source: Source) -> Self {
        let warning = (is_loopback(url) || is_any(url)).then(|| {
            format!(
                "{url} is this machine alone, and no store or browser on another one reaches it: set public_url (PUBLIC_URL) to the \
                 address that others use"
            )
        });
        Self { url: url.to_owned(), source, warning }
    }
}

/// The address that a request came to.
pub(crate) struct Asked {
    url: Option<String>,
    is_forwarded: bool,
}

impl Argument for Asked {}

impl FromRequestParts<Arc<Hq>> for Asked {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, hq: &Arc<Hq>) -> Result<Self, Infallible> {
        let transport = Transport::from_request_parts(parts, hq).await?;
        let is_forwarded = is_forwarded(&parts.headers);
        let from_proxy = is_forwarded && hq.auth.is_from_proxy(parts);
        // What a stranger passes on came to another address than this one, and says of it what it likes.
        let url = if is_forwarded && !from_proxy { None } else { came_to(parts, transport.tls, from_proxy) };
        Ok(Self { url, is_forwarded })
    }
}

fn came_to(parts: &Parts, tls: bool, from_proxy: bool) -> Option<String> {
    let said = |name: &str| {
        let value = parts.headers.get(name).filter(|_| from_proxy)?.to_str().ok()?;
        // The nearest proxy writes last.
        value.rsplit(',').next().map(str::trim).filter(|value| !value.is_empty())
    };
    let host = || parts.headers.get(header::HOST)?.to_str().ok();
    let host = said("x-forwarded-host").or_else(host).or_else(|| parts.uri.authority().map(Authority::as_str))?;
    let scheme = said("x-forwarded-proto").filter(|scheme| ["http", "https"].contains(scheme));
    let scheme = scheme.unwrap_or(if tls { "https" } else { "http" });
    is_plain(host).then(|| format!("{scheme}://{host}"))
}

/// Whether `host` is a name or number with or without a port, and nothing that a shell would take for something else.
fn is_plain(host: &str) -> bool {
    let known = |letter: u8| letter.is_ascii_alphanumeric() || b".-_:[]".contains(&letter);
    host.len() <= 255 && host.bytes().all(known) && host.parse::<Authority>().is_ok_and(|host| !host.host().is_empty())
}

/// Whether `url` is good on the machine alone that it is used on.
pub(crate) fn is_loopback(url: &str) -> bool {
    let host = host_of(url);
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
}

/// Whether `url` is where a server listens that listens everywhere, which a browser on the same machine takes as well.
fn is_any(url: &str) -> bool {
    host_of(url).parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_unspecified())
}

/// The host of `url`, a number without its brackets; nothing of what is no address.
fn host_of(url: &str) -> String {
    let url = url.parse::<Uri>().unwrap_or_default();
    url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']').to_owned()
}

impl Hq {
    /// How others reach this headquarters, as far as that is known where `asked` came to.
    pub(crate) fn address(&self, asked: &Asked) -> Option<Address> {
        let own = self.own_url.get().filter(|_| !asked.is_forwarded);
        let known = [
            (self.public_url.as_ref(), Source::Setting),
            (asked.url.as_ref(), Source::Browser),
            (own, Source::Listener),
        ];
        known.into_iter().find_map(|(url, source)| Some(Address::new(url?, source)))
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn of(headers: &[(&str, &str)], tls: bool, from_proxy: bool) -> Option<String> {
        let mut request = Request::get("/api/v1/stores");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        came_to(&request.body(()).expect("a request").into_parts().0, tls, from_proxy)
    }

    #[test]
    fn a_request_came_to_what_its_browser_named_or_a_trusted_proxy() {
        let host = ("host", "hq.example.com:8443");
        assert_eq!(of(&[host], false, false).as_deref(), Some("http://hq.example.com:8443"));
        assert_eq!(of(&[host], true, false).as_deref(), Some("https://hq.example.com:8443"));
        let passed_on = [("x-forwarded-host", "hq.example.com"), ("x-forwarded-proto", "https"), ("host", "10.0.0.7")];
        assert_eq!(of(&passed_on, false, true).as_deref(), Some("https://hq.example.com"));
        assert_eq!(of(&passed_on, false, false).as_deref(), Some("http://10.0.0.7"), "of a stranger it says nothing");
        let twice = [("x-forwarded-host", "evil.example, hq.example.com"), ("x-forwarded-proto", "gopher")];
        assert_eq!(of(&twice, false, true).as_deref(), Some("http://hq.example.com"));
        assert_eq!(of(&[], true, true), None);
        for host in ["a b", "a'b", "$(id)", "me@hq", "hq/x", "", ":80"] {
            assert_eq!(of(&[("host", host)], false, false), None, "{host}");
        }
        assert_eq!(of(&[("host", "[2001:db8::5]:8080")], false, false).as_deref(), Some("http://[2001:db8::5]:8080"));
    }

    #[test]
    fn an_address_of_this_machine_alone_comes_with_a_word() {
        let here =
            ["http://127.0.0.1:8080", "http://localhost", "http://LOCALHOST:1", "https://[::1]:1", "http://127.9.9.9"];
        for url in here.into_iter().chain(["http://0.0.0.0:8080", "http://[::]:8080"]) {
            let said = Address::new(url, Source::Browser).warning.expect("a warning");
            assert!(said.starts_with(url) && said.contains("public_url"), "{said}");
        }
        for url in ["https://hq.example.com", "http://10.0.0.1:8080", "http://localhost.example.com"] {
            assert_eq!(Address::new(url, Source::Setting).warning, None, "{url}");
        }
    }
}
