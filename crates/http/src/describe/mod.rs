//! The description of the interface, `OpenAPI` 3.1, derived from the handlers: every argument says what it asks of a
//! request, every answer what it looks like. A handler with an argument that says nothing does not compile as a route.

mod arguments;
mod document;
mod errors;
mod limits;
mod operation;
mod pages;
mod replies;
mod requests;

use std::future::Future;

pub use document::{About, clashes, document};
pub use operation::Operation;
pub use pages::{served, text};
pub use requests::{Change, Draft, Listing, Lists, More, Write, Written};

use Operation as Op;

/// What an argument of a handler says of the request; nothing, when it is no part of it that a client writes.
pub trait Argument {
    fn describe(_: &mut Op) {}
}

/// What the answer of a handler looks like.
pub trait Reply {
    fn describe(operation: &mut Op);
}

/// A handler that can say what it takes and gives.
#[diagnostic::on_unimplemented(
    message = "this handler does not describe itself",
    note = "each argument must be a `describe::Argument`, and the answer a `describe::Reply`"
)]
pub trait Described<Args> {
    fn describe(operation: &mut Op);
}

macro_rules! described {
    ($($arg:ident),*) => {
        impl<F, Fut, $($arg),*> Described<($($arg,)*)> for F
        where
            F: Fn($($arg),*) -> Fut,
            Fut: Future<Output: Reply>,
            $($arg: Argument,)*
        {
            fn describe(operation: &mut Op) {
                $( $arg::describe(operation); )*
                Fut::Output::describe(operation);
            }
        }
    };
}
described!();
described!(A1);
described!(A1, A2);
described!(A1, A2, A3);
described!(A1, A2, A3, A4);
described!(A1, A2, A3, A4, A5);
