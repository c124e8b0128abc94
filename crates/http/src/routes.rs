//! The route table: every route with the permissions that its handler's signature names.

use std::future::Future;
use std::marker::PhantomData;
use std::net::IpAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::handler::Handler;
use axum::middleware::{Next, from_fn};
use axum::routing::{MethodFilter, on};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::Requirement;

use crate::auth::{Auth, Caller, HasAuth};
use crate::extract::MAX_BODY_OF_STRANGERS;
use crate::idempotency::{Admit, Admitted, Once};
use crate::operation::Described;
use crate::parameters::Parameters;
pub use crate::route::{Owner, Protection, Route};
use crate::table;

/// What a running server shows besides its interface.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// The description of the interface, and the page to read it with.
    pub docs: bool,
    /// `/metrics`, to this very machine.
    pub metrics: bool,
}

impl Default for Shown {
    fn default() -> Self {
        Self { docs: true, metrics: false }
    }
}

/// Routes being collected for one server.
pub struct Routes<S> {
    router: Router<S>,
    table: Vec<Route>,
}

/// A handler that first takes the [`Caller`] of permission `P`.
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
                Box::pin(async move { Ok(Caller::<P>::from_token(auth.clone(), token, address).await?.user_id) })
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
            self.protected($method, path, handler)
        }
    )*};
}

impl<S: HasAuth + Clone + 'static> Routes<S> {
    pub fn new() -> Self {
        Self { router: Router::new(), table: Vec::new() }
    }

    methods!(get = "GET", post = "POST", put = "PUT", patch = "PATCH", delete = "DELETE");

    pub(crate) fn protected<H, T, A, D>(self, method: &'static str, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, S> + Protected<A> + Described<D>,
        T: 'static,
    {
        self.add(method, path, Protection::User(H::codes()), handler, Some(H::admit))
    }

    /// Adds a route that needs no token.
    #[must_use]
    pub fn open<H, T, D>(self, method: &'static str, path: &'static str, handler: H) -> Self
    where
        H: Handler<T, S> + Described<D>,
        T: 'static,
    {
        self.add(method, path, Protection::Open, handler, None)
    }

    /// Adds a route with a handler that takes a store's sync token.
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
            let takes_table = route.operation.takes_table();
            self.push(route, Once { handler, route: path, admit, takes_table });
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
        let parameters = Parameters::new(&route.operation, &route.protection);
        let guard = from_fn(move |request: Request, next: Next| parameters.clone().guard(request, next));
        let mut served = on(filter(route.method), handler).route_layer(guard);
        if matches!(route.protection, Protection::Open) {
            served = served.route_layer(DefaultBodyLimit::max(MAX_BODY_OF_STRANGERS));
        } else if route.operation.takes_table() {
            served = served.route_layer(DefaultBodyLimit::max(table::MOST));
        }
        self.router = router.route(&route.full_path(), served);
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

    /// The routes so far.
    pub(crate) fn table(&self) -> &[Route] {
        &self.table
    }

    /// Says that the route added last is served by the other side, and refused here.
    #[must_use]
    pub(crate) fn owned_by(mut self, owner: Owner) -> Self {
        if let Some(route) = self.table.last_mut() {
            route.owner = Some(owner);
        }
        self
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
