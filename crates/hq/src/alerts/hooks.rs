//! The addresses that alerts or sales are posted to. What they say goes to machines that an administrator names, so that they are set
//! by whoever may change every store, with the second factor shown lately; sales by whoever sees all of them, besides.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::resource::{Expected, refuse_outdated};
use tillkeep_http::{Answer, Body, Caller, Created, Id, NoContent, Params};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::code::StoresEdit;
use tillkeep_model::permission::{Fresh, Requirement};
use tillkeep_storage::alerts::{deliveries, hooks, sales};
use tillkeep_storage::audit;
use tillkeep_storage::entity::alert_hook::Model;
use tillkeep_storage::sea_orm::ConnectionTrait;
use utoipa::ToSchema;
use uuid::Uuid;

use super::kinds::AlertKind;
use super::post::{new_secret, post};
use super::view::{Around, HookView, LastAnswer};
use super::what::{self, What};
use super::{address, event};
use crate::Hq;
use crate::scope::OfReports;

/// Hooks of a chain at the most: each event is posted to all of them.
const MOST: u64 = 20;
/// Stores that one names at the most; who is told of more is told of all.
const MOST_STORES: usize = 200;

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
    /// What it is told; alerts when not said. It cannot be changed.
    what: Option<What>,
    /// Of alerts: what it is told of; of everything when not said.
    #[schema(min_items = 1, max_items = 11)]
    kinds: Option<Vec<AlertKind>>,
    /// Of sales: of which stores; of all when none is named.
    #[schema(max_items = 200)]
    stores: Option<Vec<Uuid>>,
    active: Option<bool>,
}

/// What changes; what is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = AlertHookEdit)]
pub(super) struct Change {
    #[schema(min_length = 1, max_length = 500)]
    url: Option<String>,
    /// Of alerts.
    #[schema(min_items = 1, max_items = 11)]
    kinds: Option<Vec<AlertKind>>,
    /// Of sales: of which stores; of all when none is named.
    #[schema(max_items = 200)]
    stores: Option<Vec<Uuid>>,
    active: Option<bool>,
    /// The `version` that the change is based on; another one is refused.
    expected_version: Option<i64>,
}

/// Sales are told by whoever sees all of them: they go where that one says.
async fn sees_all<P: Requirement>(caller: &Caller<P>, what: What) -> Result<()> {
    if what == What::Sales && OfReports::sales(caller).await?.stores().is_some() {
        let text = "sales are told to others by who may see those of every store (reports.view_global in all stores)";
        return Err(Error::new(ErrorCode::Scope, text));
    }
    Ok(())
}

/// What a hook is told, which never changes, for somebody who is about to change it.
async fn what_of<P: Requirement>(caller: &Caller<P>, id: Uuid) -> Result<What> {
    let hook = hooks::find(caller.reader(), id).await?.ok_or_else(missing)?;
    let what = What::of(&hook.what);
    sees_all(caller, what).await?;
    Ok(what)
}

/// The stores that are named, if any are.
async fn named(conn: &impl ConnectionTrait, what: What, stores: Option<Vec<Uuid>>) -> Result<Option<Vec<Uuid>>> {
    let Some(stores) = stores else { return Ok(None) };
    if stores.len() > MOST_STORES {
        return Err(Error::field("stores", format!("must name at most {MOST_STORES} stores; name none for all")));
    }
    what::stores(conn, what, stores).await.map(Some)
}

fn missing() -> Error {
    Error::not_found("alert hook")
}

/// What is told of hooks beside their own rows, for all of them in a few statements.
struct Surroundings {
    waiting: HashMap<Uuid, i64>,
    given_up: HashMap<Uuid, i64>,
    lags: HashMap<Uuid, sales::Lag>,
    stores: HashMap<Uuid, Vec<Uuid>>,
}

impl Surroundings {
    async fn load(conn: &impl ConnectionTrait) -> Result<Self> {
        Ok(Self {
            waiting: deliveries::waiting(conn).await?,
            given_up: deliveries::given_up(conn).await?,
            lags: sales::lags(conn).await?,
            stores: hooks::stores(conn).await?,
        })
    }

    /// A hook as it is shown.
    fn show(&mut self, hook: Model) -> HookView {
        let count = |counts: &HashMap<Uuid, i64>| counts.get(&hook.id).copied().unwrap_or_default();
        let lag = self.lags.get(&hook.id).copied().unwrap_or_default();
        let around = Around {
            waiting: count(&self.waiting) + lag.sales,
            waiting_since: lag.since,
            given_up: count(&self.given_up),
            stores: self.stores.remove(&hook.id).unwrap_or_default(),
        };
        HookView::new(hook, around)
    }
}

async fn view(conn: &impl ConnectionTrait, hook: Model) -> Result<HookView> {
    Ok(Surroundings::load(conn).await?.show(hook))
}

fn entry<P: Requirement>(caller: &Caller<P>, action: &'static str, id: Uuid, details: Json) -> audit::Entry {
    audit::Entry { entity_type: Some(AUDITED), entity_id: Some(id.to_string()), details, ..caller.audit(action) }
}

/// What the log keeps of a hook: of its address the part that holds no key of its receiver.
fn noted(hook: &Model, stores: &[Uuid]) -> Json {
    let (host, active) = (host(&hook.url), hook.is_active);
    json!({"host": host, "what": hook.what, "kinds": hook.kinds, "stores": stores, "active": active})
}

/// Scheme, host and port.
fn host(url: &str) -> String {
    reqwest::Url::parse(url).map_or_else(|_| String::new(), |url| url.origin().ascii_serialization())
}

/// `GET /alert-hooks`: an address may hold a key of its receiver, so that it is shown to whoever may set it.
pub(super) async fn list(caller: Caller<StoresEdit>) -> Result<Answer<Vec<HookView>>> {
    caller.everywhere()?;
    let conn = caller.snapshot().await?;
    let mut around = Surroundings::load(&conn).await?;
    Ok(Answer(hooks::all(&conn).await?.into_iter().map(|hook| around.show(hook)).collect()))
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
    let what = body.what.unwrap_or_default();
    sees_all(&caller, what).await?;
    let id = Uuid::now_v7();
    let (secret, sealed) = new_secret(&hq.auth.pins, id)?;
    let stores = named(caller.reader(), what, body.stores).await?.unwrap_or_default();
    let mut hook = Model {
        id,
        created_at: caller.now(),
        updated_at: caller.now(),
        url: address::judged(&body.url)?,
        secret: sealed,
        what: what.word().to_owned(),
        kinds: what::kinds(what, body.kinds)?,
        all_stores: stores.is_empty(),
        is_active: body.active.unwrap_or(true),
        version: 1,
        due_at: caller.now(),
        ..Model::default()
    };
    let act = caller.begin().await?;
    if hooks::count(&*act).await? >= MOST {
        return Err(Error::field("url", format!("there are {MOST} addresses already; remove one first")));
    }
    if what == What::Sales {
        // It is told of what is stored from here on.
        hook.told_to = sales::beginning(&act).await?;
    }
    hooks::add(&act, hook.clone()).await?;
    hooks::set_stores(&act, id, &stores).await?;
    act.done(entry(&caller, "create", id, noted(&hook, &stores))).await?;
    let around = Around { stores, ..Around::default() };
    Ok(Created::new(HookView::new(hook, around).with_secret(secret)))
}

/// `PATCH /alert-hooks/{id}`: what is on its way goes to the new address.
pub(super) async fn edit(
    caller: Caller<Fresh<StoresEdit>>,
    State(hq): State<Arc<Hq>>,
    Id(id): Id,
    Body(body): Body<Change>,
) -> Result<Answer<HookView>> {
    caller.everywhere()?;
    let what = what_of(&caller, id).await?;
    let act = caller.begin().await?;
    let old = hooks::find_to_change(&act, id).await?.ok_or_else(missing)?;
    let current = || Ok(serde_json::to_value(HookView::new(old.clone(), Around::default()))?);
    refuse_outdated(body.expected_version, old.version, current)?;
    let mut new = old.clone();
    if let Some(url) = &body.url {
        new.url = address::judged(url)?;
    }
    if let Some(of) = body.kinds {
        new.kinds = what::kinds(what, Some(of))?;
    }
    let before = hooks::stores(&*act).await?.remove(&id).unwrap_or_default();
    let stores = named(&*act, what, body.stores).await?.unwrap_or_else(|| before.clone());
    if stores != before {
        new.all_stores = stores.is_empty();
        // What is under way may be what it is not to be told any more.
        (new.event_id, new.sending_to) = (None, None);
    }
    new.is_active = body.active.unwrap_or(old.is_active);
    if new == old && stores == before {
        drop(act);
        return view(caller.reader(), old).await.map(Answer);
    }
    new.version += 1;
    new.updated_at = caller.now();
    new.due_at = caller.now();
    hooks::change(&act, new.clone()).await?;
    hooks::set_stores(&act, id, &stores).await?;
    let details = json!({"from": noted(&old, &before), "to": noted(&new, &stores)});
    let shown = view(&*act, new).await?;
    act.done(entry(&caller, "edit", id, details)).await?;
    hq.alerting.sales.notify_one();
    Ok(Answer(shown))
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
    let current = || Ok(serde_json::to_value(HookView::new(old.clone(), Around::default()))?);
    refuse_outdated(expected_version, old.version, current)?;
    let stores = hooks::stores(&*act).await?.remove(&id).unwrap_or_default();
    hooks::remove(&act, id).await?;
    act.done(entry(&caller, "delete", id, noted(&old, &stores))).await?;
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
    what_of(&caller, id).await?;
    let (secret, sealed) = new_secret(&hq.auth.pins, id)?;
    // What may fail is read before: a secret that is in use must be shown.
    let mut around = Surroundings::load(caller.reader()).await?;
    let act = caller.begin().await?;
    let old = hooks::find_to_change(&act, id).await?.ok_or_else(missing)?;
    let now = caller.now();
    let new = Model { secret: sealed, version: old.version + 1, updated_at: now, due_at: now, ..old };
    hooks::change(&act, new.clone()).await?;
    act.done(entry(&caller, "alert_hook.rotate_secret", id, json!({"host": host(&new.url)}))).await?;
    Ok(Answer(around.show(new).with_secret(secret)))
}
