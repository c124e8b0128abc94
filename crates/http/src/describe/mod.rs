//! The description of the interface, `OpenAPI` 3.1, derived from the handlers: every argument says what it asks of a
//! request, every answer what it looks like. A handler with an argument that says nothing does not compile as a route.

mod arguments;
mod document;
mod errors;
mod examples;
mod limits;
mod pages;
mod replies;
mod requests;

pub use crate::operation::{Argument, Described, Operation, Reply};
pub use document::{About, clashes, document};
pub use limits::{new_pin, new_pin_or_null, of_book, of_fields, or_null};
pub use pages::{served, text};
pub use requests::{Change, Draft, Listing, Lists, More, Write, Written};

use crate::operation;
