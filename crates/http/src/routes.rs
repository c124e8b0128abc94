//! The route table: every route with the permissions that its handler's signature names.

use std::future::Future;
use std::marker::PhantomData;
use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::handler::Handler;
use axum::middleware::{Next, from_fn};
use axum::routing::{MethodFilter, on};
use serde::Serialize;
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::Requirement;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::auth::{Auth, Caller, Gate, HasAuth};
use crate::describe::{Described, Operation};
use crate::error::{Error, Result};
use crate::idempotency::{Admit, Admitted, Once};
use crate::parameters::{AnyQuery, Parameters};

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

#[derive(Clone)]
pub struct Route {
    pub method: &'static str,
    /// Below `/api/v1`, unless it stands outside.
    pub path: &'static str,
    pub protection: Protection,
    outside: bool,
    /// One sentence for the reader of the description.
    pub summary: Option<&'static str>,
    pub operation: Operation,
}

impl Route {
    fn new<H: Described<D>, D>(
        method: &'static str,
        path: &'static str,
        protection: Protection,
        outside: bool,
    ) -> Self {
        let mut operation = Operation::default();
        H::describe(&mut operation);
        if protection != Protection::Sync && !operation.takes_any_query() {
            operation.fails(&[ErrorCode::UnknownParameter, ErrorCode::Validation]);
        }
        if method != "GET" && matches!(&protection, Protection::User(codes) if !codes.is_empty()) {
            // Two requests at once can make the same row.
            operation.fails(&[ErrorCode::Duplicate]);
        }
        Self { method, path, protection, outside, summary: None, operation }
    }

    /// As a client asks for it.
    pub fn full_path(&self) -> String {
        if self.outside { self.path.to_owned() } else { format!("/api/v1{}", self.path) }
    }

    /// What the route belongs to: the first word of its path.
    pub fn tag(&self) -> &'static str {
        if self.outside { "probes" } else { self.path.split('/').nth(1).unwrap_or_default() }
    }
}

/// Routes being collected for one server.
pub struct Routes<S> {
    router: Router<S>,
    table: Vec<Route>,
}

/// A handler whose first argument is the [`Caller`] of permission `P`.
pub trait Protected<Args> {
    fn codes() -> Vec<&'static str>;

    /// The caller, when they may ask this route.
    fn admit<'a>(auth: &'a Arc<Auth>, token: &'a str, address: IpAddr) -> Admitted<'a>;
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

            fn admit<'a>(auth: &'a Arc<Auth>, token: &'a str, address: IpAddr) -> Admitted<'a> {
                Box::pin(async move { Ok(Caller::<P>::of(auth.clone(), token, address).await?.user_id) })
            }
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
        pub fn $name<H, T, A, D>(self, path: &'static str, handler: H) -> Self
        where
            H: Handler<T, S> + Protected<A> + Described<D>,
            T: 'static,
        {
            let protection = Protection::User(H::codes());
            self.add($method, path, protection, handler, Some(H::admit))
        }
    )*};
}

impl<S: HasAuth + Clone + 'static> Routes<S> {
    pub fn new() -> Self {
        Self { router: Router::new(), table: Vec::new() }
    }

    methods!(get = "GET", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE");

    /// Adds a route that needs no token.
    #[must_use]
    pub fn open<H, T, D>(self, method: &'static str, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, S> + Described<D>,
        T: 'static,
    {
        self.add(method, path, Protection::Open, handler, None)
    }

    /// Adds a route whose handler takes a store's sync token.
    #[must_use]
    pub fn sync<H, T, D>(mut self, method: &'static str, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, S> + Described<D>,
        T: 'static,
    {
        self.push(Route::new::<H, D>(method, path, Protection::Sync, false), handler);
        self
    }

    /// Adds a `GET` outside of permissions and of `/api/v1`.
    #[must_use]
    pub fn probe<H, T, D>(mut self, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, S> + Described<D>,
        T: 'static,
    {
        self.push(Route::new::<H, D>("GET", path, Protection::Open, true), handler);
        self
    }

    fn add<H, T, D>(
        mut self,
        method: &'static str,
        path: &'static str,
        protection: Protection,
        handler: H,
        admit: Option<Admit>,
    ) -> Self
    where
        H: Handler<T, S> + Described<D>,
        T: 'static,
    {
        let mut route = Route::new::<H, D>(method, path, protection, false);
        if method == "POST" {
            route.operation.acts_once();
            self.push(route, Once { handler, route: path, admit });
        } else {
            self.push(route, handler);
        }
        self
    }

    fn push<H, T>(&mut self, route: Route, handler: H)
    where
        H: Handler<T, S>,
        T: 'static,
    {
        let router = std::mem::take(&mut self.router);
        let parameters = Parameters::of(&route.operation, &route.protection);
        let guard = from_fn(move |request: Request, next: Next| parameters.clone().guard(request, next));
        self.router = router.route(&route.full_path(), on(filter(route.method), handler).route_layer(guard));
        self.table.push(route);
    }

    /// Says in one sentence what the route added last does.
    #[must_use]
    pub fn about(mut self, sentence: &'static str) -> Self {
        if let Some(route) = self.table.last_mut() {
            route.summary = Some(sentence);
        }
        self
    }

    /// Names the codes that the route added last may refuse a request with, besides those that its types imply.
    #[must_use]
    pub fn fails(mut self, codes: &[ErrorCode]) -> Self {
        if let Some(route) = self.table.last_mut() {
            route.operation.fails(codes);
        }
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

impl<S: HasAuth + Clone + 'static> Default for Routes<S> {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether the server lives, and whether it can work: its database answers. Outside of permissions and of `/api/v1`.
pub fn probes<S>(routes: Routes<S>) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
{
    routes
        .probe("/health", health)
        .about("Whether the server lives.")
        .probe("/ready", ready)
        .about("Whether the server can work: its database answers.")
}

#[derive(Serialize, ToSchema)]
pub struct Health {
    status: &'static str,
    version: &'static str,
}

async fn health(_: AnyQuery) -> Answer<Health> {
    Answer(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

#[derive(Serialize, ToSchema)]
pub struct Readiness {
    status: &'static str,
}

async fn ready(Gate(auth): Gate, _: AnyQuery) -> Result<Answer<Readiness>> {
    auth.db.ping().await.map_err(|error| {
        tracing::warn!(%error, "the database does not answer");
        Error::new(ErrorCode::Unavailable, "the database does not answer").retry_after(2)
    })?;
    Ok(Answer(Readiness { status: "ready" }))
}

/// The authentication routes.
pub fn auth<S>(routes: Routes<S>) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
{
    use ErrorCode::{
        Escalation, InvalidCredentials, InvalidToken, NotFound, OwnedByHq, PinNotAllowed, StoreNotFound, StoreNotReady,
        TokenReused, TooManyAttempts, TooManyRequests, WrongStore,
    };

    use crate::auth::account::{change_pin, logout, me};
    use crate::auth::locks::{locks, unlock};
    use crate::auth::refresh::refresh;
    use crate::auth::session_routes::{end_of_user, end_own, of_user, own};
    use crate::auth::sign_in::{login, pin_login};
    routes
        .open("POST", "/auth/login", login)
        .about("Sign in with a name and a PIN.")
        .fails(&[InvalidCredentials, StoreNotReady, TooManyAttempts, TooManyRequests])
        .open("POST", "/auth/pin-login", pin_login)
        .about("Sign in at a till with a PIN alone.")
        .fails(&[InvalidCredentials, StoreNotFound, StoreNotReady, WrongStore, TooManyAttempts, TooManyRequests])
        .open("POST", "/auth/refresh", refresh)
        .about("Get new tokens for a refresh token, which is replaced at each use: keep the one of the newest answer.")
        .fails(&[InvalidToken, TokenReused])
        .get("/auth/me", me)
        .about("Who is signed in, with the permissions of this moment.")
        .post("/auth/logout", logout)
        .about("End the session.")
        .post("/auth/change-pin", change_pin)
        .about("Change the own PIN; at headquarters only.")
        .fails(&[InvalidCredentials, OwnedByHq, PinNotAllowed, TooManyAttempts, TooManyRequests])
        .get("/auth/sessions", own)
        .about("The own sessions at this server.")
        .delete("/auth/sessions/{id}", end_own)
        .about("End one of the own sessions.")
        .get("/auth/locks", locks)
        .about("What is blocked now after wrong PINs.")
        .post("/auth/unlock", unlock)
        .about("Lift what is blocked after wrong PINs.")
        .fails(&[NotFound])
        .get("/users/{id}/sessions", of_user)
        .about("The sessions of a user at this server.")
        .delete("/users/{id}/sessions/{sessionId}", end_of_user)
        .about("End a session of a user who holds no more than the caller.")
        .fails(&[Escalation])
}
