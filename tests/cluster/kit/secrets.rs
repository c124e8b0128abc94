//! Every PIN, token and key that a test has to do with, and where it must not be found: in no log, in no database, and in
//! no answer but the one that hands it out.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// What is secret in this test process, with a name that may be printed.
static KNOWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// Keys of answers that hold secrets, and the paths that may answer them.
const HANDED_OUT: &[(&str, &str)] = &[
    ("accessToken", "/auth/"),
    ("refreshToken", "/auth/"),
    ("syncToken", "/provision"),
    ("generatedPin", "/users"),
    ("token", "/pos/approvals"),
    ("deviceKey", "/devices"),
];
/// Keys of requests that hold secrets.
const SENT: &[&str] = &["pin", "currentPin", "newPin", "refreshToken"];

pub fn note(name: &str, secret: &str) {
    // Shorter ones are in every other number.
    if secret.len() >= 6 {
        KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(secret.to_owned(), name.to_owned());
    }
}

/// Notes what is secret in a request.
pub fn note_request(path: &str, body: Option<&Value>) {
    for key in SENT {
        if let Some(secret) = body.and_then(|body| body[*key].as_str()) {
            note(&format!("{key} sent to {path}"), secret);
        }
    }
}

/// Notes what an answer hands out, and fails when it says any other secret.
#[track_caller]
pub fn check_answer(path: &str, body: &Value, text: &str) {
    let allowed: Vec<&(&str, &str)> = HANDED_OUT.iter().filter(|(_, place)| path.contains(place)).collect();
    for (key, _) in &allowed {
        if let Some(secret) = body["data"][*key].as_str() {
            note(&format!("{key} of {path}"), secret);
        }
    }
    // What is handed out here may be in the answer; the PIN key goes to stores in the handshake.
    let handed = |secret: &str| allowed.iter().any(|(key, _)| body["data"][*key] == secret);
    if !path.starts_with("/sync/handshake") {
        refuse(&format!("the answer of {path}"), text.as_bytes(), handed);
    }
}

/// Notes the keys of a server, and fails when its log or its database has any secret.
#[track_caller]
pub fn check_server(dir: &Path, log: &str) {
    for (file, keys) in [("token.key", &["secret"][..]), ("pin.key", &["key", "own", "root", "salt"])] {
        let Ok(text) = fs::read_to_string(dir.join(file)) else { continue };
        let json: Value = serde_json::from_str(&text).expect("a key file is JSON");
        note_keys(file, &json, keys);
    }
    refuse(&format!("the log of {}", dir.display()), log.as_bytes(), |_| false);
    for file in ["tillkeep.db", "tillkeep.db-wal", "address"] {
        let bytes = fs::read(dir.join(file)).unwrap_or_default();
        // Six digits stand in every database by chance; longer secrets do not.
        refuse(&dir.join(file).display().to_string(), &bytes, |secret| secret.len() < 10);
    }
}

fn note_keys(file: &str, json: &Value, keys: &[&str]) {
    match json {
        Value::Array(items) => items.iter().for_each(|item| note_keys(file, item, keys)),
        Value::Object(entries) => {
            for (key, value) in entries {
                match value.as_str() {
                    Some(text) if keys.contains(&key.as_str()) => note(&format!("{key} of {file}"), text),
                    _ => note_keys(file, value, keys),
                }
            }
        }
        _ => {}
    }
}

#[track_caller]
fn refuse(place: &str, bytes: &[u8], excepted: impl Fn(&str) -> bool) {
    let text = String::from_utf8_lossy(bytes);
    for (secret, name) in KNOWN.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        assert!(excepted(secret) || !contains(&text, secret), "{name} is in {place}");
    }
}

/// Whether `needle` stands in `hay` by itself, not as a part of a longer number or word.
///
/// The search of the standard library looks at few bytes of what it passes, which counts: every file of every server is
/// searched for every secret.
fn contains(hay: &str, needle: &str) -> bool {
    let part = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = hay.as_bytes();
    hay.match_indices(needle).any(|(at, _)| {
        needle.len() >= 10
            || !(part(at.checked_sub(1).and_then(|at| bytes.get(at))) || part(bytes.get(at + needle.len())))
    })
}
