//! The addresses that alerts are posted to. What alerts say goes to machines that an administrator names, so that they are set by
//! whoever may change every store, with the second factor shown lately.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{Expected, refuse_outdated};
use tillkeep_http::{Answer, Body, Caller, Created, Id, NoContent, Params};
use tillkeep_model::JsonText;
use tillkeep_model::permission::code::StoresEdit;
use tillkeep_model::permission::{Fresh, Requirement};
use tillkeep_storage::alerts::{deliveries, hooks};
use tillkeep_storage::audit;
use tillkeep_storage::entity::alert_hook::Model;
use tillkeep_storage::sea_orm::ConnectionTrait;
use utoipa::ToSchema;
use uuid::Uuid;

use super::kinds::AlertKind;
use super::post::{new_secret, post};
use super::view::{HookView, LastAnswer};
use super::{address, event};
use crate::Hq;

/// Hooks of a chain at the most: each event is posted to all of them.
const MOST: u64 = 20;

/// What the audit log calls one.
const AUDITED: &str = "alert_hooks";

/// A new hook.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewAlertHook)]
pub(super) struct Draft {
    /// `https://…`, or `http://…` on the machine of headquarters.
    #[schema(min_length = 1, max_length = 500)]
    url: String,
    /// What it is told of; of everything when not said.
    #[schema(min_items = 1, max_items = 10)]
    kinds: Option<Vec<AlertKind>>,
    active: Option<bool>,
}

/// What changes; what is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = AlertHookEdit)]
pub(super) struct Change {
    #[schema(min_length = 1, max_length = 500)]
    url: Option<String>,
    #[schema(min_items = 1, max_items = 10)]
    kinds: Option<Vec<AlertKind>>,
    active: Option<bool>,
    /// The `version` that the change is based on; another one is refused.
    expected_version: Option<i64>,
}

/// The kinds by their words, each once.
fn kinds(mut kinds: Vec<AlertKind>) -> Result<JsonText> {
    if kinds.is_empty() {
        return Err(Error::field("kinds", "must name one kind of alert at least; leave it out for all"));
    }
    if kinds.len() > AlertKind::ALL.len() {
        return Err(Error::field("kinds", "must name each kind once"));
    }
    kinds.sort_unstable();
    kinds.dedup();
    Ok(JsonText::new(&kinds))
}

fn missing() -> Error {
    Error::not_found("alert hook")
}

/// A hook as it is shown, with the counts of its posts.
async fn view(conn: &impl ConnectionTrait, hook: Model) -> Result<HookView> {
    let count = |counts: &HashMap<Uuid, i64>| counts.get(&hook.id).copied().unwrap_or_default();
    let (waiting, given_up) = (count(&deliveries::waiting(conn).await?), count(&deliveries::given_up(conn).await?));
    Ok(HookView::new(hook, waiting, given_up))
}

fn entry<P: Requirement>(caller: &Caller<P>, action: &'static str, id: Uuid, details: Json) -> audit::Entry {
    audit::Entry { entity_type: Some(AUDITED), entity_id: Some(id.to_string()), details, ..caller.audit(action) }
}

/// What the log keeps of a hook: of its address the part that holds no key of its receiver.
fn noted(hook: &Model) -> Json {
    json!({"host": host(&hook.url), "kinds": hook.kinds, "active": hook.is_active})
}

/// Scheme, host and port.
fn host(url: &str) -> String {
    reqwest::Url::parse(url).map_or_else(|_| String::new(), |url| url.origin().ascii_serialization())
}

/// `GET /alert-hooks`: an address may hold a key of its receiver, so that it is shown to whoever may set it.
pub(super) async fn list(caller: Caller<StoresEdit>) -> Result<Answer<Vec<HookView>>> {
    caller.everywhere()?;
    let conn = caller.snapshot().await?;
    let (waiting, given_up) = (deliveries::waiting(&conn).await?, deliveries::given_up(&conn).await?);
    let count = |counts: &HashMap<Uuid, i64>, id: Uuid| counts.get(&id).copied().unwrap_or_default();
    let shown = |hook: Model| {
        let counts = (count(&waiting, hook.id), count(&given_up, hook.id));
        HookView::new(hook, counts.0, counts.1)
    };
    Ok(Answer(hooks::all(&conn).await?.into_iter().map(shown).collect()))
}

/// `GET /alert-hooks/{id}`
pub(super) async fn get(caller: Caller<StoresEdit>, Id(id): Id) -> Result<Answer<HookView>> {
    caller.everywhere()?;
    let hook = hooks::find(caller.reader(), id).await?.ok_or_else(missing)?;
    view(caller.reader(), hook).await.map(Answer)
}

/// `POST /alert-hooks`
pub(super) async fn create(
    caller: Caller<Fresh<StoresEdit>>,
    State(hq): State<Arc<Hq>>,
    Body(body): Body<Draft>,
) -> Result<Created<HookView>> {
    caller.everywhere()?;
    let id = Uuid::now_v7();
    let (secret, sealed) = new_secret(&hq.auth.pins, id)?;
    let hook = Model {
        id,
        created_at: caller.now(),
        updated_at: caller.now(),
        url: address::judged(&body.url)?,
        secret: sealed,
        kinds: kinds(body.kinds.unwrap_or_else(|| AlertKind::ALL.to_vec()))?,
        is_active: body.active.unwrap_or(true),
        version: 1,
        ..Model::default()
    };
    let act = caller.begin().await?;
    if hooks::count(&*act).await? >= MOST {
        return Err(Error::field("url", format!("there are {MOST} addresses already; remove one first")));
    }
    hooks::add(&act, hook.clone()).await?;
    act.done(entry(&caller, "create", id, noted(&hook))).await?;
    Ok(Created::new(HookView::new(hook, 0, 0).with_secret(secret)))
}

/// `PATCH /alert-hooks/{id}`: what is on its way goes to the new address.
pub(super) async fn edit(
    caller: Caller<Fresh<StoresEdit>>,
    Id(id): Id,
    Body(body): Body<Change>,
) -> Result<Answer<HookView>> {
    caller.everywhere()?;
    let act = caller.begin().await?;
    let old = hooks::find_to_change(&act, id).await?.ok_or_else(missing)?;
    let current = || Ok(serde_json::to_value(HookView::new(old.clone(), 0, 0))?);
    refuse_outdated(body.expected_version, old.version, current)?;
    let mut new = old.clone();
    if let Some(url) = &body.url {
        new.url = address::judged(url)?;
    }
    if let Some(of) = body.kinds {
        new.kinds = kinds(of)?;
    }
    new.is_active = body.active.unwrap_or(old.is_active);
    if new == old {
        drop(act);
        return view(caller.reader(), old).await.map(Answer);
    }
    new.version += 1;
    new.updated_at = caller.now();
    hooks::change(&act, new.clone()).await?;
    act.done(entry(&caller, "edit", id, json!({"from": noted(&old), "to": noted(&new)}))).await?;
    view(caller.reader(), new).await.map(Answer)
}

/// `DELETE /alert-hooks/{id}`
pub(super) async fn delete(
    caller: Caller<StoresEdit>,
    Id(id): Id,
    Params(Expected { expected_version }): Params<Expected>,
) -> Result<NoContent> {
    caller.everywhere()?;
    let act = caller.begin().await?;
    let old = hooks::find_to_change(&act, id).await?.ok_or_else(missing)?;
    let current = || Ok(serde_json::to_value(HookView::new(old.clone(), 0, 0))?);
    refuse_outdated(expected_version, old.version, current)?;
    hooks::remove(&act, id).await?;
    act.done(entry(&caller, "delete", id, noted(&old))).await?;
    Ok(NoContent)
}

/// `POST /alert-hooks/{id}/test`: no transaction waits for the answer.
pub(super) async fn test(
    caller: Caller<Fresh<StoresEdit>>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
) -> Result<Answer<LastAnswer>> {
    caller.everywhere()?;
    let hook = hooks::find(caller.reader(), id).await?.ok_or_else(missing)?;
    let event = Uuid::now_v7();
    let answer = post(&hq, &hook, event, &event::test(event, hq.public_url.as_deref(), caller.now())).await;
    let at = caller.now();
    let act = caller.begin().await?;
    deliveries::note_answer(&act, id, &answer, 1, at).await?;
    let details = json!({"host": host(&hook.url), "status": answer.status, "event": event});
    act.done(entry(&caller, "alert_hook.test", id, details)).await?;
    Ok(Answer(LastAnswer::new(&answer, 1, at)))
}

/// `POST /alert-hooks/{id}/rotate-secret`
pub(super) async fn rotate_secret(
    caller: Caller<Fresh<StoresEdit>>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
) -> Result<Answer<HookView>> {
    caller.everywhere()?;
    let (secret, sealed) = new_secret(&hq.auth.pins, id)?;
    let act = caller.begin().await?;
    let old = hooks::find_to_change(&act, id).await?.ok_or_else(missing)?;
    let new = Model { secret: sealed, version: old.version + 1, updated_at: caller.now(), ..old };
    hooks::change(&act, new.clone()).await?;
    act.done(entry(&caller, "alert_hook.rotate_secret", id, json!({"host": host(&new.url)}))).await?;
    Ok(Answer(view(caller.reader(), new).await?.with_secret(secret)))
}
