//! Passkeys, with an authenticator of software.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde_json::{Value as Json, json};
use tillkeep_http::auth::SignInSettings;
use uuid::Uuid;

use super::factors::{chief, login, noted, signed_in};
use super::kit::{Kit, Person};

const HERE: &str = "192.0.2.1";
pub const ORIGIN: &str = "http://localhost:8080";

/// A device of a user that makes passkeys for one name.
pub struct Authenticator {
    key: EcdsaKeyPair,
    id: [u8; 16],
    name: &'static str,
}

impl Authenticator {
    pub fn new(name: &'static str) -> Self {
        let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).expect("a key");
        Self { key, id: *Uuid::new_v4().as_bytes(), name }
    }

    /// Present, verified, and so many uses; `more` is what it tells of a new key.
    fn data(&self, flags: u8, counter: u32, more: &[u8]) -> Vec<u8> {
        let name = digest(&SHA256, self.name.as_bytes());
        [name.as_ref(), &[flags], &counter.to_be_bytes(), more].concat()
    }

    fn client(kind: &str, challenge: &Json, origin: &str) -> Vec<u8> {
        json!({"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": false}).to_string().into_bytes()
    }

    fn answer(&self, response: &Json) -> Json {
        let id = BASE64.encode(self.id);
        json!({"id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {}})
    }

    /// Makes what `options` ask for, on a page of `origin`.
    pub fn made(&self, options: &Json, origin: &str) -> Json {
        let (x, y) = self.key.public_key().as_ref()[1..].split_at(32);
        // The key as COSE writes it: EC2, ES256, P-256.
        let key = [&[0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 0x20][..], x, &[0x22, 0x58, 0x20], y].concat();
        let more = [&[0; 16][..], &[0, 16], &self.id, &key].concat();
        let data = self.data(0x45, 0, &more);
        let size = u8::try_from(data.len()).expect("a byte");
        let head =
            [&[0xa3, 0x63][..], b"fmt", &[0x64], b"none", &[0x67], b"attStmt", &[0xa0, 0x68], b"authData"].concat();
        let object = [&head[..], &[0x58, size], &data].concat();
        let client = Self::client("webauthn.create", &options["challenge"], origin);
        self.answer(&json!({"attestationObject": BASE64.encode(object), "clientDataJSON": BASE64.encode(client)}))
    }

    /// Answers what `options` ask for, on a page of `origin`.
    pub fn shown(&self, options: &Json, origin: &str, counter: u32) -> Json {
        let data = self.data(0x05, counter, &[]);
        let client = Self::client("webauthn.get", &options["challenge"], origin);
        let signed = [&data[..], digest(&SHA256, &client).as_ref()].concat();
        let signature = self.key.sign(&SystemRandom::new(), &signed).expect("a signature");
        self.answer(&json!({
            "authenticatorData": BASE64.encode(data), "clientDataJSON": BASE64.encode(client),
            "signature": BASE64.encode(signature.as_ref()), "userHandle": null,
        }))
    }

    /// Becomes a second factor of `who`.
    pub async fn set_up(&self, kit: &Kit, who: &Person, name: &str) -> Json {
        let begun = kit.post(who, "/auth/factors/passkeys", json!({"name": name})).await.data();
        let path = format!("/auth/factors/passkeys/{}", begun["id"].as_str().expect("an id"));
        let credential = self.made(&begun["options"], ORIGIN);
        kit.post(who, &path, json!({"credential": credential})).await.data()
    }
}

#[tokio::test]
async fn a_user_signs_in_with_one_of_several_passkeys_and_each_challenge_is_good_once() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let chief = signed_in(id, login(&kit, json!({}), HERE).await);
    let (one, two) = (Authenticator::new("localhost"), Authenticator::new("localhost"));
    assert_eq!(one.set_up(&kit, &chief, "key").await["recoveryCodes"].as_array().map(Vec::len), Some(10));
    assert!(two.set_up(&kit, &chief, "laptop").await["recoveryCodes"].is_null(), "they came with the first one");
    for (used, authenticator) in [&one, &two].into_iter().enumerate() {
        let asked = login(&kit, json!({}), HERE).await;
        asked.refused(401, "second_factor_required");
        let challenge = &asked.body["challenge"];
        assert_eq!(challenge["methods"], json!(["passkey", "recovery"]));
        assert_eq!(challenge["passkey"]["allowCredentials"].as_array().map(Vec::len), Some(2));
        let shown = authenticator.shown(&challenge["passkey"], ORIGIN, 1);
        let body = json!({"challenge": challenge["id"], "passkey": shown});
        let (first, second) = tokio::join!(login(&kit, body.clone(), HERE), login(&kit, body.clone(), "192.0.2.2"));
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 401], "{} {}", first.text, second.text);
        let later = login(&kit, body, HERE).await;
        later.refused(401, "second_factor_required");
        assert!(later.body["challenge"]["id"].is_string(), "it asks anew");
        assert_eq!(noted(&kit, "factor.used").await.len(), used + 1);
        kit.clock.advance(60_000);
    }
}

#[tokio::test]
async fn strangers_who_guess_a_name_stop_no_passkey_with_a_challenge() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let chief = signed_in(id, login(&kit, json!({}), HERE).await);
    let authenticator = Authenticator::new("localhost");
    authenticator.set_up(&kit, &chief, "key").await;
    let guess = async |host: u8| login(&kit, json!({"pin": "482915"}), &format!("198.51.100.{host}")).await;
    for host in 0..49 {
        guess(host).await.refused(401, "invalid_credentials");
    }
    let asked = login(&kit, json!({}), HERE).await.body["challenge"].clone();
    guess(49).await.refused(401, "invalid_credentials");
    guess(50).await.refused(429, "too_many_attempts");
    let shown = authenticator.shown(&asked["passkey"], ORIGIN, 1);
    login(&kit, json!({"challenge": asked["id"], "passkey": shown}), HERE).await.is(200);
}

#[tokio::test]
async fn a_passkey_of_another_page_another_person_or_another_challenge_is_wrong() {
    let kit = Kit::new().await;
    let (_, id) = chief(&kit).await;
    let chief = signed_in(id, login(&kit, json!({}), HERE).await);
    let begun = kit.post(&chief, "/auth/factors/passkeys", json!({})).await.data();
    let (own, other) = (Authenticator::new("localhost"), Authenticator::new("localhost"));
    let path = format!("/auth/factors/passkeys/{}", begun["id"].as_str().expect("an id"));
    let elsewhere = own.made(&begun["options"], "http://evil.example");
    kit.post(&chief, &path, json!({"credential": elsewhere})).await.names("credential");
    own.set_up(&kit, &chief, "key").await;
    let asked = login(&kit, json!({}), HERE).await.body["challenge"].clone();
    let older = login(&kit, json!({}), HERE).await.body["challenge"].clone();
    let wrong = [
        own.shown(&asked["passkey"], "http://evil.example", 1),
        other.shown(&asked["passkey"], ORIGIN, 1),
        own.shown(&older["passkey"], ORIGIN, 1),
        Authenticator { name: "evil.example", ..own }.shown(&asked["passkey"], ORIGIN, 1),
        json!({"id": "x"}),
    ];
    for (nth, passkey) in wrong.into_iter().enumerate() {
        kit.clock.advance(12_000);
        let got =
            login(&kit, json!({"challenge": asked["id"], "passkey": passkey}), &format!("192.0.2.{}", 10 + nth)).await;
        got.refused(401, "invalid_credentials");
    }
}

#[tokio::test]
async fn passkeys_belong_to_the_address_that_the_operator_wrote_and_never_to_the_host_of_a_request() {
    let usable = [
        (None, true),
        (Some("http://localhost:8080"), true),
        (Some("https://hq.example.com/"), true),
        (Some("http://hq.example.com"), false),
        (Some("https://192.0.2.9"), false),
        (Some("http://127.0.0.1:8080"), false),
    ];
    for (public_url, is_usable) in usable {
        let public_url = public_url.map(str::to_owned);
        let kit = Kit::with(SignInSettings { public_url: public_url.clone(), ..SignInSettings::default() }).await;
        let admin = kit.admin().await;
        let said = kit.get(&admin, "/auth/factors").await.data()["passkeys"].clone();
        assert_eq!(said["usable"], json!(is_usable), "{public_url:?}");
        let begun = kit.post(&admin, "/auth/factors/passkeys", json!({})).await;
        if is_usable {
            // Whatever the request's Host says, which is hq.example:8080.
            let name =
                public_url.as_deref().filter(|url| url.contains("example")).map_or("localhost", |_| "hq.example.com");
            assert_eq!(begun.data()["options"]["rp"]["id"], json!(name));
        } else {
            assert!(said["reason"].as_str().expect("a reason").contains("public_url"));
            begun.refused(422, "not_supported_yet");
        }
    }
}
