//! The claims that every token has, whatever else it says: who signed it, for whom, and from when till when. RFC 7519, 4.1.

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value as Json};
use tillkeep_model::Instant;

/// Who signs tokens here, and whom they are for: a key that an operator uses for another program as well signs nothing that
/// is good here.
const ISSUER: &str = "tillkeep";
const AUDIENCE: &str = "tillkeep";
/// Seconds by which a clock may be ahead of the one that verifies.
const AHEAD: i64 = 300;

/// The claims of a token, each there once: of two with one name, one reader takes the first and another one the last.
pub(super) struct Unique(pub Map<String, Json>);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Claims;

        impl<'de> Visitor<'de> for Claims {
            type Value = Unique;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("claims")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Unique, A::Error> {
                let mut claims = Map::new();
                while let Some((name, value)) = entries.next_entry::<String, Json>()? {
                    if claims.insert(name, value).is_some() {
                        return Err(A::Error::custom("a claim is there twice"));
                    }
                }
                Ok(Unique(claims))
            }
        }

        from.deserialize_map(Claims)
    }
}

/// `claims` with what every token says.
pub(super) fn signed(claims: &impl Serialize) -> Option<Json> {
    let mut claims = serde_json::to_value(claims).ok()?;
    claims["iss"] = ISSUER.into();
    claims["aud"] = AUDIENCE.into();
    Some(claims)
}

/// Whether a token is good now; `None` when it is not. Tokens of release 0.1.0 name no issuer and no audience: what is
/// there must fit.
pub(super) fn check(claims: &Map<String, Json>, expires: bool, now: Instant) -> Option<()> {
    let now = now.millis() / 1000;
    let is_for = |aud: &Json| match aud {
        Json::Array(all) => all.iter().any(|one| one == AUDIENCE),
        one => one == AUDIENCE,
    };
    // An instant is an integer, or it is no token of ours. A sync token has no end: it was made while some clock was wrong, at
    // worst, and its store must not be locked out for that. What people carry lives for a week: from a time to come it is none of
    // ours, or of a server with a clock that is not to be trusted.
    let end = claims.get("exp").and_then(Json::as_i64);
    let is_past = |made: i64| !expires || made <= now + AHEAD;
    let made = |instant: &Json| instant.as_i64().is_some_and(|made| is_past(made) && end.is_none_or(|end| made <= end));
    let begun = |instant: &Json| instant.as_i64().is_some_and(|begin| begin <= now + AHEAD);
    let fits = claims.get("iss").is_none_or(|iss| iss == ISSUER)
        && claims.get("aud").is_none_or(is_for)
        && claims.get("nbf").is_none_or(begun)
        && claims.get("iat").is_none_or(made)
        && (!expires || end.is_some_and(|end| end > now));
    fits.then_some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn good(claims: &Json, expires: bool) -> bool {
        let claims: Unique = serde_json::from_value(claims.clone()).expect("claims");
        check(&claims.0, expires, Instant::from_millis(1_000_000)).is_some()
    }

    #[test]
    fn a_claim_that_is_there_twice_is_refused() {
        assert!(serde_json::from_str::<Unique>(r#"{"exp": 1, "sid": "a"}"#).is_ok());
        assert!(serde_json::from_str::<Unique>(r#"{"exp": 1, "sid": "a", "exp": 2}"#).is_err());
    }

    #[test]
    fn what_a_token_says_of_issuer_audience_and_time_must_fit() {
        for (claims, expected) in [
            (json!({"exp": 1001}), true),
            (json!({"exp": 1000}), false),
            (json!({"exp": "1001"}), false),
            (json!({"exp": 1001.5}), false),
            (json!({}), false),
            (json!({"exp": 1001, "iss": "tillkeep", "aud": "tillkeep", "nbf": 1300, "iat": 1001}), true),
            (json!({"exp": 1001, "aud": ["another", "tillkeep"]}), true),
            (json!({"exp": 1001, "aud": ["another"]}), false),
            (json!({"exp": 1001, "aud": null}), false),
            (json!({"exp": 1001, "iss": "another"}), false),
            (json!({"exp": 1001, "nbf": 1301}), false),
            (json!({"exp": 1001, "iat": 1002}), false),
            (json!({"exp": 1001, "iat": "1000"}), false),
            (json!({"exp": 9000, "iat": 1300}), true),
            (json!({"exp": 9000, "iat": 1301}), false),
        ] {
            assert_eq!(good(&claims, true), expected, "{claims}");
        }
        assert!(good(&json!({"iat": 9_999_999}), false), "made while a clock was wrong, and never to expire");
        assert!(!good(&json!({"iat": "then"}), false));
    }
}
