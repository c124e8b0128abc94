//! Who may speak to a `nats-server`, as `nsc` would write it: an operator, an account with `JetStream`, and a user.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nkeys::KeyPair;
use serde_json::{Value as Json, json};

pub struct Identity {
    /// For the configuration of the server.
    pub configuration: String,
    /// The credentials file of the user.
    pub credentials: String,
}

impl Identity {
    pub fn new() -> Self {
        let (operator, account, user) = (KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_user());
        let system = KeyPair::new_account();
        let unlimited = json!({
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1,
            "leaf": -1, "mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1,
        });
        let operator_token = token(&operator, &operator, &json!({"type": "operator", "version": 2}));
        let claims = json!({"type": "account", "version": 2, "limits": unlimited});
        let account_token = token(&operator, &account, &claims);
        let claims = json!({"type": "account", "version": 2, "limits": {
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true, "conn": -1, "leaf": -1,
        }});
        let system_token = token(&operator, &system, &claims);
        let user_token =
            token(&account, &user, &json!({"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1}));
        let configuration = format!(
            "operator: {operator_token}\nsystem_account: {system}\nresolver: MEMORY\n\
             resolver_preload: {{ {account}: {account_token}\n {system}: {system_token} }}",
            account = account.public_key(),
            system = system.public_key(),
        );
        let seed = user.seed().expect("a seed");
        let credentials = format!(
            "-----BEGIN NATS USER JWT-----\n{user_token}\n------END NATS USER JWT------\n\n\
             -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
        );
        Self { configuration, credentials }
    }
}

/// What `issuer` says of `subject`.
fn token(issuer: &KeyPair, subject: &KeyPair, nats: &Json) -> String {
    let encode = |json: &Json| URL_SAFE_NO_PAD.encode(json.to_string());
    let head = encode(&json!({"typ": "JWT", "alg": "ed25519-nkey"}));
    let body = encode(&json!({
        "jti": subject.public_key(), "iat": 1_700_000_000, "iss": issuer.public_key(), "name": "test",
        "sub": subject.public_key(), "nats": nats,
    }));
    let signed = format!("{head}.{body}");
    let signature = issuer.sign(signed.as_bytes()).expect("a signature");
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}
