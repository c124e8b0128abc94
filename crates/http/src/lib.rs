//! What both servers share: the route table, the caller of a request, tokens, PINs, errors as answers, and the accept
//! loop.

#![warn(unreachable_pub)]

pub mod account;
pub mod answer;
pub mod auth;
pub mod cache;
pub mod clock;
pub mod costs;
pub mod cursor;
pub mod describe;
pub mod directory;
pub mod documents;
pub mod elsewhere;
pub mod error;
pub mod extract;
pub mod factors;
pub mod files;
pub mod idempotency;
pub mod layers;
pub mod metrics;
pub mod names;
pub mod nesting;
pub mod operation;
pub mod parameters;
pub mod pictures;
pub mod pins;
pub mod probes;
pub mod refusals;
pub mod representation;
pub mod request;
pub mod resource;
pub mod route;
pub mod routes;
pub mod running;
pub mod secret;
pub mod sent;
pub mod server;
pub mod shelf;
pub mod table;
pub mod tokens;
mod turns;

pub use answer::{Answer, Created, List, NoContent, Paging, Summed};
pub use auth::{Auth, Caller, HasAuth, Home};
pub use clock::Clock;
pub use error::Error;
pub use extract::{Body, Id, Params};
pub use secret::{DatabaseUrl, Secret};
