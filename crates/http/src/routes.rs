//! The route table: every route with the permissions that its handler's signature names.

use std::future::Future;
use std::marker::PhantomData;

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodFilter, get, on};
use serde_json::{Value, json};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::Requirement;

use crate::answer::Answer;
use crate::auth::{Caller, Gate, HasAuth};
use crate::error::{Error, Result};

/// How a route is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Outside of permissions.
    Open,
    /// A user token, and one of the codes (none: any user).
    User(Vec<&'static str>),
    /// A store's sync token.
    Sync,
}

#[derive(Clone, Debug)]
pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    pub protection: Protection,
}

/// Routes being collected for one server.
pub struct Routes<S> {
    router: Router<S>,
    table: Vec<Route>,
}

/// A handler whose first argument is the [`Caller`] of permission `P`.
pub trait Protected<Args> {
    fn codes() -> Vec<&'static str>;
}

/// Marks the arguments of a protected handler.
pub struct Args<P, A>(PhantomData<fn() -> (P, A)>);

macro_rules! protected {
    ($($arg:ident),*) => {
        impl<F, Fut, P, $($arg),*> Protected<Args<P, ($($arg,)*)>> for F
        where
            F: Fn(Caller<P>, $($arg),*) -> Fut,
            Fut: Future,
            P: Requirement,
        {
            fn codes() -> Vec<&'static str> { P::any_of() }
        }
    };
}
protected!();
protected!(A1);
protected!(A1, A2);
protected!(A1, A2, A3);
protected!(A1, A2, A3, A4);

fn filter(method: &'static str) -> MethodFilter {
    match method {
        "POST" => MethodFilter::POST,
        "PUT" => MethodFilter::PUT,
        "PATCH" => MethodFilter::PATCH,
        "DELETE" => MethodFilter::DELETE,
        _ => MethodFilter::GET,
    }
}

macro_rules! methods {
    ($($name:ident = $method:literal),*) => {$(
        #[doc = concat!("Adds a protected ", $method, " route; `path` is below `/api/v1`.")]
        #[must_use]
        pub fn $name<H, T, A>(self, path: &'static str, handler: H) -> Self
        where
            H: Handler<T, S> + Protected<A>,
            T: 'static,
        {
            let protection = Protection::User(H::codes());
            self.add($method, path, protection, handler)
        }
    )*};
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    pub fn new() -> Self {
        Self { router: Router::new(), table: Vec::new() }
    }

    methods!(get = "GET", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE");

    /// Adds a route that needs no token.
    #[must_use]
    pub fn open<H, T>(self, method: &'static str, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        self.add(method, path, Protection::Open, handler)
    }

    /// Adds a route whose handler takes a store's sync token.
    #[must_use]
    pub fn sync<H, T>(self, method: &'static str, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        self.add(method, path, Protection::Sync, handler)
    }

    fn add<H, T>(mut self, method: &'static str, path: &'static str, protection: Protection, handler: H) -> Self
    where
        H: Handler<T, S>,
        T: 'static,
    {
        self.router = self.router.route(&format!("/api/v1{path}"), on(filter(method), handler));
        self.table.push(Route { method, path, protection });
        self
    }

    /// Adds the routes of a module.
    #[must_use]
    pub fn with(self, module: impl FnOnce(Self) -> Self) -> Self {
        module(self)
    }

    /// The router, and the table of what it serves.
    pub fn finish(self) -> (Router<S>, Vec<Route>) {
        (self.router, self.table)
    }
}

impl<S: Clone + Send + Sync + 'static> Default for Routes<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether the server lives, and whether it can work: its database answers. Outside of permissions and of `/api/v1`.
pub fn probes<S>(router: Router<S>) -> Router<S>
where
    S: HasAuth + Clone + 'static,
{
    router.route("/health", get(health)).route("/ready", get(ready))
}

async fn health() -> Answer<Value> {
    Answer(json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")}))
}

async fn ready(Gate(auth): Gate) -> Result<Answer<Value>> {
    auth.db.ping().await.map_err(|error| {
        tracing::warn!(%error, "the database does not answer");
        Error::new(ErrorCode::Unavailable, "the database does not answer").retry_after(2)
    })?;
    Ok(Answer(json!({"status": "ready"})))
}

/// The authentication routes.
pub fn auth<S>(routes: Routes<S>) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
{
    use crate::auth::account::{change_pin, logout, me};
    use crate::auth::locks::{locks, unlock};
    use crate::auth::refresh::refresh;
    use crate::auth::session_routes::{end_of_user, end_own, of_user, own};
    use crate::auth::sign_in::{login, pin_login};
    routes
        .open("POST", "/auth/login", login)
        .open("POST", "/auth/pin-login", pin_login)
        .open("POST", "/auth/refresh", refresh)
        .get("/auth/me", me)
        .post("/auth/logout", logout)
        .post("/auth/change-pin", change_pin)
        .get("/auth/sessions", own)
        .delete("/auth/sessions/{id}", end_own)
        .get("/auth/locks", locks)
        .post("/auth/unlock", unlock)
        .get("/users/{id}/sessions", of_user)
        .delete("/users/{id}/sessions/{sessionId}", end_of_user)
}
