//! Writes that belong to the other side: the path exists, but this server may not write it. 409, for whoever is signed
//! in.

use axum::handler::Handler;
use axum::response::{IntoResponse, Response};
use tillkeep_model::ErrorCode;
use tillkeep_model::permission::SignedIn;

use crate::auth::{Caller, HasAuth};
use crate::describe::{Described, Operation, Reply};
use crate::error::{Error, Result};
use crate::parameters::AnyQuery;
use crate::routes::{Protected, Routes};

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
        Owner::Hq => add(routes, path, method, owned_by_hq)
            .about("Refused: headquarters writes this.")
            .fails(&[ErrorCode::OwnedByHq]),
        Owner::Store => add(routes, path, method, owned_by_store)
            .about("Refused: the store where it happens writes this.")
            .fails(&[ErrorCode::OwnedByStore]),
    })
}

fn add<S, H, T, A, D>(routes: Routes<S>, path: &'static str, method: Method, handler: H) -> Routes<S>
where
    S: HasAuth + Clone + 'static,
    H: Handler<T, S> + Protected<A> + Described<D>,
    T: 'static,
{
    match method {
        Method::Post => routes.post(path, handler),
        Method::Put => routes.put(path, handler),
        Method::Patch => routes.patch(path, handler),
        Method::Delete => routes.delete(path, handler),
    }
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
    Err(Error::new(ErrorCode::OwnedByHq, "this is kept by headquarters; change it there, the store pulls the change"))
}

async fn owned_by_store(_: Caller<SignedIn>, _: AnyQuery) -> Result<Never> {
    let text = "this is kept by the store where it happens; do it on that store's server, it is pushed from there";
    Err(Error::new(ErrorCode::OwnedByStore, text))
}
