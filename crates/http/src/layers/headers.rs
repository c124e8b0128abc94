//! The headers of every answer.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use tillkeep_model::wire::PROTOCOL;

use crate::request::Transport;

static PROTOCOL_HEADER: HeaderName = HeaderName::from_static("tillkeep-protocol");

/// Routes of the machine protocol: their answers name it, refusals included.
const MACHINE: [&str; 7] = [
    "/api/v1/sync/change-pin",
    "/api/v1/sync/handshake",
    "/api/v1/sync/versions",
    "/api/v1/sync/pull",
    "/api/v1/sync/push",
    "/api/v1/sync/own-documents",
    "/api/v1/sync/sign-in",
];

/// How those of sales and of pictures begin.
const BEGINNINGS: [&str; 2] = ["/api/v1/sync/sales/", "/api/v1/sync/pictures/"];

/// Scripts and objects from this server alone, and no page that puts this one into a frame.
const POLICY: &str = "default-src 'self'; script-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'";

/// What an answer gets unless it brings its own: a page may need a wider policy, a till the camera, a picture may be kept.
const UNLESS_GIVEN: [(HeaderName, &str); 3] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::CACHE_CONTROL, "no-store"),
    // Nothing else here asks for any of these: a script that got in after all does not get them either.
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), serial=(), usb=()",
    ),
];

/// What every answer gets.
const ALWAYS: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    // No window of another site keeps a hand on this one, and none takes its answers as pictures or scripts.
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// A year, as browsers and their lists ask for.
const ONLY_TLS: &str = "max-age=31536000; includeSubDomains";

pub(super) fn only_tls(headers: &mut HeaderMap) {
    headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(ONLY_TLS));
}

pub(super) fn add(headers: &mut HeaderMap, path: &str, transport: Transport) {
    for (name, value) in UNLESS_GIVEN {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if transport.tls {
        only_tls(headers);
    }
    if MACHINE.contains(&path) || BEGINNINGS.iter().any(|beginning| path.starts_with(beginning)) {
        headers.insert(PROTOCOL_HEADER.clone(), HeaderValue::from_static(PROTOCOL));
    }
}
