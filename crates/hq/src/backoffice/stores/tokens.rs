//! Sync tokens: given out once, replaced, taken away. `docs/api.md`, section 7.

use std::fmt::Write;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tillkeep_http::error::{Error, Result};
use tillkeep_http::extract::OptionalBody;
use tillkeep_http::{Answer, Caller, Id, NoContent};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::Fresh;
use tillkeep_model::permission::code::StoresProvision;
use tillkeep_storage::entity::store::{Entity, Model};
use tillkeep_storage::{Tx, pin_keys};
use utoipa::ToSchema;
use uuid::Uuid;

use super::fields::KIND;
use crate::Hq;
use crate::address::{Address, Asked, is_loopback};
use crate::backoffice::rows;
use crate::sync::standing::{Grace, Handover, keep_grace, sign};

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
    /// The address in `env`, and what is wrong with it.
    address: Option<Address>,
    /// `env` has no `HQ_URL`: headquarters does not know how stores reach it, as `public_url` is not set.
    public_url_missing: bool,
}

/// `POST /stores/{id}/provision`
pub(super) async fn provision(
    caller: Caller<Fresh<StoresProvision>>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    asked: Asked,
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
            // Without a grace nobody is meant to go on with what the token before was worth.
            let handover = (body.grace_minutes > 0).then(|| Handover::of_version(new.sync_token_version));
            keep_grace(tx, id, Grace { tv: old.sync_token_version, until, handover }).await?;
        }
        new.provisioned_at = old.provisioned_at.or(Some(now));
        // The first token takes a store into use; another one does not bring back a store that was taken out of it.
        new.is_active |= old.provisioned_at.is_none();
        Ok(json!({
            "rotate": body.rotate, "graceMinutes": body.grace_minutes, "tokenVersion": new.sync_token_version,
        }))
    };
    // Whoever has the token before must not get the key with it.
    let after =
        async |tx: &mut Tx, _: &Model, new: &Model| Ok(pin_keys::open(&**tx, id, new.sync_token_version).await?);
    let store = rows::update::<Entity, _>(&caller, &KIND, ("store.provision", id), edit, after).await?;
    if body.rotate && body.grace_minutes == 0 {
        hq.shut_out(id);
    } else if body.rotate {
        hq.hub.ends_at(id, now.plus_millis(body.grace_minutes * 60_000));
        hq.stores_to_notify.insert(id);
    }
    let sync_token = sign(&hq, &store, store.sync_token_version, now)?;
    let address = hq.address(&asked);
    let env = snippet(&sync_token, address.as_ref().map(|address| &*address.url));
    let public_url_missing = address.is_none();
    Ok(Answer(Provisioned { sync_token, store_id: id, store_code: store.code, env, address, public_url_missing }))
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
        keep_grace(tx, id, Grace { tv: old.sync_token_version, until: now, handover: None }).await?;
        Ok(json!({"tokenVersion": new.sync_token_version}))
    };
    let after = async |_: &mut Tx, _: &Model, _: &Model| Ok(());
    rows::update::<Entity, _>(&caller, &KIND, ("store.revoke_token", id), edit, after).await?;
    hq.shut_out(id);
    Ok(NoContent)
}

/// What a store server starts from, as far as it is known. A store refuses plain HTTP that leaves its machine, unless a
/// setting asks to take it.
fn snippet(sync_token: &str, url: Option<&str>) -> String {
    let mut env = format!("SYNC_TOKEN={sync_token}\n");
    let Some(url) = url else { return env };
    // Writing to a text does not fail.
    writeln!(env, "HQ_URL={url}").unwrap_or_default();
    if is_open_line(url) {
        env.push_str("ALLOW_INSECURE_HQ=1\n");
    }
    env
}

fn is_open_line(url: &str) -> bool {
    let is_plain = url.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://"));
    is_plain && !is_loopback(url)
}

#[cfg(test)]
mod tests {
    use super::snippet;

    #[test]
    fn the_snippet_starts_a_store_over_any_line() {
        for url in ["https://hq.example.com", "http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost"] {
            assert_eq!(snippet("t", Some(url)), format!("SYNC_TOKEN=t\nHQ_URL={url}\n"));
        }
        for url in ["http://hq.example.com", "http://10.0.0.1:8080"] {
            assert!(snippet("t", Some(url)).ends_with("\nALLOW_INSECURE_HQ=1\n"), "{url}");
        }
        assert_eq!(snippet("t", None), "SYNC_TOKEN=t\n", "the address is for an operator to say who knows it");
    }
}
