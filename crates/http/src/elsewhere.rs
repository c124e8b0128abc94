//! Writes that belong to the other side: the path exists, but this server may not write it. 409, for whoever is signed
//! in.

use tillkeep_model::ErrorCode;
use tillkeep_model::permission::SignedIn;

use crate::answer::NoContent;
use crate::auth::{Caller, HasAuth};
use crate::error::{Error, Result};
use crate::routes::Routes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Post,
    Put,
    Patch,
    Delete,
}

/// Which side writes what a list names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Hq,
    Store,
}

/// Paths with the methods that the other side serves there.
pub type Writes = &'static [(&'static str, &'static [Method])];

/// Adds the refusals of `writes`.
pub fn routes<S>(routes: Routes<S>, owner: Owner, writes: Writes) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
{
    let each = writes.iter().flat_map(|(path, methods)| methods.iter().map(|method| (*path, *method)));
    each.fold(routes, |routes, (path, method)| match owner {
        Owner::Hq => add(routes, path, method, owned_by_hq),
        Owner::Store => add(routes, path, method, owned_by_store),
    })
}

fn add<S, H, T, A>(routes: Routes<S>, path: &'static str, method: Method, handler: H) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
    H: axum::handler::Handler<T, S> + crate::routes::Protected<A>,
    T: 'static,
{
    match method {
        Method::Post => routes.post(path, handler),
        Method::Put => routes.put(path, handler),
        Method::Patch => routes.patch(path, handler),
        Method::Delete => routes.delete(path, handler),
    }
}

async fn owned_by_hq(_: Caller<SignedIn>) -> Result<NoContent> {
    Err(Error::new(ErrorCode::OwnedByHq, "this is kept by headquarters; change it there, the store pulls the change"))
}

async fn owned_by_store(_: Caller<SignedIn>) -> Result<NoContent> {
    let text = "this is kept by the store where it happens; do it on that store's server, it is pushed from there";
    Err(Error::new(ErrorCode::OwnedByStore, text))
}
