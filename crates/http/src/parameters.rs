//! The query of a request, held against the parameters that its route takes, which the types of its handler say. People
//! are refused what a route does not know: a typing mistake in a filter must not do something to everything. What a store
//! says is counted and left aside, since a newer one may speak to an older headquarters (`docs/sync.md`, rule D11).

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use form_urlencoded::{Serializer, parse};
use metrics::counter;
use tillkeep_model::ErrorCode;

use crate::error::{Error, Result};
use crate::operation::{Argument, Operation};
use crate::route::Protection;

/// What becomes of a parameter that a route does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unknown {
    Refused,
    LeftAside,
    /// The route reads none and takes any.
    Taken,
}

/// The parameters of one route. They travel with the request, since only who was let in learns about them.
#[derive(Clone, Debug)]
pub struct Parameters(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    names: BTreeSet<String>,
    unknown: Unknown,
    /// It is open to callers without a session.
    is_open: bool,
}

impl Parameters {
    pub fn new(operation: &Operation, protection: &Protection) -> Self {
        let unknown = match protection {
            Protection::Sync => Unknown::LeftAside,
            _ if operation.takes_any_query() => Unknown::Taken,
            _ => Unknown::Refused,
        };
        let names = operation.in_query().map(str::to_owned).collect();
        Self(Arc::new(Inner { names, unknown, is_open: *protection == Protection::Open }))
    }

    /// Goes before the handler of the route.
    pub async fn guard(self, mut request: Request, next: Next) -> Response {
        let query = request.uri().query().unwrap_or_default();
        match self.0.unknown {
            Unknown::Refused if self.0.is_open => {
                if let Err(refusal) = self.check(query) {
                    return refusal.into_response();
                }
            }
            // Where there is something to read, whoever reads it counts the rest.
            Unknown::LeftAside if self.0.names.is_empty() => {
                self.known(query);
            }
            Unknown::LeftAside | Unknown::Refused | Unknown::Taken => {}
        }
        request.extensions_mut().insert(self);
        next.run(request).await
    }

    /// Whether stores ask: their bad values are 400 as ever.
    pub fn are_of_machines(&self) -> bool {
        self.0.unknown == Unknown::LeftAside
    }

    /// The query as far as the route knows it; what is left aside is counted.
    pub fn known<'a>(&self, query: &'a str) -> Cow<'a, str> {
        if self.0.unknown != Unknown::LeftAside {
            return query.into();
        }
        let is_known = |name: &str| self.0.names.contains(name);
        let unknown = parse(query.as_bytes()).filter(|(name, _)| !is_known(name)).count();
        if unknown == 0 {
            return query.into();
        }
        let unknown = u64::try_from(unknown).unwrap_or(u64::MAX);
        counter!("tillkeep_sync_ignored_total", "what" => "parameter").increment(unknown);
        let known = parse(query.as_bytes()).filter(|(name, _)| is_known(name));
        Serializer::new(String::new()).extend_pairs(known).finish().into()
    }

    /// Refuses a parameter that the route does not know, and one that is there twice.
    fn check(&self, query: &str) -> Result<()> {
        if self.0.unknown != Unknown::Refused {
            return Ok(());
        }
        let mut seen = BTreeSet::new();
        for (name, _) in parse(query.as_bytes()) {
            if !self.0.names.contains(&*name) {
                let known: Vec<&str> = self.0.names.iter().map(String::as_str).collect();
                let text = match known.as_slice() {
                    [] => "is no parameter of this route, which takes none".to_owned(),
                    known => format!("is no parameter of this route; it takes {}", known.join(", ")),
                };
                return Err(Error::new(ErrorCode::UnknownParameter, text).at(name));
            }
            if !seen.insert(name.clone()) {
                return Err(Error::field(name, "is there twice; send it once"));
            }
        }
        Ok(())
    }
}

/// Refuses what the route of a request does not know, once its caller was let in.
pub fn check(parts: &Parts) -> Result<()> {
    let query = parts.uri.query().unwrap_or_default();
    parts.extensions.get::<Parameters>().map_or(Ok(()), |parameters| parameters.check(query))
}

/// Says that a route takes any query and reads none of it: a probe that a balancer decorates, or a route that is refused
/// for another reason.
pub struct AnyQuery;

impl Argument for AnyQuery {
    fn describe(operation: &mut Operation) {
        operation.take_any_query();
    }
}

impl<S: Send + Sync> FromRequestParts<S> for AnyQuery {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self)
    }
}
