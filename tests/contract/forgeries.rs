//! Tokens that no server signed, or that say what no token of this server says. None of them opens anything.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value as Json, json};
use sha2::{Sha256, Sha384, Sha512};
use tillkeep_http::routes::Protection;
use tillkeep_model::ids;
use uuid::Uuid;

use crate::kit::{NO_STORE, NOT_SYNC, Server, UNAUTHORIZED, World, is_tried};

/// The key of one ring as its file has it.
struct Key {
    kid: String,
    text: String,
}

impl Key {
    fn new(data_dir: &Path, ring: &str) -> Self {
        let file = std::fs::read(data_dir.join("token.key")).expect("the key file");
        let keys: Json = serde_json::from_slice(&file).expect("JSON");
        let key = &keys[ring][0];
        let text = |name: &str| key[name].as_str().expect("a text").to_owned();
        Self { kid: text("kid"), text: text("secret") }
    }

    fn bytes(&self) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(&self.text).expect("base64")
    }
}

fn part(json: &Json) -> String {
    URL_SAFE_NO_PAD.encode(json.to_string())
}

fn mac(alg: &str, key: &[u8], data: &str) -> Vec<u8> {
    macro_rules! with {
        ($digest:ty) => {{
            let mut mac = Hmac::<$digest>::new_from_slice(key).expect("a key of any length");
            mac.update(data.as_bytes());
            mac.finalize().into_bytes().to_vec()
        }};
    }
    match alg {
        "HS384" => with!(Sha384),
        "HS512" => with!(Sha512),
        _ => with!(Sha256),
    }
}

/// A token with this header and these claims, signed with `key` as `alg` does it.
fn signed(header: &Json, claims: &Json, alg: &str, key: &[u8]) -> String {
    let data = format!("{}.{}", part(header), part(claims));
    format!("{data}.{}", URL_SAFE_NO_PAD.encode(mac(alg, key, &data)))
}

fn with(json: &Json, key: &str, value: Json) -> Json {
    let mut changed = json.clone();
    changed[key] = value;
    changed
}

fn without(json: &Json, key: &str) -> Json {
    let mut changed = json.clone();
    changed.as_object_mut().expect("an object").remove(key);
    changed
}

type Forgery = (String, String);

/// Forgeries around `claims`, which signed with `key` would be a good token. `foreign` are keys that sign other things.
fn forgeries(claims: &Json, key: &Key, foreign: &[(&str, Vec<u8>)]) -> Vec<Forgery> {
    let header = json!({"alg": "HS256", "typ": "JWT", "kid": key.kid});
    let bytes = key.bytes();
    let good = signed(&header, claims, "HS256", &bytes);
    let mut all: Vec<Forgery> = Vec::new();
    let mut add = |what: &str, token: String| all.push((what.to_owned(), token));

    // Algorithms that are not the one.
    for alg in ["none", "None", "NONE", "nOnE", "", "HS265", "hs256"] {
        let header = with(&header, "alg", json!(alg));
        add(&format!("alg {alg:?}, no signature"), format!("{}.{}.", part(&header), part(claims)));
        add(&format!("alg {alg:?}, signed all the same"), signed(&header, claims, "HS256", &bytes));
    }
    for alg in ["HS384", "HS512"] {
        add(&format!("{alg} with the right key"), signed(&with(&header, "alg", json!(alg)), claims, alg, &bytes));
    }
    for alg in ["RS256", "RS512", "PS256", "ES256", "EdDSA"] {
        let header = with(&header, "alg", json!(alg));
        add(&format!("{alg} in the header, HMAC with the right key"), signed(&header, claims, "HS256", &bytes));
    }
    add("alg is a list", signed(&with(&header, "alg", json!(["HS256"])), claims, "HS256", &bytes));
    add("alg is missing", signed(&without(&header, "alg"), claims, "HS256", &bytes));

    // Headers that offer a key of their own, or name one that is not ours.
    let own = b"a key that the forger chose himself....";
    for (name, value) in [
        ("jku", json!("https://evil.example/keys.json")),
        ("jwk", json!({"kty": "oct", "k": URL_SAFE_NO_PAD.encode(own)})),
        ("x5u", json!("https://evil.example/cert.pem")),
        ("x5c", json!(["MIIB"])),
        ("crit", json!(["exp"])),
    ] {
        add(&format!("{name} in the header, own key"), signed(&with(&header, name, value), claims, "HS256", own));
    }
    for kid in [
        json!(""),
        json!("0"),
        json!("../../../dev/null"),
        json!("' OR '1'='1"),
        json!(Uuid::nil().simple().to_string()),
        json!(key.kid.to_uppercase()),
        json!([key.kid]),
        json!(null),
        json!(1),
    ] {
        // An upper-case kid may be the same text when it has digits alone; then it is no forgery.
        if kid != json!(key.kid) {
            add(&format!("kid {kid}, right key"), signed(&with(&header, "kid", kid.clone()), claims, "HS256", &bytes));
            add(&format!("kid {kid}, empty key"), signed(&with(&header, "kid", kid), claims, "HS256", b""));
        }
    }
    add("kid is missing", signed(&without(&header, "kid"), claims, "HS256", &bytes));

    // Keys that are not the key.
    let guesses: [(&str, &[u8]); 7] = [
        ("an empty key", b""),
        ("the key \"secret\"", b"secret"),
        ("a key of zeros", &[0; 32]),
        ("the text of the key instead of its bytes", key.text.as_bytes()),
        ("the kid as key", key.kid.as_bytes()),
        ("half of the key", &bytes[..16]),
        ("a chosen key", own),
    ];
    for (what, guess) in guesses {
        add(what, signed(&header, claims, "HS256", guess));
    }
    for (what, foreign) in foreign {
        add(what, signed(&header, claims, "HS256", foreign));
    }

    // Good tokens that were touched.
    let (data, signature) = good.rsplit_once('.').expect("three parts");
    let (head, body) = data.split_once('.').expect("three parts");
    let raw = URL_SAFE_NO_PAD.decode(signature).expect("base64");
    let flipped = |at: usize| {
        let mut bytes = raw.clone();
        bytes[at] ^= 1;
        format!("{data}.{}", URL_SAFE_NO_PAD.encode(bytes))
    };
    add("no signature", format!("{data}."));
    add("two parts", data.to_owned());
    add("four parts", format!("{good}.{signature}"));
    add("the first bit of the signature flipped", flipped(0));
    add("the last byte of the signature changed", flipped(31));
    add("the signature cut by one", format!("{data}.{}", URL_SAFE_NO_PAD.encode(&raw[..31])));
    add(
        "the signature and one byte more",
        format!("{data}.{}A", URL_SAFE_NO_PAD.encode([raw.as_slice(), &[0]].concat())),
    );
    add("the signature twice", format!("{data}.{signature}{signature}"));
    add("a padded signature", format!("{data}.{}", URL_SAFE.encode(&raw)));
    add("padded claims", format!("{head}.{body}=.{signature}"));
    add("standard base64", format!("{head}.{}.{}", STANDARD.encode(claims.to_string()), STANDARD.encode(&raw)));
    add("parts in another order", format!("{body}.{head}.{signature}"));
    add("claims of another, this signature", format!("{head}.{}.{signature}", part(&with(claims, "iat", json!(1)))));
    add("a space inside", format!("{head}. {body}.{signature}"));
    add("cut in the middle", good[..good.len() / 2].to_owned());
    add("empty parts", "..".to_owned());
    add("a word", "token".to_owned());
    add("JSON in place of base64", format!("{header}.{claims}.{signature}"));
    let long = with(claims, "x", json!("x".repeat(5000)));
    add("more than 4 KB, rightly signed", signed(&header, &long, "HS256", &bytes));
    add("claims that are a list", signed(&header, &json!([claims]), "HS256", &bytes));
    add("claims that are null", signed(&header, &Json::Null, "HS256", &bytes));
    all
}

/// Rightly signed with the right key, and still no access token: what a bug elsewhere might sign.
fn false_claims(claims: &Json, key: &Key) -> Vec<Forgery> {
    let header = json!({"alg": "HS256", "typ": "JWT", "kid": key.kid});
    let now = claims["iat"].as_i64().expect("iat");
    let changes = [
        ("exp", json!(now - 1)),
        ("exp", json!(0)),
        ("exp", json!(-1)),
        ("exp", json!((now + 3600).to_string())),
        ("exp", json!(null)),
        ("exp", json!([now + 3600])),
        ("exp", json!(1e300)),
        ("exp", json!(true)),
        ("type", json!("refresh")),
        ("type", json!("store_sync")),
        ("type", json!("ACCESS")),
        ("type", json!(["access"])),
        ("type", json!("")),
        ("sid", json!(Uuid::nil())),
        ("sid", json!("1")),
        ("userId", json!(Uuid::nil())),
        ("userId", json!("root")),
        ("userId", json!({"$ne": null})),
    ];
    let mut all: Vec<Forgery> = changes
        .into_iter()
        .map(|(name, value)| (format!("{name} is {value}"), with(claims, name, value)))
        .chain(["exp", "type", "sid", "userId"].map(|name| (format!("{name} is missing"), without(claims, name))))
        .map(|(what, claims)| (what, signed(&header, &claims, "HS256", &key.bytes())))
        .collect();
    for (name, value) in [("jku", json!("https://evil.example")), ("jwk", json!({})), ("crit", json!(["b64"]))] {
        let header = with(&header, name, value);
        all.push((format!("{name} in the header, right key"), signed(&header, claims, "HS256", &key.bytes())));
    }
    all
}

/// Each route refuses every third of the forgeries, and every forgery is tried at a third of the routes.
async fn refused_everywhere(server: &Server, number: usize, what: &str, token: &str) {
    let closed = server.routes.iter().filter(|route| route.protection != Protection::Open);
    for (_, route) in closed.enumerate().filter(|(place, _)| is_tried(place + number, 3)) {
        let got = server.try_route(route, Some(token)).await;
        let bodies: &[&str] =
            if route.protection == Protection::Sync { &[UNAUTHORIZED, NOT_SYNC, NO_STORE] } else { &[UNAUTHORIZED] };
        assert!(
            got.status == 401 && bodies.contains(&got.text.as_str()),
            "{what} on {} {} at {}: {} {}",
            route.method,
            route.path,
            server.name,
            got.status,
            got.text
        );
    }
}

#[tokio::test]
async fn no_forged_token_opens_any_route() {
    let world = World::new().await;
    let pin_key = std::fs::read(world.dir.path().join("hq/pin.key")).expect("the PIN key");
    let other_user = world.person("another", None, &[(ids::role("cashier"), None)]).await;
    for server in &world.servers {
        let dir = world.dir.path().join(server.name);
        let other = world.dir.path().join(if server.name == "hq" { "store" } else { "hq" });
        let (people, sync) = (Key::new(&dir, "people"), Key::new(&dir, "sync"));
        let foreign = [
            ("the key of sync tokens", sync.bytes()),
            ("the key of the other server", Key::new(&other, "people").bytes()),
            ("the PIN key", pin_key.clone()),
            ("the sync token as key", world.sync_token.clone().into_bytes()),
        ];
        let claims = serde_json::to_value(server.claims(world.admin).await).expect("claims");
        let header = json!({"alg": "HS256", "typ": "JWT", "kid": people.kid});
        let good = signed(&header, &claims, "HS256", &people.bytes());
        assert_eq!(server.get(&good, "/auth/me").await.status, 200, "what the forgeries are measured by is good");

        let mut all = forgeries(&claims, &people, &foreign);
        all.extend(false_claims(&claims, &people));
        let another = with(&claims, "userId", json!(other_user));
        all.push(("the userId of another person".to_owned(), signed(&header, &another, "HS256", &people.bytes())));
        assert!(all.len() >= 60, "{}", all.len());
        for (number, (what, token)) in all.iter().enumerate() {
            refused_everywhere(server, number, what, token).await;
        }
        // The session that was tried with is unharmed.
        assert_eq!(server.get(&good, "/auth/me").await.status, 200);
    }
}

#[tokio::test]
async fn no_forged_sync_token_opens_a_sync_route() {
    let world = World::new().await;
    let server = world.at_hq();
    let dir = world.dir.path().join("hq");
    let key = Key::new(&dir, "sync");
    let claims = json!({
        "storeId": world.s01, "storeCode": "S01", "type": "store_sync", "tv": 1, "iat": 1_700_000_000, "jti": Uuid::now_v7(),
    });
    let header = json!({"alg": "HS256", "typ": "JWT", "kid": key.kid});
    let versions = async |token: &str| server.get(token, "/sync/versions").await;
    assert_eq!(versions(&signed(&header, &claims, "HS256", &key.bytes())).await.status, 200);
    let foreign = [
        ("the key of people", Key::new(&dir, "people").bytes()),
        ("the key of the store", Key::new(&world.dir.path().join("store"), "people").bytes()),
    ];
    // Under people's own kid: what their key signs is never a sync token.
    let people = Key::new(&dir, "people");
    let header_of_people = json!({"alg": "HS256", "typ": "JWT", "kid": people.kid});
    let lasting = with(&claims, "exp", json!(4_000_000_000_u64));
    let by_people = signed(&header_of_people, &lasting, "HS256", &people.bytes());
    let mut all = forgeries(&claims, &key, &foreign);
    all.push(("a sync token by the key of people".to_owned(), by_people));
    for (what, token) in all {
        let got = versions(&token).await;
        assert_eq!((got.status, got.text.as_str()), (401, UNAUTHORIZED), "{what}");
    }
    for (name, value, body) in [
        ("type", json!("access"), NOT_SYNC),
        ("type", json!("STORE_SYNC"), NOT_SYNC),
        ("type", json!(null), NOT_SYNC),
        ("type", json!(7), NOT_SYNC),
        ("type", json!(["store_sync"]), NOT_SYNC),
        ("type", json!(""), NOT_SYNC),
        ("storeId", json!(null), NOT_SYNC),
        ("storeId", json!("S01"), NO_STORE),
        ("storeId", json!(""), NO_STORE),
        ("storeId", json!(7), NO_STORE),
        ("storeId", json!({}), NO_STORE),
        ("storeId", json!(Uuid::nil()), NO_STORE),
        ("storeId", json!(Uuid::now_v7()), NO_STORE),
        ("tv", json!(0), NO_STORE),
        ("tv", json!(2), NO_STORE),
        ("tv", json!("1"), UNAUTHORIZED),
    ] {
        let got = versions(&signed(&header, &with(&claims, name, value.clone()), "HS256", &key.bytes())).await;
        assert_eq!((got.status, got.text.as_str()), (401, body), "{name} is {value}");
    }
    for (what, token) in [
        ("no type", without(&claims, "type")),
        ("no storeId", without(&claims, "storeId")),
        ("null for all", with(&with(&with(&claims, "type", json!(null)), "storeCode", json!(null)), "tv", json!(null))),
        ("no type and no storeId", without(&without(&claims, "type"), "storeId")),
    ] {
        let got = versions(&signed(&header, &token, "HS256", &key.bytes())).await;
        assert_eq!((got.status, got.text.as_str()), (401, NOT_SYNC), "{what}");
    }
    // Each route of the sync, the socket included.
    let nowhere = signed(&header, &with(&claims, "storeId", json!("S01")), "HS256", &key.bytes());
    for path in ["/pull?entity_type=products", "/own-documents?entity_type=sales", "/ws"] {
        let got = server.get(&nowhere, &format!("/sync{path}")).await;
        assert_eq!((got.status, got.text.as_str()), (401, NO_STORE), "{path}");
    }
    for path in ["/handshake", "/push"] {
        let got = server.post(&nowhere, &format!("/sync{path}"), json!({"envelopes": []})).await;
        assert_eq!((got.status, got.text.as_str()), (401, NO_STORE), "{path}");
    }
}

#[tokio::test]
async fn a_token_counts_only_as_a_bearer_in_its_header() {
    let world = World::new().await;
    for server in &world.servers {
        let token = server.sign_in(world.admin).await;
        for value in [
            token.clone(),
            format!("Basic {token}"),
            format!("Token {token}"),
            format!("Bearer{token}"),
            format!("Bearer {token} {token}"),
            format!("Bearer {token},"),
            format!("Bearer \"{token}\""),
            "Bearer".to_owned(),
            "Bearer ".to_owned(),
        ] {
            let got = server.call("GET", "/auth/me", Some(&value), None).await;
            assert_eq!((got.status, got.text.as_str()), (401, UNAUTHORIZED), "{value}");
        }
        for path in [format!("/auth/me?token={token}"), format!("/auth/me?access_token={token}")] {
            assert_eq!(server.call("GET", &path, None, None).await.status, 401);
        }
        let cookie = axum::http::Request::get("/api/v1/auth/me").header("cookie", format!("token={token}"));
        assert_eq!(server.send(cookie.body(axum::body::Body::empty()).expect("a request")).await.status, 401);
        assert_eq!(server.call("GET", "/auth/me", Some(&format!("bearer {token}")), None).await.status, 200);
    }
}
