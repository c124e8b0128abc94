use uuid::Uuid;

use super::*;

fn claims(kind: &str, exp: i64) -> AccessClaims {
    AccessClaims {
        user_id: Uuid::nil(),
        username: "ann".into(),
        store_id: None,
        terminal_id: None,
        kind: kind.into(),
        sid: Uuid::nil(),
        iat: 0,
        exp,
        jti: Uuid::nil(),
    }
}

fn at(path: &Path, given: GivenKeys) -> Tokens {
    Tokens::open(&path.join("token.key"), given, Instant::default()).expect("keys")
}

fn tokens() -> Tokens {
    at(tempfile::tempdir().expect("dir").path(), GivenKeys::default())
}

fn refresh_claims(jti: &str) -> RefreshClaims {
    RefreshClaims { kind: REFRESH.into(), user_id: Uuid::nil(), sid: Uuid::nil(), iat: 0, exp: 1001, jti: jti.into() }
}

#[test]
fn a_token_is_good_only_as_its_kind_for_its_time_and_at_its_server() {
    let (here, there) = (tokens(), tokens());
    let now = Instant::from_millis(1_000_000);
    let token = here.sign_access(&claims(ACCESS, 1001)).expect("token");
    assert!(here.access(&token, now).is_some());
    assert!(here.refresh(&token, now).is_none());
    assert!(there.access(&token, now).is_none());
    assert!(here.access(&token, Instant::from_millis(1_001_000)).is_none(), "expired");
    let refresh = here.sign_access(&claims(REFRESH, 1001)).expect("token");
    assert!(here.access(&refresh, now).is_none());
}

#[test]
fn a_token_without_a_signature_is_refused() {
    let here = tokens();
    let token = here.sign_access(&claims(ACCESS, 1001)).expect("token");
    let body = token.split('.').nth(1).expect("body");
    let none = URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#);
    assert!(here.access(&format!("{none}.{body}."), Instant::default()).is_none());
}

#[test]
fn a_store_reads_its_own_identity_from_its_token() {
    let id = Uuid::now_v7();
    let claims =
        SyncClaims { store_id: Some(id), store_code: "S01".into(), kind: STORE_SYNC.into(), tv: 1, iat: 0, jti: None };
    let token = tokens().sign_sync(&claims).expect("token");
    assert_eq!(read_sync_token(&token).and_then(|claims| claims.store_id), Some(id));
    assert!(read_sync_token("not.a.token").is_none());
}

#[test]
fn a_header_that_points_elsewhere_or_asks_for_more_is_refused() {
    let here = tokens();
    let rings = here.rings();
    let key = &rings.people.0[0];
    let claims = serde_json::to_vec(&claims(ACCESS, 1001)).expect("claims");
    let signed = |header: serde_json::Value, claims: &[u8]| {
        let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header.to_string()), URL_SAFE_NO_PAD.encode(claims));
        let mac = crate::pins::hmac(&key.secret, message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(mac))
    };
    let plain = serde_json::json!({"typ": "JWT", "alg": "HS256", "kid": key.kid});
    assert!(here.access(&signed(plain.clone(), &claims), Instant::default()).is_some(), "the forgery works");
    for (name, value) in [
        ("jku", serde_json::json!("https://example.com/keys")),
        ("jwk", serde_json::json!({"kty": "oct", "k": "AAAA"})),
        ("x5u", serde_json::json!("https://example.com/cert")),
        ("x5c", serde_json::json!(["AAAA"])),
        ("crit", serde_json::json!(["exp"])),
        ("b64", serde_json::json!(false)),
        ("zip", serde_json::json!("DEF")),
        ("alg", serde_json::json!("none")),
        ("alg", serde_json::json!("HS512")),
        ("alg", serde_json::json!("RS256")),
        ("kid", serde_json::json!("../../dev/null")),
        ("kid", serde_json::json!(null)),
    ] {
        let mut header = plain.clone();
        header[name] = value;
        assert!(here.access(&signed(header, &claims), Instant::default()).is_none(), "{name}");
    }
    let base = serde_json::to_value(super::tests::claims(ACCESS, 1001)).expect("claims");
    for (name, value) in [
        ("exp", serde_json::json!("1001")),
        ("exp", serde_json::json!(1001.5)),
        ("exp", serde_json::json!(null)),
        ("iat", serde_json::json!("0")),
        ("iat", serde_json::json!(null)),
        ("type", serde_json::json!(REFRESH)),
        ("type", serde_json::json!(STORE_SYNC)),
        ("type", serde_json::json!(null)),
        ("sid", serde_json::json!("x")),
        ("userId", serde_json::json!(7)),
    ] {
        let mut claims = base.clone();
        claims[name] = value.clone();
        let token = signed(plain.clone(), claims.to_string().as_bytes());
        assert!(here.access(&token, Instant::default()).is_none(), "{name}: {value}");
        let mut without = base.clone();
        without.as_object_mut().expect("object").remove(name);
        let token = signed(plain.clone(), without.to_string().as_bytes());
        assert!(here.access(&token, Instant::default()).is_none(), "without {name}");
    }
}

#[test]
fn a_new_key_signs_and_the_old_one_still_verifies_without_a_restart() {
    let dir = tempfile::tempdir().expect("dir");
    let path = dir.path().join("token.key");
    let here = at(dir.path(), GivenKeys::default());
    let now = Instant::default();
    let old = here.sign_access(&claims(ACCESS, 1001)).expect("token");
    let presented = here.sign_refresh(&refresh_claims("one")).expect("token");
    let successor = here.refresh(&presented, now).expect("good").successor;
    let old_kid = keys::list(&path).expect("keys")[0].kid.clone();
    assert!(!here.reload_if_changed(now).expect("looked"), "nothing changed");
    keys::rotate(&path, keys::Ring::People, now).expect("rotated");
    assert!(here.reload_if_changed(now).expect("looked"));
    assert!(here.access(&old, now).is_some());
    assert_eq!(here.refresh(&presented, now).expect("good").successor, successor, "a lost answer is given again");
    let new = here.sign_access(&claims(ACCESS, 1001)).expect("token");
    keys::retire(&path, &old_kid).expect("retired");
    here.reload(now).expect("loaded");
    assert!(here.access(&old, now).is_none() && here.access(&new, now).is_some());
    std::fs::write(&path, "{").expect("write");
    assert!(here.reload_if_changed(now).is_err());
    assert!(here.access(&new, now).is_some(), "a broken file changes nothing");
}

#[test]
fn servers_that_are_given_the_same_keys_know_each_others_tokens() {
    let dirs = [tempfile::tempdir().expect("dir"), tempfile::tempdir().expect("dir")];
    let key = |byte: u8| vec![byte; 32];
    let given = |people: Vec<Vec<u8>>| GivenKeys { people, sync: vec![key(9)] };
    let now = Instant::default();
    let before = at(dirs[0].path(), GivenKeys::default());
    let kept = before.sign_access(&claims(ACCESS, 1001)).expect("token");
    let one = at(dirs[0].path(), given(vec![key(1)]));
    let other = at(dirs[1].path(), given(vec![key(2), key(1)]));
    let token = one.sign_access(&claims(ACCESS, 1001)).expect("token");
    assert!(other.access(&token, now).is_some());
    assert!(one.access(&other.sign_access(&claims(ACCESS, 1001)).expect("token"), now).is_none(), "not given yet");
    assert!(one.access(&kept, now).is_some(), "what the file's key signed is good until it expires");
}

#[test]
fn a_token_made_more_than_five_minutes_from_now_is_good_for_a_store_alone() {
    let here = tokens();
    let now = Instant::from_millis(1_000_000);
    for (iat, good) in [(1000, true), (1300, true), (1301, false), (90_000, false)] {
        let access = AccessClaims { iat, ..claims(ACCESS, 100_000) };
        let token = here.sign_access(&access).expect("token");
        assert_eq!(here.access(&token, now).is_some(), good, "access made at {iat}");
        let refresh = RefreshClaims { iat, exp: 100_000, ..refresh_claims("one") };
        let token = here.sign_refresh(&refresh).expect("token");
        assert_eq!(here.refresh(&token, now).is_some(), good, "refresh made at {iat}");
        let sync = SyncClaims {
            store_id: Some(Uuid::now_v7()),
            store_code: "S01".into(),
            kind: STORE_SYNC.into(),
            tv: 1,
            iat,
            jti: None,
        };
        let token = here.sign_sync(&sync).expect("token");
        assert!(here.sync(&token, now).is_some_and(|claims| claims.store_id.is_some()), "a store's, made at {iat}");
    }
}
