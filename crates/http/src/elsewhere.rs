//! Writes that belong to the other side: the path exists, but this server may not write it. 409, for whoever is signed
//! in. What those are is read from the other side's own route table, so that a route made there is refused here without
//! another word.

use std::collections::{HashMap, HashSet};

use axum::response::{IntoResponse, Response};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::SignedIn;

use crate::auth::{Caller, HasAuth};
use crate::error::{Error, Result};
use crate::operation::{Operation, Reply};
use crate::parameters::AnyQuery;
pub use crate::route::Owner;
use crate::route::Protection;
use crate::routes::Routes;

/// A route by which people write at one of the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteRoute {
    pub method: &'static str,
    pub path: &'static str,
}

impl<S> Routes<S>
where
    S: HasAuth + Clone + 'static,
{
    /// What people write by these routes.
    pub fn writes(&self) -> Vec<WriteRoute> {
        let of_people = self.table().iter().filter(|route| matches!(route.protection, Protection::User(_)));
        let writes = of_people.filter(|route| route.method != "GET");
        writes.map(|route| WriteRoute { method: route.method, path: route.path }).collect()
    }
}

/// Adds a refusal of each write of the other side, which is `owner` of it, that `routes` do not serve themselves.
pub fn refuse<S>(routes: Routes<S>, owner: Owner, writes: &[WriteRoute]) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
{
    let own: HashSet<_> = routes.table().iter().map(|route| (route.method, shape(route.path))).collect();
    // One path has one name for its parameters in a router, and this side has chosen it.
    let named: HashMap<_, _> = routes.table().iter().map(|route| (shape(route.path), route.path)).collect();
    let others = writes.iter().filter(|write| !own.contains(&(write.method, shape(write.path))));
    others.fold(routes, |routes, WriteRoute { method, path }| {
        let path = named.get(&shape(path)).copied().unwrap_or(path);
        let routes = match owner {
            Owner::Hq => routes
                .protected(method, path, owned_by_hq)
                .about("Refused: headquarters does this.")
                .fails(&[ErrorCode::OwnedByHq]),
            Owner::Store => routes
                .protected(method, path, owned_by_store)
                .about("Refused: the store where it happens does this.")
                .fails(&[ErrorCode::OwnedByStore]),
        };
        routes.owned_by(owner)
    })
}

/// A path without the names of its parameters.
fn shape(path: &str) -> String {
    path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part }).collect::<Vec<_>>().join("/")
}

/// The answer that is never given.
enum Never {}

impl IntoResponse for Never {
    fn into_response(self) -> Response {
        match self {}
    }
}

impl Reply for Never {
    fn describe(_: &mut Operation) {}
}

/// What the other side reads of the query is not known here.
async fn owned_by_hq(_: Caller<SignedIn>, _: AnyQuery) -> Result<Never> {
    let text = "this is done at headquarters: ask its server; what it changes comes to this store by itself";
    Err(Error::new(ErrorCode::OwnedByHq, text))
}

async fn owned_by_store(_: Caller<SignedIn>, _: AnyQuery) -> Result<Never> {
    let text =
        "this is done in the store where it happens: ask that store's server; what it changes is pushed from there";
    Err(Error::new(ErrorCode::OwnedByStore, text))
}
