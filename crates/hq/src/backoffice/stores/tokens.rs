//! Sync tokens: given out once, replaced, taken away. `docs/api.md`, section 5.

use std::convert::Infallible;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{Uri, header};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tillkeep_http::describe::Argument;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::request::Transport;
use tillkeep_http::tokens::{STORE_SYNC, SyncClaims};
use tillkeep_http::{Answer, Caller, Id, NoContent};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::Fresh;
use tillkeep_model::permission::code::StoresProvision;
use tillkeep_storage::Tx;
use tillkeep_storage::entity::store::{Entity, Model};
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::KIND;
use crate::Hq;
use crate::backoffice::rows;
use crate::sync::standing::{Grace, keep_grace};

/// Minutes that a replaced token may keep working at the most: a day to reach the shop.
const MOST_GRACE_MINUTES: i64 = 24 * 60;

#[derive(Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Provision {
    #[serde(default)]
    rotate: bool,
    #[serde(default)]
    #[schema(minimum = 0, maximum = 1440)]
    grace_minutes: i64,
}

/// The token is shown once and kept nowhere.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Provisioned {
    sync_token: String,
    store_id: Uuid,
    store_code: String,
    /// What a store server starts from.
    env: String,
}

/// `POST /stores/{id}/provision`
pub(super) async fn provision(
    caller: Caller<Fresh<StoresProvision>>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    address: Address,
    OptionalBody(body): OptionalBody<Provision>,
) -> Result<Answer<Provisioned>> {
    caller.at_store(id)?;
    if !(0..=MOST_GRACE_MINUTES).contains(&body.grace_minutes) {
        return Err(Error::field("graceMinutes", format!("must be between 0 and {MOST_GRACE_MINUTES}")));
    }
    let now = caller.now();
    let edit = async |tx: &mut Tx, old: &Model, new: &mut Model| {
        if old.provisioned_at.is_some() {
            if !body.rotate {
                let text = "this store has a token; send rotate to replace it";
                return Err(Error::new(ErrorCode::AlreadyProvisioned, text));
            }
            new.sync_token_version += 1;
            let until = now.plus_millis(body.grace_minutes * 60_000);
            keep_grace(tx, id, Grace { tv: old.sync_token_version, until }).await?;
        }
        new.provisioned_at = old.provisioned_at.or(Some(now));
        // The first token takes a store into use; another one does not bring back a store that was taken out of it.
        new.is_active |= old.provisioned_at.is_none();
        Ok(json!({
            "rotate": body.rotate, "graceMinutes": body.grace_minutes, "tokenVersion": new.sync_token_version,
        }))
    };
    let after = async |_: &mut Tx, _: &Model, _: &Model| Ok(());
    let store = rows::update::<Entity, _>(&caller, &KIND, ("store.provision", id), edit, after).await?;
    if body.rotate && body.grace_minutes == 0 {
        hq.shut_out(id);
    } else if body.rotate {
        hq.hub.ends_at(id, now.plus_millis(body.grace_minutes * 60_000));
    }
    let claims = SyncClaims {
        store_id: Some(id),
        store_code: store.code.clone(),
        kind: STORE_SYNC.to_owned(),
        tv: store.sync_token_version,
        iat: now.millis() / 1000,
        jti: Some(Uuid::now_v7()),
    };
    let unsigned = || Error::internal("a sync token could not be signed");
    let sync_token = hq.auth.tokens.sign_sync(&claims).ok_or_else(unsigned)?;
    let env = snippet(&sync_token, &hq.public_url.clone().unwrap_or(address.0));
    Ok(Answer(Provisioned { sync_token, store_id: id, store_code: store.code, env }))
}

/// `POST /stores/{id}/revoke-token`: the token and one in its grace end at once, and so does the open socket.
pub(super) async fn revoke_token(
    caller: Caller<Fresh<StoresProvision>>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
) -> Result<NoContent> {
    caller.at_store(id)?;
    let now = caller.now();
    let edit = async |tx: &mut Tx, old: &Model, new: &mut Model| {
        new.sync_token_version += 1;
        keep_grace(tx, id, Grace { tv: old.sync_token_version, until: now }).await?;
        Ok(json!({"tokenVersion": new.sync_token_version}))
    };
    let after = async |_: &mut Tx, _: &Model, _: &Model| Ok(());
    rows::update::<Entity, _>(&caller, &KIND, ("store.revoke_token", id), edit, after).await?;
    hq.shut_out(id);
    Ok(NoContent)
}

/// How the caller reaches this server, which is how a store does, unless `public_url` says otherwise.
pub(super) struct Address(String);

impl Argument for Address {}

impl<S: Send + Sync> FromRequestParts<S> for Address {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> std::result::Result<Self, Infallible> {
        let scheme = if Transport::from_request_parts(parts, state).await?.tls { "https" } else { "http" };
        let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        // Only what reads as a host goes into a snippet that somebody pastes.
        let host = host.and_then(|host| Authority::from_str(host).ok());
        Ok(Self(format!("{scheme}://{}", host.as_ref().map_or("127.0.0.1", Authority::as_str))))
    }
}

/// What a store server starts from. A store refuses plain HTTP that leaves its machine, unless it is told to take it.
fn snippet(sync_token: &str, url: &str) -> String {
    let mut env = format!("SYNC_TOKEN={sync_token}\nHQ_URL={url}\n");
    if is_open_line(url) {
        env.push_str("ALLOW_INSECURE_HQ=1\n");
    }
    env
}

fn is_open_line(url: &str) -> bool {
    let Ok(url) = url.parse::<Uri>() else { return false };
    let host = url.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    url.scheme_str() == Some("http") && !loopback
}

#[cfg(test)]
mod tests {
    use super::snippet;

    #[test]
    fn the_snippet_starts_a_store_over_any_line() {
        for url in ["https://hq.example.com", "http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost"] {
            assert_eq!(snippet("t", url), format!("SYNC_TOKEN=t\nHQ_URL={url}\n"));
        }
        for url in ["http://hq.example.com", "http://10.0.0.1:8080"] {
            assert!(snippet("t", url).ends_with("\nALLOW_INSECURE_HQ=1\n"), "{url}");
        }
    }
}
