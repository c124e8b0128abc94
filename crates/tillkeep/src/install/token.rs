//! The sync token, as it is handed over: in a file, over a pipe, or pasted.

use std::path::Path;

use anyhow::{Context, Result, bail};
use tillkeep_http::Secret;
use tillkeep_http::tokens::read_sync_token;
use uuid::Uuid;

use crate::secret;

pub struct Token {
    pub text: Secret,
    pub store_id: Uuid,
    pub store_code: String,
}

/// The token in `file`, or from the standard input.
pub async fn read(file: Option<&Path>) -> Result<Token> {
    parse(secret::whole(file, "the sync token").await?.expose())
}

/// The token alone, or the settings that provisioning shows.
fn parse(text: &str) -> Result<Token> {
    let remedy = "copy it whole from the dialog of headquarters, or provision the store anew";
    let line = text.lines().find_map(|line| line.trim().strip_prefix("SYNC_TOKEN="));
    let token = line.unwrap_or(text).trim();
    if token.is_empty() {
        bail!("there is no sync token: name its file with --token-file, or give it on the standard input");
    }
    let is_whole = token.split('.').count() == 3 && token.bytes().all(|byte| byte.is_ascii_graphic());
    let claims = read_sync_token(token).filter(|_| is_whole);
    let claims = claims.with_context(|| format!("this is no sync token of a store; {remedy}"))?;
    let store_id = claims.store_id.filter(|id| !id.is_nil());
    let store_id = store_id.with_context(|| format!("the sync token names no store; {remedy}"))?;
    Ok(Token { text: token.to_owned().into(), store_id, store_code: claims.store_code })
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::parse;

    #[test]
    fn a_token_is_taken_alone_or_out_of_the_settings_and_nothing_else_is() {
        let of = |claims: &str| format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims));
        let good =
            of(r#"{"storeId":"0190a1b2-0000-7000-8000-000000000001","storeCode":"S01","type":"store_sync","tv":1}"#);
        for text in [good.clone(), format!("  {good}\n"), format!("SYNC_TOKEN={good}\nHQ_URL=https://hq.example.com\n")]
        {
            let token = parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((token.store_code.as_str(), token.text.expose()), ("S01", good.as_str()));
        }
        let access =
            of(r#"{"storeId":"0190a1b2-0000-7000-8000-000000000001","storeCode":"S01","type":"access","tv":1}"#);
        let nobody = of(r#"{"storeCode":"S01","type":"store_sync","tv":1}"#);
        let half = good.rsplit_once('.').expect("three parts").0.to_owned();
        for text in ["", "\n", "hunter2", "a.b.c", &access, &nobody, &half, &format!("{good} x")] {
            let error = format!("{:#}", parse(text).err().unwrap_or_else(|| panic!("{text} is taken")));
            assert!(!text.contains("e30.") || !error.contains("e30."), "the token is in {error}");
        }
    }
}
