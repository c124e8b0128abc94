//! One post to a hook: signed, within ten seconds, and nothing of its answer but how it begins.

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tillkeep_http::error::{Result, innermost};
use tillkeep_http::files;
use tillkeep_http::pins::{Pins, hmac};
use tillkeep_model::Instant;
use tillkeep_storage::alerts::deliveries::Answer;
use tillkeep_storage::entity::alert_hook;
use uuid::Uuid;

use crate::Hq;

/// Which event it is, the same at every try.
const ID: &str = "tillkeep-event-id";
/// When it was signed, and the signature over that and the body.
const SIGNATURE: &str = "tillkeep-signature";
/// What secrets begin with, so that one is known that is found somewhere.
const SECRET: &str = "whsec_";

/// Bytes of an answer that are read, and letters of it that are shown.
const READ: usize = 4 << 10;
const SHOWN: usize = 200;

/// Beside which a secret is sealed.
fn about(hook: Uuid) -> String {
    format!("alert_hook:{hook}")
}

/// A new secret for `hook`: as it is shown once, and as the database keeps it.
pub(super) fn new_secret(pins: &Pins, hook: Uuid) -> Result<(String, String)> {
    let secret = format!("{SECRET}{}", hex::encode(files::random::<32>()));
    let sealed = pins.seal_hook(&about(hook), secret.as_bytes())?;
    Ok((secret, sealed))
}

/// The header over `body`: `t=<seconds>,v1=<hex>`.
fn signature(secret: &[u8], now: Instant, body: &str) -> String {
    let seconds = now.millis() / 1000;
    let mac = hmac(secret, format!("{seconds}.{body}").as_bytes());
    format!("t={seconds},v1={}", hex::encode(mac))
}

/// Posts `body`, the event `event_id`, to `hook`.
pub(super) async fn post(hq: &Hq, hook: &alert_hook::Model, event_id: Uuid, body: &str) -> Answer {
    let said = |text: String| Answer { status: None, text: shown(text.as_bytes()) };
    let Some(secret) = hq.auth.pins.open_hook(&about(hook.id), &hook.secret) else {
        return said("its secret was kept under another pin.key: give it a new one".to_owned());
    };
    let client = match hq.alerting.client() {
        Ok(client) => client,
        Err(error) => return said(cause(error)),
    };
    let request = client
        .post(&hook.url)
        .header(CONTENT_TYPE, "application/json")
        .header(ID, event_id.to_string())
        .header(SIGNATURE, signature(&secret, hq.clock.now(), body))
        .body(body.to_owned());
    match request.send().await {
        Ok(response) => answer(response).await,
        Err(error) => said(cause(error)),
    }
}

/// What was answered. Of one that broke off half-way nobody knows whether it was taken.
async fn answer(mut response: Response) -> Answer {
    let status = response.status().as_u16();
    let mut bytes = Vec::new();
    while bytes.len() < READ {
        match response.chunk().await {
            Ok(Some(chunk)) => bytes.extend(chunk.iter().take(READ - bytes.len())),
            Ok(None) => break,
            Err(error) => return Answer { status: None, text: shown(cause(error).as_bytes()) },
        }
    }
    Answer { status: Some(status), text: shown(&bytes) }
}

/// How a text begins, in one line.
fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    text.chars().map(plain).take(SHOWN).collect::<String>().trim().to_owned()
}

/// The innermost cause, without the address: that may hold what is to be told to nobody.
fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    if error.is_timeout() {
        return "no answer within 10 seconds".to_owned();
    }
    innermost(&error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_post_is_signed_over_its_time_and_its_body() {
        let now = Instant::from_millis(1_700_000_000_123);
        let signed = signature(b"whsec_key", now, "{\"a\":1}");
        let (time, mac) = signed.split_once(",v1=").expect("two parts");
        assert_eq!(time, "t=1700000000");
        assert_eq!(mac, hex::encode(hmac(b"whsec_key", b"1700000000.{\"a\":1}")));
        assert_ne!(signature(b"another", now, "{\"a\":1}"), signed);
        assert_ne!(signature(b"whsec_key", now, "{\"a\":2}"), signed);
    }

    #[test]
    fn of_an_answer_two_hundred_letters_in_one_line_are_shown() {
        assert_eq!(shown(b" taken\r\n\0thanks\n"), "taken   thanks");
        assert_eq!(shown("é".repeat(500).as_bytes()), "é".repeat(SHOWN));
        assert_eq!(shown(&[0xff, b'a']), "\u{fffd}a");
    }
}
